// zstd (RFC 8878) over libzstd. Frames are told apart here, by their own headers: independent frames decode side by
// side, and the library's legacy formats and other surprises are never reached.
#include "archive/compression_codecs.hpp"
#include <cstring>
#include <fmt/core.h>
#include <zstd.h>

namespace quarry::archive::codec {

namespace {
constexpr std::uint32_t k_frame_magic = 0xFD2FB528, k_skippable_magic = 0x184D2A50; // the latter with any low 4 bits
constexpr std::size_t k_header_max = 18;
constexpr int k_scan_blocks_max = 4096; // 8 times the blocks of a full frame; more is not worth looking ahead
constexpr int k_level = 3;

template <class T> T little_endian(std::span<const std::byte> bytes) {
  T value{};
  for (std::size_t i = 0; i < bytes.size() && i < sizeof(T); ++i)
    value |= static_cast<T>(static_cast<T>(std::to_integer<std::uint8_t>(bytes[i])) << (8 * i));
  return value;
}

/// A rope read mostly forward in chunks; `raw` sees each byte once, in order.
class Window {
public:
  Window(const content::Rope& rope, const ByteSink& raw) : rope_(rope), raw_(raw), buffer_(k_chunk) {}
  std::uint64_t size() const { return rope_.size(); }

  /// At least `wanted` bytes from `offset` on, fewer only at the end of the rope.
  Result<std::span<const std::byte>> at(std::uint64_t offset, std::size_t wanted = 1) {
    if (offset < begin_ || offset + wanted > end_) TRY_DO(fill(offset));
    return std::span<const std::byte>(buffer_).subspan(offset - begin_, end_ - offset);
  }
  /// Into a buffer of the caller's, past the window.
  Result<void> read(std::uint64_t offset, std::span<std::byte> into) {
    TRY_DO(rope_.read(offset, into));
    return tap(offset, into);
  }
  /// Without showing it to `raw`: it is looked at again later.
  Result<void> peek(std::uint64_t offset, std::span<std::byte> into) const { return rope_.read(offset, into); }
  /// Everything before `offset` has been dealt with.
  Result<void> pass(std::uint64_t offset) {
    while (seen_ < offset) TRY_DO(fill(seen_));
    return {};
  }

private:
  Result<void> fill(std::uint64_t offset) {
    begin_ = offset;
    end_ = std::min<std::uint64_t>(rope_.size(), offset + k_chunk);
    auto chunk = std::span(buffer_).first(end_ - begin_);
    TRY_DO(rope_.read(begin_, chunk));
    return tap(begin_, chunk);
  }
  Result<void> tap(std::uint64_t offset, std::span<const std::byte> bytes) {
    auto end = offset + bytes.size();
    if (end <= seen_) return {};
    auto fresh = bytes.subspan(seen_ - offset);
    seen_ = end;
    return raw_ ? raw_(fresh) : Result<void>{};
  }
  const content::Rope& rope_;
  const ByteSink& raw_;
  Bytes buffer_;
  std::uint64_t begin_ = 0, end_ = 0, seen_ = 0;
};

struct Frame {
  bool skippable = false, has_checksum = false;
  std::size_t header_bytes = 0;
  std::uint64_t skip_bytes = 0; // of a skippable frame, with its header
  std::optional<std::uint64_t> content_bytes;
};

Result<Frame> parse_header(std::span<const std::byte> bytes) {
  if (bytes.size() < 5) return corrupt("the zstd stream ends too early, or bytes follow its last frame");
  Frame frame;
  auto magic = little_endian<std::uint32_t>(bytes.first(4));
  if ((magic & 0xFFFFFFF0u) == k_skippable_magic) {
    if (bytes.size() < 8) return corrupt("the zstd stream ends too early");
    frame.skippable = true;
    frame.skip_bytes = 8 + std::uint64_t{little_endian<std::uint32_t>(bytes.subspan(4, 4))};
    return frame;
  }
  if (magic != k_frame_magic) return corrupt("this is not a zstd frame, or bytes follow the last one");
  auto descriptor = std::to_integer<unsigned>(bytes[4]);
  if (descriptor & 0x08) return corrupt("the zstd frame header has a reserved bit set");
  bool single_segment = descriptor & 0x20;
  frame.has_checksum = descriptor & 0x04;
  constexpr std::size_t dictionary_bytes[] = {0, 1, 2, 4}, content_bytes[] = {0, 2, 4, 8};
  auto content_field = content_bytes[descriptor >> 6];
  if (content_field == 0 && single_segment) content_field = 1;
  auto dictionary_field = dictionary_bytes[descriptor & 3];
  std::size_t at = 5 + (single_segment ? 0 : 1);
  frame.header_bytes = at + dictionary_field + content_field;
  if (bytes.size() < frame.header_bytes) return corrupt("the zstd stream ends too early");
  if (little_endian<std::uint32_t>(bytes.subspan(at, dictionary_field)) != 0)
    return corrupt("the zstd frame needs a dictionary");
  if (content_field)
    frame.content_bytes = little_endian<std::uint64_t>(bytes.subspan(at + dictionary_field, content_field)) +
                          (content_field == 2 ? 256 : 0);
  std::uint64_t window = single_segment ? frame.content_bytes.value_or(0) : 0;
  if (!single_segment) {
    auto byte = std::to_integer<unsigned>(bytes[5]);
    auto base = std::uint64_t{1} << (10 + (byte >> 3));
    window = base + base / 8 * (byte & 7);
  }
  if (window > std::uint64_t{1} << k_zstd_window_log_max)
    return too_demanding(fmt::format("the zstd frame wants a window of {} MiB, more than {}", window >> 20,
                                     (1u << k_zstd_window_log_max) >> 20));
  return frame;
}

/// Where the frame ends, found by hopping over its block headers; nullopt when it is not worth decoding beside others.
Result<std::optional<std::uint64_t>> parallel_end(const Window& window, std::uint64_t offset, const Frame& frame) {
  if (!frame.content_bytes || *frame.content_bytes > k_whole_frame_max) return std::optional<std::uint64_t>{};
  auto at = offset + frame.header_bytes;
  for (int blocks = 0; blocks < k_scan_blocks_max && at - offset < k_whole_frame_max; ++blocks) {
    std::array<std::byte, 3> bytes{};
    if (at + 3 > window.size()) return corrupt("the zstd stream ends too early");
    TRY_DO(window.peek(at, bytes));
    auto header = little_endian<std::uint32_t>(bytes);
    bool last = header & 1, run_length = ((header >> 1) & 3) == 1;
    at += 3 + (run_length ? 1 : header >> 3);
    if (!last) continue;
    at += frame.has_checksum ? 4 : 0;
    if (at > window.size()) return corrupt("the zstd stream ends too early");
    return std::optional<std::uint64_t>{at};
  }
  return std::optional<std::uint64_t>{};
}

struct FreeContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};
using DecoderContext = std::unique_ptr<ZSTD_DCtx, FreeContext>;

Unexpected explain(std::size_t status) {
  return corrupt(fmt::format("the zstd stream is damaged: {}", ZSTD_getErrorName(status)));
}

class Decoder {
public:
  Decoder(const content::Rope& rope, const CodecOptions& options, const ByteSink& sink, const ByteSink& raw)
      : window_(rope, raw), sink_(sink), permits_(permits_of(options)),
        ordered_(permits_, options.workers, [this](Buffer done) { return deliver(std::move(done)); }) {}

