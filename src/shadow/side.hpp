#pragma once
// What one of the two runs holds.
#include "base/result.hpp"
#include "store/object_store.hpp"
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace quarry::shadow {

struct Side {
  std::shared_ptr<store::ObjectStore> store;
  std::string directory;                            ///< of the run, a key; empty: the root of the store
  std::map<std::string, store::ObjectInfo> objects; ///< by key below the directory
  std::string key(std::string_view name) const;     ///< in the store
};

/// Two runs of one build.
struct Sides {
  Side ours, theirs;
};

/// Lists the run. Fails with not_found Q501 if nothing lies there. One listing.
Result<Side> look_at_run(std::shared_ptr<store::ObjectStore> store, const std::string& directory);

/// The wheels and source distributions below `python/`, `pytorch/` and `jax/`: by directory ("python/gfx94X-dcgpu"; a
/// `dist` at its end is left out) and file name in lower case; the value is the key below the run. Directories whose
/// names begin with a dot are passed over. Pure.
using PackageDirectories = std::map<std::string, std::map<std::string, std::string>>;
PackageDirectories package_directories(const Side& side);

/// Returns the text of an object of at most 64 MiB, or nothing if it does not exist.
Result<std::optional<std::string>> text_of(const Side& side, const std::string& name);

} // namespace quarry::shadow
