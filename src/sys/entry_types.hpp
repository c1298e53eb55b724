#pragma once
// The names in a directory without a look at each entry: for walks over trees of which few files matter.
#include "base/result.hpp"
#include "sys/tree.hpp"
#include <string>
#include <vector>

namespace quarry::sys {

/// The type that st_mode of stat(2) says.
EntryType type_of_mode(unsigned mode);

struct NamedEntry {
  std::string name;
  EntryType type = EntryType::other;
};

/// The direct entries of `directory`, sorted bytewise. The types are those that the directory itself has (d_type of
/// readdir(3)); an entry is looked at, by lstat(2), only on a file system that does not keep them. Fails with the
/// errors of open(2), D001 or D002, also for an entry that cannot be looked at. What another process removes
/// meanwhile may be listed.
Result<std::vector<NamedEntry>> list_entry_types(const std::string& directory);

} // namespace quarry::sys
