#include "gpu/unpack.hpp"

#include "gpu/bundle.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <zlib.h>
#include <zstd.h>

namespace quarry::gpu {

namespace {
constexpr std::size_t k_piece = 128u << 10; // what zstd itself takes and gives at once
constexpr int k_window_log_max = 27;        // 128 MiB, as for archives; clang packs with 27 at most

/// The packed bytes, fetched in pieces.
struct Feed {
  content::Rope packed;
  std::string buffer = {};
  std::uint64_t fetched = 0; // into the buffer, so far

  Result<bool> refill() {
    TRY(buffer, bytes_at(packed, fetched, k_piece));
    fetched += buffer.size();
    return !buffer.empty();
  }
};

class ZstdUnpacker final : public Unpacker {
public:
  explicit ZstdUnpacker(content::Rope packed) : feed_{std::move(packed)}, context_(ZSTD_createDCtx()) {
    ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, k_window_log_max);
  }
  ~ZstdUnpacker() override { ZSTD_freeDCtx(context_); }
  ZstdUnpacker(const ZstdUnpacker&) = delete;
  ZstdUnpacker& operator=(const ZstdUnpacker&) = delete;

  Result<std::string_view> next() override {
    while (!ended_) {
      if (in_.pos == in_.size) {
        TRY(auto more, feed_.refill());
        if (!more) return damaged("its zstd stream ends too early");
        in_ = {feed_.buffer.data(), feed_.buffer.size(), 0};
      }
      ZSTD_outBuffer out{piece_.data(), piece_.size(), 0};
      auto status = ZSTD_decompressStream(context_, &out, &in_);
      if (ZSTD_isError(status))
        return damaged(fmt::format("its zstd stream is damaged: {}", ZSTD_getErrorName(status)));
      any_ = any_ || out.pos > 0;
      ended_ = status == 0 && any_; // a skippable frame ends without content; the stream's own frame follows
      if (out.pos > 0) return std::string_view(piece_).substr(0, out.pos);
    }
    return std::string_view();
  }
  std::uint64_t consumed() const override { return feed_.fetched - (in_.size - in_.pos); }

private:
  Feed feed_;
  ZSTD_DCtx* context_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  std::string piece_ = std::string(k_piece, '\0');
  bool any_ = false, ended_ = false;
};

class ZlibUnpacker final : public Unpacker {
public:
  explicit ZlibUnpacker(content::Rope packed) : feed_{std::move(packed)} { inflateInit(&stream_); }
  ~ZlibUnpacker() override { inflateEnd(&stream_); }
  ZlibUnpacker(const ZlibUnpacker&) = delete;
  ZlibUnpacker& operator=(const ZlibUnpacker&) = delete;

  Result<std::string_view> next() override {
    while (!ended_) {
      if (stream_.avail_in == 0) {
        TRY(auto more, feed_.refill());
        if (!more) return damaged("its zlib stream ends too early");
        stream_.next_in = reinterpret_cast<Bytef*>(feed_.buffer.data());
        stream_.avail_in = static_cast<uInt>(feed_.buffer.size());
      }
      stream_.next_out = reinterpret_cast<Bytef*>(piece_.data());
      stream_.avail_out = static_cast<uInt>(piece_.size());
      auto status = inflate(&stream_, Z_NO_FLUSH);
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
        return damaged(fmt::format("its zlib stream is damaged (status {})", status));
      ended_ = status == Z_STREAM_END;
      if (auto count = piece_.size() - stream_.avail_out; count > 0) return std::string_view(piece_).substr(0, count);
    }
    return std::string_view();
  }
  std::uint64_t consumed() const override { return feed_.fetched - stream_.avail_in; }

private:
  Feed feed_;
  z_stream stream_{};
  std::string piece_ = std::string(k_piece, '\0');
  bool ended_ = false;
};
} // namespace

std::unique_ptr<Unpacker> unpack(Method method, content::Rope packed) {
  if (method == Method::zstd) return std::make_unique<ZstdUnpacker>(std::move(packed));
  return std::make_unique<ZlibUnpacker>(std::move(packed));
}

} // namespace quarry::gpu
