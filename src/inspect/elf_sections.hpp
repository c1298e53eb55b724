#pragma once
// Private to the room.
// The sections of an ELF file that an edit of its dynamic section leaves alone, comparable between two edits.
#include "base/result.hpp"
#include "content/rope.hpp"
#include "digest/sha256.hpp"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace quarry::inspect {

struct SectionContent {
  std::uint64_t size = 0;
  std::optional<Sha256> digest; ///< of the bytes; nothing: they are zeros that the file does not hold
};
using Sections = std::map<std::string, SectionContent>; ///< by name

/// Returns what the loader puts into memory: sections by their bytes, the dynamic symbols by what they say, "entry and
/// flags". Nothing for a file without sections. Fails as reading the file does.
Result<Sections> kept_sections(const content::Rope& file, std::string_view name);
Result<bool> same_content(const SectionContent& left, const SectionContent& right);

/// Whether the program's constants hold `text` as a string of its own.
Result<bool> holds_string(const content::Rope& file, const std::string& text);

} // namespace quarry::inspect
