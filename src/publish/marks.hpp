#pragma once
// Private to the room.
// What garbage collection has marked, and how writers keep what they are about to name.
#include "base/result.hpp"
#include "registry/registry.hpp"
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace quarry::publish {

inline constexpr const char* k_marks_key = "gc/marks.json";
inline constexpr unsigned k_requests = 8; ///< in flight, for a list of keys

struct Mark {
  std::int64_t modified_us = 0; ///< of the object when it was marked: one that was written since is not removed
  std::int64_t since_us = 0;    ///< when it was marked, by the store's clock
  bool operator==(const Mark&) const = default;
};
using Marks = std::map<std::string, Mark>; ///< by key

/// Returns no marks if the object is missing or invalid: then everything is marked again, which only takes longer.
/// Fails with the errors of the store.
Result<Marks> read_marks(store::ObjectReader& store);
/// Removes the object if there are no marks.
Result<void> write_marks(store::ObjectStore& store, const Marks& marks);

/// A record that a pointer is about to name.
struct Named {
  std::string key;
  std::function<std::string()> bytes; ///< made when they are needed: almost never
};
/// The view and its shards at hand. `view` must outlive them.
std::vector<Named> records_of(const registry::View& view);
/// Before the pointer moves: writes those again that are marked. An interrupted job may have left them long ago. Does
/// nothing if the marks may not be read. Costs one read.
Result<void> refresh_marked(store::ObjectStore& store, const std::vector<Named>& records);
/// After the pointer has moved: writes those again that garbage collection has removed meanwhile. Costs a head for
/// each.
Result<void> restore_missing(store::ObjectStore& store, const std::vector<Named>& records);

} // namespace quarry::publish
