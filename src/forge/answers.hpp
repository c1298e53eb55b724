#pragma once
// Private to the room.
// What an answer of GitHub's API means. Pure.
#include "base/json.hpp"
#include "forge/github.hpp"

namespace quarry::forge {

struct Asked {
  std::string what;         ///< "run 42 of owner/name", for messages
  std::string token_source; ///< of Access
  std::int64_t now_us = 0;
};

/// Success is nullopt.
std::optional<Error> refusal_of(const net::Response& response, const Asked& asked);
/// One workflow run. Y006 when a field is missing that decides where its outputs lie.
Result<Run> parse_run(const Json& object, const std::string& what);

} // namespace quarry::forge
