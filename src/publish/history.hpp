#pragma once
// Taking over what another tool published: a plan that looks at each file by ranges, then a move of its own. What is
// taken over is untested history (registry/history.hpp). No file is moved or changed.
#include "base/finding.hpp"
#include "registry/history.hpp"
#include "store/object_store.hpp"
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace quarry::publish {

struct HistoryOptions {
  unsigned transfers = 4;
  std::string temporary = "/tmp";       ///< where source distributions are put for as long as they are read
  std::vector<std::string> let_go = {}; ///< names of files or projects whose links may be lost (`--replace`)
  bool let_go_elsewhere = false;        ///< other directories have a say, too: a name of `let_go` may fit nothing here
  bool all = false;                     ///< also what no page links to, in a directory that has our pointer
  bool keep_notes = false;              ///< note what was looked at, so that a killed run is resumed
  std::function<void(std::uint64_t files)> on_progress = {}; ///< files looked at so far; by one thread at a time
  bool hash_bytes = false; ///< of check_distribution(): as DistributeOptions (distribute.hpp)
};

/// What would be taken over in one directory.
struct HistoryPlan {
  std::string directory;
  std::vector<registry::HistoryFile> files;    ///< sorted by filename
  std::map<std::string, std::string> sidecars; ///< by filename: METADATA of wheels that have no metadata file yet
  std::vector<std::string> let_go;             ///< packages whose links are lost, because `--replace` names them
  std::set<std::string> used;                  ///< names of HistoryOptions::let_go that fit something here
  std::size_t noted = 0;                       ///< files that an earlier run has looked at
  Findings notes;                              ///< P112, P117, P124, P126
  std::uint64_t bytes() const;
  bool empty() const; ///< nothing is taken over, given up or to be said
};

/// By directory.
using Histories = std::map<std::string, HistoryPlan>;

/// What our pages in the directory will show besides.
struct Planned {
  std::string directory;
  std::vector<store::ObjectInfo> objects = {}; ///< all below the directory
  std::vector<registry::FileRecord> files = {};
  /// Protected channels feed the directory: what another tool has put there since is a note (P124) and is left out,
  /// until somebody answers for it with `set adopt`.
  bool guarded = false;
};

/// Packages that a move may leave out.
struct GivenUp {
  const std::vector<std::string>& now;     ///< by `--replace`: names of files or projects
  const std::vector<std::string>& earlier; ///< by the records of what was taken over: names of files
  /// Whether `now` names the package; its word goes to `used`. Pure.
  bool is_now(const std::string& name, std::set<std::string>& used) const;
  bool was_earlier(const std::string& name) const;
};

/// Looks at every package that unshown_packages() (foreign.hpp) finds in the directory: the end of its archive, the
/// central directory and METADATA of a wheel; all of a source distribution. Fails with already_exists P090 if one of
/// them cannot be taken over and `let_go` does not name it: it lies elsewhere, its container is broken, or its name and
/// METADATA differ. What was taken over earlier and has changed is a note (P117). What the distribution blocks is left
/// out (P126). In a guarded directory nothing is looked at or taken over. precondition_failed P111 if a file disappears
/// meanwhile. Costs one request for each page, four for each wheel, and at most 256 KiB of each wheel besides its
/// central directory.
Result<HistoryPlan> plan_history(store::ObjectStore& target, const Planned& planned, const HistoryOptions& options);

/// invalid_argument P110 if `let_go` names something that none of the plans would lose or has lost: a mistyped name
/// must not look like a decision. `where`: the place, for people. Pure.
Result<void> refuse_unused(const std::vector<std::string>& let_go, const std::set<std::string>& used,
                           const std::string& where);

/// Whether packages lie in a directory outside a run, flat or in directories of their projects. A listing of the
/// directory, and one of each project until a package is found.
Result<bool> holds_packages(store::ObjectReader& target, const std::string& directory);

struct HistoryMove {
  sys::Timestamp now;
  std::string who, why, tool;
  unsigned transfers = 4;
};
/// Writes the metadata files that are missing, then the record. Fails with precondition_failed P111, before anything
/// is written, if a file was replaced or removed since the plan. Writes no page. One listing, a write for each metadata
/// file, and one more. Returns the digest of the record; empty if nothing is to be taken over.
Result<registry::HistoryDigest> take_over(store::ObjectStore& target, const HistoryPlan& plan, const HistoryMove& move);

/// Makes the directory a distribution, then writes its pages and those of its merged index. Returns warnings P050 and
/// P113. Fails as project_distribution() and merge_directory() of the pages room do.
Result<Findings> show_directory(store::ObjectStore& target, const std::string& directory);

} // namespace quarry::publish
