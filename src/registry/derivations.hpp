#pragma once
// How a set was made of another one (docs/formats/derivations.md): `derivations/{set}.json`, named by the set that was
// made. It is a claim: whoever relies on it compares the bytes (derive/prove.hpp).
#include "base/result.hpp"
#include "registry/registry.hpp"
#include <optional>
#include <string>
#include <vector>

namespace quarry::registry {

/// One file and what it was made of. Equal digests: the file was copied.
struct DerivedFile {
  std::string filename, candidate; ///< file names after and before
  Sha256 sha256, candidate_sha256;
  std::vector<std::string> changed; ///< paths in the file whose content is new
  std::string unknown = {};
};
struct DerivationRecord {                 ///< quarry.derivation/1
  SetDigest candidate;                    ///< the sealed set that it was made of
  ReleaseDigest release;                  ///< of which the candidate was a part; empty: made from a set
  std::string candidate_version, version; ///< of the SDK, before and after
  std::vector<DerivedFile> files;         ///< sorted by filename, each once, at least one
  std::string unknown = {};
};

std::string derivation_key(const SetDigest& set);
/// Returns the canonical bytes, without a newline at the end.
std::string to_json(const DerivationRecord& record);
/// Fails with B002 to B004, or corrupt (R012).
Result<DerivationRecord> parse_derivation(std::string_view text);
/// Writes the bytes of a record as that of `set`. They are not checked: give it to_json() of a valid record. If the
/// stored record differs only in `release`, the stored one stays and the call succeeds. Fails with already_exists
/// (R009) if the set has another one; with R007 if these bytes or the stored ones are too long; and as
/// store::put_once(). Costs one read if the stored record stays, else a read and a write. If the write finds that a
/// record exists, the call costs up to two more reads.
Result<void> put_derivation(ObjectStore& store, const SetDigest& set, const std::string& bytes);
/// nullopt: the set was not made of another one. One request. Fails as parse_derivation() does, and with R007.
Result<std::optional<DerivationRecord>> load_derivation(ObjectReader& store, const SetDigest& set);

} // namespace quarry::registry
