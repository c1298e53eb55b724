#include "s3/sources.hpp"

#include "base/text.hpp"
#include "net/fetch.hpp"
#include "sys/file.hpp"
#include <fmt/core.h>

namespace quarry::s3 {

namespace {

using Found = Result<std::optional<Credentials>>;

constexpr std::uint64_t k_token_max = 64 << 10; // identity tokens are 1 to 2 KiB
constexpr int k_profile_depth_max = 4;          // source_profile may name another with source_profile

Found nothing(std::string& why, std::string text) {
  why = std::move(text);
  return std::optional<Credentials>();
}

Result<std::string> read_token(const std::string& file) {
  auto token = sys::read_file(file, k_token_max);
  if (!token)
    return fail(ErrorKind::unauthenticated, "K012", fmt::format("the identity token {} cannot be read", file),
                "check AWS_WEB_IDENTITY_TOKEN_FILE");
  return std::string(text::trim(*token));
}

std::string session_name(const CredentialSurroundings& surroundings) {
  for (const auto* name : {"AWS_ROLE_SESSION_NAME", "GITHUB_RUN_ID"})
    if (auto value = variable(surroundings, name); !value.empty())
      return name == std::string_view("GITHUB_RUN_ID") ? "github-" + value : value;
  return "quarry";
}

Found from_nobody(const CredentialSurroundings& s, const SharedFiles&, std::string& why) {
  if (variable(s, "QUARRY_S3_ANONYMOUS") != "1") return nothing(why, "QUARRY_S3_ANONYMOUS is not 1");
  Credentials anonymous;
  anonymous.source = "nobody";
  return std::optional(anonymous);
}

Found from_environment(const CredentialSurroundings& s, const SharedFiles&, std::string& why) {
  Credentials found;
  found.source = k_environment;
  found.keys = {variable(s, "AWS_ACCESS_KEY_ID"), Secret(variable(s, "AWS_SECRET_ACCESS_KEY")),
                Secret(variable(s, "AWS_SESSION_TOKEN"))};
  if (found.keys.access_key.empty() != found.keys.secret_key.empty())
    return fail(ErrorKind::unauthenticated, "K012", "only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set",
                "set both, or neither");
  if (found.keys.access_key.empty()) return nothing(why, "AWS_ACCESS_KEY_ID is not set");
  return std::optional(found);
}

Unexpected bad_profile(const Profile& profile, const std::string& text) {
  return fail(ErrorKind::unauthenticated, "K012", fmt::format("profile {}: {}", profile.name, text),
              "see the files that AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE name, or those in ~/.aws");
}

std::optional<Keys> keys_in(const Profile& profile) {
  Keys keys{profile.value("aws_access_key_id"), Secret(profile.value("aws_secret_access_key")),
            Secret(profile.value("aws_session_token"))};
  bool complete = !keys.access_key.empty() && !keys.secret_key.empty();
  return complete ? std::optional(std::move(keys)) : std::nullopt;
}

Found from_profile_named(const CredentialSurroundings& s, const SharedFiles& files, const std::string& name,
                         std::string& why, int depth) {
  auto profile = profile_of(files, name);
  if (depth > k_profile_depth_max) return bad_profile(profile, "its source_profile leads in a circle");
  auto source = "profile " + name;
  if (auto role = profile.value("role_arn"); !role.empty()) {
    auto session = profile.value("role_session_name");
    if (session.empty()) session = session_name(s);
    if (auto file = profile.value("web_identity_token_file"); !file.empty()) {
      TRY(auto token, read_token(file));
      TRY(auto assumed, assume_role(s, {role, session, token}, nullptr, source));
      return std::optional(assumed);
    }
    auto base = profile.value("source_profile");
    if (base.empty()) return bad_profile(profile, "role_arn needs source_profile or web_identity_token_file");
    auto keys = keys_in(profile);
    if (keys) TRY_DO(check_keys({*keys, std::nullopt, source}));
    if (base != name) {
      if (!profile_of(files, base).found) return bad_profile(profile, fmt::format("there is no profile {}", base));
      TRY(auto of_base, from_profile_named(s, files, base, why, depth + 1));
      if (of_base) TRY_DO(check_keys(*of_base));
      keys = of_base ? std::optional(of_base->keys) : std::nullopt;
    }
    if (!keys) return bad_profile(profile, fmt::format("profile {} holds no keys", base));
    TRY(auto assumed, assume_role(s, {role, session, {}}, &*keys, source));
    return std::optional(assumed);
  }
  if (auto keys = keys_in(profile)) {
    Credentials found;
    found.source = source;
    found.keys = std::move(*keys);
    return std::optional(found);
  }
  if (!profile.value("credential_process").empty() || !profile.value("sso_session").empty() ||
      !profile.value("sso_start_url").empty())
    return bad_profile(profile, "credential_process and SSO are not supported: export keys from them");
  return nothing(why, profile.found ? fmt::format("profile {} holds no keys", name)
                                    : fmt::format("there is no profile {}", name));
}

Found from_profile(const CredentialSurroundings& s, const SharedFiles& files, std::string& why) {
  auto name = profile_name(s.environment);
  TRY(auto found, from_profile_named(s, files, name, why, 0));
  bool named = name != "default";
  if (!found && named) // a profile that was asked for by name is meant: nothing else may stand in for it
    return fail(ErrorKind::unauthenticated, "K012", why, "check AWS_PROFILE");
  return found;
}

Found from_token_file(const CredentialSurroundings& s, const SharedFiles&, std::string& why) {
  auto file = variable(s, "AWS_WEB_IDENTITY_TOKEN_FILE"), role = variable(s, "AWS_ROLE_ARN");
  if (file.empty()) return nothing(why, "AWS_WEB_IDENTITY_TOKEN_FILE is not set");
  if (role.empty()) return nothing(why, "AWS_ROLE_ARN is not set");
  TRY(auto token, read_token(file));
  TRY(auto assumed, assume_role(s, {role, session_name(s), token}, nullptr, "the token file"));
  return std::optional(assumed);
}

} // namespace

std::string variable(const CredentialSurroundings& surroundings, const std::string& name) {
  auto found = surroundings.environment.find(name);
  return found == surroundings.environment.end() ? std::string() : found->second;
}

const std::vector<CredentialSource>& credential_sources() {
  static const std::vector<CredentialSource> sources = {from_nobody,  from_environment, from_token_file, from_github,
                                                        from_profile, from_container,   from_machine};
  return sources;
}

} // namespace quarry::s3
