#pragma once
// GPU families as reviewed data (docs/formats/families.md): which there are, what they hold, where they are built and
// tested, from which trigger on. A value once parsed; pure, thread-safe.
#include "base/data_text.hpp"
#include "base/platform.hpp"
#include "base/result.hpp"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quarry::matrix {

/// One machine label with its share of the jobs.
struct Runner {
  std::string label;
  std::int64_t weight = 1; ///< 0: never chosen beside others
  bool operator==(const Runner&) const = default;
};
using Runners = std::vector<Runner>; ///< sorted by label

struct Target {
  std::string name, product;       ///< "gfx942", "MI300A/MI300X CDNA"
  std::vector<std::string> groups; ///< family names that it belongs to, besides its own
  bool operator==(const Target&) const = default;
};

/// A way to build: release, asan, tsan.
struct Variant {
  std::string name, suffix, preset; ///< suffix of the artifact group; CMake preset; both may be empty
  std::string build = "default";    ///< which of the platform's build runners
  /// Purposes of runners that may test it: the first that a family has is used, and none means no test.
  std::vector<std::string> test = {"test"};
  bool expected_failure = false;
  bool operator==(const Variant&) const = default;
};

/// What is tested for a family: all, sanity checks only, only in nightly runs, only full runs, only when submodules
/// move.
enum class Scope : std::uint8_t { all, sanity, nightly, full, submodule };
std::string_view to_string(Scope scope);
std::optional<Scope> parse_scope(std::string_view text);
const std::vector<std::string>& scope_names();

/// A family on one platform.
struct Place {
  Platform platform;
  std::vector<std::string> fetch;             ///< targets whose artifacts a test job needs
  std::vector<std::string> variants;          ///< names
  std::map<std::string, Runners> runners;     ///< by purpose: test, sandbox, multi-gpu, benchmark
  std::map<std::string, std::string> kernels; ///< kernel's name -> label
  Scope tests = Scope::all;
  std::vector<std::string> expected_failure; ///< "build", "pytorch"
  bool release_untested = false;             ///< releases do not wait for tests
  std::string reason;                        ///< why the exceptions above, for people
  int line = 0;
  const Runners* find(std::string_view purpose) const;
};

struct Family {
  std::string key, name, tier; ///< "gfx94x", "gfx94X-dcgpu", "presubmit"
  std::vector<Place> places;   ///< linux, then windows
  int line = 0;
  const Place* find(const Platform& platform) const;
};

struct Families {
  std::string name, file;
  std::vector<std::string> tiers;                           ///< the strongest first
  std::map<std::string, std::vector<std::string>> triggers; ///< event -> tiers; none: only families that are named
  std::vector<Target> targets;
  std::map<Platform, std::vector<Variant>> variants;
  std::map<Platform, std::map<std::string, Runners>> build_runners; ///< platform -> kind -> runners
  std::vector<Family> families;

  /// Targets of a family name, a target or a group, in the order of `targets`; empty: unknown. Case is ignored.
  std::vector<std::string> targets_of(std::string_view name) const;
  /// By key or name, without regard to case.
  const Family* find(std::string_view name) const;
  const Variant* variant(const Platform& platform, std::string_view name) const;
};

/// invalid_argument F001 (not TOML), F002 (`file:line: key: what is wrong`): an unknown key, a wrong type, a family
/// that no target belongs to, a target outside its family, an unknown tier or variant, weights that choose nobody.
Result<Families> parse_families(NamedText named);

/// The file that reads back as `families`; byte for byte the same for the same value.
std::string write_families(const Families& families);

/// Platforms and purposes that a families file may name.
const std::vector<std::string>& platform_names();
const std::vector<std::string>& purposes();

/// The label that an incumbent's single `test-runs-on` names: the heaviest, the first of equals; empty without runners.
std::string heaviest(const Runners& runners);
/// Weighted by `seed`: the same seed gives the same label, different seeds give each label its share. A single runner
/// is taken whatever it weighs.
std::string choose(const Runners& runners, std::string_view seed);

bool contains(const std::vector<std::string>& names, std::string_view name);

} // namespace quarry::matrix
