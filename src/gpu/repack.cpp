#include "gpu/repack.hpp"

#include "gpu/bundle.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <functional>
#include <vector>
#include <zlib.h>
#include <zstd.h>

namespace quarry::gpu {

namespace {
constexpr std::size_t k_packed_piece = 128u << 10;
constexpr int k_zstd_usual = 3, k_zstd_high = 12, k_zlib_usual = 6, k_zlib_high = 9; // clang: 3 with long matches, 6

/// Takes packed bytes; false stops the packing.
using Sink = std::function<Result<bool>(std::span<const std::byte>)>;

Unexpected cannot_pack(std::string_view why) {
  return fail(ErrorKind::resource_exhausted, "G116", fmt::format("a bundle cannot be compressed again: {}", why),
              "free memory and run the command again");
}

Result<bool> pack_zstd(const content::Rope& plain, Effort effort, const Sink& sink) {
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  std::unique_ptr<ZSTD_CCtx, Free> context(ZSTD_createCCtx());
  if (!context) return cannot_pack("out of memory");
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, effort == Effort::usual ? k_zstd_usual : k_zstd_high);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_enableLongDistanceMatching, 1);
  ZSTD_CCtx_setPledgedSrcSize(context.get(), plain.size());
  std::vector<std::byte> out(k_packed_piece);
  bool wanted = true;
  auto feed = [&](std::span<const std::byte> piece, ZSTD_EndDirective end) -> Result<void> {
    ZSTD_inBuffer in{piece.data(), piece.size(), 0};
    for (bool done = false; !done && wanted;) {
      ZSTD_outBuffer room{out.data(), out.size(), 0};
      auto left = ZSTD_compressStream2(context.get(), &room, &in, end);
      if (ZSTD_isError(left)) return cannot_pack(ZSTD_getErrorName(left));
      done = end == ZSTD_e_end ? left == 0 : in.pos == in.size;
      TRY(wanted, sink(std::span(out).first(room.pos)));
    }
    return {};
  };
  TRY_DO(content::pump(plain, [&](std::span<const std::byte> piece) { return feed(piece, ZSTD_e_continue); }));
  TRY_DO(feed({}, ZSTD_e_end));
  return wanted;
}

Result<bool> pack_zlib(const content::Rope& plain, Effort effort, const Sink& sink) {
  z_stream stream{};
  if (deflateInit(&stream, effort == Effort::usual ? k_zlib_usual : k_zlib_high) != Z_OK)
    return cannot_pack("out of memory");
  std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, deflateEnd);
  std::vector<std::byte> out(k_packed_piece);
  bool wanted = true;
  auto feed = [&](std::span<const std::byte> piece, int flush) -> Result<void> {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(piece.data()));
    stream.avail_in = static_cast<uInt>(piece.size());
    for (bool done = false; !done && wanted;) {
      stream.next_out = reinterpret_cast<Bytef*>(out.data());
      stream.avail_out = static_cast<uInt>(out.size());
      auto status = deflate(&stream, flush);
      if (status == Z_STREAM_ERROR) return cannot_pack("zlib refuses its state");
      done = flush == Z_FINISH ? status == Z_STREAM_END : stream.avail_out > 0;
      TRY(wanted, sink(std::span(out).first(out.size() - stream.avail_out)));
    }
    return {};
  };
  TRY_DO(content::pump(plain, [&](std::span<const std::byte> piece) { return feed(piece, Z_NO_FLUSH); }));
  TRY_DO(feed({}, Z_FINISH));
  return wanted;
}
} // namespace

Result<std::optional<content::Rope>> pack_stream(const content::Rope& plain, const Packing& packing,
                                                 const std::shared_ptr<content::Spool>& into) {
  const auto begin = into->size();
  auto sink = [&](std::span<const std::byte> piece) -> Result<bool> {
    if (piece.size() > packing.limit - (into->size() - begin)) return false;
    TRY_DO(into->append(piece));
    return true;
  };
  TRY(auto whole,
      packing.method == Method::zstd ? pack_zstd(plain, packing.effort, sink) : pack_zlib(plain, packing.effort, sink));
  if (!whole) {
    into->shrink(begin);
    return std::optional<content::Rope>();
  }
  return std::optional(content::Rope::of(into).slice(begin, into->size() - begin));
}

Result<bool> unpacks_to(Method method, const content::Rope& stream, const content::Rope& plain) {
  auto unpacker = unpack(method, stream);
  std::uint64_t at = 0;
  std::string expected;
  while (true) {
    TRY(auto piece, unpacker->next());
    if (piece.empty()) return at == plain.size();
    TRY(expected, bytes_at(plain, at, piece.size()));
    if (expected != piece) return false;
    at += piece.size();
  }
}

} // namespace quarry::gpu
