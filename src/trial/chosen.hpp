#pragma once
// Private to the room.
// Which suite a test runs: the one inside the packages, a definition, or a command.
#include "base/result.hpp"
#include "sys/identity.hpp"
#include "trial/trial.hpp"
#include "venv/proof.hpp"
#include <optional>
#include <string>
#include <vector>

namespace quarry::trial {

/// What runs, and where its report is.
struct Suite {
  std::string name, digest, report; // report: a file, or empty
  bool packaged = false;
  bool printed = false; // the packaged tests write no report: it is read from what unittest prints (printed.hpp)
  std::int64_t min_passed = 1;
  std::vector<std::string> command;
  std::optional<sys::FileIdentity> old_report; // what is at `report` before the command runs
};

/// A command's digest is that of its words; the packaged tests' is that of the file that brought them; a definition has
/// its own, and its files are written below `work`. Fails with X003 (name), not_found X005 (no rocm-sdk), and D00x.
Result<Suite> choose_suite(const TrialOptions& options, const venv::Environment& environment,
                           const std::vector<venv::InstalledFile>& files, const std::string& work);

} // namespace quarry::trial
