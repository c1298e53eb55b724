// gzip (RFC 1952) over zlib, which checks header CRC, CRC-32 and length itself.
#include "codec/compression_codecs.hpp"
#include <fmt/core.h>
#include <zlib.h>

namespace quarry::codec {

namespace {
constexpr int k_gzip_window = 15 + 16; // zlib: the largest window, gzip framing only

struct Inflater {
  z_stream stream{};
  bool ready = inflateInit2(&stream, k_gzip_window) == Z_OK;
  Inflater() = default;
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream); }
};

class GzipCompressor final : public Compressor {
public:
  explicit GzipCompressor(ByteSink out) : out_(std::move(out)), buffer_(k_chunk) {
    ready_ = deflateInit2(&stream_, 6, Z_DEFLATED, k_gzip_window, 8, Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ~GzipCompressor() override { deflateEnd(&stream_); }
  Result<void> write(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      auto part = bytes.first(std::min(bytes.size(), k_chunk));
      TRY_DO(run(part, Z_NO_FLUSH));
      bytes = bytes.subspan(part.size());
    }
    return {};
  }
  Result<void> finish() override { return run({}, Z_FINISH); }

private:
  Result<void> run(std::span<const std::byte> bytes, int flush) {
    if (!ready_) return fail(ErrorKind::resource_exhausted, "T012", "cannot start gzip: out of memory");
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    int status = Z_OK;
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
      stream_.avail_out = static_cast<uInt>(buffer_.size());
      status = deflate(&stream_, flush);
      if (status == Z_STREAM_ERROR) return fail(ErrorKind::internal, "T002", "gzip refuses its own state");
      if (stream_.avail_out < buffer_.size())
        TRY_DO(out_(std::span(buffer_).first(buffer_.size() - stream_.avail_out)));
    } while (stream_.avail_out == 0 || (flush == Z_FINISH && status != Z_STREAM_END));
    return {};
  }
  ByteSink out_;
  Bytes buffer_;
  z_stream stream_{};
  bool ready_ = false;
};
} // namespace

Result<void> decompress_gzip(const content::Rope& rope, const ByteSink& sink, const ByteSink& raw) {
  Inflater z;
  if (!z.ready) return fail(ErrorKind::resource_exhausted, "T012", "cannot start gzip: out of memory");
  Bytes out(k_chunk);
  Input input(rope, raw);
  bool in_member = true; // an empty stream is a truncated one
  for (;;) {
    TRY(auto chunk, input.next());
    if (chunk.empty()) break;
    z.stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(chunk.data()));
    z.stream.avail_in = static_cast<uInt>(chunk.size());
    while (z.stream.avail_in > 0 || z.stream.avail_out == 0) {
      if (!in_member) { // what follows a member must be another one: its magic is checked by inflate
        if (z.stream.avail_in == 0) break;
        inflateReset(&z.stream);
        in_member = true;
      }
      z.stream.next_out = reinterpret_cast<Bytef*>(out.data());
      z.stream.avail_out = static_cast<uInt>(out.size());
      int status = inflate(&z.stream, Z_NO_FLUSH);
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
        return corrupt(fmt::format("the gzip stream is damaged: {}", z.stream.msg ? z.stream.msg : "bad data"));
      if (z.stream.avail_out < out.size()) TRY_DO(sink(std::span(out).first(out.size() - z.stream.avail_out)));
      if (status == Z_STREAM_END)
        in_member = false;
      else if (status == Z_BUF_ERROR)
        break;
    }
  }
  if (in_member) return corrupt("the gzip stream ends too early");
  return {};
}

std::unique_ptr<Compressor> gzip_compressor(ByteSink out) { return std::make_unique<GzipCompressor>(std::move(out)); }

} // namespace quarry::codec
