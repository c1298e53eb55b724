#pragma once
// Who signed the moves of a channel or a distribution, for people and for programs. Pure.
#include "base/json.hpp"
#include "promote/signed_moves.hpp"
#include <string>
#include <vector>

namespace quarry::cli {

/// "signed      3 of 5 moves, the last (promote) by lead"; empty where no signature was demanded. Newest first.
std::string signed_text(const std::vector<promote::SignedMove>& moves);
Json signed_json(const std::vector<promote::SignedMove>& moves);

} // namespace quarry::cli
