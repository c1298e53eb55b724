#pragma once
// The walk of `venv install`: find the source, verify what may be chosen, let pip or uv install from exactly that,
// prove what is there, write the receipt.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "sys/clock.hpp"
#include "venv/environment.hpp"
#include "venv/installer.hpp"
#include "venv/receipt.hpp"
#include "venv/source.hpp"
#include <functional>
#include <optional>
#include <string>

namespace quarry::venv {

struct InstallOptions {
  std::string directory;
  SourceRequest source;
  std::optional<Source> found; ///< what find_source gave for it, when the caller has asked already
  InstallerRequest installer;
  bool allow_unknown_extras = false; ///< an extra that a package does not have is a finding instead of an error
  unsigned workers = 1;
  std::string quarry_version;
  std::function<void(std::string_view)> on_note;   ///< one line for people; may be empty
  std::function<void(std::string_view)> on_output; ///< each line of the installer; may be empty
  std::function<Result<void>(std::uint64_t)> wait; ///< sleeps between tries; empty: a real pause
};

struct InstallOutcome {
  Receipt receipt;
  std::string receipt_path;
  double seconds = 0;
  Findings findings; ///< V015 where it is allowed
};

/// A failure leaves the environment as the installer left it, and never a receipt. The caller holds a lock on the
/// environment's directory, and has asked whether the channel was set back (seen.hpp). V0xx, R0xx, L0xx.
Result<InstallOutcome> install(const InstallOptions& options, const Variables& variables, const sys::Clock& clock);

} // namespace quarry::venv