  Result<void> run() {
    std::uint64_t offset = 0;
    bool any = false;
    while (offset < window_.size()) {
      TRY(auto bytes, window_.at(offset, std::min<std::uint64_t>(k_header_max, window_.size() - offset)));
      TRY(auto frame, parse_header(bytes));
      any = any || !frame.skippable;
      TRY(offset, one(offset, frame));
    }
    if (!any) return corrupt("there is no zstd frame");
    TRY_DO(ordered_.drain());
    return window_.pass(window_.size());
  }

private:
  Result<std::uint64_t> one(std::uint64_t offset, const Frame& frame) {
    if (frame.skippable) {
      if (frame.skip_bytes > window_.size() - offset) return corrupt("the zstd stream ends inside a skippable frame");
      TRY_DO(window_.pass(offset + frame.skip_bytes));
      return offset + frame.skip_bytes;
    }
    if (permits_) {
      TRY(auto end, parallel_end(window_, offset, frame));
      if (end) return beside_others(offset, *end, *frame.content_bytes);
    }
    TRY_DO(ordered_.drain());
    return stream(offset);
  }

  Result<std::uint64_t> beside_others(std::uint64_t offset, std::uint64_t end, std::uint64_t content_bytes) {
    auto packed = std::make_shared<Buffer>(pool_.take(end - offset));
    packed->size = end - offset;
    TRY_DO(window_.read(offset, packed->all().first(packed->size)));
    TRY_DO(ordered_.start([this, packed, content_bytes]() -> Result<Buffer> {
      auto out = pool_.take(content_bytes);
      out.size = content_bytes;
      TRY_DO(decode_zstd_frame(packed->bytes(), out.all().first(content_bytes)));
      pool_.give_back(std::move(*packed));
      return out;
    }));
    return end;
  }

  Result<void> deliver(Buffer done) {
    if (done.size > 0) TRY_DO(sink_(done.bytes()));
    pool_.give_back(std::move(done));
    return {};
  }

