#pragma once
// Names that are one name on Windows and macOS: refused in artifacts for Windows, and said of all others.
#include "artifact/source.hpp"
#include "base/finding.hpp"
#include "tar/paths.hpp"

namespace quarry::artifact {

/// Whether `place` names a run of Windows: `42-windows`, `42-windows/tarballs/`, `s3://bucket/42-windows`.
bool names_windows(std::string_view place);
tar::CaseRule case_rule_of(const SourceItem& item);
/// Adds the note T013 about the pairs of one artifact, if there are any.
void note_case_pairs(const tar::CasePairs& pairs, const std::string& place, Findings& findings);

} // namespace quarry::artifact
