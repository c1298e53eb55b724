#pragma once
// Private to the room.
// The devel tree: everything of an SDK that the runtime packages do not hold, and links to what they do hold.
#include "base/finding.hpp"
#include "content/rope.hpp"
#include "sdk/populate.hpp"
#include "sdk/view.hpp"
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::sdk {

/// A link's target as the runtime unpacks it (python/rocm/src/rocm_sdk/_payload.py): `..` first, then names, at least
/// one, inside site-packages. `target` is kept where it is that already but for `.` and repeated or last slashes; else
/// the shortest way to `end`, the path in the tree that the kernel would find.
std::string plain_target(const std::string& link, const std::string& target, const std::string& end);

/// From a path of one package's tree to the same path in a sibling's: up to site-packages, then down into `platform`.
std::string into_sibling(const std::string& path, std::string_view platform);

struct RuntimeTree {
  std::string platform; ///< "_rocm_sdk_core"
  const Population* population = nullptr;
};

struct DevelTree {
  std::map<std::string, PlannedFile> files;
  std::map<std::string, std::string> links; ///< path -> relative target
  std::size_t dropped_links = 0;
  std::uint64_t bytes = 0;
};

/// For each path of the view: an alias becomes a link to its SONAME, what a runtime package owns a link into that
/// package, a link is kept when it leads somewhere inside the tree, the rest is copied (run paths as DT_RPATH, no new
/// edges).
Result<DevelTree> plan_devel(const View& view, const std::vector<RuntimeTree>& runtime, const PopulateOptions& options,
                             Findings& findings);

/// The payload as one rope: a tar with top directory `platform`, sorted, no copies of the files.
Result<content::Rope> devel_tar(const DevelTree& tree, const std::string& platform);

} // namespace quarry::sdk