  Result<std::uint64_t> stream(std::uint64_t offset) {
    if (!context_) context_.reset(ZSTD_createDCtx());
    ZSTD_DCtx_reset(context_.get(), ZSTD_reset_session_only);
    ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, k_zstd_window_log_max);
    out_.resize(k_chunk);
    for (;;) {
      TRY(auto bytes, window_.at(offset));
      if (bytes.empty()) return corrupt("the zstd stream ends too early");
      ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
      std::size_t left = 1;
      for (bool full = false; left != 0 && (in.pos < in.size || full);) {
        ZSTD_outBuffer out{out_.data(), out_.size(), 0};
        left = ZSTD_decompressStream(context_.get(), &out, &in);
        if (ZSTD_isError(left)) return explain(left);
        if (out.pos > 0) TRY_DO(sink_(std::span(out_).first(out.pos)));
        full = out.pos == out_.size();
      }
      offset += in.pos;
      if (left == 0) return offset;
    }
  }

  BufferPool pool_; // outlives the tasks in ordered_
  Window window_;
  const ByteSink& sink_;
  std::shared_ptr<Permits> permits_;
  DecoderContext context_;
  Bytes out_;
  Ordered ordered_;
};

class ZstdCompressor final : public Compressor {
public:
  ZstdCompressor(const CodecOptions& options, ByteSink out)
      : out_(std::move(out)),
        ordered_(permits_of(options), options.workers, [this](Buffer done) { return deliver(std::move(done)); }) {}

  Result<void> write(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      if (!input_.memory) input_ = pool_.take(k_zstd_frame);
      auto n = std::min(bytes.size(), k_zstd_frame - input_.size);
      std::memcpy(input_.memory.get() + input_.size, bytes.data(), n);
      input_.size += n;
      bytes = bytes.subspan(n);
      if (input_.size == k_zstd_frame) TRY_DO(frame());
    }
    return {};
  }
  Result<void> finish() override {
    if (input_.size > 0 || !any_) TRY_DO(frame());
    return ordered_.drain();
  }

private:
  Result<void> frame() {
    any_ = true;
    if (!input_.memory) input_ = pool_.take(1);
    auto input = std::make_shared<Buffer>(std::move(input_));
    input_ = {};
    return ordered_.start([this, input]() -> Result<Buffer> {
      std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
      ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, k_level);
      ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
      auto out = pool_.take(ZSTD_compressBound(input->size));
      auto n = ZSTD_compress2(context.get(), out.memory.get(), out.capacity, input->memory.get(), input->size);
      pool_.give_back(std::move(*input));
      if (ZSTD_isError(n))
        return fail(ErrorKind::resource_exhausted, "T012",
                    fmt::format("zstd cannot compress: {}", ZSTD_getErrorName(n)));
      out.size = n;
      return out;
    });
  }
  Result<void> deliver(Buffer done) {
    TRY_DO(out_(done.bytes()));
    pool_.give_back(std::move(done));
    return {};
  }

  ByteSink out_;
  BufferPool pool_; // outlives the tasks in ordered_
  Buffer input_;
  bool any_ = false;
  Ordered ordered_;
};
} // namespace

Result<void> decode_zstd_frame(std::span<const std::byte> packed, std::span<std::byte> out) {
  DecoderContext context(ZSTD_createDCtx());
  auto n = ZSTD_decompressDCtx(context.get(), out.data(), out.size(), packed.data(), packed.size());
  if (ZSTD_isError(n)) return explain(n);
  if (n != out.size()) return corrupt("a zstd frame does not hold what its header says");
  return {};
}

Result<std::optional<std::vector<StreamFrame>>> zstd_frames(const content::Rope& rope) {
  const ByteSink nobody;
  Window window(rope, nobody);
  std::vector<StreamFrame> frames;
  std::uint64_t size = 0;
  for (std::uint64_t at = 0; at < rope.size();) {
    std::array<std::byte, k_header_max> bytes{};
    auto header = std::span(bytes).first(std::min<std::uint64_t>(k_header_max, rope.size() - at));
    TRY_DO(window.peek(at, header));
    TRY(auto frame, parse_header(header));
    if (frame.skippable) {
      if (frame.skip_bytes > rope.size() - at) return corrupt("the zstd stream ends inside a skippable frame");
      at += frame.skip_bytes;
      continue;
    }
    TRY(auto end, parallel_end(window, at, frame));
    if (!end) return std::optional<std::vector<StreamFrame>>{};
    if (*frame.content_bytes > 0) frames.push_back({size, *frame.content_bytes, at, *end - at});
    size += *frame.content_bytes;
    at = *end;
  }
  return std::optional(std::move(frames));
}

Result<void> decompress_zstd(const content::Rope& rope, const CodecOptions& options, const ByteSink& sink,
                             const ByteSink& raw) {
  return Decoder(rope, options, sink, raw).run();
}
std::unique_ptr<Compressor> zstd_compressor(const CodecOptions& options, ByteSink out) {
  return std::make_unique<ZstdCompressor>(options, std::move(out));
}

} // namespace quarry::archive::codec
