#pragma once
// Private to the room.
// Case folding over canonical decomposition (Unicode 14), as a table. Pure.
#include <cstdint>
#include <span>

namespace quarry::names {

/// What `code_point` folds to; empty when it stays as it is. Without ASCII letters and Hangul syllables, which are
/// arithmetic.
std::span<const std::uint32_t> fold_of(std::uint32_t code_point);

} // namespace quarry::names
