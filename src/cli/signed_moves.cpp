#include "cli/signed_moves.hpp"

#include "base/units.hpp"
#include "cli/facts.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

std::string signed_text(const std::vector<promote::SignedMove>& moves) {
  auto is_signed = [](const promote::SignedMove& move) { return !move.by.empty(); };
  auto count = static_cast<std::size_t>(std::ranges::count_if(moves, is_signed));
  if (count == 0) return {};
  auto last =
      is_signed(moves.front()) ? fmt::format(", the last ({}) by {}", moves.front().action, moves.front().by) : "";
  return fact("signed", "{} of {}{}", count, units::things(moves.size(), "move"), last);
}

Json signed_json(const std::vector<promote::SignedMove>& moves) {
  auto list = Json::array();
  for (const auto& move : moves)
    list.push_back({{"generation", move.generation},
                    {"action", move.action},
                    {"signed_by", move.by.empty() ? Json(nullptr) : Json(move.by)}});
  return list;
}

} // namespace quarry::cli
