#pragma once
// Private to the room.
// Parses the bytes of records. Other rooms get these records from functions such as load_release().
#include "base/data_text.hpp"
#include "registry/distributions.hpp"
#include "registry/releases.hpp"
#include <string_view>

namespace quarry::registry {

class Value; // flat_json.hpp

/// B002 to B004; corrupt R012 for a release without sets, with sets out of order, or with an empty `platforms` although
/// it expects families, Pythons, projects or frameworks.
Result<ReleaseRecord> parse_release(NamedText named);

/// Whether it is a normalised project name: a-z, 0-9 and single '-' inside it. So it may be part of a page's key. Pure.
bool is_project(const std::string& text);

/// Only whether it is a JSON object of this schema.
Result<VerdictRecord> parse_verdict_record(NamedText named);

/// B002 to B004; corrupt R012. Whether the bytes give the record's name is not checked.
Result<DistributionView> parse_distribution_view(NamedText named);
/// The same, and R011. A pointer of `quarry.distribution/1` is read as generation 1 without a recorded move.
Result<DistributionRecord> parse_distribution(NamedText named);

/// Checks the digest of a document that was parsed from `named` (own_digest.hpp). Fails with corrupt (R011) if it is
/// missing, or is not the SHA-256 of the text without this field. The text is hashed as it is: other spaces or another
/// order of the keys give another digest. Whether the text is canonical is not checked: only with_own_digest() promises
/// that.
Result<void> check_own_digest(Value document, NamedText named);

} // namespace quarry::registry
