#pragma once
// Private to the room.
// What thinning does with each member of a wheel.
#include "content/rope.hpp"
#include "dist/metadata.hpp"
#include "gpu/contents.hpp"
#include "wheel/opened.hpp"
#include "wheel/thin.hpp"
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace quarry::wheel {

using CodeByTarget = std::map<std::string, TargetCode>;

struct MemberLook {
  bool dropped = false;
  std::optional<content::Rope> thinned; ///< the new content, if it changes
  CodeByTarget code;                    ///< of what was read: files that are dropped by their path are not
  std::set<std::string> processors;     ///< whose code it has, also by its path
  std::vector<std::string> left;        ///< why code stays that nobody asked for
};

/// One for each member, in their order. Reads those that may hold device code, on several threads. Fails as thin()
/// does.
Result<std::vector<MemberLook>> look_at_members(const Opened& wheel, const std::vector<dist::RecordRow>& record,
                                                const ThinOptions& options);

} // namespace quarry::wheel
