#pragma once
// Private to the room.
// Remembers the write lineage (s3/put.hpp, k_lineage) of recently read or written objects, so that the next write over
// them can be recognised after a lost reply. Private to the s3 backend. Thread-safe.
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace quarry::store {

/// Lineages by key and ETag, in memory: of what head() and get() of this store saw and what it put or copied.
class Lineages {
public:
  void keep(const std::string& key, const std::string& etag, std::string lineage) {
    constexpr std::size_t k_max = 4096; // pages of a large channel; without a lineage an outcome may stay unknown
    std::lock_guard lock(mutex_);
    if (known_.size() >= k_max) known_.clear();
    known_[key] = {etag, std::move(lineage)};
  }
  std::string find(const std::string& key, const std::string& etag) {
    std::lock_guard lock(mutex_);
    auto it = known_.find(key);
    return it == known_.end() || it->second.first != etag ? std::string() : it->second.second;
  }

private:
  std::mutex mutex_;
  std::map<std::string, std::pair<std::string, std::string>> known_;
};

} // namespace quarry::store
