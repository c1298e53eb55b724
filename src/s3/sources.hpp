#pragma once
// The places where credentials come from, in their order. Private to the room.
#include "s3/credentials.hpp"
#include <functional>
#include <span>

namespace quarry::s3 {

/// Credentials, or nullopt with `why` it does not apply here. An error: it applies, and failed (K012).
using CredentialSource =
    std::function<Result<std::optional<Credentials>>(const Surroundings&, const SharedFiles&, std::string& why)>;

const std::vector<CredentialSource>& credential_sources();

inline constexpr std::string_view k_environment = "the environment"; ///< as a source's name

std::string variable(const Surroundings& surroundings, const std::string& name);

struct Role {
  std::string arn, session, token; ///< token: of the web identity; empty: keys sign
};
/// STS AssumeRoleWithWebIdentity, or AssumeRole signed with `keys`, in the surroundings' region.
Result<Credentials> assume_role(const Surroundings& surroundings, const Role& role, const Keys* keys,
                                const std::string& source);

/// What must answer at once: the machine's own services.
Result<net::Response> ask(const Surroundings& surroundings, net::Request request, std::uint64_t deadline_ms);

Result<std::optional<Credentials>> from_container(const Surroundings&, const SharedFiles&, std::string& why);
Result<std::optional<Credentials>> from_machine(const Surroundings&, const SharedFiles&, std::string& why);
Result<std::optional<Credentials>> from_github(const Surroundings&, const SharedFiles&, std::string& why);

} // namespace quarry::s3
