#pragma once
// Private to the room.
// One offload bundle, plain or compressed.
#include "base/result.hpp"
#include "content/rope.hpp"
#include "gpu/contents.hpp"
#include "gpu/unpack.hpp"
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::gpu {

constexpr std::string_view k_bundle_magic = "__CLANG_OFFLOAD_BUNDLE__", k_compressed_magic = "CCOB";
/// Each linked bundle begins at a multiple in memory. So it does in an ELF file; in a Windows DLL the file's places are
/// others, but two bundles of a section are as far from each other.
constexpr std::uint64_t k_bundle_align = 4096;
constexpr std::size_t k_entries_max = 4096;   ///< of a bundle; LLVM knows about 70 processors
constexpr std::size_t k_id_max = 1024;        ///< bytes of an entry's id; the longest real one has 60
constexpr std::size_t k_table_max = 1u << 20; ///< bytes of a bundle's table

struct Entry {
  std::string id;
  std::uint64_t offset = 0, size = 0; ///< from the beginning of the plain bundle
  std::string head;                   ///< its first bytes, at most k_elf_head_bytes
};

struct Bundle {
  Container container = Container::bundle;
  std::vector<Entry> entries;
  std::uint64_t begin = 0, end = 0; ///< in the file
  std::uint64_t limit = 0;          ///< where its section or file ends
};

/// Where the bundle behind this one may begin: the end of the last page that it takes, counted from its beginning.
std::uint64_t page_end(const Bundle& bundle);

struct Table {
  std::vector<Entry> entries;
  std::size_t bytes = 0; ///< from the beginning of the bundle to the end of the table
};

/// How much may be decompressed: some times the packed bytes that were seen so far. A bundle that promises more stops
/// the reading of its file's compressed bundles.
struct Budget {
  std::uint64_t packed = 0, unpacked = 0;
  bool allows(std::uint64_t more) const;
};

/// CCOB: magic, u16 version, u16 method; then the sizes and 8 bytes of a hash.
struct CompressedHeader {
  std::uint16_t version = 0;
  std::size_t bytes = 0;
  std::uint64_t total = 0; ///< with this header; 0: version 1 does not say
  std::uint64_t unpacked = 0;
  Method method = Method::zstd;
};
/// `bytes` begins with the magic. Fails with corrupt (G101) or unsupported (G102).
Result<CompressedHeader> parse_compressed(std::string_view bytes);

/// The bundle that begins at `begin` of `file` and must end before `limit`. `front` holds its first bytes, at least a
/// page if there are as many: the table of 30 entries has 2 kB. Heads of plain bundles are left empty: the caller
/// fetches them. Fails with corrupt (G101) or unsupported (G102).
Result<Bundle> read_bundle(const content::Rope& file, std::uint64_t begin, std::uint64_t limit, std::string front,
                           Budget& budget);

/// The table at the beginning of `bytes`. Returns nullopt if it continues behind them. Fails with corrupt (G101).
/// `limit`: the size of the whole bundle.
Result<std::optional<Table>> parse_table(std::string_view bytes, std::uint64_t limit);

[[nodiscard]] Unexpected damaged(std::string message);
[[nodiscard]] Unexpected unknown_form(std::string message);

/// Up to `wanted` bytes at `at`, fewer at the end of the file.
Result<std::string> bytes_at(const content::Rope& file, std::uint64_t at, std::uint64_t wanted);

template <class T> T value_in(std::string_view bytes, std::size_t at) {
  T value{};
  for (std::size_t i = 0; i < sizeof(T); ++i)
    value |= static_cast<T>(static_cast<T>(static_cast<unsigned char>(bytes[at + i])) << (8 * i));
  return value;
}

} // namespace quarry::gpu
