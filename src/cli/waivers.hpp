#pragma once
// Waivers for people and for programs.
#include "base/json.hpp"
#include "registry/revocations.hpp"
#include <string>

namespace quarry::cli {

/// "rocm-sdk on linux gfx1153, until 2026-12-15T…, by ann: no lab machine".
std::string waiver_text(const registry::WaiverRecord& waiver);
/// {waiver, channel, suite, cell, sets, reason, approver, requester, run, created, expires, revoked}. `revoked` is null
/// or {who, reason, time}.
Json waiver_json(const registry::Stored<registry::WaiverRecord>& waiver, const registry::RevocationRecord* revoked);

} // namespace quarry::cli
