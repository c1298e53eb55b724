#pragma once
// Waivers for people and for programs.
#include "base/json.hpp"
#include "registry/distributions.hpp"
#include "registry/revocations.hpp"
#include "registry/waived.hpp"
#include <string>
#include <vector>

namespace quarry::cli {

/// "rocm-sdk on linux gfx1153, until 2026-12-15T…, by ann: no lab machine [risks.pdf 4f2a91c07d3e]".
std::string waiver_text(const registry::WaiverRecord& waiver);
/// {name, sha256}; null without an attachment.
Json attachment_json(const registry::WaiverRecord& waiver);
/// {waiver, channel, suite, cell, sets, reason, approver, requester, run, created, expires, revoked, attachment}.
/// `revoked` is null or {who, reason, time}.
Json waiver_json(const registry::Stored<registry::WaiverRecord>& waiver, const registry::RevocationRecord* revoked);
/// {waiver, set, suite, approver, reason, expires, cells, projects}: of what a channel shows.
Json waived_json(const registry::Waived& waived);
/// What a distribution says about waivers of these sets, each sentence once.
std::vector<registry::Remark> waiver_remarks(const std::vector<registry::ShownSet>& sets);
/// [{waiver, text}]
Json waiver_remarks_json(const std::vector<registry::Remark>& remarks);

} // namespace quarry::cli
