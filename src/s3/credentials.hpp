#pragma once
// Finds credentials in the places where the aws command finds them, and renews them before they expire. The sources, in
// order:
//   1. QUARRY_S3_ANONYMOUS=1: requests are not signed
//   2. AWS_ACCESS_KEY_ID and its companions
//   3. a token file (AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_ARN)
//   4. GitHub's identity token with AWS_ROLE_ARN
//   5. the profile: its role_arn, assumed with its token file or else with source_profile; without role_arn, its keys
//   6. the container's credential address
//   7. the machine's metadata service
// A profile other than `default` that has no keys is a failure, and so are credential_process and SSO without keys.
//
// Fails with K011 if no source applies; if the first one that applies does not work, with K012 or the error of its
// request or file; with K015 if a key has a control character.
//
// Where they go: signed requests go to the endpoint of the location, which a variable or a profile may name
// (location.hpp). Role and identity tokens go to Amazon's STS of the region, or to AWS_ENDPOINT_URL_STS, never to
// AWS_ENDPOINT_URL. Plain http beyond this machine and its link (169.254.*) needs QUARRY_ALLOW_PLAIN_HTTP=1 (H010). The
// container and GitHub's identity service may use it only on this machine and at Amazon's container addresses (K012).
#include "base/data_text.hpp"
#include "net/http.hpp"
#include "s3/profile.hpp"
#include "s3/sigv4.hpp"
#include "sys/clock.hpp"
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quarry::s3 {

struct Credentials {
  Keys keys;                              ///< if the access key is empty, requests are not signed
  std::optional<std::int64_t> expires_us; ///< microseconds since 1970; nullopt: they do not expire
  std::string source;                     ///< "the environment", "profile ci", "the container"
};

struct CredentialSurroundings {
  const std::map<std::string, std::string>& environment;
  net::Transport& transport;
  const sys::Clock& clock;
  std::string region; ///< of STS, the service that gives temporary keys
};

/// Returns the credentials of the first source that applies; errors as above. `skipped` receives for each earlier
/// source why it does not apply, without secret values. May read files and send requests.
Result<Credentials> find_credentials(const CredentialSurroundings& surroundings, const SharedFiles& files,
                                     std::vector<std::string>* skipped = nullptr);

/// Parses the JSON of the container's address or of the metadata service: AccessKeyId, SecretAccessKey, Token,
/// Expiration. Fails with K012. Pure.
Result<Credentials> parse_credentials_json(NamedText named);
/// Parses the XML answer of AssumeRole and AssumeRoleWithWebIdentity. Fails with K012. Pure.
Result<Credentials> parse_assumed_role(NamedText named);

/// Keeps credentials. Thread-safe: one caller searches, the others wait.
class CredentialCache {
public:
  virtual ~CredentialCache() = default;
  /// Returns the credentials, and finds new ones from five minutes before they expire. If that fails, it asks at most
  /// once a minute, and the old ones serve until they expire. Without valid ones each call searches, and fails as
  /// find_credentials() does. Free otherwise.
  virtual Result<Credentials> get() = 0;
  /// Tells that the server rejected `used` as expired: the next get() searches again, unless `used` has been replaced
  /// already.
  virtual void drop(const Credentials& used) = 0;
};
/// `clock` must outlive the cache.
std::shared_ptr<CredentialCache> make_credential_cache(std::map<std::string, std::string> environment,
                                                       SharedFiles files, std::shared_ptr<net::Transport> transport,
                                                       const sys::Clock& clock, std::string region);

} // namespace quarry::s3
