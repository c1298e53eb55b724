#pragma once
// Private to the room.
// The files of an upload: archives once and for all, logs and manifests as they are now.
#include "artifact/upload.hpp"
#include "base/finding.hpp"
#include "base/result.hpp"
#include "store/object_store.hpp"
#include <map>
#include <string>
#include <vector>

namespace quarry::artifact {

/// Cache-control of objects that change: a page is right a minute after the last upload.
inline constexpr std::string_view k_short = "public, max-age=60";

/// Where an upload goes. Does not change while it runs.
struct UploadPlace {
  store::ObjectStore& store;
  std::string prefix;      ///< of the run: "42-linux/"
  bool conditional = true; ///< the store evaluates preconditions
};

using Sizes = std::map<std::string, std::uint64_t>; ///< of objects by key

struct UploadedFiles {
  std::vector<Uploaded> files; ///< in the order of the outputs
  Findings findings;           ///< A043
  std::uint64_t writes = 0;    ///< objects
};

/// Fails with already_exists R009 if the run has an archive or tarball of this name with other bytes: asked before the
/// first write, so that the run stays what it is. One read for each archive that the run has.
Result<void> check_archives(const UploadPlace& place, const Outputs& outputs, const Sizes& before, unsigned at_once);

/// Puts every file in its place, several at a time. `before`: what stood below the prefix. Errors as upload_outputs().
Result<UploadedFiles> upload_files(const UploadPlace& place, const Outputs& outputs, const UploadRequest& request,
                                   const Sizes& before);

} // namespace quarry::artifact
