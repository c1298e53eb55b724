#include "gate/signed.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <vector>

namespace quarry::gate {

namespace {

/// Whether this signer, whose key counts, has signed the record.
bool has_signed(const Signer& signer, const signature::Envelopes& envelopes, const signature::Subject& record) {
  auto found = envelopes.find(record.sha256);
  auto key = Ed25519PublicKey::parse(signer.key);
  if (found == envelopes.end() || !key || !signer.revoked.empty()) return false;
  return std::any_of(found->second.begin(), found->second.end(),
                     [&](const std::string& envelope) { return signature::verifies(envelope, record, *key); });
}

/// Empty if one of them has signed it; else who should have, and whose key was revoked.
std::string unsigned_by(const std::vector<const Signer*>& signers, const signature::Envelopes& envelopes,
                        const signature::Subject& record) {
  std::vector<std::string> names;
  for (const auto* signer : signers) {
    if (has_signed(*signer, envelopes, record)) return {};
    names.push_back(signer->revoked.empty() ? signer->name
                                            : fmt::format("{} (revoked: {})", signer->name, signer->revoked));
  }
  return fmt::format("not signed by {}", text::join(names, " or "));
}

} // namespace

std::string unsigned_evidence(const Policy& policy, const signature::Envelopes& envelopes,
                              const registry::Stored<registry::EvidenceRecord>& evidence) {
  std::vector<const Signer*> signers;
  for (const auto& signer : policy.signers)
    if (signer.evidence) signers.push_back(&signer);
  if (signers.empty()) return {};
  auto why = unsigned_by(signers, envelopes, {"evidence", *evidence.digest.sha256()});
  return why.empty() ? why : "is " + why;
}

std::string unsigned_waiver(const Policy& policy, const signature::Envelopes& envelopes,
                            const registry::Stored<registry::WaiverRecord>& waiver) {
  bool asked = false;
  std::vector<const Signer*> signers;
  for (const auto& signer : policy.signers) {
    asked |= signer.waivers;
    if (signer.waivers && signer.name == waiver.record.approver) signers.push_back(&signer);
  }
  if (!asked) return {};
  if (signers.empty()) return fmt::format("policy {} has no key of {}", policy.name, waiver.record.approver);
  auto why = unsigned_by(signers, envelopes, {"waiver", *waiver.digest.sha256()});
  return why.empty() ? why : "it is " + why;
}

} // namespace quarry::gate
