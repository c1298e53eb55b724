#pragma once
// Which names an archive may hold: those that mean one place below the directory of extraction, that can be shown, and
// that can exist side by side on Linux, Windows and macOS. Pure, no I/O.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace quarry::archive {

struct NameDefect {
  std::string code;    ///< Z013 or Z014, or Z001, Z017, Z018 from a NameSet
  std::string message; ///< "name is empty"
};

constexpr std::size_t k_name_bytes_max = 4096, k_component_bytes_max = 255, k_depth_max = 128; // what Linux can create

/// One name by itself. A directory entry's trailing '/' is allowed when `directory`.
std::optional<NameDefect> check_name(std::string_view name, bool directory = false);

/// The name as messages show it: control characters and broken UTF-8 escaped, at most 200 bytes.
std::string printable(std::string_view name);

/// What file systems that ignore case, normalisation, trailing dots and spaces compare: full case folding over
/// canonical decomposition (Unicode 14), per component.
std::string folded_name(std::string_view name);

/// The names of one archive together.
class NameSet {
public:
  /// The defect of adding `name` to those before: the same name, one that folds alike, a file where a directory is
  /// needed or the other way round.
  std::optional<NameDefect> add(std::string_view name, bool directory = false);

private:
  enum class Kind : std::uint8_t { file, directory, implied_directory };
  struct Seen {
    std::string name;
    Kind kind;
  };
  std::optional<NameDefect> add_path(std::string_view path, Kind kind);
  std::unordered_map<std::string, Seen> by_fold_;
};

} // namespace quarry::archive
