#pragma once
// Where artifacts are taken from: a directory (of archives, exploded artifacts or both), one archive, or a run in a
// store.
#include "artifact/catalogue.hpp"
#include "content/rope.hpp"
#include "run/layout.hpp"
#include "store/object_store.hpp"
#include "sys/tree.hpp"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace quarry::artifact {

struct SourceItem {
  Name name;
  std::string file; ///< base name of the archive or exploded directory, for messages
  bool exploded = false;
  bool windows = false;        ///< known to be for Windows, where names that differ by case are one
  std::optional<Error> defect; ///< known before it is opened: its checksum file is malformed, its manifest is missing …

  codec::Compression compression = codec::Compression::zstd; // archives
  std::uint64_t size = 0;
  std::optional<Sha256> checksum;
  std::function<Result<content::Rope>()> open;

  std::string directory; // exploded
  std::vector<std::string> bases;
  /// Asks the store for what its listing did not say: size, checksum. Null: all is known. See look_up().
  std::function<Result<void>(SourceItem&)> look = {};
  /// Announced (by a checksum file, by the record of an upload), but not there; `defect` says so.
  bool absent = false;
  /// Only these entries of `directory`, and a manifest that is made from `bases`: what a descriptor takes of a build.
  std::optional<std::vector<sys::TreeEntry>> chosen = {};
};

struct Source {
  std::string description; ///< "run:42-linux in file:store", "directory a"
  std::vector<SourceItem>
      items;         ///< sorted by name; two of one name when it stands there twice: each has the defect A006
  Findings findings; ///< about names that are not those of artifacts
  std::vector<std::string> incomplete; ///< uploads that have not ended or whose build failed, as sentences
  bool remote = false;                 ///< reading waits for a network
};

/// A directory (artifacts and tarballs of whole SDKs), or one archive with its checksum file beside it; one that is
/// named may be any .tar.gz. Two archives of one artifact have the defect A006 in any case. not_found D001.
Result<Source> source_of_path(const std::string& path, Twins twins = Twins::refused);
enum class RunPart : std::uint8_t {
  artifacts, ///< directly below the run's prefix
  tarballs,  ///< whole SDKs, below its `tarballs/`
  releases,  ///< whole SDKs, directly below: a bucket or directory of releases
};
/// Where a run's outputs lie in a store.
struct RunRoot {
  std::string prefix;      ///< ends in '/', or empty: the store is the run's directory itself
  std::string description; ///< "run:42-linux in file:store"
  RunPart part = RunPart::artifacts;
  std::vector<std::string> groups = {}; ///< whose `index-{group}.html` may list artifacts where nothing else does
  bool remote = false;                  ///< reading waits for a network
};
/// One part of a run; nothing else below its prefix is looked at. Opens no archive, reads no checksum: look_up() does.
/// What is announced (by a checksum file without its archive, by the record of an upload) is an item that is absent. A
/// store that cannot be listed (a web server) must have a page of the artifacts: `index.html`, or `index-{group}.html`
/// as in February; not_found A034. Tarballs may also be listed by a page that holds their names as JSON, or by what the
/// server says of the directory.
Result<Source> source_of_root(std::shared_ptr<store::ObjectStore> store, const RunRoot& root);
Result<Source> source_of_run(std::shared_ptr<store::ObjectStore> store, const run::Layout& run,
                             RunPart part = RunPart::artifacts);

/// One archive or tarball, `file` below `root.prefix`; the part follows from its name. Fails with not_found A048 if it
/// does not exist, invalid_argument A046 if the name is neither. One head.
Result<Source> source_of_file(std::shared_ptr<store::ObjectStore> store, RunRoot root, const std::string& file);

/// Completes items, several at once. What the store refuses for one becomes its defect; fails only when cancelled.
Result<void> look_up(std::vector<SourceItem>& items, unsigned at_once);

} // namespace quarry::artifact
