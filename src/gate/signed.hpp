#pragma once
// Private to the room.
// Checks whether records have the signatures that a policy requires. Pure.
#include "gate/gate.hpp"
#include <string>

namespace quarry::gate {

/// Verifies the record's signatures. Returns why the result does not count; empty if a signature is valid, or the
/// policy requires none.
std::string unsigned_evidence(const Policy& policy, const signature::Envelopes& envelopes,
                              const registry::Stored<registry::EvidenceRecord>& evidence);
/// Does the same for a waiver, which its approver must have signed.
std::string unsigned_waiver(const Policy& policy, const signature::Envelopes& envelopes,
                            const registry::Stored<registry::WaiverRecord>& waiver);

} // namespace quarry::gate
