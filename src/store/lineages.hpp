#pragma once
// Whose writes led to the objects that were seen (s3/put.hpp, k_lineage). Private to the s3 backend. Thread-safe.
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace quarry::store {

/// The lineage of objects that were read or written here last, for the next write over them.
class Lineages {
public:
  void keep(const std::string& key, const std::string& etag, std::string lineage) {
    constexpr std::size_t k_max = 4096; // pages of a large channel; forgetting only means less is proved
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
