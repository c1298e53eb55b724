#pragma once
// What a run of CI builds and tests on both platforms, from its event, the labels of its pull request, what changed and
// what somebody asked for. Pure: the same inputs give the same answer. Errors: F003 … F006, F031, and F032 for a word
// that none of this knows.
#include "matrix/expand.hpp"
#include "matrix/frameworks.hpp"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace quarry::matrix {

struct CiAsked {
  std::vector<std::string> families; ///< keys or names; "all", "none"; empty: what the event runs
  std::vector<std::string> tests;    ///< labels such as "test:rocblas"
};

struct CiInputs {
  std::string event; ///< pull_request, push, schedule, workflow_dispatch
  std::string release_type = "ci", variant = "release";
  std::string seed;                ///< chooses among weighted runners; empty: the heaviest
  std::string python;              ///< for the wheels of frameworks; empty: those of the release type
  std::vector<std::string> labels; ///< of the pull request
  CiAsked linux, windows;
  bool python_packages = true, pytorch = true, jax = false;
};

/// What changed against the event's base.
struct CiChanges {
  std::vector<std::string> files, submodules; ///< paths; of the repository's submodules
  std::vector<std::string> workflows;         ///< file names of the workflows that CI consists of
  bool may_skip = true;                       ///< false: CI runs whatever files changed
};

struct CiFamily {
  const Family* family = nullptr;
  const Place* place = nullptr;
  std::string runner;          ///< the label of its machine; empty: not tested
  std::string untested;        ///< why not; empty where it is
  bool any_of_runners = false; ///< each job may choose among the place's runners
};

/// A test of the Python packages.
struct PackageTest {
  const CiFamily* family = nullptr;
  std::string runner, python;
  Environment environment;
};

struct CiBuild {
  Platform platform;
  const Variant* variant = nullptr;
  std::string runner;
  std::vector<CiFamily> families; ///< never empty
  std::vector<FrameworkRow> pytorch, jax;
  bool python_packages = true;
};

struct CiRun {
  bool enabled = true;
  std::string skipped;                ///< why nothing runs
  std::string test_type, test_reason; ///< quick, standard, comprehensive, full
  std::vector<std::string> linux_tests, windows_tests;
  std::vector<CiBuild> builds;    ///< of the platforms that build something; linux, then windows
  std::vector<std::string> notes; ///< sentences: what was asked for and is not built
};

/// The result points into `families`. Without `changes` nothing is known about them.
Result<CiRun> plan_ci(const Families& families, const Frameworks& frameworks, const CiInputs& inputs,
                      const std::optional<CiChanges>& changes);

/// One for each tested family, Python and environment of the platform. Points into `build`.
std::vector<PackageTest> package_tests(const Frameworks& frameworks, const CiBuild& build, const std::string& seed);

} // namespace quarry::matrix
