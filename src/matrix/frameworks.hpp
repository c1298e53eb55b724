#pragma once
// Which branches of PyTorch and JAX are built for which Python, which of their tests run where, where the Python
// packages of ROCm are tested, and which changes build nothing, as reviewed data (docs/formats/frameworks.md). A value
// once parsed; pure, thread-safe.
#include "base/data_text.hpp"
#include "base/platform.hpp"
#include "base/result.hpp"
#include <cstdint>
#include <string>
#include <vector>

namespace quarry::matrix {

struct FrameworkPythons {
  std::string framework;
  std::vector<std::string> ci, release;
};

/// A branch on one platform.
struct FrameworkBuild {
  std::string framework, ref, label, repository, device; ///< the last three may be empty
  Platform platform;
  std::vector<std::string> used_for; ///< "ci", "prerelease", "release"
  std::vector<std::string> without_families, without_pythons, untested_pythons;
};

struct FrameworkTests {
  std::string framework, size, subset, runner, list, weekday; ///< weekday: only on this day; empty: always
  std::int64_t minutes = 0;
};

/// Where the Python packages of ROCm are installed and tested: the machine itself, or a container on it.
struct Environment {
  std::string name, image; ///< image: empty on the machine itself
  Platform platform;
  std::vector<std::string> pythons;
};

struct Frameworks {
  std::string name;
  std::vector<FrameworkPythons> pythons;
  std::vector<FrameworkBuild> builds;
  std::vector<FrameworkTests> tests;
  std::vector<Environment> environments;
  std::vector<std::string> changes_build_nothing; ///< globs: a change of such files alone starts no build
  std::string ci_workflow;                        ///< name of the file in which CI begins
};

/// invalid_argument F030 (not TOML, an unknown key, a value out of its range).
Result<Frameworks> parse_frameworks(const DataText& data);

struct FrameworkRequest {
  std::string framework;
  Platform platform;
  std::string release_type;               ///< "ci", "prerelease"; all others are built as "release"
  std::vector<std::string> pythons, refs; ///< empty: those of the release type
  std::vector<std::string> families;      ///< of which each branch leaves out what it does not have
  bool other_refs = false;                ///< a branch without a row is built as it was asked for
};

struct FrameworkRow {
  std::string python;
  FrameworkBuild build;
  std::vector<std::string> families;
  bool tested = true;
};
/// By Python, then branch. invalid_argument F031 for a framework or branch without a row.
Result<std::vector<FrameworkRow>> framework_rows(const Frameworks& frameworks, const FrameworkRequest& request);

/// "Monday" … "Sunday", of a time in microseconds since 1970, UTC.
std::string weekday_of(std::int64_t us);

} // namespace quarry::matrix
