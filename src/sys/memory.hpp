#pragma once
// Memory for large buffers that are filled once and again.
#include <cstddef>
#include <memory>

namespace quarry::sys {

struct FreeBytes {
  void operator()(std::byte* bytes) const;
};
using Bytes = std::unique_ptr<std::byte[], FreeBytes>;

/// Not initialised. From 2 MiB on in huge pages, where the kernel gives them when it is asked: of a download with four
/// blocks of 8 MiB on their way, ordinary pages cost 10,000 faults. Out of memory: std::bad_alloc, as `new`.
Bytes allocate_bytes(std::size_t size);

} // namespace quarry::sys
