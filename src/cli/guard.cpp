#include "cli/guard.hpp"

#include "base/units.hpp"
#include "cli/facts.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

std::string guard_text(const registry::Guard& guard) {
  constexpr std::size_t k_shown = 5;
  std::string text;
  if (!guard.policy.empty()) text += fact("protected", "by policy {}", guard.policy.short_hex());
  if (!guard.blocked.empty()) text += fact("blocked", "{}", units::things(guard.blocked.size(), "file"));
  for (std::size_t i = 0; i < std::min(k_shown, guard.blocked.size()); ++i) {
    const auto& file = guard.blocked[i];
    text += fmt::format("  {}  since generation {}{}\n", file.filename, file.generation,
                        file.reason.empty() ? "" : ": " + file.reason);
  }
  if (guard.blocked.size() > k_shown) text += fmt::format("  and {} more: --json\n", guard.blocked.size() - k_shown);
  return text;
}

Json policy_json(const registry::Guard& guard) { return guard.policy.empty() ? Json(nullptr) : Json(guard.policy); }

Json blocked_json(const std::vector<registry::BlockedFile>& files) {
  auto list = Json::array();
  for (const auto& file : files)
    list.push_back({{"filename", file.filename},
                    {"sha256", file.sha256.hex()},
                    {"reason", file.reason},
                    {"generation", file.generation}});
  return list;
}

} // namespace quarry::cli
