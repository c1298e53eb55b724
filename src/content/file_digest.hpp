#pragma once
// The digest of a whole file, for those who read thousands of small ones.
#include "base/result.hpp"
#include "digest/sha256.hpp"
#include <cstdint>
#include <optional>
#include <string>

namespace quarry::content {

struct FileDigest {
  Sha256 sha256;
  std::uint64_t size = 0;
};

/// Returns the digest of the regular file at `path`, which may be reached by links; nullopt if the path does not exist
/// or leads to something else. Fails as reading a Rope::file() does, and with corrupt (D008) if the file changes
/// meanwhile; a small file that changes is read once more. A small file costs five system calls and no allocation
/// beyond the path's; sha256_of() of its rope costs seven and several allocations.
Result<std::optional<FileDigest>> digest_of_file(const std::string& path);

} // namespace quarry::content
