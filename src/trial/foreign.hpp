#pragma once
// `evidence record`: the report of `rocm-sdk test --json` from a machine where Quarry did not run, such as a Windows
// job, bound to the published files it is about. What that machine says of itself is believed; which files it had is
// proven from their digests, as far as its word goes. The record says that it was reported.
#include "base/data_text.hpp"
#include "base/platform.hpp"
#include "registry/records.hpp"
#include "store/object_store.hpp"
#include "trial/report.hpp"
#include "venv/claims.hpp"
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::trial {

constexpr std::size_t k_distributions_max = 10'000; ///< of one environment; large ones have 500

/// The whole of a report (docs/formats/test-report.md). Untrusted.
struct ForeignReport {
  Report tests;
  std::vector<venv::Claim> claims; ///< the release's packages
  std::vector<venv::OtherDistribution> others;
  Platform platform;
  std::string python, family;                 ///< "3.12.4", "gfx110X-all"
  std::map<std::string, std::string> machine; ///< facts as evidence has them
  registry::Timestamp started, ended;
};
/// corrupt X012 (not a report), X013 (it lacks what evidence needs), X014 (some tests only).
Result<ForeignReport> parse_foreign_report(NamedText named);

struct RecordOptions {
  std::string report;     ///< a file
  std::string locator;    ///< --from: what the machine installed from
  std::string family;     ///< empty: the report's
  std::string framework;  ///< the framework tested, one of the installed projects; empty: none
  std::string backend;    ///< "cpu": the tests used no GPU; empty: a GPU
  std::string job_result; ///< of the job that made it (check_job); empty: not known
  std::string quarry_version;
  std::optional<registry::Identity> identity; ///< of the job that records
  std::string directory;                      ///< on this machine, for packages of a store that is elsewhere
  unsigned workers = 1;
  std::int64_t now_us = 0; ///< for check_time(); 0: not compared
};

struct Recorded {
  registry::EvidenceRecord evidence;
  registry::EvidenceDigest digest;
};

/// Whether the result can be that of a job which GitHub says has ended so: `success`, `failure`, `cancelled` or
/// `skipped`. What passes ends with success; a job that did not may have been told so by what it tested. Empty: not
/// known. corrupt X023. Pure.
Result<void> check_job(const registry::EvidenceRecord& evidence, const std::string& job_result);

/// Whether the result ended more than five minutes after it was stored, in microseconds since 1970 by the clock of
/// whoever stored it: no gate counts such a pass, and a failure counts from the time it was stored. The text says by
/// how much. Empty if not. Pure.
std::string ahead_of(const registry::EvidenceRecord& evidence, std::int64_t stored_us);
/// Refuses a pass that ended more than five minutes after `now_us`: corrupt X032. 0: not compared. Pure.
Result<void> check_time(const registry::EvidenceRecord& evidence, std::int64_t now_us);

/// The report becomes the log of the record. The same report again is the same record. Errors: X002, X012 … X015, X017,
/// X023, X031, X032, V035 (not the files of the source), and nothing is written.
Result<Recorded> record_report(const RecordOptions& options, store::ObjectStore& store);

} // namespace quarry::trial
