#pragma once
// The device code of one file as values: which containers it has, and the code objects in them with target, place and
// size. Sources of the formats: clang's "Offload Bundler" page and OffloadBundle.cpp (bundles, CCOB), rocm-systems
// shared/kpack (kpack), clang's CGCUDANV.cpp (registration records). docs/formats/device-code.md describes them.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "content/rope.hpp"
#include "gpu/target.hpp"
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::gpu {

enum class Container : std::uint8_t {
  elf,               ///< the file is one code object
  bundle,            ///< __CLANG_OFFLOAD_BUNDLE__
  compressed_bundle, ///< CCOB, version 1 to 3
  kpack,             ///< a .kpack archive
  offload_binary,    ///< of clang's new driver, in .llvm.offloading
  fatbin,            ///< CUDA code in .nv_fatbin
  compressed_fatbin, ///< the same, compressed
};
std::string_view to_string(Container container); ///< "elf", "bundle", "compressed bundle", "kpack", ...

struct CodeObject {
  Container container = Container::elf;
  Target target;                    ///< as its container labels it; of a bare ELF file, from e_flags
  std::uint64_t offset = 0;         ///< in the file: of the object, or of the compressed bundle that holds it
  std::uint64_t bytes = 0;          ///< decompressed
  std::optional<Target> elf_target; ///< what e_flags says; nothing if the object is not an ELF file (SPIR-V)
  bool label_agrees = true;         ///< e_flags can belong to code with this label
};

struct Contents {
  std::vector<CodeObject> objects;
  std::size_t containers = 0;     ///< bundles, archives or the file itself
  std::uint64_t stored_bytes = 0; ///< what the containers take in the file
  bool embedded = false;          ///< registration records of code in the file itself (HIPF)
  bool split = false;             ///< registration records or a reference of code that moved to a .kpack file (HIPK)
  Findings findings;              ///< G101 damaged, G102 unknown form, G117 not code, G118 a target twice
};

constexpr std::size_t k_objects_max = 1u << 18; ///< of a file, 40 MB of values; librocsparse has 777

/// Whether a file is called like a code object: `x.hsaco`, and `x.co` if its path names a target.
bool is_named_like_code(std::string_view path);
/// The finding (G117) about such a file without code. read_contents() reports it for what it reads.
Finding no_code_in_file(std::string_view name);

/// Whether the first bytes of a file (at least 24) begin something that read_contents() looks into.
bool may_hold_code(std::string_view head);

/// The size of the compressed bundle that begins with `head` (at least 32 bytes), if it says so (version 2 and 3).
std::optional<std::uint64_t> compressed_bytes(std::string_view head);

/// Reads an ELF library or program, a Windows DLL, a static library, a bare code object, a bundle, or a .kpack archive;
/// any other file gives empty contents. What is damaged becomes a finding with `name` as its place; the rest of the
/// file is still read. Fails only if the file cannot be read. Reads headers and tables only (a 1.3 GB library: about
/// 1,000 reads of 64 to 4096 bytes); a compressed bundle is decompressed up to its last code object's header, in
/// pieces.
Result<Contents> read_contents(const content::Rope& file, std::string_view name);

} // namespace quarry::gpu
