#pragma once
// Private to the room.
// What is tested: the files of an environment, and how they can be proven again once the suite has run.
#include "base/result.hpp"
#include "store/object_store.hpp"
#include "trial/trial.hpp"
#include "venv/environment.hpp"
#include "venv/receipt.hpp"
#include "venv/source.hpp"
#include "venv/stage.hpp"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quarry::trial {

struct Subject {
  std::vector<venv::InstalledFile> files;
  std::vector<venv::OtherDistribution> others;
  std::vector<std::string> packages; ///< what was asked for
  std::vector<registry::SetDigest> sets;
  bool sealed = false;
  std::string description;
  std::shared_ptr<venv::Workplace> work; ///< holds files of the source
  std::optional<venv::Source> source;    ///< proven against the files themselves
  std::optional<venv::Receipt> receipt;  ///< or against what was noted when they were installed
};

/// The files that `--from` names, else those of the receipt. Those of an unsealed source are compared with what
/// was noted when they were installed; if its packages unpack files and give no digest of them, as those of TheRock's
/// scripts do, with the wheels themselves, as long as these are where the receipt says. not_found X001, unsupported
/// X004, V0xx. Downloads what lies in a store that is elsewhere.
Result<Subject> find_subject(const TrialOptions& options, const venv::Environment& environment,
                             store::ObjectReader& store);
/// Whether they are still what was tested. corrupt V031.
Result<void> prove_again(const Subject& subject, const venv::Environment& environment, unsigned workers);

} // namespace quarry::trial
