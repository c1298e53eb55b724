#pragma once
// Private to the room.
// The proof that an edited file is the one that was asked for and nothing else.
#include "elf/elf.hpp"
#include "elf/place.hpp"

namespace quarry::elf {

/// E1-E13 on the edited view, E14 against the original, and the facts read back. unsupported E012 when the original
/// already breaks a rule; unsupported E099 when only the edited view shows that; internal E114 when other bytes changed
/// than planned.
Result<void> prove(const Image& original, const Edit& edit, const Layout& layout, const content::Rope& edited);

/// E15: an insertion at `insert_at` moves only bytes that a section or the section header table describes, and zero
/// padding of at most a page between them. Programs with an appended payload (one-file programs, self-extracting
/// archives) keep the payload's offset in the file; it would be wrong after the move. unsupported E040 with the first
/// undescribed byte.
Result<void> prove_tail(const Image& original, const std::vector<Section>& sections, std::uint64_t insert_at);

} // namespace quarry::elf
