#pragma once
// Which names an archive may hold: those that mean one place below the directory of extraction, that can be shown, and
// that can exist side by side on Linux, Windows and macOS. Pure, no I/O.
#include "names/name_tree.hpp"
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace quarry::names {

struct NameDefect {
  std::string code;    ///< Z013 or Z014, or Z001, Z016, Z017, Z018 from a NameSet
  std::string message; ///< "name is empty"
};

constexpr std::size_t k_name_bytes_max = 4096, k_component_bytes_max = 255, k_depth_max = 128; // what Linux can create

/// One name by itself. A directory entry's trailing '/' is allowed when `directory`.
std::optional<NameDefect> check_name(std::string_view name, bool directory = false);

/// The characters alone, also of a link's target: UTF-8, nothing invisible, no backslash.
std::optional<NameDefect> check_characters(std::string_view name);
bool has_drive_letter(std::string_view name); ///< "C:…"

/// The name as messages show it: control characters and broken UTF-8 escaped, at most 200 bytes.
std::string printable(std::string_view name);

/// What file systems that ignore case, normalisation, trailing dots and spaces compare: full case folding over
/// canonical decomposition (Unicode 14), per component.
std::string folded_name(std::string_view name);

/// The names of one archive together. Memory follows the number of files and directories (see NameTree).
class NameSet {
public:
  explicit NameSet(std::uint64_t entries_max = 1'000'000) : tree_(entries_max) {}
  /// The defect of adding `name` to those before: the same name (Z001), one that folds alike (Z017), a file where a
  /// directory is needed or the other way round (Z018), more files, directories or bytes of names than can be meant
  /// (Z016). The name has passed check_name().
  std::optional<NameDefect> add(std::string_view name, bool directory = false);

private:
  enum class Kind : std::uint8_t { file, directory, implied_directory };
  Kind kind_of(NameTree::Id id) const { return static_cast<Kind>(tree_[id].kind); }
  std::optional<NameDefect> insert(NameTree::Id parent, std::string_view name, Kind kind);
  NameDefect alike(NameTree::Id id) const;
  NameTree tree_;
};

} // namespace quarry::names
