#include "cli/identity.hpp"

#include "base/one_line.hpp"
#include "cli/records.hpp"
#include "gate/signers.hpp"
#include "promote/bound.hpp"
#include "signature/stored.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

std::optional<registry::Identity> identity_of(const Context& context) {
  registry::Identity identity{context.variable("GITHUB_ACTOR"), context.variable("GITHUB_REPOSITORY"),
                              context.variable("GITHUB_WORKFLOW_REF"), context.variable("GITHUB_SHA"),
                              run_url(context)};
  return identity == registry::Identity{} ? std::nullopt : std::optional(std::move(identity));
}

std::vector<gate::Policy> policies_of(store::ObjectReader& store) {
  std::vector<gate::Policy> policies;
  auto channels = registry::list_channels(store);
  if (!channels) return policies;
  for (const auto& channel : *channels)
    if (auto policy = promote::policy_of(store, channel); policy && *policy) policies.push_back(std::move(**policy));
  return policies;
}

std::string signer_of(store::ObjectReader& store, const std::vector<gate::Policy>& policies, std::string_view what,
                      const signature::Subject& record) {
  if (policies.empty()) return {};
  auto envelopes = signature::load(store, {record.sha256});
  if (!envelopes) return {};
  for (const auto& policy : policies)
    if (auto by = gate::signed_by(policy, what, *envelopes, record); by.defect.empty()) return by.name;
  return {};
}

Json identity_json(const std::optional<registry::Identity>& identity, const std::string& signer) {
  if (!identity) return nullptr;
  auto text = [](const std::string& value) { return value.empty() ? Json(nullptr) : Json(value); };
  return {{"actor", text(identity->actor)},
          {"repository", text(identity->repository)},
          {"workflow", text(identity->workflow)},
          {"commit", text(identity->commit)},
          {"run", text(identity->run)},
          {"unverified", signer.empty()},
          {"signed_by", text(signer)}};
}

std::string identity_text(const std::optional<registry::Identity>& identity, const std::string& signer) {
  if (!identity) return {};
  auto or_nobody = [](const std::string& value) { return value.empty() ? std::string("-") : text::one_line(value); };
  auto text = fmt::format("writer    {} of {}  ({})\n", or_nobody(identity->actor), or_nobody(identity->repository),
                          signer.empty() ? "unverified" : "signed by " + signer);
  auto line = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) text += fmt::format("          {:<12}  {}\n", name, text::one_line(value));
  };
  line("workflow", identity->workflow);
  line("commit", identity->commit);
  line("run", identity->run);
  return text;
}

} // namespace quarry::cli
