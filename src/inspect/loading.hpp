#pragma once
// Private to the room.
// Which libraries the dynamic loader finds for the files of wheels that are installed side by side (ld.so(8)). Pure.
#include "inspect/wheel_contents.hpp"
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::inspect {

/// A library that a file needs and that the loader does not find in the wheels.
struct Unmet {
  std::size_t wheel = 0; ///< number of the wheel that holds the file
  const MachineFile* file = nullptr;
  std::string library;
  std::string held_at; ///< where a wheel has it, although no run path leads there; empty: nowhere
};

/// The entries of the run path that counts: DT_RUNPATH, or else DT_RPATH.
std::vector<std::string> run_path(const elf::Facts& facts);
/// "$ORIGIN" or "${ORIGIN}" at the beginning of an entry, replaced by `directory`; the entry itself if it has neither.
std::string from_origin(std::string_view entry, std::string_view directory);
/// The loader itself, which a program names as its interpreter: "ld-linux-x86-64.so.2".
bool is_loader(std::string_view soname);

struct Search {
  std::vector<Unmet> unmet; ///< each pair of file and library once, in the order of wheels and files
  bool complete = true;     ///< false: `needs_max` needs were followed, and more may be left
};

/// Needs of all walks, about a second of work. Torch with its CUDA libraries has 20,000 that its walks see first.
constexpr std::size_t k_needs_max = 4'000'000;

/// Follows DT_NEEDED from each file that no other file needs by its name, with the run paths of that file and of the
/// library at hand, as auditwheel does. Time: files that nothing needs times what each of them reaches, bounded by
/// `needs_max`.
Search unmet_needs(std::span<const WheelContents* const> wheels, std::size_t needs_max = k_needs_max);

} // namespace quarry::inspect
