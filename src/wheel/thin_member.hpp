#pragma once
// What thinning does with one file of a wheel.
#include "base/result.hpp"
#include "content/rope.hpp"
#include "content/spool.hpp"
#include "zip/writer.hpp"
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::wheel {

struct ThinRules {
  std::vector<std::string> devices; ///< processors, such as "gfx942": code that serves one of them stays
  bool keep_loose_files = false;    ///< keep files that are for one target as a whole
  std::string spool_directory;      ///< must exist, with room for what is decompressed
};

/// The code objects of one target (with its features).
struct TargetCode {
  std::string target;
  std::uint64_t objects = 0, bytes = 0;                 ///< before
  std::uint64_t removed_objects = 0, removed_bytes = 0; ///< of these
  bool asked = true;                                    ///< it serves a device that was asked for, or is not known
};
using CodeByTarget = std::map<std::string, TargetCode>;
void add_code(CodeByTarget& into, const CodeByTarget& more);

struct MemberLook {
  bool dropped = false;                                  ///< the file leaves the wheel
  std::optional<content::Rope> thinned;                  ///< the new content, if it changes
  std::shared_ptr<const zip::OldStream> old_stream = {}; ///< what is packed already of `thinned`; may be null
  CodeByTarget code;                ///< of what was read: files that are dropped by their path are not
  std::set<std::string> processors; ///< whose code it has; of a file that its path drops, the one that it names
  std::set<std::string> by_path;    ///< whose kernels it has by its path, in a format that is not read
  std::vector<std::string> left;    ///< why code stays that nobody asked for
};

/// What the path alone says: a file for a target that nobody asked for is dropped and need not be read. Static
/// libraries are not: build files name them. Pure.
MemberLook look_at_path(const std::string& path, const ThinRules& rules);

/// What becomes of the file. `spool` gets bundles that were compressed again, and the result reads from it. Errors and
/// costs of gpu::thin(); a file that holds no code costs one read of a few bytes.
Result<MemberLook> thin_member(const std::string& path, const content::Rope& content, const ThinRules& rules,
                               const std::shared_ptr<content::Spool>& spool);

/// Counts a file that its path drops as code for the target in its path, if it begins like device code: `head` is its
/// beginning, of 24 bytes or more unless it is shorter. Pure.
void count_dropped(const std::string& path, MemberLook& look, std::string_view head);

/// Whose code the files have, as `gpu list` counts (G103): paths count where no code for AMD's GPUs is read.
std::set<std::string> processors_of(std::span<const MemberLook> looks);

/// The processors of `devices` that no code serves. Code for a processor that is not known may serve any; that of
/// another maker serves none.
std::vector<std::string> unserved(const std::vector<std::string>& devices, const std::set<std::string>& processors);

} // namespace quarry::wheel
