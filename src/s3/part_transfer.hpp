#pragma once
// Private to the room.
// The bytes of a multipart upload: one thread reads the content in order, hashes it and fills slabs; a few threads send
// them.
#include "s3/replies.hpp"
#include "s3/writes.hpp"
#include <map>
#include <string>
#include <vector>

namespace quarry::s3 {

/// One object that is stored in parts.
struct PartUpload {
  const PutTools& tools;
  const PutRequest& request;
  const Capabilities& capabilities;
  std::uint64_t part_bytes = 0, count = 0; ///< of each part but the last; number of parts
};

using KnownParts = std::map<unsigned, JournalPart>; ///< by number, from 1

/// Returns the parts of `journal` that a page of the server's list has, too: with the same number, ETag and size. Pure.
KnownParts known_parts(const PartPage& page, const KnownParts& journal);

/// An upload that the server has begun, in this run or in an earlier one.
struct BegunUpload {
  std::string id;
  Marked marked;    ///< headers of the object
  KnownParts known; ///< parts of an earlier run that the server still has
};

struct SentParts {
  std::vector<std::string> etags; ///< in the order of the parts
  std::uint64_t crc64nvme = 0;    ///< of the whole content
  Sha256 sha256;
};

/// Reads the whole content once and sends its parts, except those of `begun.known` whose bytes are still the same. Each
/// part that was sent is added to `journal` (nullptr: none is kept). Fails with the first refusal of the server, with
/// an error of reading, or with that of `request.check`. After a failure no other part is begun, and those that are
/// being sent are waited for. Takes up to `limits.uploaders` + 2 parts of memory from the slabs: one being read, one
/// waiting, the others being sent. Uses the caller's thread and `limits.uploaders` more; any of them may be the one
/// that reads.
tl::expected<SentParts, Refusal> transfer_parts(const PartUpload& upload, const BegunUpload& begun, Journal* journal);

} // namespace quarry::s3
