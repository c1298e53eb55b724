#pragma once
// Private to the room.
// Counters, errors and checks that all backends share. Thread-safe.
#include "store/object_reader.hpp"
#include <atomic>

namespace quarry::store {

struct AtomicCounters {
  std::atomic<std::uint64_t> puts = 0, gets = 0, heads = 0, lists = 0, removes = 0, copies = 0, bytes_written = 0,
                             bytes_read = 0, ranges = 0;
  Counters snapshot() const { return {puts, gets, heads, lists, removes, copies, bytes_written, bytes_read, ranges}; }
};

// Errors that have the same words in every backend.
Unexpected absent(const ObjectReader& store, const std::string& key);                      ///< not_found R001
Unexpected taken(const ObjectReader& store, const std::string& key);                       ///< already_exists R002
Unexpected moved_on(const ObjectReader& store, const std::string& key);                    ///< precondition_failed R003
Unexpected too_large(const std::string& key, std::uint64_t size, std::uint64_t max_bytes); ///< resource_exhausted R007
Unexpected other_bytes(const std::string& key, const Sha256& expected, const Sha256& found); ///< corrupt R008
/// Refuses an empty object under a key that ends in a slash, which consoles would show as a directory. R005.
Result<void> check_not_marker(const std::string& key, std::uint64_t size);
/// Whether an object is one that consoles write to show a directory.
bool is_marker(const std::string& key, std::uint64_t size);
void sort_children(Children& children); ///< sorts bytewise and removes duplicate directories
/// Refuses bytes under a `.json` key that begin with '<', after white space: then a proxy or another server answered.
/// corrupt (K020).
Result<void> check_record(const std::string& key, std::string_view bytes, const std::string& url);

} // namespace quarry::store
