#include "sys/memory.hpp"

#include <cstdlib>
#include <malloc.h>
#include <new>
#include <sys/mman.h>

namespace quarry::sys {

namespace {
constexpr std::size_t k_huge_page = 2u << 20;             // of x86-64, and of ARM with pages of 4 KiB
constexpr std::size_t k_alignment = alignof(max_align_t); // of everything else
} // namespace

void FreeBytes::operator()(std::byte* bytes) const { std::free(bytes); }

Bytes allocate_bytes(std::size_t size) {
  bool huge = size >= k_huge_page;
  auto alignment = huge ? k_huge_page : k_alignment;
  auto rounded = (size + alignment - 1) / alignment * alignment;
  auto* raw = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (!raw) throw std::bad_alloc();
  if (huge) ::madvise(raw, rounded, MADV_HUGEPAGE); // a wish: without huge pages it fails, and nothing is lost
  return Bytes(static_cast<std::byte*>(raw));
}

void keep_freed_memory() {
  constexpr int k_grown_by = 64 << 20, k_never = 1 << 30, k_mapped_from = 32 << 20; // the highest that glibc accepts
  ::mallopt(M_TOP_PAD, k_grown_by);
  ::mallopt(M_TRIM_THRESHOLD, k_never);
  ::mallopt(M_MMAP_THRESHOLD, k_mapped_from);
}

} // namespace quarry::sys
