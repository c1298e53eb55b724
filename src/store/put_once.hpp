#pragma once
// Writing what must never change: an immutable object under its final name.
#include "store/object_store.hpp"

namespace quarry::store {

struct Once {
  content::Rope content;
  Sha256 sha256; ///< of `content`; stored bytes that differ from it are refused
  std::string content_type, cache_control;
  std::function<void(std::uint64_t)> on_progress = {};
  std::optional<std::uint64_t> size = {}; ///< of an object whose recorded digest is believed (recorded_at)
};

/// Puts if absent. True: written now. False: the same bytes were there already. The name holding other bytes is
/// already_exists R009 with both digests. A lost reply is looked up, never assumed. The stored bytes are hashed when
/// the name was taken.
Result<bool> put_once(ObjectStore& store, const std::string& key, const Once& once);

/// put_once() with the bytes of another store's object, on the server where the two stores can
/// (ObjectStore::copy_from), through us otherwise. `once.content` is not used.
Result<bool> copy_once(ObjectStore& source, const std::string& from, ObjectStore& target, const std::string& to,
                       const Once& once);

/// The sha256 of an object that a store recorded when it took the bytes. Nullopt if it recorded none, or if the object
/// does not have `size`: a copy by another tool may carry the record onto an object that is cut short.
std::optional<Sha256> recorded_at(const ObjectInfo& info, std::optional<std::uint64_t> size);

/// The sha256 of a stored object, from its bytes; nullopt when it is not there.
Result<std::optional<Sha256>> digest_of(ObjectStore& store, const std::string& key);

} // namespace quarry::store
