#include "store/object_store.hpp"
#include "store/counting.hpp"

#include <fmt/core.h>

namespace quarry::store {

Result<void> ObjectWriter::check_write(const std::string& key) {
  TRY_DO(check_key(key, SlashKeys::allowed));
  if (!key.ends_with('/')) return {};
  TRY(bool can, slash_keys());
  if (can) return {};
  return fail(
      ErrorKind::invalid_argument, "R005",
      fmt::format("`{}` cannot be a key in {}: it keeps no object under a name that ends in a slash", key, describe()));
}

Result<ObjectInfo> ObjectWriter::put(const std::string& key, const content::Rope& content, const PutOptions& options) {
  TRY_DO(check_write(key));
  TRY_DO(check_not_marker(key, content.size()));
  TRY(auto info, do_put(key, content, options));
  ++tally()->puts;
  tally()->bytes_written += info.size;
  return info;
}

Result<void> ObjectWriter::remove(const std::string& key) {
  TRY_DO(check_key(key, SlashKeys::allowed));
  ++tally()->removes;
  return do_remove(key);
}

Result<std::uint64_t> ObjectWriter::remove_leftovers(std::int64_t) { return std::uint64_t{0}; }

Result<void> ObjectStore::copy(const std::string& from, const std::string& to, const PutOptions& options) {
  TRY_DO(check_key(from, SlashKeys::allowed));
  TRY_DO(check_write(to));
  TRY_DO(do_copy({from, to, options}));
  ++tally()->copies;
  return {};
}

Result<bool> ObjectStore::copy_from(ObjectReader& source, const std::string& from, const std::string& to,
                                    const PutOptions& options) {
  TRY_DO(check_key(from, SlashKeys::allowed));
  TRY_DO(check_write(to));
  TRY(bool copied, do_copy_from(source, {from, to, options}));
  if (copied) ++tally()->copies;
  return copied;
}

Result<bool> ObjectStore::do_copy_from(ObjectReader&, const CopyRequest&) { return false; }

} // namespace quarry::store
