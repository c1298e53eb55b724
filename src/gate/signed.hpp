#pragma once
// Private to the room.
// Whose signatures a policy asks for, and whether a record has one. Pure.
#include "gate/gate.hpp"
#include <string>

namespace quarry::gate {

/// Why a result does not count for want of a signature; empty if it counts, also where the policy asks for
/// none. Verifies the envelopes of the record.
std::string unsigned_evidence(const Policy& policy, const signature::Envelopes& envelopes,
                              const registry::Stored<registry::EvidenceRecord>& evidence);
/// The same of a waiver, which its approver must have signed.
std::string unsigned_waiver(const Policy& policy, const signature::Envelopes& envelopes,
                            const registry::Stored<registry::WaiverRecord>& waiver);

} // namespace quarry::gate
