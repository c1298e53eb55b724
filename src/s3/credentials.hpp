#pragma once
// Finds credentials in the places where the aws command finds them, and renews them before they expire. The sources, in
// order:
//   1. QUARRY_S3_ANONYMOUS=1: requests are not signed
//   2. AWS_ACCESS_KEY_ID and its companions
//   3. a token file (AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_ARN)
//   4. GitHub's identity token with AWS_ROLE_ARN
//   5. the profile: keys, a role assumed with another profile, a role assumed with a token file
//   6. the container's credential address
//   7. the machine's metadata service
// Fails with K011 if no source applies, and with K012 if a source applies but fails.
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
  Keys keys; ///< if the access key is empty, requests are not signed
  std::optional<std::int64_t> expires_us;
  std::string source; ///< "the environment", "profile ci", "the container"
};

struct CredentialSurroundings {
  const std::map<std::string, std::string>& environment;
  net::Transport& transport;
  const sys::Clock& clock;
  std::string region; ///< of STS
};

/// Returns the credentials of the first source that applies: K011, K012. `skipped` receives for each earlier source why
/// it does not apply, without secret values. May read files and send requests.
Result<Credentials> find_credentials(const CredentialSurroundings& surroundings, const SharedFiles& files,
                                     std::vector<std::string>* skipped = nullptr);

/// Parses the JSON of the container's address or of the metadata service: AccessKeyId, SecretAccessKey, Token,
/// Expiration. Pure.
Result<Credentials> parse_credentials_json(std::string_view text, const std::string& source);
/// Parses the XML answer of AssumeRole and AssumeRoleWithWebIdentity. Pure.
Result<Credentials> parse_assumed_role(std::string_view text, const std::string& source);

/// Keeps credentials until five minutes before they expire. Thread-safe: one caller searches, the others wait.
class CredentialCache {
public:
  virtual ~CredentialCache() = default;
  virtual Result<Credentials> get() = 0;
  /// Tells that the server rejected `used` as expired: the next get() searches again, unless `used` has been replaced
  /// already.
  virtual void drop(const Credentials& used) = 0;
};
std::shared_ptr<CredentialCache> make_credential_cache(std::map<std::string, std::string> environment,
                                                       SharedFiles files, std::shared_ptr<net::Transport> transport,
                                                       const sys::Clock& clock, std::string region);

} // namespace quarry::s3
