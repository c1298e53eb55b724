#pragma once
// What the kernel below this process answers to the newer system calls. An old kernel has no such call; a container's
// filter (seccomp) may refuse it. Both are handled where the calls are made; here a person is told which way is taken.
#include <string>
#include <vector>

namespace quarry::sys {

struct KernelFeature {
  std::string name; ///< "openat2"
  bool works = false;
  std::string answer;  ///< "Function not implemented"; empty when it works
  std::string instead; ///< what is done without it: "one openat for each component of a path"
};

/// Makes each call once: openat2, statx, memfd_create, copy_file_range. Leaves nothing behind; cannot fail.
std::vector<KernelFeature> kernel_features();

std::string c_library(); ///< that runs, not that was built against: "glibc 2.36"

} // namespace quarry::sys
