#include "s3/part_transfer.hpp"

#include "digest/crc64.hpp"
#include "s3/replies.hpp"
#include "sys/clock.hpp"
#include "thread/guard.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <atomic>
#include <fmt/core.h>
#include <mutex>

namespace quarry::s3 {

namespace {

struct Part {
  unsigned number = 0; // from 1
  std::uint64_t size = 0, crc = 0;
  Slabs::Slab slab;
};

// What the threads of one transfer share.
struct Traffic {
  BoundedQueue<Part> queue{1};
  std::vector<std::string> etags; // each part's is written once, by the thread that is done with it
  std::atomic<bool> stopped = false;
  std::mutex mutex; // guards the two below, and calls of on_progress
  std::uint64_t done_bytes = 0;
  std::optional<Refusal> failed;
};

void stop(Traffic& traffic) {
  traffic.stopped = true;
  traffic.queue.close();
}

void part_is_done(Traffic& traffic, const PutRequest& request, const Part& part, std::string etag) {
  traffic.etags[part.number - 1] = std::move(etag);
  std::lock_guard lock(traffic.mutex);
  traffic.done_bytes += part.size;
  if (request.on_progress) request.on_progress(traffic.done_bytes);
}

// Reads in pieces that stay in the cache between reading, SHA-256 and CRC.
Result<void> fill(Part& part, const content::Rope& content, std::uint64_t offset, Sha256Hasher& hasher) {
  constexpr std::uint64_t k_piece = 256u << 10;
  for (std::uint64_t at = 0; at < part.size; at += k_piece) {
    auto piece = part.slab->subspan(at, std::min(k_piece, part.size - at));
    TRY_DO(content.read(offset + at, piece));
    hasher.update(piece);
    part.crc = crc64nvme(part.crc, piece);
  }
  return sys::check_interrupted();
}

// The etag under which the server has these bytes already; nullptr: it has not.
const std::string* known_etag(const KnownParts& known, const Part& part) {
  auto it = known.find(part.number);
  bool same = it != known.end() && it->second.crc64nvme == part.crc && it->second.size == part.size;
  return same ? &it->second.etag : nullptr;
}

struct ReadSums {
  std::uint64_t crc64nvme = 0;
  Sha256 sha256;
};

Result<ReadSums> read_parts(const PartUpload& upload, const KnownParts& known, Traffic& traffic) {
  const auto& request = upload.request;
  Sha256Hasher hasher;
  ReadSums sums;
  for (std::uint64_t i = 0; i < upload.count && !traffic.stopped; ++i) {
    auto offset = i * upload.part_bytes;
    Part part{static_cast<unsigned>(i + 1), std::min(upload.part_bytes, request.content.size() - offset), 0, {}};
    TRY(part.slab, upload.tools.slabs.take(upload.part_bytes));
    TRY_DO(fill(part, request.content, offset, hasher), "while storing " + request.key.text());
    sums.crc64nvme = crc64nvme_combine(sums.crc64nvme, {part.crc, part.size});
    if (const auto* etag = known_etag(known, part))
      part_is_done(traffic, request, part, *etag);
    else if (!traffic.queue.push(std::move(part)))
      return sums;
  }
  sums.sha256 = hasher.finish();
  if (!traffic.stopped && request.check) TRY_DO(request.check(sums.sha256));
  traffic.queue.close();
  return sums;
}

// Returns the part's ETag.
tl::expected<std::string, Refusal> send_part(const PartUpload& upload, const std::string& id, const Part& part) {
  const auto& key = upload.request.key;
  Call call{.action = fmt::format("store part {} of `{}`", part.number, key), .method = "PUT", .key = key};
  call.query = {{"partNumber", std::to_string(part.number)}, {"uploadId", id}};
  if (upload.capabilities.crc64nvme) call.headers = {{"x-amz-checksum-crc64nvme", crc64nvme_base64(part.crc)}};
  if (!upload.tools.bucket.unsigned_body_is_safe()) call.body_sha256 = sha256(part.slab->first(part.size)).hex();
  call.body = content::Rope::of(std::make_shared<SlabSource>(part.slab, part.size));
  auto done = upload.tools.bucket.call(call);
  if (!done) return tl::unexpected(std::move(done.error()));
  return unquoted(net::header(done->response.headers, "etag"));
}

Result<void> send_parts(const PartUpload& upload, const std::string& id, Traffic& traffic, Journal* journal) {
  while (auto part = traffic.queue.pop()) {
    if (traffic.stopped) return {};
    auto etag = send_part(upload, id, *part);
    if (!etag) {
      std::lock_guard lock(traffic.mutex);
      if (!traffic.failed) traffic.failed = std::move(etag.error());
      return fail(traffic.failed->error);
    }
    if (journal) journal->add(part->number, {*etag, part->crc, part->size});
    part_is_done(traffic, upload.request, *part, std::move(*etag));
  }
  return {};
}

} // namespace

tl::expected<SentParts, Refusal> transfer_parts(const PartUpload& upload, const BegunUpload& begun, Journal* journal) {
  Traffic traffic;
  traffic.etags.resize(upload.count);
  ReadSums sums;
  auto threads = upload.tools.limits.uploaders + 1;
  auto read = [&]() -> Result<void> {
    TRY(sums, read_parts(upload, begun.known, traffic));
    return {};
  };
  auto sent = parallel_for(threads, threads, [&](std::size_t i) {
    auto done = guarded([&] { return i == 0 ? read() : send_parts(upload, begun.id, traffic, journal); });
    if (!done) stop(traffic);
    return done;
  });
  if (traffic.failed) return tl::unexpected(std::move(*traffic.failed));
  if (!sent) return tl::unexpected(refused(std::move(sent).error()));
  return SentParts{std::move(traffic.etags), sums.crc64nvme, sums.sha256};
}

} // namespace quarry::s3
