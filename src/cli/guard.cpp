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
  std::vector<std::string> files;
  for (const auto& file : guard.blocked)
    files.push_back(fmt::format("  {}  since generation {}{}", file.filename, file.generation,
                                file.reason.empty() ? "" : ": " + file.reason));
  return text + first_rows(std::move(files), k_shown);
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
