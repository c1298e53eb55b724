#pragma once
// Private to the room.
// Ends what a child has started, also daemons, which leave its process group (setsid) and their parent.
#include "base/result.hpp"
#include <set>
#include <sys/types.h>

namespace quarry::sys {

/// While it lives, orphans among the descendants of this process become its children (PR_SET_CHILD_SUBREAPER). Children
/// that were there before, such as those of a shell that was replaced by this program, are left alone. One at a time,
/// and no other thread may have children meanwhile: they would be taken for the child's.
class Descendants {
public:
  /// Before the child is started. permission_denied D017 without /proc or on a kernel that cannot do it.
  static Result<Descendants> adopt();
  Descendants(Descendants&& other) noexcept;
  Descendants& operator=(Descendants&&) = delete;
  ~Descendants();

  /// Collects orphans that have ended, but not `child`, which its parent waits for.
  void collect(pid_t child) const;
  /// After the child has ended and was waited for: kills all descendants until there are none, also those that they
  /// start meanwhile. One that hangs in a driver with SIGKILL pending counts as ended: it runs no code of its own any
  /// more. permission_denied D018 if others are left after 30 seconds, or may not be killed. Reads /proc a few times.
  Result<void> end() const;

private:
  Descendants(std::set<pid_t> spared, bool restore) : spared_(std::move(spared)), restore_(restore) {}
  std::set<pid_t> spared_; ///< children that were there before
  bool restore_ = false;   ///< whether this object made the process a subreaper
};

} // namespace quarry::sys
