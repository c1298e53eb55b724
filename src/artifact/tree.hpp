#pragma once
// What an artifact holds, as ropes, without unpacking it: the files of an exploded directory, or the members of an
// archive at their places in its uncompressed stream.
#include "artifact/catalogue.hpp"
#include "base/result.hpp"
#include "codec/frames.hpp"
#include "content/rope.hpp"
#include "sys/tree.hpp"
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace quarry::artifact {

struct TreeFile {
  std::string path; ///< below its base directory
  sys::EntryType type = sys::EntryType::file;
  std::uint64_t size = 0;
  bool executable = false;
  std::string link;   ///< raw text of a symlink
  content::Rope data; ///< of a file
  std::string place;  ///< where it lies, for messages: a path, or "a_lib_generic.tar.zst!base/lib/x"
};

struct TreeOptions {
  unsigned workers = 1;
  bool allow_unverified = false; ///< archives without a checksum file
  std::uint64_t max_ratio = 60;  ///< see UnpackOptions
  /// An existing directory with room for what archives hold that can only be read from the front (one endless frame):
  /// it goes there once, into a file that has no name.
  std::string spool_directory = {};
  std::function<void(std::uint64_t)> on_bytes = {}; ///< archive bytes read since the last call; one call at a time
};

/// Thread-safe. Ropes of archives share one cache of decoded frames (64 MiB).
class TreeReader {
public:
  explicit TreeReader(TreeOptions options);
  /// Directories, files and links below the bases, in the manifest's and then bytewise order. corrupt A008 for what
  /// lies outside of them, T009 for anything else.
  Result<std::vector<TreeFile>> read(const ExplodedArtifact& artifact) const;
  /// The same checks as a fetch (A007, A008, A010, A012, T0xx), but that an archive with the right checksum, of frames
  /// that can be read at any place, is not decoded in full: a damaged frame then fails the read that wants it (T002).
  Result<std::vector<TreeFile>> read(const ArchivedArtifact& artifact) const;

private:
  TreeOptions options_;
  std::shared_ptr<std::mutex> mutex_; // of on_bytes
  std::shared_ptr<codec::Permits> permits_;
  std::shared_ptr<codec::FrameCache> cache_;
};

} // namespace quarry::artifact
