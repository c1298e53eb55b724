#pragma once
// Finds credentials, most of them where the aws command finds them, and renews them before they expire. GitHub's
// identity token is an addition of Quarry. The sources, in order:
//   1. QUARRY_S3_ANONYMOUS=1: requests are not signed
//   2. AWS_ACCESS_KEY_ID and its companions
//   3. a token file (AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_ARN)
//   4. GitHub's identity token with AWS_ROLE_ARN
//   5. the profile: its role_arn, assumed with its token file or else with source_profile; without role_arn, its keys
//   6. the container's credential address
//   7. the machine's metadata service, or the one that AWS_EC2_METADATA_SERVICE_ENDPOINT names (H001 if that is not a
//      URL). Three requests: for a token, the name of the role, its keys. The source does not apply in three cases:
//      AWS_EC2_METADATA_DISABLED=true; the first request fails, other than by an interruption, or has an error status;
//      the machine has no role (404 or an empty list). An interruption (D006), and every other failure, is an error
//      (K012, H-codes)
// SSO and credential_process are not supported: a profile that has one of them and no keys fails (K012). A profile that
// AWS_PROFILE or AWS_DEFAULT_PROFILE names, other than `default`, also fails if it gives no credentials (K012).
//
// Fails with:
//   K011   if no source applies
//   K012   if the first source that applies does not work; or the error of its request (H-codes, D006) or file
//   K015   if a key has a control character: a key that the source gives, or one that signs the request for a role
//
// Where they go: signed requests go to the endpoint of the location, which a variable or a profile may name
// (location.hpp). Requests for a role, with an identity token or signed with keys, go to Amazon's STS of the region, or
// to AWS_ENDPOINT_URL_STS, never to AWS_ENDPOINT_URL. Plain http beyond this machine and its link (169.254.*,
// [fd00:ec2:*]) needs QUARRY_ALLOW_PLAIN_HTTP=1 (H010). The addresses of the container and of GitHub's identity
// service, which variables name, must be https, on this machine, or one that Amazon gives containers (K012).
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
  /// Returns the credentials:
  ///   - valid for more than five minutes, or for ever: free;
  ///   - valid for less: a call searches for new ones, at most once a minute. If it finds none, it returns the old;
  ///   - none (at first, expired, dropped): each call searches, one caller after the other, and fails as
  ///     find_credentials() does.
  /// A search may take seconds: the metadata service 1 s for each request; a container, GitHub's identity service and
  /// STS three times 15 s each. STS may take six times 15 s if the request is signed with keys and our clock is wrong.
  /// A chain of source_profile asks STS once for each role.
  virtual Result<Credentials> get() = 0;
  /// Tells that the server rejected `used` as expired: the next get() searches again, unless `used` has been replaced
  /// already.
  virtual void drop(const Credentials& used) = 0;
};
/// `clock` must outlive the cache. A search does not read `files` again, so keys that change there are not seen; files
/// of tokens are read again.
std::shared_ptr<CredentialCache> make_credential_cache(std::map<std::string, std::string> environment,
                                                       SharedFiles files, std::shared_ptr<net::Transport> transport,
                                                       const sys::Clock& clock, std::string region);

} // namespace quarry::s3
