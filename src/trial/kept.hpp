#pragma once
// Evidence that could not be stored, kept as two files until `quarry evidence record --kept` stores it: an hour of a
// GPU machine is not lost because of a role or a network.
#include "base/result.hpp"
#include "registry/records.hpp"
#include "store/object_store.hpp"
#include "trial/foreign.hpp"
#include <optional>
#include <string>

namespace quarry::trial {

/// Stores the log, then the record, whose `log` must name it, and returns the digest of the record.
Result<registry::EvidenceDigest> store_evidence(store::ObjectStore& store, const registry::EvidenceRecord& evidence,
                                                const std::string& log);

/// Writes the files `quarry-evidence-{digits}.json` (the record) and `….txt` (its log) into `directory`, which exists,
/// and returns the path of the first.
Result<std::string> keep_evidence(const std::string& directory, const registry::EvidenceRecord& evidence,
                                  const std::string& log);

/// store_evidence(), or where that fails keep_evidence(). The error is then that of the store, and its hint the command
/// that stores the files.
Result<registry::EvidenceDigest> store_or_keep(store::ObjectStore& store, const std::string& directory,
                                               const registry::EvidenceRecord& evidence, const std::string& log);

/// What kept evidence must be about: a job without a token may have been told lies by what it tested.
struct About {
  std::string locator = {};                ///< of sealed sets, such as run:42-linux; empty: any
  std::string family = {};                 ///< empty: any
  std::string framework = {};              ///< empty: any
  std::optional<std::string> backend = {}; ///< of the cell: "cpu", or empty for a GPU; nullopt: any
  std::string job_result = {};             ///< of the job that kept it (check_job in foreign.hpp); empty: not known
  std::int64_t now_us = 0;                 ///< for check_time() in foreign.hpp; 0: not compared
};
/// Stores what was kept; `file` is the record. corrupt X016: it is not such a record, its counts are not those of its
/// rows, or the log beside it is missing or another one; corrupt X022: its name is that of another record; corrupt
/// X021: it is about other sets, or another family, framework or backend; corrupt X023: the job did not succeed;
/// corrupt X032: its time is in the future. Also fails as venv::find_source() does.
Result<Recorded> record_kept(const std::string& file, const About& about, store::ObjectStore& store);

} // namespace quarry::trial
