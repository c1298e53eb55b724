#pragma once
// Copying a file's bytes inside the kernel where it can (reflink or copy_file_range(2)), else through a buffer.
#include "sys/file.hpp"

namespace quarry::sys {

/// Writes all of `from` to `into` from offset 0 on. Returns the bytes copied.
Result<std::uint64_t> copy_content(const File& from, const File& into);

} // namespace quarry::sys
