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
  registry::PlanDigest digest; ///< sha256 of its canonical JSON, without times
  std::uint64_t bytes_to_write() const;
  std::size_t files_to_write() const;
};

/// already_exists P017 when a file of the set is of a project of this store's base index.
Result<void> refuse_names_of_the_base_index(store::ObjectStore& store, const registry::SetRecord& set);

/// Whether the channel and the directory have valid names: R016, L020. Reads nothing, so it can be asked before the
/// packages are verified.
Result<void> check_target(const Target& target);

/// The set's files get the upload time that an earlier sealed set of this directory gives them, else `now`;
/// a set of the same files that is sealed already is taken whole, so that publishing twice gives the same digest.
/// already_exists P004 when a name is published with other bytes here, or R018 in the channel: both digests are named;
/// P017 for a project of the base index; P016 when the directory has another version of a project, unless the target
/// allows several. Other bytes that no seal names and that are old enough are replaced, which the
/// plan notes (P081).
Result<Plan> make_plan(store::ObjectStore& store, const Target& target, Collected collected, const sys::Timestamp& now);

/// The same for files that are in the store already, at `directory` (set adopt). `files` carry their keys.
Result<Plan> plan_adoption(store::ObjectStore& store, const std::string& directory, registry::Origin origin,
                           std::vector<PlannedFile> files, const sys::Timestamp& now);

} // namespace quarry::publish
