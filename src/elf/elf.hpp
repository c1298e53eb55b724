#pragma once
// ELF files: a bounded reader and an overlay editor (System V gABI; glibc's dynamic tags). The file is never copied or
// rewritten: an edit is a new rope over the old bytes, verified before it is handed out.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "content/rope.hpp"
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quarry::elf {

struct Facts {
  bool is_64 = true;
  std::uint16_t type = 0;    ///< ET_*
  std::uint16_t machine = 0; ///< EM_*
  std::uint8_t os_abi = 0;   ///< ELFOSABI_*
  bool has_dynamic = false;
  std::string interpreter; ///< PT_INTERP, empty when absent
  std::optional<std::string> soname, rpath, runpath;
  std::vector<std::string> needed;
  bool pie_flag = false; ///< DF_1_PIE
  /// ET_EXEC, or ET_DYN that is meant to be run (an interpreter without SONAME, or DF_1_PIE).
  bool is_program() const;
  bool is_shared_object() const; ///< ET_DYN with a dynamic section that is not a program
};

/// True for the four magic bytes; reads at most 4 bytes.
Result<bool> has_magic(const content::Rope& file);
/// Reads headers and the dynamic section only (some kB of any file). corrupt E001 for anything that does not hold
/// together.
Result<Facts> read_facts(const content::Rope& file, std::string_view name);

/// The symbol versions that the file asks of its libraries (DT_VERNEED, LSB "Symbol Versioning"), each once, sorted:
/// "GLIBC_2.34", "GLIBCXX_3.4.29". corrupt E001.
Result<std::vector<std::string>> read_needed_versions(const content::Rope& file, std::string_view name);

struct Edit {
  std::optional<std::string> rpath; ///< the new run path; an empty string removes it
  bool as_runpath = false;          ///< DT_RUNPATH instead of DT_RPATH; the other tag is removed
  std::optional<std::string> soname;
  std::vector<std::pair<std::string, std::string>> replace_needed;
  bool new_segment = false; ///< where bytes must be added, never grow the last segment (S1): add one (S2)
  bool empty() const { return !rpath && !soname && replace_needed.empty(); }
};

struct Edited {
  content::Rope file;
  std::string strategy;            ///< "none", "S0" in place, "S1" grown last segment, "S2" new segment
  std::uint64_t changed_bytes = 0; ///< literal bytes of the new rope
};

/// Plans the edit and proves it (invariants E1-E14 of docs/formats/elf-edit.md) on the edited view. unsupported E010…
/// when the shape cannot be proven, with what stands in the way; never a guess. Microseconds; no file is written.
Result<Edited> edit(const content::Rope& file, const Edit& edit, std::string_view name);

/// The loader's rules and structural sanity of any ELF file: E1-E13, and E115 for bytes that no header describes. Reads
/// headers, tables and what stands between them; at most 2 MiB of each gap.
Findings verify(const content::Rope& file, std::string_view name);

} // namespace quarry::elf
