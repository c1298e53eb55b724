#pragma once
// Writes immutable objects: content that must never change under its key.
#include "store/object_store.hpp"

namespace quarry::store {

struct Once {
  content::Rope content;
  Sha256 sha256; ///< of `content`
  std::string content_type, cache_control;
  std::function<void(std::uint64_t)> on_progress = {};
  /// The content's size, for copy_once(): a recorded digest counts only for an object of this size, at the source and
  /// at the target; nullopt: of any size.
  std::optional<std::uint64_t> size = {};
  /// For copy_once(): recorded digests are not believed, neither that of the source nor that of an object that exists.
  bool hash = false;
};

/// Puts the content if-absent. Returns true if it was written now, false if the key already had the same bytes. After a
/// lost reply the stored object is read and hashed: with the same bytes the result is true, as if this call had written
/// them. Fails with already_exists (R009, both digests) if the key exists with different content, with R004 if a reply
/// was lost and the object is absent, with R002 if the object disappeared before it was read, with R008, and with the
/// other errors of put() and of reading. After R004, and after an error of reading, the object may have been written:
/// repeat the call. In the file store, a false, or a true after a lost reply, does not prove that the object is on the
/// disk: the put() that wrote it may have failed with R004, or may be running. A power cut may then lose the object.
/// Costs one write; if the key exists or the reply was lost, also reading the stored object. In s3 the parts of a large
/// object may be sent before the server says that the key exists: look first (head, copy_once).
Result<bool> put_once(ObjectWriter& store, const std::string& key, const Once& once);

/// Does what put_once() does, with the content of an object of another store. If an object exists at `to`, the source
/// is not asked: the result is false or R009, even if the source does not exist. If `to` is absent and the source does
/// not exist: not_found (R001). If an object at `to` disappears before it is read, the error is R002 or R004: repeat
/// the call. The server copies it if the two stores can do that (ObjectStore::copy_from, with its errors, such as
/// K003); if they cannot, the bytes pass through this machine. `once.content` is not used. Costs a head first. An
/// object that exists at `to` is then read, unless it has the right recorded digest and `once.hash` is not set. If the
/// object at `to` is absent and `once.hash` is set, the source is read. Another tool may have cut the source short and
/// kept its recorded digest. With `once.size` or `once.hash` the call then fails with R008; without both, the server
/// may copy the short object. If the bytes pass through this machine, the object gets content type and cache control of
/// `once` and no other metadata of the source.
Result<bool> copy_once(ObjectReader& source, const std::string& from, ObjectStore& target, const std::string& to,
                       const Once& once);

/// Returns the sha256 that the store recorded when the object was written; nullopt if none was recorded, or if `size`
/// is given and the object has another size. The size matters because a copy by another tool may keep the recorded
/// digest although it cut the object short. Pure.
std::optional<Sha256> recorded_at(const ObjectInfo& info, std::optional<std::uint64_t> size);

} // namespace quarry::store
