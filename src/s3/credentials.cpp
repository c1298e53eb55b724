#include "s3/credentials.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "net/fetch.hpp"
#include "s3/replies.hpp"
#include "s3/sources.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <mutex>
#include <nlohmann/json.hpp>

namespace quarry::s3 {

namespace {

constexpr std::int64_t k_renew_before_us = 300'000'000; // a part of a long upload must still arrive in time
constexpr std::int64_t k_look_again_us = 60'000'000;    // when a source gives what is about to end

Unexpected odd(const std::string& source, const std::string& why) {
  return fail(ErrorKind::unauthenticated, "K012", fmt::format("{} gave no credentials: {}", source, why),
              "check the source, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
}

} // namespace

Result<void> check_keys(const Credentials& found) {
  auto broken = [](const std::string& text) {
    return std::any_of(text.begin(), text.end(), [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; });
  };
  std::string_view part = broken(found.keys.access_key)               ? "AWS_ACCESS_KEY_ID"
                          : broken(found.keys.secret_key.reveal())    ? "AWS_SECRET_ACCESS_KEY"
                          : broken(found.keys.session_token.reveal()) ? "AWS_SESSION_TOKEN"
                                                                      : "";
  if (part.empty()) return {};
  auto name = found.source == k_environment ? std::string(part) : text::lower(part) + " of " + found.source;
  return fail(ErrorKind::unauthenticated, "K015",
              fmt::format("{} holds a line break or another control character", name),
              "store it again without: `printf %s` writes no line break, `echo` does");
}

namespace {

class Cache final : public CredentialCache {
public:
  Cache(std::map<std::string, std::string> environment, SharedFiles files, std::shared_ptr<net::Transport> transport,
        const sys::Clock& clock, std::string region)
      : environment_(std::move(environment)), files_(std::move(files)), transport_(std::move(transport)), clock_(clock),
        region_(std::move(region)) {}

  Result<Credentials> get() override {
    std::lock_guard lock(mutex_);
    auto now = clock_.now_us();
    const auto& kept = known_.credentials;
    bool still_good = kept && (!kept->expires_us || now < *kept->expires_us);
    bool renew = kept && kept->expires_us && now >= *kept->expires_us - k_renew_before_us;
    if (still_good && (!renew || now < known_.look_again_us)) return *kept;
    auto found = find_credentials({environment_, *transport_, clock_, region_}, files_);
    known_.look_again_us = now + k_look_again_us;
    if (!found && still_good) return *kept; // the source does not answer at the moment
    if (found) known_.credentials = *found;
    return found;
  }
  void drop(const Credentials& used) override {
    std::lock_guard lock(mutex_);
    auto& kept = known_.credentials;
    bool same = kept && kept->keys.access_key == used.keys.access_key &&
                kept->keys.session_token.reveal() == used.keys.session_token.reveal();
    if (same) kept.reset();
  }

private:
  struct Known {
    std::optional<Credentials> credentials;
    std::int64_t look_again_us = 0; ///< before, the sources are not asked even if the credentials end soon
  };
  std::map<std::string, std::string> environment_;
  SharedFiles files_;
  std::shared_ptr<net::Transport> transport_;
  const sys::Clock& clock_;
  std::string region_;
  std::mutex mutex_;
  Known known_; ///< guarded by mutex_
};

} // namespace

Result<Credentials> parse_credentials_json(NamedText named) {
  const auto text = named.text;
  const std::string source(named.name);
  auto document = json::parse({text, source});
  if (!document || !document->is_object()) return odd(source, "its answer is not a JSON object");
  Credentials found;
  found.source = source;
  found.keys.access_key = json::string_or(*document, "AccessKeyId", "");
  found.keys.secret_key = Secret(json::string_or(*document, "SecretAccessKey", ""));
  found.keys.session_token = Secret(json::string_or(*document, "Token", ""));
  if (found.keys.access_key.empty() || found.keys.secret_key.empty()) return odd(source, "its answer holds no keys");
  if (auto expires = time_of(json::string_or(*document, "Expiration", "")); expires != 0) found.expires_us = expires;
  return found;
}

Result<Credentials> parse_assumed_role(NamedText named) {
  const auto text = named.text;
  const std::string source(named.name);
  auto reply = parse_reply({text, source});
  if (!reply) return odd(source, "its answer is not XML");
  for (const auto& [name, records] : reply->groups)
    for (const auto& record : records) {
      Credentials found;
      found.source = source;
      found.keys.access_key = record.value("Credentials/AccessKeyId");
      found.keys.secret_key = Secret(record.value("Credentials/SecretAccessKey"));
      found.keys.session_token = Secret(record.value("Credentials/SessionToken"));
      if (auto expires = time_of(record.value("Credentials/Expiration")); expires != 0) found.expires_us = expires;
      if (!found.keys.access_key.empty() && !found.keys.secret_key.empty()) return found;
    }
  return odd(source, "its answer holds no keys");
}

Result<Credentials> find_credentials(const CredentialSurroundings& surroundings, const SharedFiles& files,
                                     std::vector<std::string>* skipped) {
  std::string reasons;
  for (const auto& source : credential_sources()) {
    std::string why;
    TRY(auto found, source(surroundings, files, why));
    if (found) {
      TRY_DO(check_keys(*found));
      return std::move(*found);
    }
    reasons += (reasons.empty() ? "" : "; ") + why;
    if (skipped) skipped->push_back(why);
  }
  auto error = Error::of(ErrorKind::unauthenticated, "K011", "no credentials for object storage were found")
                   .with_hint("set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; QUARRY_S3_ANONYMOUS=1 "
                              "reads public buckets");
  for (const auto& reason : text::split(reasons, ';')) error.details.emplace_back(text::trim(reason));
  return fail(std::move(error));
}

std::shared_ptr<CredentialCache> make_credential_cache(std::map<std::string, std::string> environment,
                                                       SharedFiles files, std::shared_ptr<net::Transport> transport,
                                                       const sys::Clock& clock, std::string region) {
  return std::make_shared<Cache>(std::move(environment), std::move(files), std::move(transport), clock,
                                 std::move(region));
}

} // namespace quarry::s3
