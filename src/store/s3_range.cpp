#include "store/s3_range.hpp"

#include "s3/replies.hpp"
#include "store/ranged.hpp"
#include <cstring>
#include <fmt/core.h>

namespace quarry::store {

Result<void> fetch_range(s3::Bucket& bucket, AtomicCounters& counters, const PinnedObject& pinned, std::uint64_t offset,
                         std::span<std::byte> into) {
  const auto& object = pinned.info;
  std::size_t filled = 0;
  auto range = fmt::format("bytes={}-{}", offset, offset + into.size() - 1);
  auto expected = fmt::format("bytes {}-{}/{}", offset, offset + into.size() - 1, object.size);
  s3::Call call{.action = fmt::format("read `{}`", object.key), .key = pinned.key};
  call.headers = {{"range", range}, {"if-match", "\"" + object.etag + "\""}};
  call.on_start = [&] { filled = 0; };
  call.sink = [&](const net::Response& head, std::span<const std::byte> piece) -> Result<void> {
    auto etag = s3::unquoted(net::header(head.headers, "etag"));
    if (!etag.empty() && etag != object.etag) return replaced(object.key); // a server that ignores If-Match
    auto given = net::header(head.headers, "content-range");
    bool whole = head.status == 200 && into.size() == object.size;
    if ((!whole && given != expected) || piece.size() > into.size() - filled)
      return fail(
          ErrorKind::corrupt, "K021",
          fmt::format("asked for {} of `{}`, the store gave {}", range, object.key, given.empty() ? "all" : given));
    std::memcpy(into.data() + filled, piece.data(), piece.size());
    filled += piece.size();
    return {};
  };
  ++counters.ranges;
  auto done = bucket.call(call);
  if (!done && (done.error().status == 412 || done.error().status == 404 || done.error().status == 416))
    return replaced(object.key); // 416: a server that ignores If-Match has a shorter object now
  if (!done) return fail(std::move(done.error().error));
  if (filled != into.size())
    return fail(ErrorKind::corrupt, "K021",
                fmt::format("the store gave {} bytes of {} for {} of `{}`", filled, into.size(), range, object.key));
  counters.bytes_read += filled;
  return {};
}

} // namespace quarry::store
