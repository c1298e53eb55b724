#pragma once
// The sets that are released together (docs/formats/releases.md): `releases/{digest}.json`, immutable. A release holds
// no time and no name of a person, so that equal releases have one digest.
#include "base/platform.hpp"
#include "base/result.hpp"
#include "registry/registry.hpp"
#include <string>
#include <vector>

namespace quarry::registry {

/// What the release must bring in addition to what the policy expects. Empty lists expect nothing. Families, Pythons,
/// projects and frameworks are expected on each of the platforms. So if one of these four lists is not empty,
/// `platforms` must not be empty (else R012).
struct ExpectedParts {
  std::vector<Platform> platforms;
  std::vector<std::string> families, pythons, projects, frameworks;
  bool empty() const {
    return platforms.empty() && families.empty() && pythons.empty() && projects.empty() && frameworks.empty();
  }
};
struct ReleaseRecord {
  std::string name;            ///< what people call it, such as "7.2.0"; may be empty
  std::vector<SetDigest> sets; ///< sorted, each once, at least one
  ExpectedParts expect;
  std::string notes; ///< Markdown that people wrote; may be empty
  std::string unknown = {};
};

/// Returns the canonical bytes, without a newline at the end.
std::string to_json(const ReleaseRecord& record);
/// Cost and errors as the other records of registry.hpp. A record that load_release() could not read is not written:
/// R012.
Result<ReleaseDigest> put_release(ObjectStore& store, const ReleaseRecord& record);
Result<ReleaseRecord> load_release(ObjectReader& store, const ReleaseDigest& digest);
/// All releases, sorted by digest, as list_evidence() of registry.hpp: junk is left out and told in `skipped` (R021).
/// One listing and a read for each, sixteen at the same time.
Result<std::vector<Stored<ReleaseRecord>>> list_releases(ObjectReader& store, Findings& skipped);
/// Whether a new release may get the name. Fails with invalid_argument R025 if it is blank, or consists of 8 to 64 hex
/// digits of either case: find_release() could take it for the digest of another release. Pure.
Result<void> check_release_name(const std::string& name);
/// The release that people mean by its digest, the first 8 or more digits of it, or its name. A word of 8 to 64
/// lower-case hex digits is looked up as digits first, and as a name if no digest begins with it. A full digest is
/// returned as it is: whether it exists is not checked. Other digits cost a listing. A name costs what list_releases()
/// does. Fails with:
///   R010 not_found         no release is meant
///   R020 invalid_argument  several digests begin with the digits
///   R024 invalid_argument  several releases have the name; the details list their digests
///   R021 corrupt           a record that may have the name cannot be read
Result<ReleaseDigest> find_release(ObjectReader& store, const std::string& word);
/// The sealed sets of a release, as find_release() finds it. `files` is the union of their files, or empty if two sets
/// have one file name with different content, as the `rocm` of two families have. Fails with R005 for a set without a
/// directory, and with R010 to R014, R020, R021, R024. Costs find_release(), a read, and two requests for each set,
/// eight sets at the same time.
Result<Resolved> resolve_release(ObjectReader& store, const std::string& word);

} // namespace quarry::registry
