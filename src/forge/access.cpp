#include "forge/access.hpp"

#include "base/text.hpp"
#include "sys/process.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::forge {

namespace {
constexpr std::string_view k_api = "https://api.github.com";
constexpr std::uint64_t k_gh_ms = 10'000;       // it reads a file or a keyring
constexpr std::size_t k_token_bytes_max = 4096; // GitHub's have 40 to 255 characters, tokens of apps some hundred

std::string value_of(const std::map<std::string, std::string>& environment, const std::string& name) {
  auto found = environment.find(name);
  return found == environment.end() ? std::string() : std::string(text::trim(found->second));
}

/// The host as gh knows it.
std::string host_of(const net::Url& api) { return api.host == "api.github.com" ? "github.com" : api.host; }

/// Whatever keeps gh from answering means that there is no token of its.
std::string token_of_gh(const std::map<std::string, std::string>& environment, const net::Url& api) {
  auto program = sys::find_program("gh", value_of(environment, "PATH"));
  if (program.empty()) return {};
  sys::ProcessSpec spec;
  spec.argv = {program, "auth", "token", "--hostname", host_of(api)};
  spec.environment = environment;
  spec.deadline_ms = k_gh_ms;
  spec.capture_bytes_max = k_token_bytes_max;
  auto ended = sys::run_process(spec);
  return ended && ended->exit_code == 0 ? std::string(text::trim(ended->out)) : std::string();
}

Result<void> check_token(const Access& access) {
  bool sound = access.token.size() <= k_token_bytes_max &&
               std::all_of(access.token.begin(), access.token.end(), [](char c) { return c > 0x20 && c < 0x7f; });
  if (sound) return {};
  return fail(ErrorKind::invalid_argument, "Y001", fmt::format("what {} holds cannot be a token", access.token_source),
              "a token is one word; unset it to ask without one");
}
} // namespace

Result<Access> access_from(const std::map<std::string, std::string>& environment) {
  Access access;
  auto url = value_of(environment, "GITHUB_API_URL");
  TRY(access.api, net::parse_url(url.empty() ? std::string(k_api) : url), "while reading GITHUB_API_URL");
  while (access.api.path.ends_with('/')) access.api.path.pop_back();
  for (const auto* name : {"GH_TOKEN", "GITHUB_TOKEN"})
    if (access.token.empty()) {
      access.token = value_of(environment, name);
      access.token_source = access.token.empty() ? "none" : name;
    }
  if (access.token.empty()) {
    access.token = token_of_gh(environment, access.api);
    if (!access.token.empty()) access.token_source = "`gh auth token`";
  }
  TRY_DO(check_token(access));
  return access;
}

} // namespace quarry::forge
