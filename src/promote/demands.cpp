#include "promote/demands.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::promote {

const std::vector<std::string> k_demands{"expect", "evidence-signers", "waiver-signers"};

namespace {
bool has_signer(const gate::Policy& policy, bool gate::Signer::* kind) {
  return std::any_of(policy.signers.begin(), policy.signers.end(),
                     [&](const gate::Signer& signer) { return signer.*kind && signer.revoked.empty(); });
}

/// What the policy lacks; empty if it meets the demand.
std::string lack_of(const gate::Policy& policy, const std::string& demand) {
  if (demand == "expect")
    return policy.expectation.families.empty()
               ? "families in [expect]: a family whose job never ran would be missed by nobody"
               : "";
  if (demand == "evidence-signers")
    return has_signer(policy, &gate::Signer::evidence)
               ? ""
               : "a [[signer]] of evidence: whoever may write results may open the gate";
  return has_signer(policy, &gate::Signer::waivers)
             ? ""
             : "a [[signer]] of waivers: whoever may write waivers may open the gate";
}
} // namespace

Result<void> check_openness(const gate::Policy& policy) {
  const auto& openly = policy.openly;
  std::vector<std::string> details, words;
  if (policy.expectation.platforms.empty() && !openly.expects_nothing) {
    details.push_back("no [expect]: a family whose job never ran would be missed by nobody");
    words.push_back("\"nothing_expected\"");
  }
  if (!has_signer(policy, &gate::Signer::evidence) && !openly.is_unsigned) {
    details.push_back("no [[signer]] of evidence: whoever may write results may open the gate");
    words.push_back("\"unsigned\"");
  }
  if (auto names = gate::unbound_suites(policy); !names.empty() && !openly.any_command) {
    details.push_back(fmt::format("no definition of {}: any command may be called so (define it in data/suites/{}.toml "
                                  "at the top of the git repository that you work in; elsewhere add a [[suite]] with "
                                  "the `digest` that `quarry suite show FILE` prints)",
                                  text::join(names, ", "), names.front()));
    words.push_back("\"any_command\"");
  }
  if (details.empty()) return {};
  return fail(
      Error::of(ErrorKind::held, "O045",
                fmt::format("policy {} leaves open what a protected channel should have", policy.name))
          .with_details(std::move(details))
          .with_hint(fmt::format("nothing was changed; add it to the policy (docs/formats/policy.md), or say so "
                                 "there: openly = [{}]",
                                 text::join(words, ", "))));
}

Result<void> check_demands(const gate::Policy& policy, const std::vector<std::string>& demands) {
  for (const auto& demand : demands) {
    if (std::find(k_demands.begin(), k_demands.end(), demand) == k_demands.end())
      return fail(ErrorKind::invalid_argument, "C006", fmt::format("--demand takes no `{}`", demand),
                  "it takes " + text::join(k_demands, ", "));
    if (auto lack = lack_of(policy, demand); !lack.empty())
      return fail(ErrorKind::held, "O030", fmt::format("policy {} lacks {}", policy.name, lack),
                  "nothing was changed; add it to the policy (docs/formats/policy.md), or omit this --demand");
  }
  return {};
}

} // namespace quarry::promote
