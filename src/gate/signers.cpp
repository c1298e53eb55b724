#include "gate/signers.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::gate {

const std::vector<std::string> k_signed_moves{"promote",   "rollback", "yank", "protect",
                                              "unprotect", "unblock",  "prune"};

namespace {

/// Revoked or not.
bool is_named_for(const Signer& signer, std::string_view what) {
  if (what == "evidence") return signer.evidence;
  if (what == "waivers") return signer.waivers;
  if (what == "verdicts") return signer.verdicts;
  return std::find(signer.moves.begin(), signer.moves.end(), what) != signer.moves.end();
}

/// "lead or release-bot", each with why its key does not count.
std::string names_of(const Policy& policy, std::string_view what) {
  std::vector<std::string> names;
  for (const auto& signer : policy.signers)
    if (is_named_for(signer, what))
      names.push_back(signer.revoked.empty() ? signer.name
                                             : fmt::format("{} (revoked: {})", signer.name, signer.revoked));
  return names.empty() ? fmt::format("anybody: policy {} names no signer for it", policy.name)
                       : text::join(names, " or ");
}

/// Whose signature would count now.
std::string who_could_sign(const Policy& policy, std::string_view what) {
  std::vector<std::string> names;
  for (const auto& signer : policy.signers)
    if (signer.revoked.empty() && is_named_for(signer, what)) names.push_back(signer.name);
  return names.empty() ? names_of(policy, what) : text::join(names, " or ");
}

} // namespace

bool wants_signed_moves(const Policy& policy) {
  return std::any_of(policy.signers.begin(), policy.signers.end(),
                     [](const Signer& one) { return one.verdicts || !one.moves.empty(); });
}

bool wants_signed_verdicts(const Policy& policy) {
  return std::any_of(policy.signers.begin(), policy.signers.end(), [](const Signer& one) { return one.verdicts; });
}

bool has_signer(const Policy& policy, std::string_view what) {
  return std::any_of(policy.signers.begin(), policy.signers.end(),
                     [&](const Signer& one) { return one.revoked.empty() && is_named_for(one, what); });
}

std::string defect_of_key(const Policy& policy, std::string_view what, const std::optional<Ed25519PublicKey>& key) {
  if (!key) return fmt::format("is not signed by {}", who_could_sign(policy, what));
  for (const auto& signer : policy.signers) {
    if (signer.key != key->base64()) continue;
    if (!signer.revoked.empty())
      return fmt::format("is signed by {}, whose key is revoked: {}", signer.name, signer.revoked);
    if (is_named_for(signer, what)) return {};
    return fmt::format("is signed by {}, and must be by {}", signer.name, who_could_sign(policy, what));
  }
  return fmt::format("is signed by a key that the policy does not have, and must be by {}",
                     who_could_sign(policy, what));
}

SignedBy signed_by(const Policy& policy, std::string_view what, const signature::Envelopes& envelopes,
                   const signature::Subject& record) {
  auto found = envelopes.find(record.sha256);
  for (const auto& signer : policy.signers) {
    auto key = Ed25519PublicKey::parse(signer.key);
    if (found == envelopes.end() || !key || !signer.revoked.empty() || !is_named_for(signer, what)) continue;
    bool valid = std::any_of(found->second.begin(), found->second.end(),
                             [&](const std::string& envelope) { return signature::verifies(envelope, record, *key); });
    if (valid) return {signer.name, {}};
  }
  return {{}, fmt::format("is not signed by {}", names_of(policy, what))};
}

} // namespace quarry::gate
