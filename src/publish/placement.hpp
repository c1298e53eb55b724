#pragma once
// Private to the room.
// Where a distribution keeps its files: flat, `{prefix}/{file}`, or structured, `{prefix}/{project}/{file}`, as the
// prefix says (docs/formats/distributions.md). Pure.
#include "base/result.hpp"
#include "registry/records.hpp"
#include <string>
#include <string_view>

namespace quarry::publish {

struct Placement {
  std::string directory;   ///< of the repository: pages, seals, pointer
  bool by_project = false; ///< each file lies in the directory of its project
  std::string key_of(const registry::FileRecord& file) const;
};

/// Reads a prefix that may end in `/{project}` and may use `{product}`, `{family}` and `{platform}`. Fails with
/// invalid_argument (P041) as expand_prefix() does, and if `{product}` is asked for of a set that holds packages of
/// several products.
Result<Placement> placement_of(const std::string& prefix, const registry::SetRecord& set);

/// Returns the name of the package at `rest` below a repository's directory: directly there, or in the directory of its
/// project, whose name is in normal form. Empty for anything else. The other tools' structured indexes are read so.
std::string package_at(std::string_view rest);

} // namespace quarry::publish
