#pragma once
// Which names may stand side by side in a tree that comes out of an archive, and where its links lead. Pure.
#include "base/result.hpp"
#include "names/name_tree.hpp"
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::tar {

enum class Type : std::uint8_t { file, directory, symlink, hardlink };

/// What two names of one tree may be on a file system that ignores case and accent forms.
enum class CaseRule : std::uint8_t {
  refuse, ///< T007: wheels, Windows packages, everything that Windows or macOS may unpack
  note,   ///< counted: Linux packages have such pairs, as a terminfo database does (E/Eterm beside e/eterm)
};

/// A compressed archive, and how many times its bytes it may unpack to.
struct PackedSize {
  std::uint64_t archive_bytes = 0, ratio = 0;
};

struct Limits {
  std::uint64_t entries_max = 1'000'000;            ///< 5 times the largest wheel seen; names are kept in memory
  std::uint64_t stream_bytes_max = 256ull << 30;    ///< of the uncompressed stream; far above the largest SDK
  std::uint64_t framing_bytes_max = 2'048ull << 20; ///< of it what is not data of files: 2 KiB for each entry
  CaseRule case_rule = CaseRule::refuse;

  /// The stream may have 1 GiB and `ratio` times the archive: extraction streams, so the danger is the disk's space,
  /// and 1 GiB of zeros packs to 70 kB. The rest but data may have 64 MiB and `ratio` times the archive: that costs
  /// processor time and memory.
  static Limits for_archive(const PackedSize& packed);
};

constexpr std::uint64_t k_tar_ratio_max = 60; ///< a library of 1.3 GB with device code blanked reaches 29

/// The name of a member as a plain relative path: a leading "./" and one trailing '/' are dropped; empty for the root
/// itself. T010 for everything that two systems could read differently or that leads elsewhere: absolute, a drive,
/// "..", ".", an empty component, a backslash, control or invisible characters, not UTF-8, too long, too deep.
Result<std::string> checked_path(std::string_view name);

/// Names that are one name on Windows or macOS.
struct CasePairs {
  std::uint64_t count = 0;
  std::string first, second; ///< of the first pair
};

/// The members of one tree by name.
class Paths {
public:
  explicit Paths(const Limits& limits) : case_rule_(limits.case_rule), tree_(limits.entries_max) {}

  /// T007: a name twice (a directory may be named again), a parent that is not a directory, and as `case_rule` says a
  /// name that is another's on Windows or macOS. T008: too many names, bytes of names, or directories that no entry
  /// names. `path` is a checked_path(). `link` of a symlink is its target text, of a hard link the path of a file added
  /// before (T010).
  Result<void> add(const std::string& path, Type type, std::string_view link);
  /// Follows every symlink through all others, as the kernel would: T010 when one leaves the tree, is absolute or never
  /// ends; T008 when that takes too much work. Dangling inside the tree is allowed.
  Result<void> check_links() const;
  std::size_t size() const { return tree_.size(); }
  const CasePairs& case_pairs() const { return case_pairs_; } ///< counted where the rule is CaseRule::note

private:
  using Id = names::NameTree::Id;
  Type type_of(Id id) const { return static_cast<Type>(tree_[id].kind); }
  Result<Id> directory_of(const std::string& path);
  Result<Id> insert(Id parent, std::string_view name, Type type, bool implied);
  Result<void> check_case(Id added);
  Result<void> check_target(const std::string& path, Type type, std::string_view link) const;
  Id lookup(std::string_view path) const;
  Result<void> follow(Id link, std::uint64_t& work) const;

  CaseRule case_rule_;
  names::NameTree tree_;
  std::vector<std::string> targets_; ///< of symlinks: Node::text is the index
  std::vector<Id> symlinks_;         ///< in order, for stable messages
  std::uint64_t target_bytes_ = 0;
  CasePairs case_pairs_;
};

} // namespace quarry::tar
