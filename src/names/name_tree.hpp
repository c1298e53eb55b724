#pragma once
// The names of one archive as a tree: a component is stored once, whatever lies below it, so memory follows the number
// of files and directories and not the length of their full paths. Pure.
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::names {

/// 1,000,000 names of 48 bytes each; the components of the largest wheel seen have 2 MB together.
constexpr std::uint64_t k_name_bytes_total_max = 48u << 20;
/// Directories that no entry names may be this many and two for each entry: a deep name costs its sender a few bytes
/// and brings up to 127 directories.
constexpr std::uint64_t k_implied_free = 100'000, k_implied_per_entry = 2;

class NameTree {
public:
  using Id = std::uint32_t;
  static constexpr Id k_root = 0, k_none = UINT32_MAX;

  struct Node {
    Id parent = k_none;
    Id first_alike = k_none;    ///< the first node whose path is the same after case folding, often the node itself
    std::uint32_t name_at = 0;  ///< in the stored names
    std::uint32_t text = 0;     ///< for the caller: the number of a link's target
    std::uint8_t name_size = 0; ///< a component has at most 255 bytes
    std::uint8_t kind = 0;      ///< for the caller
    bool implied = false;       ///< a directory that is only part of other names
  };

  explicit NameTree(std::uint64_t entries_max);

  /// The child of `parent` with exactly this name, or k_none. O(1).
  Id find(Id parent, std::string_view name) const;
  /// Adds a child that does not exist yet. The name has 1 to 255 bytes and is UTF-8. O(1).
  Id add(Id parent, std::string_view name, std::uint8_t kind, bool implied);
  void set_named(Id id); ///< an entry names the implied directory after all
  /// What exceeds its bound by now, as the end of a sentence ("holds more than …"); empty while nothing does.
  std::string exhausted() const;

  const Node& operator[](Id id) const { return nodes_[id]; }
  Node& operator[](Id id) { return nodes_[id]; }
  std::string_view name(Id id) const;
  std::string path(Id id) const;
  std::size_t size() const { return nodes_.size() - 1; } ///< without the root

private:
  // Open addressing with linear probing; half of a slot is the hash, so that few names are compared.
  struct Slot {
    std::uint32_t hash = 0;
    Id id = k_none;
  };
  struct Table {
    std::vector<Slot> slots = std::vector<Slot>(64);
    std::size_t used = 0;
    void insert(std::uint32_t hash, Id id);
    template <class Same> Id find(std::uint32_t hash, const Same& same) const;
  };
  std::uint32_t hash_of(Id parent, std::string_view name) const;
  std::uint32_t store(std::string_view name);

  std::uint64_t entries_max_, seed_, bytes_ = 0, implied_ = 0;
  std::deque<Node> nodes_;
  std::vector<std::unique_ptr<char[]>> chunks_; // of names: none is moved when more are added
  std::size_t chunk_fill_;
  Table exact_, folded_;
};

} // namespace quarry::names
