#pragma once
// Where GitHub's API is, and with which token it is asked.
#include "base/result.hpp"
#include "net/url.hpp"
#include <map>
#include <string>

namespace quarry::forge {

struct Access {
  net::Url api;             ///< without '/' at the end of its path
  std::string token;        ///< empty: none; a secret
  std::string token_source; ///< "GH_TOKEN", "`gh auth token`", or "none"; for people
};

/// GITHUB_API_URL, else github.com's. The token of GH_TOKEN, else GITHUB_TOKEN, else what `gh auth token` says for that
/// host when gh is there and logged in, else none. invalid_argument H001 for a malformed URL, Y001 for a token that
/// cannot be one.
Result<Access> access_from(const std::map<std::string, std::string>& environment);

} // namespace quarry::forge
