// xz over liblzma (5.4 or newer for the threaded decoder). liblzma checks stream header, block headers, the blocks'
// checks, index, footer and stream padding; LZMA_CONCATENATED makes everything after a stream be a further stream or
// padding.
#include "archive/compression_codecs.hpp"
#include <fmt/core.h>
#include <lzma.h>

namespace quarry::archive::codec {

namespace {
constexpr std::uint32_t k_preset = 2; // preset 6 packs 5 times slower for 11 % less (measured on host ELF)
constexpr std::uint64_t k_xz_threads_memory =
    512ull << 20; // of one decoder with all its blocks in flight; above it, fewer threads

struct Stream {
  lzma_stream z = LZMA_STREAM_INIT;
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { lzma_end(&z); }
};

Unexpected explain(lzma_ret status) {
  switch (status) {
  case LZMA_FORMAT_ERROR: return corrupt("this is not an xz stream");
  case LZMA_DATA_ERROR: return corrupt("the xz stream is damaged");
  case LZMA_BUF_ERROR: return corrupt("the xz stream ends too early");
  case LZMA_UNSUPPORTED_CHECK: return corrupt("the xz stream has a check of an unknown type");
  case LZMA_OPTIONS_ERROR: return corrupt("the xz stream has unsupported filters or header bits");
  case LZMA_MEMLIMIT_ERROR:
    return too_demanding(fmt::format("the xz stream needs more than {} MiB of memory", k_xz_memory_max >> 20));
  case LZMA_MEM_ERROR: return fail(ErrorKind::resource_exhausted, "T012", "out of memory while handling xz");
  default: return fail(ErrorKind::internal, "T002", fmt::format("liblzma says {}", static_cast<int>(status)));
  }
}

lzma_ret start_decoder(lzma_stream& z, unsigned workers) {
  lzma_mt options{};
  options.flags = LZMA_CONCATENATED | LZMA_TELL_UNSUPPORTED_CHECK;
  options.threads = workers;
  options.memlimit_threading = k_xz_threads_memory;
  options.memlimit_stop = k_xz_memory_max;
  return lzma_stream_decoder_mt(&z, &options);
}

class XzCompressor final : public Compressor {
public:
  XzCompressor(unsigned workers, ByteSink out) : out_(std::move(out)), buffer_(k_chunk) {
    lzma_mt options{};
    options.threads = workers;
    options.block_size = k_xz_block;
    options.preset = k_preset;
    options.check = LZMA_CHECK_CRC64;
    started_ = lzma_stream_encoder_mt(&stream_.z, &options);
  }
  Result<void> write(std::span<const std::byte> bytes) override { return run(bytes, LZMA_RUN); }
  Result<void> finish() override { return run({}, LZMA_FINISH); }

private:
  Result<void> run(std::span<const std::byte> bytes, lzma_action action) {
    if (started_ != LZMA_OK) return explain(started_);
    stream_.z.next_in = reinterpret_cast<const std::uint8_t*>(bytes.data());
    stream_.z.avail_in = bytes.size();
    lzma_ret status = LZMA_OK;
    while (action == LZMA_FINISH ? status != LZMA_STREAM_END : stream_.z.avail_in > 0) {
      stream_.z.next_out = reinterpret_cast<std::uint8_t*>(buffer_.data());
      stream_.z.avail_out = buffer_.size();
      status = lzma_code(&stream_.z, action);
      if (status != LZMA_OK && status != LZMA_STREAM_END) return explain(status);
      if (stream_.z.avail_out < buffer_.size())
        TRY_DO(out_(std::span(buffer_).first(buffer_.size() - stream_.z.avail_out)));
    }
    return {};
  }
  ByteSink out_;
  Bytes buffer_;
  Stream stream_;
  lzma_ret started_ = LZMA_PROG_ERROR;
};
} // namespace

Result<void> decompress_xz(const content::Rope& rope, const CodecOptions& options, const ByteSink& sink,
                           const ByteSink& raw) {
  Stream stream;
  auto& z = stream.z;
  if (auto status = start_decoder(z, std::max(1u, std::min(options.workers, Permits::k_permits_max)));
      status != LZMA_OK)
    return explain(status);
  Bytes out(k_chunk);
  Input input(rope, raw);
  auto action = LZMA_RUN;
  for (;;) {
    if (z.avail_in == 0 && action == LZMA_RUN) {
      TRY(auto chunk, input.next());
      z.next_in = reinterpret_cast<const std::uint8_t*>(chunk.data());
      z.avail_in = chunk.size();
      if (chunk.empty()) action = LZMA_FINISH;
    }
    z.next_out = reinterpret_cast<std::uint8_t*>(out.data());
    z.avail_out = out.size();
    auto status = lzma_code(&z, action);
    if (z.avail_out < out.size()) TRY_DO(sink(std::span(out).first(out.size() - z.avail_out)));
    if (status == LZMA_STREAM_END) return {};
    if (status != LZMA_OK) return explain(status);
  }
}

std::unique_ptr<Compressor> xz_compressor(const CodecOptions& options, ByteSink out) {
  return std::make_unique<XzCompressor>(std::max(1u, std::min(options.workers, Permits::k_permits_max)),
                                        std::move(out));
}

} // namespace quarry::archive::codec
