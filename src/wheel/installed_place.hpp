#pragma once
// Private to the room.
// Where installers put one member of a wheel. Pure.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace quarry::wheel {

/// The directories of an environment that a wheel is installed into.
enum class Tree : std::uint8_t { site_packages, scripts, headers, data };
inline constexpr std::array k_trees{Tree::site_packages, Tree::scripts, Tree::headers, Tree::data};
std::string_view to_string(Tree tree); ///< "site-packages", "the scripts directory", …

struct InstalledPlace {
  Tree tree;
  std::string path;       ///< relative to the tree
  bool from_data = false; ///< the member is below `.data`
};

struct Placing {
  std::string data;    ///< "x-1.0.data"
  std::string project; ///< in normal form
  bool windows;        ///< `.data/data/Scripts` is the scripts directory
};

/// `member` is without a trailing '/'. A file below `.data/data` that lands in another tree of a virtual environment
/// (`bin/`, `lib/python3.12/site-packages/`, `include/site/python3.12/NAME/`) belongs to that tree. nullopt: the
/// directory `.data` itself or one of its keys.
std::optional<InstalledPlace> installed_place(std::string_view member, const Placing& placing);

} // namespace quarry::wheel
