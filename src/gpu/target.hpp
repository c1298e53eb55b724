#pragma once
// GPU targets as LLVM names them ("gfx90a:sramecc+:xnack-"), and what the header of a code object says about its
// target. Source: LLVM's AMDGPU usage guide ("Target ID", "Generic processors") and BinaryFormat/ELF.h. Pure,
// thread-safe.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::gpu {

/// A feature that a target id does not name is `any`: the code runs with the feature on and off.
enum class Feature : std::uint8_t { any, off, on };

struct Target {
  std::string processor; ///< "gfx942", "gfx11-generic", "sm_90", "gfx11xx" (AOTriton's name of a group)
  Feature sramecc = Feature::any, xnack = Feature::any;
  std::string str() const;                         ///< the features in alphabetical order, as LLVM writes them
  auto operator<=>(const Target&) const = default; ///< any total order: that of keys, not of people
};

/// `processor(:feature(+|-))*`. Returns nullopt if a feature is unknown, or a character is not a letter, a digit, `-`
/// or
/// `_`.
std::optional<Target> parse_target(std::string_view text);

/// The target of an entry of an offload bundle: `hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-` -> gfx90a:xnack-. Returns
/// nullopt for the host's entry and for an id without a target.
std::optional<Target> parse_entry_id(std::string_view id);

constexpr std::size_t k_elf_head_bytes = 64; ///< the header of a 64-bit ELF file

struct ElfHead {
  std::uint16_t machine = 0;    ///< EM_*
  std::uint8_t abi_version = 0; ///< 0 to 4: code object V2 to V6
  std::uint32_t flags = 0;      ///< e_flags
  std::uint64_t tables_end = 0; ///< byte behind the program headers and the section headers
  bool is_amdgpu() const;
};
/// Returns nullopt if `bytes` does not begin with a little-endian 64-bit ELF header.
std::optional<ElfHead> parse_elf_head(std::string_view bytes);

/// The target in e_flags. Returns nullopt if the machine number is not in our table: it is never guessed.
std::optional<Target> target_of(const ElfHead& head);
/// Whether the header can belong to code that is labelled `label`. V2 and V3 say less about features than V4 to V6;
/// what they do not say is not compared.
bool agrees(const Target& label, const ElfHead& head);

/// Whether code for the processor `code` runs on a `device`: the same processor, a generic processor that LLVM says
/// covers it, or a group in which `x` stands for any digit.
bool runs_on(std::string_view code, std::string_view device);

/// Whether the target is one of another maker's GPUs, of which nothing is known but the name: "sm_90", "compute_90".
bool is_foreign(const Target& target);

/// The longest processor known to LLVM with which `text` begins: "gfx90878" (MIOpen: gfx908 with 78 compute units) ->
/// "gfx908"; empty if there is none.
std::string_view known_processor(std::string_view text);

} // namespace quarry::gpu
