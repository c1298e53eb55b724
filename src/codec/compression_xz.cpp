// xz ("The .xz File Format" 1.2.0) over liblzma, which checks headers, the blocks' checks, index and footer. Streams
// and blocks are told apart here: blocks whose headers carry sizes decode side by side.
#include "codec/compression_codecs.hpp"
#include "sys/clock.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <lzma.h>

namespace quarry::codec {

namespace {
constexpr std::uint32_t k_preset = 2;       // preset 6 packs 5 times slower for 11 % less (measured on host ELF)
constexpr std::uint32_t k_look_up_ms = 200; // the encoder's threads work for seconds; meanwhile nobody waits for a stop
constexpr std::size_t k_padding = 4;        // stream padding comes in such units

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

class XzCompressor final : public Compressor {
public:
  XzCompressor(unsigned workers, ByteSink out) : out_(std::move(out)), buffer_(k_chunk) {
    lzma_mt options{};
    options.threads = workers;
    options.block_size = k_xz_block;
    options.preset = k_preset;
    options.check = LZMA_CHECK_CRC64;
    options.timeout = k_look_up_ms;
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
      TRY_DO(sys::check_interrupted());
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

namespace {
const std::uint8_t* data_of(std::span<const std::byte> bytes) {
  return reinterpret_cast<const std::uint8_t*>(bytes.data());
}

/// A block's header with the filters that it names.
class BlockHeader {
public:
  BlockHeader() { filters_[0].id = LZMA_VLI_UNKNOWN; } // nothing to free while the header has not been read
  BlockHeader(const BlockHeader&) = delete;
  BlockHeader& operator=(const BlockHeader&) = delete;
  ~BlockHeader() { lzma_filters_free(filters_, nullptr); }
  lzma_block block{};

  /// `bytes` begin with the header. T012 when the filters want more memory than anybody gives them.
  Result<void> read(std::span<const std::byte> bytes, int check) {
    block.version = 1;
    block.check = static_cast<lzma_check>(check);
    block.filters = filters_;
    if (bytes.empty() || bytes[0] == std::byte{0}) return explain(LZMA_DATA_ERROR);
    block.header_size = lzma_block_header_size_decode(std::to_integer<std::uint32_t>(bytes[0]));
    if (block.header_size > bytes.size()) return explain(LZMA_BUF_ERROR);
    if (auto status = lzma_block_header_decode(&block, nullptr, data_of(bytes)); status != LZMA_OK)
      return explain(status);
    if (memory() > k_xz_memory_max) return explain(LZMA_MEMLIMIT_ERROR);
    return {};
  }
  std::uint64_t memory() const { return lzma_raw_decoder_memusage(filters_); }

private:
  lzma_filter filters_[LZMA_FILTERS_MAX + 1];
};
} // namespace

Result<void> decode_xz_block(std::span<const std::byte> packed, int check, std::span<std::byte> out) {
  BlockHeader header;
  TRY_DO(header.read(packed, check));
  std::size_t in_at = header.block.header_size, out_at = 0;
  auto status = lzma_block_buffer_decode(&header.block, nullptr, data_of(packed), &in_at, packed.size(),
                                         reinterpret_cast<std::uint8_t*>(out.data()), &out_at, out.size());
  if (status != LZMA_OK) return explain(status);
  if (out_at != out.size() || in_at != packed.size()) return corrupt("an xz block does not hold what its index says");
  return {};
}

namespace {
class XzDecoder {
public:
  XzDecoder(const content::Rope& rope, const CodecOptions& options, const ByteSink& sink, const ByteSink& raw)
      : reader_(rope, raw), sink_(sink), ordered_(options, [this](Buffer done) { return deliver(std::move(done)); }) {}

  Result<void> run() {
    do {
      TRY_DO(one_stream());
      TRY_DO(padding());
    } while (!reader_.at_end());
    return ordered_.drain();
  }

private:
  struct FreeHash {
    void operator()(lzma_index_hash* hash) const { lzma_index_hash_end(hash, nullptr); }
  };
  using IndexHash = std::unique_ptr<lzma_index_hash, FreeHash>;

  /// Exactly so many bytes.
  Result<std::span<const std::byte>> take(std::size_t bytes) {
    TRY(auto next, reader_.peek(bytes));
    if (next.size() < bytes) return explain(LZMA_BUF_ERROR);
    reader_.skip(bytes);
    return next.first(bytes);
  }

  Result<void> one_stream() {
    lzma_stream_flags flags{}, footer_flags{};
    TRY(auto header, take(LZMA_STREAM_HEADER_SIZE));
    auto status = lzma_stream_header_decode(&flags, data_of(header));
    if (status == LZMA_OK && !lzma_check_is_supported(flags.check)) status = LZMA_UNSUPPORTED_CHECK;
    if (status != LZMA_OK) return explain(status);
    IndexHash hash(lzma_index_hash_init(nullptr, nullptr));
    if (!hash) return explain(LZMA_MEM_ERROR);
    for (;;) {
      TRY(auto next, reader_.peek());
      if (next.empty()) return explain(LZMA_BUF_ERROR);
      if (next[0] == std::byte{0}) break; // the index
      TRY_DO(one_block(static_cast<int>(flags.check), *hash));
    }
    TRY_DO(index(*hash));
    flags.backward_size = lzma_index_hash_size(hash.get());
    TRY(auto footer, take(LZMA_STREAM_HEADER_SIZE));
    status = lzma_stream_footer_decode(&footer_flags, data_of(footer));
    if (status == LZMA_FORMAT_ERROR) status = LZMA_DATA_ERROR; // it is one: this is its end
    if (status == LZMA_OK) status = lzma_stream_flags_compare(&flags, &footer_flags);
    return status == LZMA_OK ? Result<void>{} : Result<void>(explain(status));
  }

  Result<void> index(lzma_index_hash& hash) {
    for (;;) {
      TRY(auto bytes, reader_.peek());
      if (bytes.empty()) return explain(LZMA_BUF_ERROR);
      std::size_t taken = 0;
      auto status = lzma_index_hash_decode(&hash, data_of(bytes), &taken, bytes.size());
      reader_.skip(taken);
      if (status == LZMA_STREAM_END) return {};
      if (status != LZMA_OK) return explain(status);
    }
  }

  /// Behind it stands the next stream, or nothing.
  Result<void> padding() {
    for (;;) {
      TRY(auto bytes, reader_.peek(k_padding));
      auto unit = bytes.first(std::min(bytes.size(), k_padding));
      if (unit.empty() || unit[0] != std::byte{0}) return {};
      bool zeros = std::all_of(unit.begin(), unit.end(), [](std::byte b) { return b == std::byte{0}; });
      if (unit.size() < k_padding || !zeros) return explain(LZMA_DATA_ERROR);
      reader_.skip(k_padding);
    }
  }

  Result<void> one_block(int check, lzma_index_hash& hash) {
    BlockHeader header;
    TRY(auto first, reader_.peek());
    auto header_bytes = lzma_block_header_size_decode(std::to_integer<std::uint32_t>(first[0]));
    TRY(auto bytes, reader_.peek(header_bytes));
    TRY_DO(header.read(bytes, check));
    TRY(auto permit, reserve(header));
    if (permit)
      TRY_DO(beside_others(header.block, check, std::move(*permit)));
    else
      TRY_DO(stream(header.block));
    auto status =
        lzma_index_hash_append(&hash, lzma_block_unpadded_size(&header.block), header.block.uncompressed_size);
    return status == LZMA_OK ? Result<void>{} : Result<void>(explain(status));
  }

  Result<std::optional<Permit>> reserve(const BlockHeader& header) {
    const auto& block = header.block;
    bool sized = block.compressed_size != LZMA_VLI_UNKNOWN && block.uncompressed_size != LZMA_VLI_UNKNOWN;
    auto packed = lzma_block_total_size(&block);
    if (sized && packed <= k_whole_frame_max && block.uncompressed_size <= k_whole_frame_max)
      return ordered_.reserve(packed + block.uncompressed_size + header.memory());
    TRY_DO(ordered_.drain());
    return std::optional<Permit>();
  }

  /// The sizes that its header promises are proven by decoding it, and compared with the index before that.
  Result<void> beside_others(const lzma_block& block, int check, Permit permit) {
    auto packed = std::make_shared<Buffer>(ordered_.packed().take(lzma_block_total_size(&block)));
    for (auto total = lzma_block_total_size(&block); packed->size < total;) {
      TRY(auto n, reader_.read(packed->all().subspan(packed->size, total - packed->size)));
      if (n == 0) return explain(LZMA_BUF_ERROR);
      packed->size += n;
    }
    ordered_.start(std::move(permit), [this, packed, check, bytes = block.uncompressed_size]() -> Result<Buffer> {
      auto out = ordered_.plain().take(bytes);
      out.size = bytes;
      TRY_DO(decode_xz_block(packed->bytes(), check, out.all().first(bytes)));
      ordered_.packed().give_back(std::move(*packed));
      return out;
    });
    return {};
  }

  Result<void> deliver(Buffer done) {
    if (done.size > 0) TRY_DO(sink_(done.bytes()));
    ordered_.plain().give_back(std::move(done));
    return {};
  }

  /// On this thread; leaves the sizes in `block`.
  Result<void> stream(lzma_block& block) {
    reader_.skip(block.header_size);
    Stream decoder;
    auto& z = decoder.z;
    if (auto status = lzma_block_decoder(&z, &block); status != LZMA_OK) return explain(status);
    out_.resize(k_chunk);
    for (auto status = LZMA_OK; status != LZMA_STREAM_END;) {
      TRY(auto bytes, reader_.peek());
      z.next_in = data_of(bytes);
      z.avail_in = bytes.size();
      z.next_out = reinterpret_cast<std::uint8_t*>(out_.data());
      z.avail_out = out_.size();
      status = lzma_code(&z, LZMA_RUN);
      reader_.skip(bytes.size() - z.avail_in);
      if (z.avail_out < out_.size()) TRY_DO(sink_(std::span(out_).first(out_.size() - z.avail_out)));
      if (status != LZMA_OK && status != LZMA_STREAM_END) return explain(status);
    }
    return {};
  }

  Reader reader_;
  const ByteSink& sink_;
  Bytes out_;
  Ordered ordered_;
};
} // namespace

Result<void> decompress_xz(const content::Rope& rope, const CodecOptions& options, const ByteSink& sink,
                           const ByteSink& raw) {
  return XzDecoder(rope, options, sink, raw).run();
}

std::unique_ptr<Compressor> xz_compressor(const CodecOptions& options, ByteSink out) {
  return std::make_unique<XzCompressor>(std::max(1u, std::min(options.workers, Permits::k_permits_max)),
                                        std::move(out));
}

} // namespace quarry::codec
