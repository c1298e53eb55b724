#pragma once
// Private to the room.
// What thinning changes in a file, and the proof that nothing else changed.
#include "base/result.hpp"
#include "content/rope.hpp"
#include "gpu/thin.hpp"
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quarry::gpu {

/// [begin, end) of a file reads as `bytes`, which are as long; shorter only at the end of the file.
struct Change {
  std::uint64_t begin = 0, end = 0;
  content::Rope bytes;
};

struct Thinning {
  const content::Rope& file;
  const ThinRequest& request;
  std::vector<Change> changes = {};
  std::set<std::pair<std::uint64_t, std::string>> removed = {}; ///< place (as CodeObject::offset) and target
  std::vector<std::string> left = {};
  std::uint64_t shorter = 0; ///< bytes that the file loses at its end
};

/// Before the change: code stands in sections of its own, and nothing else that the headers describe may change.
/// `changes` are sorted. Fails with corrupt (G101, E001).
Result<void> check_sections(const content::Rope& file, std::string_view name, const std::vector<Change>& changes);

/// The same for a Windows program or DLL. If it is signed, or code stands in its headers or in another section, the
/// changes are dropped and the reason is added to `left`.
Result<void> prepare_windows(Thinning& thinning, std::string_view name);
/// `changed` with a right checksum in its header, if the original has a right one: `thinning.changes` gets the field.
Result<content::Rope> with_new_checksum(Thinning& thinning, const content::Rope& changed);

/// Outside the changes every byte is the original's, and the containers read back hold exactly what was kept. Fails
/// with internal (G116).
Result<void> prove_thinned(const Thinning& thinning, const Thinned& thinned, std::string_view name);

/// The rules for ELF files find nothing that they did not find before. Fails with unsupported (G116): that can be the
/// file's doing, when its headers contradict each other, such as a record that leads into removed code.
Result<void> prove_elf(const Thinning& thinning, const Thinned& thinned, std::string_view name);

} // namespace quarry::gpu
