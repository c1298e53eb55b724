#include "store/counting.hpp"
#include "store/object_store.hpp"

#include "base/text.hpp"
#include <fmt/core.h>
#include <map>
#include <mutex>

namespace quarry::store {

namespace {

constexpr std::uint64_t k_object_bytes_max = 1ull << 30; // memory is for tests and dry runs

class MemoryStore final : public ObjectStore {
public:
  MemoryStore(const sys::Clock* clock, SlashKeys slash_keys) : clock_(clock), slash_keys_(slash_keys) {}

  std::string describe() const override { return "memory:"; }
  std::string url(const std::string& key) const override { return "memory:/" + text::percent_encode(key); }
  Result<bool> slash_keys() override { return slash_keys_ == SlashKeys::allowed; }

  Result<std::optional<ObjectInfo>> do_head(const std::string& key) override {
    std::lock_guard lock(mutex_);
    auto it = objects_.find(key);
    if (it == objects_.end()) return std::optional<ObjectInfo>();
    return std::optional(it->second.info);
  }

  Result<std::optional<std::string>> do_get(const std::string& key, std::uint64_t max_bytes,
                                            std::string* etag) override {
    std::lock_guard lock(mutex_);
    auto it = objects_.find(key);
    if (it == objects_.end()) return std::optional<std::string>();
    const auto& object = it->second;
    if (object.info.size > max_bytes) return too_large(key, object.info.size, max_bytes);
    if (etag) *etag = object.info.etag;
    TRY(auto bytes, object.bytes.read_all(max_bytes));
    return std::optional(std::move(bytes));
  }

  Result<content::Rope> do_open(const std::string& key) override {
    std::lock_guard lock(mutex_);
    auto it = objects_.find(key);
    if (it == objects_.end()) return absent(*this, key);
    tally()->bytes_read += it->second.info.size;
    return it->second.bytes;
  }

  Result<ObjectInfo> do_put(const std::string& key, const content::Rope& content, const PutOptions& options) override {
    TRY(auto bytes, content.read_all(k_object_bytes_max), "while storing " + key);
    auto digest = sha256(bytes);
    if (options.sha256 && *options.sha256 != digest) return other_bytes(key, *options.sha256, digest);
    if (options.on_progress) options.on_progress(bytes.size());
    std::lock_guard lock(mutex_);
    TRY_DO(check(key, options.precondition));
    ObjectInfo info{key, bytes.size(), digest.hex(), clock_ ? clock_->now_us() : 0};
    objects_[key] = {info, content::Rope::literal(std::move(bytes))};
    return info;
  }

  Result<void> do_copy(const CopyRequest& request) override {
    TRY(auto content, open(request.from));
    TRY_DO(put(request.to, content, request.options));
    return {};
  }

  Result<void> do_remove(const std::string& key) override {
    std::lock_guard lock(mutex_);
    objects_.erase(key);
    return {};
  }

  Result<std::vector<ObjectInfo>> do_list(const std::string& prefix) override {
    std::lock_guard lock(mutex_);
    std::vector<ObjectInfo> found;
    for (auto it = objects_.lower_bound(prefix); it != objects_.end() && it->first.starts_with(prefix); ++it)
      found.push_back(it->second.info);
    return found;
  }

private:
  struct Object {
    ObjectInfo info;
    content::Rope bytes;
  };

  Result<void> check(const std::string& key, const Precondition& precondition) const {
    auto it = objects_.find(key);
    bool exists = it != objects_.end();
    if (precondition.kind == Precondition::Kind::if_absent && exists) return taken(*this, key);
    if (precondition.kind == Precondition::Kind::if_match && (!exists || it->second.info.etag != precondition.etag))
      return moved_on(*this, key);
    return {};
  }

  const sys::Clock* clock_;
  SlashKeys slash_keys_;
  std::mutex mutex_;
  std::map<std::string, Object> objects_;
};

} // namespace

std::unique_ptr<ObjectStore> make_memory_store(const sys::Clock* clock, SlashKeys slash_keys) {
  return std::make_unique<MemoryStore>(clock, slash_keys);
}

} // namespace quarry::store
