#pragma once
// What thinning does with one file of a wheel.
#include "base/result.hpp"
#include "content/rope.hpp"
#include "content/spool.hpp"
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
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
  bool dropped = false;                 ///< the file leaves the wheel
  std::optional<content::Rope> thinned; ///< the new content, if it changes
  CodeByTarget code;                    ///< of what was read: files that are dropped by their path are not
  /// Whose code it has, as `gpu list` counts: a file of kernels that is not read counts by its path.
  std::set<std::string> processors;
  std::vector<std::string> left; ///< why code stays that nobody asked for
};

/// What the path alone says: a file for a target that nobody asked for is dropped and need not be read. Static
/// libraries are not: build files name them. Pure.
MemberLook look_at_path(const std::string& path, const ThinRules& rules);

/// What becomes of the file. `spool` gets bundles that were compressed again, and the result reads from it. Errors and
/// costs of gpu::thin(); a file that holds no code costs one read of a few bytes.
Result<MemberLook> thin_member(const std::string& path, const content::Rope& content, const ThinRules& rules,
                               const std::shared_ptr<content::Spool>& spool);

/// The processors of `devices` that no code serves. Code for a processor that is not known may serve any; that of
/// another maker serves none.
std::vector<std::string> unserved(const std::vector<std::string>& devices, const std::set<std::string>& processors);

} // namespace quarry::wheel
