#pragma once
// Counters that several threads raise at once. Private to the backends.
#include "store/object_store.hpp"
#include <atomic>

namespace quarry::store {

struct AtomicCounters {
  std::atomic<std::uint64_t> puts = 0, gets = 0, heads = 0, lists = 0, removes = 0, copies = 0, bytes_written = 0,
                             bytes_read = 0, ranges = 0;
  Counters snapshot() const { return {puts, gets, heads, lists, removes, copies, bytes_written, bytes_read, ranges}; }
};

/// The errors that every backend words the same way.
Unexpected absent(const ObjectStore& store, const std::string& key);                       ///< not_found R001
Unexpected taken(const ObjectStore& store, const std::string& key);                        ///< already_exists R002
Unexpected moved_on(const ObjectStore& store, const std::string& key);                     ///< precondition_failed R003
Unexpected too_large(const std::string& key, std::uint64_t size, std::uint64_t max_bytes); ///< resource_exhausted R007
Unexpected other_bytes(const std::string& key, const Sha256& expected, const Sha256& found); ///< corrupt R008
/// A key that is about to be written: check_key, with a slash at its end only where slash_keys() says so. R005.
Result<void> check_put_key(ObjectStore& store, const std::string& key);
/// An empty object under a key that ends in a slash would pass for a directory. R005.
Result<void> check_not_marker(const std::string& key, std::uint64_t size);
/// Whether an object is what consoles write to show a directory.
bool is_marker(const std::string& key, std::uint64_t size);
void sort_children(Children& children); ///< bytewise; names of directories once
/// A record is JSON: where its name answers with a page or with XML, something else than the store did. corrupt K020.
Result<void> check_record(const std::string& key, std::string_view bytes, const std::string& url);

} // namespace quarry::store
