#include "store/object_reader.hpp"
#include "store/counting.hpp"

#include <algorithm>

namespace quarry::store {

ObjectReader::ObjectReader() : tally_(std::make_shared<AtomicCounters>()) {}
ObjectReader::~ObjectReader() = default;

Counters ObjectReader::counters() const { return tally_->snapshot(); }

Result<std::optional<ObjectInfo>> ObjectReader::head(const std::string& key) {
  TRY_DO(check_key(key, SlashKeys::allowed));
  ++tally_->heads;
  return do_head(key);
}

Result<std::optional<std::string>> ObjectReader::get(const std::string& key, std::uint64_t max_bytes,
                                                     std::string* etag) {
  TRY_DO(check_key(key, SlashKeys::allowed));
  ++tally_->gets;
  TRY(auto bytes, do_get(key, max_bytes, etag));
  if (bytes) tally_->bytes_read += bytes->size();
  return bytes;
}

Result<std::optional<std::string>> ObjectReader::root_page(std::uint64_t max_bytes) {
  ++tally_->gets;
  TRY(auto bytes, do_root_page(max_bytes));
  if (bytes) tally_->bytes_read += bytes->size();
  return bytes;
}

Result<std::optional<std::string>> ObjectReader::do_root_page(std::uint64_t) { return std::nullopt; }

Result<content::Rope> ObjectReader::open(const std::string& key) {
  TRY_DO(check_key(key, SlashKeys::allowed));
  ++tally_->gets;
  return do_open(key);
}

Result<std::optional<Sha256>> ObjectReader::digest(const std::string& key) {
  TRY_DO(check_key(key, SlashKeys::allowed));
  ++tally_->gets;
  return do_digest(key);
}

Result<std::optional<Sha256>> ObjectReader::do_digest(const std::string& key) {
  auto content = do_open(key);
  if (!content && content.error().kind == ErrorKind::not_found) return std::optional<Sha256>();
  if (!content) return fail(std::move(content).error());
  TRY(auto digest, content::sha256_of(*content), "while reading " + key);
  return std::optional(digest);
}

Result<std::vector<ObjectInfo>> ObjectReader::list(const std::string& prefix) {
  ++tally_->lists;
  return do_list(prefix);
}

Result<std::vector<std::string>> ObjectReader::keys(const std::string& prefix) {
  ++tally_->lists;
  return do_keys(prefix);
}

Result<Children> ObjectReader::children(const std::string& prefix) {
  ++tally_->lists;
  return do_children(prefix);
}

void sort_children(Children& children) {
  auto& directories = children.directories;
  std::sort(directories.begin(), directories.end());
  directories.erase(std::unique(directories.begin(), directories.end()), directories.end());
  std::sort(children.objects.begin(), children.objects.end(),
            [](const ObjectInfo& a, const ObjectInfo& b) { return a.key < b.key; });
}

Result<std::vector<std::string>> ObjectReader::do_keys(const std::string& prefix) {
  TRY(auto all, do_list(prefix));
  std::vector<std::string> keys;
  keys.reserve(all.size());
  for (auto& object : all) keys.push_back(std::move(object.key));
  return keys;
}

Result<Children> ObjectReader::do_children(const std::string& prefix) {
  TRY(auto all, do_list(prefix));
  Children found;
  for (auto& object : all) {
    auto slash = object.key.find('/', prefix.size());
    if (slash == std::string::npos)
      found.objects.push_back(std::move(object));
    else
      found.directories.push_back(object.key.substr(0, slash + 1));
  }
  sort_children(found);
  return found;
}

} // namespace quarry::store
