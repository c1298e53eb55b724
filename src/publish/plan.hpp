#pragma once
// What publishing a directory of packages would do, as a value: pure after the look at the directory and the store.
// Nothing is written.
#include "publish/collect.hpp"
#include "registry/registry.hpp"
#include "run/layout.hpp"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace quarry::publish {

struct Target {
  run::Layout layout;
  std::string area = "python"; ///< python, pytorch or jax
  std::string group = {};      ///< empty: directly below the area
  run::PackageForm form = run::PackageForm::quarry;
  std::string channel = {};                                         ///< empty: none
  std::string commit = {}, repository = {}, recipe = {}, tool = {}; ///< origin of the set
  /// A file that no seal names and that was written before this time may be replaced: an interrupted publish left it.
  /// 0: none is.
  std::int64_t replace_unsealed_before_us = 0;
  bool several_versions = false; ///< of one project, in this directory
};

struct PlannedFile {
  std::string path; ///< on this machine; empty: it is in the store and stays where it is
  registry::FileRecord file;
  std::string sidecar;  ///< wheels only
  bool present = false; ///< the store holds exactly these bytes
  bool hashed = true;   ///< false: the digest is that of a proof, compared when the file is stored
  bool sealed = false;  ///< under a seal of this directory: it never changes
  /// The etag of other bytes that no seal names, which are replaced.
  std::optional<std::string> replaces = {};
};

struct Plan {
  std::string directory; ///< key prefix, without the last '/'
  std::string channel;
  registry::SetRecord set;
  registry::SetDigest set_digest;
  bool sealed = false;            ///< this very set is sealed already
  std::vector<PlannedFile> files; ///< sorted by file name
  Findings notes;
  std::vector<store::ObjectInfo> seen = {}; ///< of packages that lie there already: as listed before they were read
  registry::PlanDigest digest;              ///< sha256 of its canonical JSON, without times
  std::uint64_t bytes_to_write() const;
  std::size_t files_to_write() const;
};

/// Fails with already_exists P017 if a file of the set is of a project of this store's base index. One head for each
/// project.
Result<void> refuse_names_of_the_base_index(store::ObjectReader& store, const registry::SetRecord& set);

/// Checks the names of the channel and the directory: R016, L020, and P062 for an area that does not exist for the
/// platform. Reads nothing, so it can be called before the packages are verified. Pure.
Result<void> check_target(const Target& target);

/// Returns what publishing would do. The set's files get the upload time that an earlier sealed set of this directory
/// gives them, else `now`; a set of the same files that is sealed already is taken whole, so that publishing twice
/// gives the same digest. Other bytes that no seal names and that are old enough are replaced, which the plan notes
/// (P081). Fails as check_target() does, and with
///   already_exists    P004 other bytes are published under a name here, R018 the same in the channel (both digests are
///                     named); P016 the directory has another version of a project, unless the target allows several;
///                     P017 a project of the base index
///   corrupt           P021 a sealed file was altered; R010 to R014 of a set at or below the directory
///   held              P083, R022 as refuse_guarded() (move.hpp) says; P116 retention is about to remove files here
///   invalid_argument  P062 a package does not exist for the platform; R005 a name cannot be a key
/// Costs a listing of the directory, two reads for each set at or below it, a head for each project, and reading every
/// file that exists there under one of the names. One request at a time.
Result<Plan> make_plan(store::ObjectReader& store, const Target& target, Collected collected,
                       const sys::Timestamp& now);

/// The same for files that are in the store already, at `directory` (set adopt), without a channel. `files` have their
/// keys. Several versions are allowed, and nothing is replaced.
Result<Plan> plan_adoption(store::ObjectReader& store, const std::string& directory, registry::Origin origin,
                           std::vector<PlannedFile> files, const sys::Timestamp& now);

} // namespace quarry::publish
