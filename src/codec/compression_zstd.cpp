// zstd (RFC 8878) over libzstd. Frames are told apart here, by their own headers: independent frames decode side by
// side, and the library's legacy formats and other surprises are never reached.
#include "codec/compression_codecs.hpp"
#include <cstring>
#include <fmt/core.h>
#include <zstd.h>

namespace quarry::codec {

namespace {
constexpr std::uint32_t k_frame_magic = 0xFD2FB528, k_skippable_magic = 0x184D2A50; // the latter with any low 4 bits
constexpr std::size_t k_header_max = 18, k_block_header = 3, k_checksum = 4;
constexpr int k_scan_blocks_max = 4096; // 8 times the blocks of a full frame; more is not worth looking ahead
constexpr int k_level = 3;

template <class T> T little_endian(std::span<const std::byte> bytes) {
  T value{};
  for (std::size_t i = 0; i < bytes.size() && i < sizeof(T); ++i)
    value |= static_cast<T>(static_cast<T>(std::to_integer<std::uint8_t>(bytes[i])) << (8 * i));
  return value;
}

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

struct Block {
  bool last = false;
  std::size_t bytes = 0; // behind its header
};
Block parse_block(std::span<const std::byte> header) {
  auto bits = little_endian<std::uint32_t>(header);
  bool run_length = ((bits >> 1) & 3) == 1;
  return {(bits & 1) != 0, run_length ? 1 : bits >> 3};
}

/// Where the frame ends, found by hopping over its block headers; nullopt when it is too large to be decoded at once.
Result<std::optional<std::uint64_t>> frame_end(const content::Rope& rope, std::uint64_t offset, const Frame& frame) {
  if (!frame.content_bytes || *frame.content_bytes > k_whole_frame_max) return std::optional<std::uint64_t>{};
  auto at = offset + frame.header_bytes;
  for (int blocks = 0; blocks < k_scan_blocks_max && at - offset < k_whole_frame_max; ++blocks) {
    std::array<std::byte, k_block_header> bytes{};
    if (at + bytes.size() > rope.size()) return corrupt("the zstd stream ends too early");
    TRY_DO(rope.read(at, bytes));
    auto block = parse_block(bytes);
    at += bytes.size() + block.bytes;
    if (!block.last) continue;
    at += frame.has_checksum ? k_checksum : 0;
    if (at > rope.size()) return corrupt("the zstd stream ends too early");
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

class ZstdDecoder {
public:
  ZstdDecoder(const content::Rope& rope, const CodecOptions& options, const ByteSink& sink, const ByteSink& raw)
      : reader_(rope, raw), sink_(sink), ordered_(options, [this](Buffer done) { return deliver(std::move(done)); }) {}

  Result<void> run() {
    bool any = false;
    while (!reader_.at_end()) {
      TRY(auto bytes, reader_.peek(k_header_max));
      TRY(auto frame, parse_header(bytes));
      any = any || !frame.skippable;
      TRY_DO(one(frame));
    }
    if (!any) return corrupt("there is no zstd frame");
    return ordered_.drain();
  }

private:
  Result<void> one(const Frame& frame) {
    if (frame.skippable) {
      TRY(auto passed, reader_.pass(frame.skip_bytes));
      if (!passed) return corrupt("the zstd stream ends inside a skippable frame");
      return {};
    }
    if (frame.content_bytes && *frame.content_bytes <= k_whole_frame_max) {
      auto bound = ZSTD_compressBound(*frame.content_bytes);
      TRY(auto permit, ordered_.reserve(*frame.content_bytes + bound));
      if (permit) return beside_others(frame, bound, std::move(*permit));
    }
    TRY_DO(ordered_.drain());
    return stream({});
  }

  Result<void> beside_others(const Frame& frame, std::size_t bound, Permit permit) {
    auto packed = std::make_shared<Buffer>(ordered_.packed().take(bound));
    TRY(auto whole, collect(frame, *packed));
    if (!whole) { // nobody packs like that
      TRY_DO(ordered_.drain());
      return stream(packed->bytes());
    }
    ordered_.start(std::move(permit), [this, packed, bytes = *frame.content_bytes]() -> Result<Buffer> {
      auto out = ordered_.plain().take(bytes);
      out.size = bytes;
      TRY_DO(decode_zstd_frame(packed->bytes(), out.all().first(bytes)));
      ordered_.packed().give_back(std::move(*packed));
      return out;
    });
    return {};
  }

  /// The whole frame, followed from block to block; false: it does not fit, and what was read of it is in `packed`.
  Result<bool> collect(const Frame& frame, Buffer& packed) {
    std::size_t end = frame.header_bytes;
    for (bool last = false;;) {
      while (packed.size < (last ? end : end + k_block_header)) {
        auto room = packed.all().subspan(packed.size);
        if (room.empty()) return false;
        TRY(auto n, reader_.read(room));
        if (n == 0) return corrupt("the zstd stream ends too early");
        packed.size += n;
      }
      if (last) break;
      auto block = parse_block(packed.bytes().subspan(end, k_block_header));
      last = block.last;
      end += k_block_header + block.bytes + (last && frame.has_checksum ? k_checksum : 0);
    }
    reader_.put_back(packed.bytes().subspan(end));
    packed.size = end;
    return true;
  }

  Result<void> deliver(Buffer done) {
    if (done.size > 0) TRY_DO(sink_(done.bytes()));
    ordered_.plain().give_back(std::move(done));
    return {};
  }

  /// One frame, of which `begun` was read already.
  Result<void> stream(std::span<const std::byte> begun) {
    if (!context_) context_.reset(ZSTD_createDCtx());
    ZSTD_DCtx_reset(context_.get(), ZSTD_reset_session_only);
    ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, k_zstd_window_log_max);
    if (!begun.empty()) {
      TRY(auto left, feed(begun));
      if (left.frame == 0 || left.bytes > 0)
        return corrupt("the zstd stream is damaged: a frame ends before its last block");
    }
    for (;;) {
      TRY(auto bytes, reader_.peek());
      if (bytes.empty()) return corrupt("the zstd stream ends too early");
      TRY(auto left, feed(bytes));
      reader_.skip(bytes.size() - left.bytes);
      if (left.frame == 0) return {};
    }
  }

  struct Left {
    std::size_t frame = 1; ///< 0: the frame is complete
    std::size_t bytes = 0; ///< not taken
  };
  Result<Left> feed(std::span<const std::byte> bytes) {
    out_.resize(k_chunk);
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    Left left;
    for (bool full = false; left.frame != 0 && (in.pos < in.size || full);) {
      ZSTD_outBuffer out{out_.data(), out_.size(), 0};
      left.frame = ZSTD_decompressStream(context_.get(), &out, &in);
      if (ZSTD_isError(left.frame)) return explain(left.frame);
      if (out.pos > 0) TRY_DO(sink_(std::span(out_).first(out.pos)));
      full = out.pos == out_.size();
    }
    left.bytes = in.size - in.pos;
    return left;
  }

  Reader reader_;
  const ByteSink& sink_;
  DecoderContext context_;
  Bytes out_;
  Ordered ordered_;
};

class ZstdCompressor final : public Compressor {
public:
  ZstdCompressor(const CodecOptions& options, ByteSink out)
      : out_(std::move(out)), ordered_(options, [this](Buffer done) { return deliver(std::move(done)); }) {}

  Result<void> write(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      if (!input_.memory) input_ = ordered_.plain().take(k_zstd_frame);
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
    if (!input_.memory) input_ = ordered_.plain().take(1);
    auto input = std::make_shared<Buffer>(std::move(input_));
    input_ = {};
    auto bound = ZSTD_compressBound(k_zstd_frame);
    TRY(auto permit, ordered_.reserve(k_zstd_frame + bound));
    auto task = [this, input, bound] { return compressed(*input, bound); };
    if (permit) {
      ordered_.start(std::move(*permit), task);
      return {};
    }
    TRY(auto done, task());
    return deliver(std::move(done));
  }
  Result<Buffer> compressed(Buffer& input, std::size_t bound) {
    std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, k_level);
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
    auto out = ordered_.packed().take(bound);
    out.size = ZSTD_compress2(context.get(), out.memory.get(), out.capacity, input.memory.get(), input.size);
    ordered_.plain().give_back(std::move(input));
    if (ZSTD_isError(out.size))
      return fail(ErrorKind::resource_exhausted, "T012",
                  fmt::format("zstd cannot compress: {}", ZSTD_getErrorName(out.size)));
    return out;
  }
  Result<void> deliver(Buffer done) {
    TRY_DO(out_(done.bytes()));
    ordered_.packed().give_back(std::move(done));
    return {};
  }

  ByteSink out_;
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
  std::vector<StreamFrame> frames;
  std::uint64_t size = 0;
  for (std::uint64_t at = 0; at < rope.size();) {
    std::array<std::byte, k_header_max> bytes{};
    auto header = std::span(bytes).first(std::min<std::uint64_t>(k_header_max, rope.size() - at));
    TRY_DO(rope.read(at, header));
    TRY(auto frame, parse_header(header));
    if (frame.skippable) {
      if (frame.skip_bytes > rope.size() - at) return corrupt("the zstd stream ends inside a skippable frame");
      at += frame.skip_bytes;
      continue;
    }
    TRY(auto end, frame_end(rope, at, frame));
    if (!end) return std::optional<std::vector<StreamFrame>>{};
    if (*frame.content_bytes > 0) frames.push_back({size, *frame.content_bytes, at, *end - at});
    size += *frame.content_bytes;
    at = *end;
  }
  return std::optional(std::move(frames));
}

Result<void> decompress_zstd(const content::Rope& rope, const CodecOptions& options, const ByteSink& sink,
                             const ByteSink& raw) {
  return ZstdDecoder(rope, options, sink, raw).run();
}
std::unique_ptr<Compressor> zstd_compressor(const CodecOptions& options, ByteSink out) {
  return std::make_unique<ZstdCompressor>(options, std::move(out));
}

} // namespace quarry::codec
