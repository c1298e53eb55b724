#pragma once
// Private to the room.
// The step of `venv install` in which pip or uv runs.
#include "base/result.hpp"
#include "venv/install.hpp"
#include "venv/stage.hpp"
#include <string>
#include <vector>

namespace quarry::venv {

/// What the steps of one installation share. Does not change meanwhile.
struct InstallContext {
  const InstallOptions& options;
  const Variables& variables;
  const Environment& environment;
};

/// Lets the installer install `request` from `source`, whose files are on this machine unless it is remote. Adds
/// setuptools and wheel to the environment and tries once more if an sdist lacks them. Returns what uv chose from a
/// remote source, with digests: uv reports none when it installs, so its choice is resolved first and then installed
/// by digest. Empty otherwise. V010 to V016; V007 if a file of the source was altered, which is looked at after a
/// failure only (`verified` as in verify_files).
Result<std::vector<InstalledFile>> run_install(const InstallContext& context, const Source& source,
                                               InstallerRequest request, const Workplace& work,
                                               VerifiedPaths& verified);

} // namespace quarry::venv
