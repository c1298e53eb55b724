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

namespace {
struct FreeIndex {
  void operator()(lzma_index* index) const { lzma_index_end(index, nullptr); }
};
using Index = std::unique_ptr<lzma_index, FreeIndex>;
constexpr std::uint64_t k_index_memory_max = 64u << 20; // of 4 million blocks: the default block makes 100 TB of them

// liblzma asks for the places it wants to see: from the end of the file backwards.
Result<Index> read_index(const content::Rope& rope) {
  Stream stream;
  auto& z = stream.z;
  lzma_index* found = nullptr;
  if (auto status = lzma_file_info_decoder(&z, &found, k_index_memory_max, rope.size()); status != LZMA_OK)
    return explain(status);
  Bytes buffer(64u << 10);
  std::uint64_t at = 0;
  for (;;) {
    if (z.avail_in == 0 && at < rope.size()) {
      auto n = std::min<std::uint64_t>(buffer.size(), rope.size() - at);
      TRY_DO(rope.read(at, std::span(buffer).first(n)));
      z.next_in = reinterpret_cast<const std::uint8_t*>(buffer.data());
      z.avail_in = n;
      at += n;
    }
    auto status = lzma_code(&z, at == rope.size() && z.avail_in == 0 ? LZMA_FINISH : LZMA_RUN);
    if (status == LZMA_STREAM_END) return Index(found);
    if (status == LZMA_SEEK_NEEDED) {
      at = z.seek_pos;
      z.avail_in = 0;
    } else if (status != LZMA_OK) {
      return explain(status);
    }
  }
}
} // namespace

Result<std::optional<std::vector<StreamFrame>>> xz_blocks(const content::Rope& rope) {
  TRY(auto index, read_index(rope));
  std::vector<StreamFrame> blocks;
  lzma_index_iter iter;
  lzma_index_iter_init(&iter, index.get());
  while (!lzma_index_iter_next(&iter, LZMA_INDEX_ITER_NONEMPTY_BLOCK)) {
    const auto& b = iter.block;
    if (b.uncompressed_size > k_whole_frame_max || b.total_size > k_whole_frame_max)
      return std::optional<std::vector<StreamFrame>>{};
    blocks.push_back({b.uncompressed_file_offset, b.uncompressed_size, b.compressed_file_offset, b.total_size,
                      static_cast<int>(iter.stream.flags->check)});
  }
  return std::optional(std::move(blocks));
}

Result<void> decode_xz_block(std::span<const std::byte> packed, int check, std::span<std::byte> out) {
  lzma_filter filters[LZMA_FILTERS_MAX + 1];
  filters[0].id = LZMA_VLI_UNKNOWN; // nothing to free while the header has not been read
  struct FreeFilters {
    lzma_filter* filters;
    ~FreeFilters() { lzma_filters_free(filters, nullptr); }
  } guard{filters};
  const auto* in = reinterpret_cast<const std::uint8_t*>(packed.data());
  lzma_block block{};
  block.version = 1;
  block.check = static_cast<lzma_check>(check);
  block.filters = filters;
  block.header_size = packed.empty() ? 0 : lzma_block_header_size_decode(in[0]);
  if (packed.empty() || in[0] == 0 || block.header_size > packed.size()) return explain(LZMA_DATA_ERROR);
  if (auto status = lzma_block_header_decode(&block, nullptr, in); status != LZMA_OK) return explain(status);
  if (auto needed = lzma_raw_decoder_memusage(filters); needed > k_xz_memory_max) return explain(LZMA_MEMLIMIT_ERROR);
  std::size_t in_at = block.header_size, out_at = 0;
  auto status = lzma_block_buffer_decode(&block, nullptr, in, &in_at, packed.size(),
                                         reinterpret_cast<std::uint8_t*>(out.data()), &out_at, out.size());
  if (status != LZMA_OK) return explain(status);
  if (out_at != out.size() || in_at != packed.size()) return corrupt("an xz block does not hold what its index says");
  return {};
}

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
