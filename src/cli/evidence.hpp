#pragma once
// Records of evidence for people and for programs; shared by `test` and the commands of `evidence`.
#include "base/json.hpp"
#include "cli/command.hpp"
#include "cli/table.hpp"
#include "registry/records.hpp"
#include "store/object_store.hpp"
#include <string>
#include <string_view>
#include <vector>

namespace quarry::cli {

/// "20 passed, 1 failed, 2 skipped"
std::string counts_text(const registry::EvidenceRecord& evidence);
/// "smoke", or "smoke (shard 2 of 4)".
std::string suite_text(const registry::EvidenceRecord& evidence);
Tone outcome_tone_of(const registry::Outcome& result);
/// The fields that `test`, `evidence record` and `evidence list` give for a record.
Json test_summary(const registry::EvidenceRecord& evidence, const std::string& digest);
/// The tests of these outcomes, a line each with the first line of their message; twenty at most.
std::string rows_text(const registry::EvidenceRecord& evidence, const std::vector<registry::Outcome>& outcomes,
                      Look look);
/// The same of what failed or could not be run.
std::string failures_text(const registry::EvidenceRecord& evidence, Look look);

/// Warns (X032) if the record says a time that was not there yet when the store got it. Says nothing if the store does
/// not tell when that was. One request.
void warn_of_clock(Context& context, store::ObjectReader& store, const registry::EvidenceRecord& evidence,
                   const registry::EvidenceDigest& digest);

/// What was recorded, and the schema of the command's document.
struct RecordedEvidence {
  const registry::EvidenceRecord& evidence;
  const std::string digest, store, schema; ///< store: of `--store`
};
/// Failures, digest and log; the document; and the next command if it did not pass.
void say_recorded(Context& context, const RecordedEvidence& recorded);

} // namespace quarry::cli
