#pragma once
// Private to the room.
// The base directories of a manifest, for archives with many members: a lookup costs one step for each directory that
// the path and the bases share, not one for each base. Pure.
#include "names/name_tree.hpp"
#include <string>
#include <string_view>
#include <vector>

namespace quarry::artifact {

class BaseTree {
public:
  BaseTree() = default;
  explicit BaseTree(const std::vector<std::string>& bases); ///< as parse_manifest() gives them

  /// As base_of(): the number of the first base that is `path` or one of its parents; k_none when there is none.
  std::size_t find(std::string_view path) const;
  static constexpr std::size_t k_none = SIZE_MAX;
  /// Whether `path` is a parent of a base.
  bool leads_to_base(std::string_view path) const;

private:
  names::NameTree tree_{UINT32_MAX};
};

} // namespace quarry::artifact
