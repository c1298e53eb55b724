#pragma once
// Private to the room.
// Describes the differences between two ELF files in words.
#include "base/result.hpp"
#include "content/rope.hpp"
#include <optional>
#include <string>

namespace quarry::inspect {

/// "run path `a` | `b`; needs libx.so.1 only on the left; the same code, data and symbols". nullopt unless both are ELF
/// files that can be read.
Result<std::optional<std::string>> compare_elf(const content::Rope& left, const content::Rope& right);

} // namespace quarry::inspect
