#pragma once
// Private to the room.
// What the files of an installed distribution must be so that it is the wheel or sdist that a source offers.
#include "base/result.hpp"
#include "digest/sha256.hpp"
#include "venv/installed.hpp"
#include "venv/packed.hpp"
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::venv {

/// Defects of an environment, one sentence each, in the order in which they were found.
using Defects = std::vector<std::string>;
/// corrupt V031 with the first of the defects, if there are any.
Result<void> fail_on(const Defects& defects, const Environment& environment);

/// One file on the disk that must have these bytes.
struct FileCheck {
  std::string path; ///< relative to site-packages
  Sha256 sha256;
  std::optional<std::uint64_t> size;
  std::vector<Sha256> or_these = {};
};
/// Reads and hashes the files, `workers` at a time. Returns the defects in the order of their size, largest file first.
Result<Defects> run_checks(const std::string& site_packages, std::vector<FileCheck> checks, unsigned workers);

/// A distribution compared with what it should be: what is wrong already, and what is left to read.
struct Comparison {
  std::vector<FileCheck> checks;
  std::map<std::string, Sha256> proven; ///< by path: files that are proven once `checks` have passed
  /// Archives that may be missing: then their unpacked members are compared instead.
  std::vector<FileCheck> payload = {};
  Defects defects;
};

/// Has the distribution's RECORD the rows that the wheel asks for? Pure.
bool agrees(const WheelContent& wheel, const Distribution& distribution);
/// RECORD against the wheel. Rows that installers add are allowed. Pure.
Comparison compare_with_wheel(const Distribution& distribution, const WheelContent& wheel);

/// What is known of an sdist from which a wheel was built on this machine.
struct SdistContent {
  std::string filename;
  std::set<Sha256> members;               ///< digests of its files
  std::set<std::string> scripts;          ///< names that entry points of the installed distribution give
  std::set<std::string> build_notes = {}; ///< paths of those that are installed (is_build_note)
};
/// RECORD against the sdist. The wheel was built here, so its RECORD proves nothing by itself; but its files must be
/// members of the sdist. Pure.
Comparison compare_with_sdist(const Distribution& distribution, const SdistContent& sdist);

/// The one file that the build of the meta project adds to its module: which family it was built for.
/// "rocm_sdk/_install_info.py": whether it may lie at this path, relative to site-packages. Pure.
bool is_place_of_build_note(std::string_view path);
/// Is this a build note: a docstring and the assignment, nothing else? Pure.
bool is_build_note(const std::string& text);

/// Whether nothing has the name, not even a link that leads nowhere.
bool is_gone(const std::string& path);

/// A file that Python or an installer makes of a .py file.
bool is_bytecode(std::string_view path);

} // namespace quarry::venv
