#pragma once
// Who we are, from the places where aws looks too, and renewed before it ends. In this order: AWS_ACCESS_KEY_ID and its
// companions; the profile (keys, a role by another profile, a role by a token file); a token file
// (AWS_WEB_IDENTITY_TOKEN_FILE); GitHub's identity token with AWS_ROLE_ARN; the container's address; the machine's
// metadata service. Errors: no source has any K011, a source that is meant fails K012.
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
  Keys keys; ///< an empty access key: requests are not signed
  std::optional<std::int64_t> expires_us;
  std::string source; ///< "the environment", "profile ci", "the container"
};

struct Surroundings {
  const std::map<std::string, std::string>& environment;
  net::Transport& transport;
  const sys::Clock& clock;
  std::string region; ///< of STS
};

/// One look through all sources. `skipped` says why each earlier one did not serve, without values.
Result<Credentials> find_credentials(const Surroundings& surroundings, const SharedFiles& files,
                                     std::vector<std::string>* skipped = nullptr);

/// Credentials as JSON, from the container (AccessKeyId, SecretAccessKey, Token, Expiration) or the metadata service.
Result<Credentials> parse_credentials_json(std::string_view text, const std::string& source);
/// The answer of AssumeRole and AssumeRoleWithWebIdentity.
Result<Credentials> parse_assumed_role(std::string_view text, const std::string& source);

/// Thread-safe: one caller looks, others wait; what was found is kept until five minutes before it ends.
class CredentialCache {
public:
  virtual ~CredentialCache() = default;
  virtual Result<Credentials> get() = 0;
  /// The server says that `used` has ended: the next get() looks anew, unless that happened already.
  virtual void drop(const Credentials& used) = 0;
};
std::shared_ptr<CredentialCache> make_credential_cache(std::map<std::string, std::string> environment,
                                                       SharedFiles files, std::shared_ptr<net::Transport> transport,
                                                       const sys::Clock& clock, std::string region);

} // namespace quarry::s3
