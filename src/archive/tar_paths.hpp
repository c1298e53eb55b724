#pragma once
// Which names may stand side by side in a tree that comes out of an archive, and where its links lead. Pure.
#include "base/result.hpp"
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace quarry::archive {

enum class TarType : std::uint8_t { file, directory, symlink, hardlink };

struct TarLimits {
  std::uint64_t entries_max = 1'000'000;           ///< 5 times the largest wheel seen; names are kept in memory
  std::uint64_t declared_bytes_max = 256ull << 30; ///< far above the largest SDK
};

/// The name of a member as a plain relative path: a leading "./" and one trailing '/' are dropped; empty for the root
/// itself. T010 for everything that two systems could read differently or that leads elsewhere: absolute, a drive,
/// "..", ".", an empty component, a backslash, control or invisible characters, not UTF-8, too long, too deep.
Result<std::string> checked_path(std::string_view name);

/// The members of one tree by name.
class TarPaths {
public:
  explicit TarPaths(const TarLimits& limits) : limits_(limits) {}

  /// T007: a name twice (a directory may be named again), a name that is another's on Windows or macOS, a parent
  /// that is no directory. T008: too many. `link` of a symlink is its target text, of a hard link the path of a file
  /// added before (T010).
  Result<void> add(const std::string& path, TarType type, std::string_view link);
  /// Follows every symlink through all others, as the kernel would: T010 when one leaves the tree, is absolute or never
  /// ends. Dangling inside the tree is allowed.
  Result<void> check_links() const;
  std::size_t size() const { return entries_.size(); }

private:
  struct Entry {
    TarType type = TarType::directory;
    bool implied = false; ///< a directory that only stands in other names
    std::string link;
  };
  Result<void> add_parents(const std::string& path);
  Result<void> insert(const std::string& path, Entry entry);
  Result<void> check_case(const std::string& path, TarType type);
  Result<void> follow(const std::string& path, const Entry& entry, std::uint64_t& steps) const;

  TarLimits limits_;
  std::unordered_map<std::string, Entry> entries_;
  std::unordered_map<std::string, std::string> folded_; ///< folded name -> as the first member spells it
  std::vector<std::string> symlinks_;                   ///< in order, for stable messages
};

} // namespace quarry::archive
