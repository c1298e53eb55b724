#pragma once
// The walk of `test`: prove what is installed, run the suite under a deadline, prove it again, and write evidence that
// is bound to the sha256 of each file. Errors: X001 … X005, X017, V0xx.
#include "base/result.hpp"
#include "registry/records.hpp"
#include "store/object_store.hpp"
#include "sys/clock.hpp"
#include "trial/suite.hpp"
#include "venv/environment.hpp"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace quarry::trial {

constexpr const char* k_packaged_suite =
    "rocm-sdk"; ///< the tests inside the packages; nobody else's command may use the name
constexpr std::uint64_t k_deadline_default_ms = 3'600'000; ///< the packaged tests take a minute; an hour is a hang

struct TrialOptions {
  std::string directory; ///< of the environment
  std::string locator;   ///< --from; empty: the receipt's
  std::string family;    ///< empty: that of the installed libraries
  std::string framework;
  std::string backend; ///< "cpu": the tests use no GPU, and the result counts for no GPU family; empty: a GPU
  std::string suite;   ///< empty: rocm-sdk, or "command" with a command
  std::vector<std::string> command;          ///< empty: the packaged suite, or `definition`
  std::optional<SuiteDefinition> definition; ///< of `suite`, without a command
  std::optional<registry::Shard> shard;      ///< the part of `definition` to run; nullopt: all of it
  venv::PassedNames passed;                  ///< variables that the suite gets besides those of the list
  std::string junit; ///< the file that the command writes; one that it leaves unchanged does not count
  std::uint64_t deadline_ms = k_deadline_default_ms;
  unsigned workers = 1;
  std::string quarry_version;
  std::optional<registry::Identity> identity;               ///< of this job
  bool keep_only = false;                                   ///< keep it there, and store nothing
  std::string keep_in = ".";                                ///< a directory for evidence that the store refuses
  std::function<void(std::string_view)> on_note, on_output; ///< one line each; may be empty
};

struct TrialOutcome {
  std::string kept; ///< the file, with keep_only
  registry::EvidenceRecord evidence;
  registry::EvidenceDigest digest;
  int exit_code = 0; ///< 0 passed, 1 failed or error, 124 deadline
};

/// A test that fails is an outcome with evidence, not an error. Errors leave no evidence: not_found X001 (no receipt
/// and no --from), V0xx (the environment is not what was installed, before or after the run), invalid_argument X002
/// (family unclear), X003 (suite name), unsupported X028 (the suite needs a GPU). A store that cannot take evidence is
/// told before the suite runs; if it fails afterwards, the evidence is kept as files (kept.hpp), which the error names.
Result<TrialOutcome> run_trial(const TrialOptions& options, store::ObjectStore& store, const venv::Variables& variables,
                               const sys::Clock& clock);

} // namespace quarry::trial
