#pragma once
// Private to the room.
// The sources of credentials, in the order in which they are tried.
#include "s3/credentials.hpp"
#include <functional>
#include <span>

namespace quarry::s3 {

/// Returns credentials; or nullopt if the source does not apply here, with the reason in `why`. Fails with K012, or the
/// error of a request or file, if it applies but does not work.
using CredentialSource = std::function<Result<std::optional<Credentials>>(const CredentialSurroundings&,
                                                                          const SharedFiles&, std::string& why)>;

const std::vector<CredentialSource>& credential_sources();

inline constexpr std::string_view k_environment = "the environment"; ///< as a source's name

/// Fails with K015 if a key has a control character. A line break in a header would begin a second header. In a secret
/// it makes every signature wrong.
Result<void> check_keys(const Credentials& found);

std::string variable(const CredentialSurroundings& surroundings, const std::string& name);

struct Role {
  std::string arn, session, token; ///< token: of the web identity, a secret; empty: the request is signed with keys
};
/// Calls STS in the region of `surroundings`: AssumeRole signed with `keys` or, if that is nullptr,
/// AssumeRoleWithWebIdentity with the role's token. If a request signed with `keys` is refused, and the server's clock
/// is more than five minutes from ours, it sends a second one, signed with the server's time. Fails with K012, the
/// errors of ask(), and H001 if AWS_ENDPOINT_URL_STS is not a URL. Costs one or two ask().
Result<Credentials> assume_role(const CredentialSurroundings& surroundings, const Role& role, const Keys* keys,
                                const std::string& source);

/// Asks for credentials, up to three times, each with this deadline. Returns the answer whatever its status is, also
/// 4xx and 5xx: the caller looks. Fails with H009 at a redirect that names its target, with the other H-codes, and with
/// D006 after an interruption.
Result<net::Response> ask(const CredentialSurroundings& surroundings, net::Request request, std::uint64_t deadline_ms);

Result<std::optional<Credentials>> from_container(const CredentialSurroundings&, const SharedFiles&, std::string& why);
Result<std::optional<Credentials>> from_machine(const CredentialSurroundings&, const SharedFiles&, std::string& why);
Result<std::optional<Credentials>> from_github(const CredentialSurroundings&, const SharedFiles&, std::string& why);

} // namespace quarry::s3
