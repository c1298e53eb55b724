#pragma once
// The stub that replaces an executable link inside a wheel: a prebuilt static program (launcher/launcher.c) with a slot
// for the link's text. Packing fills the slot by an overlay; no compiler is needed.
#include "base/result.hpp"
#include "content/rope.hpp"
#include <optional>
#include <string>
#include <string_view>

namespace quarry::elf {

/// `launcher` with `relative_target` (the raw text of the link) in its slot; the program runs it relative to its own
/// directory. invalid_argument E018: the target is empty, absolute, holds a NUL or is longer than the slot (4,095
/// bytes). corrupt E019: `launcher` is not the prebuilt program or its slot is already filled.
Result<content::Rope> launcher_for(const content::Rope& launcher, std::string_view relative_target);

/// Returns the target of a launcher that launcher_for() made; nothing for any other file. Fails if the bytes cannot be
/// read. Reads files of at most 64 KiB.
Result<std::optional<std::string>> launcher_target(const content::Rope& file);

} // namespace quarry::elf
