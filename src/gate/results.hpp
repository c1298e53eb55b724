#pragma once
// Private to the room.
// The results of one suite on one cell: which count, which of them decides, and what people are told. Pure.
#include "gate/count.hpp"
#include "gate/gate.hpp"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace quarry::gate {

/// What all cells are judged by.
struct Judging {
  const Policy& policy;
  const Case& input;
  const Files& allied;
};

struct Counted {
  const registry::Stored<registry::EvidenceRecord>* stored;
  std::int64_t ended_us;
  bool inherited; ///< it was made on the candidate's files
  /// The records of the shards, if this result is joined from shards; else empty.
  std::vector<const registry::Stored<registry::EvidenceRecord>*> parts = {};
  std::shared_ptr<const registry::Stored<registry::EvidenceRecord>> joined = {}; ///< owns `stored` of such a result
};
struct Refused {
  const registry::Stored<registry::EvidenceRecord>* stored;
  std::int64_t ended_us; ///< 0: not known
  std::string why;
};
struct Sorted {
  std::vector<Counted> counted; ///< oldest first; of two at once the failure is last
  std::vector<Refused> refused; ///< newest first
};

/// Whether the record says that the suite has passed, as the policy takes skipped tests.
bool is_pass(const registry::EvidenceRecord& evidence, const Policy& policy);
void put_in_order(const Policy& policy, Sorted& sorted);
/// Shards are joined.
Sorted sort_evidence(const Judging& judging, const Question& question);
/// How many of the newest results must have passed: what the suite's [[suite]] says, else [states].
std::size_t asked_passes(const Policy& policy, const SuiteRule* rule);
/// Which of the results that count decides by `flaky` and by `asked`, the number of the newest that must have passed:
/// the newest failure that holds, else the newest result. At least one result counts.
const Counted& deciding(const Policy& policy, const Sorted& sorted, std::size_t asked);

/// Says why no result counts.
std::string missing_text(const std::string& suite, const Sorted& sorted);
std::string failure_text(const registry::EvidenceRecord& evidence);
/// How many of the results that count have passed.
ResultCount count_results(const Policy& policy, const Sorted& sorted);
struct PassedOn {
  std::int64_t age_us;
  std::string on; ///< the files: "these files"
  ResultCount results;
};
/// "smoke passed on these files 2 min ago (host, 20 passed; 1 of 5 results within its age)": who tests until the suite
/// passes once does so in sight. The count is left out if all have passed.
std::string pass_text(const registry::EvidenceRecord& evidence, const PassedOn& passed);

} // namespace quarry::gate
