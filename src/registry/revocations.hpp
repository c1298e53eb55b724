#pragma once
// Waivers that somebody took back: `waivers/revoked/{waiver}.json`. The object's name is enough: whatever it holds, the
// waiver counts for nothing, so that a damaged revocation cannot bring a waiver back.
#include "base/result.hpp"
#include "registry/registry.hpp"
#include <map>
#include <string>
#include <vector>

namespace quarry::registry {

struct RevocationRecord { ///< quarry.revocation/1
  WaiverDigest waiver;
  std::string who, reason; ///< who: may be empty
  Timestamp time;
  std::string unknown = {};
};

std::string revocation_key(const WaiverDigest& waiver);
/// Writes the record if-absent. Returns false if the waiver is revoked already; that record stays. Fails as
/// load_waiver() does: the waiver must exist (R010) and be whole; after R004 it may be revoked: call it again. The
/// record is not checked: one of more than 64 KiB revokes the waiver, too, and nobody can read it. Two requests.
Result<bool> revoke(ObjectStore& store, const RevocationRecord& record);
/// The waivers that are revoked, sorted. One listing.
Result<std::vector<WaiverDigest>> list_revoked(ObjectReader& store);
/// The same with what the records say. A record that is invalid, too long or gone has only `waiver`; its schema is not
/// looked at. The errors of the store fail the call. One more request for each, eight at the same time.
Result<std::map<WaiverDigest, RevocationRecord>> load_revocations(ObjectReader& store);

} // namespace quarry::registry
