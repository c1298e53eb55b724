#pragma once
// Who wrote a record: what the job of this command is told by GitHub, and what a record says for people and programs.
#include "base/json.hpp"
#include "cli/command.hpp"
#include "gate/policy.hpp"
#include "registry/registry.hpp"
#include "signature/envelope.hpp"
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::cli {

/// What GitHub says in GITHUB_ACTOR, GITHUB_REPOSITORY, GITHUB_WORKFLOW_REF, GITHUB_SHA and GITHUB_RUN_ID; nullopt
/// outside of a job.
std::optional<registry::Identity> identity_of(const Context& context);

/// The policies that protect the channels of a store; without those that cannot be read, and none where nothing can be
/// listed, as on a web server. One listing, and two reads for each channel.
std::vector<gate::Policy> policies_of(store::ObjectReader& store);
/// The signer of `what` ("evidence", or a move's action) in one of the policies who has signed the record, and so
/// answers for what it says of its writer. Empty: nobody has, or it cannot be told. Without policies nothing is read.
std::string signer_of(store::ObjectReader& store, const std::vector<gate::Policy>& policies, std::string_view what,
                      const signature::Subject& record);

/// {actor, repository, workflow, commit, run, unverified, signed_by}; null if the record does not say who wrote it.
Json identity_json(const std::optional<registry::Identity>& identity, const std::string& signer);
/// "writer    octocat of ROCm/TheRock  (unverified)" and a line for each other field; empty if it does not say.
std::string identity_text(const std::optional<registry::Identity>& identity, const std::string& signer);

} // namespace quarry::cli
