#include "archive/compression.hpp"

#include "archive/compression_codecs.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>

namespace quarry::archive {

namespace {
struct Suffix {
  Compression compression;
  std::string_view text;
};
constexpr std::array<Suffix, 4> k_suffixes{{{Compression::none, ".tar"},
                                            {Compression::zstd, ".tar.zst"},
                                            {Compression::xz, ".tar.xz"},
                                            {Compression::gzip, ".tar.gz"}}};

class PlainCompressor final : public Compressor {
public:
  explicit PlainCompressor(ByteSink out) : out_(std::move(out)) {}
  Result<void> write(std::span<const std::byte> bytes) override { return out_(bytes); }
  Result<void> finish() override { return {}; }

private:
  ByteSink out_;
};

Result<void> copy(const content::Rope& rope, const ByteSink& sink, const ByteSink& raw) {
  codec::Input input(rope, raw);
  for (;;) {
    TRY(auto chunk, input.next());
    if (chunk.empty()) return {};
    TRY_DO(sink(chunk));
  }
}
} // namespace

Result<Compression> compression_of(std::string_view file_name) {
  for (const auto& suffix : k_suffixes)
    if (file_name.ends_with(suffix.text) && file_name.size() > suffix.text.size()) return suffix.compression;
  return fail(ErrorKind::unsupported, "T001",
              fmt::format("{} does not end in .tar, .tar.zst, .tar.xz or .tar.gz", file_name));
}

std::string_view suffix_of(Compression compression) {
  auto at =
      std::find_if(k_suffixes.begin(), k_suffixes.end(), [&](const Suffix& s) { return s.compression == compression; });
  return at->text;
}

bool Permits::try_take() {
  for (auto seen = free_.load(); seen > 0;)
    if (free_.compare_exchange_weak(seen, seen - 1)) return true;
  return false;
}
void Permits::give_back() { ++free_; }

Result<void> decompress(const content::Rope& compressed, Compression compression, const CodecOptions& options,
                        const ByteSink& sink, const ByteSink& raw) {
  switch (compression) {
  case Compression::none: return copy(compressed, sink, raw);
  case Compression::zstd: return codec::decompress_zstd(compressed, options, sink, raw);
  case Compression::xz: return codec::decompress_xz(compressed, options, sink, raw);
  case Compression::gzip: return codec::decompress_gzip(compressed, sink, raw);
  }
  return fail(ErrorKind::internal, "T001", "unknown compression");
}
Result<void> decompress(const content::Rope& compressed, Compression compression, const ByteSink& sink,
                        const ByteSink& raw) {
  return decompress(compressed, compression, CodecOptions{}, sink, raw);
}

std::unique_ptr<Compressor> Compressor::create(Compression compression, const CodecOptions& options, ByteSink out) {
  switch (compression) {
  case Compression::zstd: return codec::zstd_compressor(options, std::move(out));
  case Compression::xz: return codec::xz_compressor(options, std::move(out));
  case Compression::gzip: return codec::gzip_compressor(std::move(out));
  case Compression::none: break;
  }
  return std::make_unique<PlainCompressor>(std::move(out));
}
std::unique_ptr<Compressor> Compressor::create(Compression compression, unsigned workers, ByteSink out) {
  return create(compression, CodecOptions{workers, nullptr}, std::move(out));
}

namespace codec {

Unexpected corrupt(std::string_view what) {
  return fail(ErrorKind::corrupt, "T002", std::string(what), "fetch or make the archive again");
}
Unexpected too_demanding(std::string_view what) {
  return fail(ErrorKind::corrupt, "T012", std::string(what), "compress it again with an ordinary level");
}

Result<std::span<const std::byte>> Input::next() {
  auto wanted = std::min<std::uint64_t>(k_chunk, rope_.size() - offset_);
  auto chunk = std::span(buffer_).first(wanted);
  if (chunk.empty()) return chunk;
  TRY_DO(rope_.read(offset_, chunk));
  offset_ += wanted;
  if (raw_) TRY_DO(raw_(chunk));
  return chunk;
}

std::shared_ptr<Permits> permits_of(const CodecOptions& options) {
  if (options.workers <= 1) return nullptr;
  return options.permits ? options.permits : std::make_shared<Permits>(options.workers);
}

Buffer BufferPool::take(std::size_t capacity) {
  {
    std::lock_guard lock(mutex_);
    for (auto& buffer : free_)
      if (buffer.capacity >= capacity) {
        std::swap(buffer, free_.back());
        auto taken = std::move(free_.back());
        free_.pop_back();
        taken.size = 0;
        return taken;
      }
  }
  return {std::make_unique_for_overwrite<std::byte[]>(capacity), capacity, 0};
}
void BufferPool::give_back(Buffer buffer) {
  std::lock_guard lock(mutex_);
  std::size_t kept = buffer.capacity;
  for (const auto& b : free_) kept += b.capacity;
  if (kept <= k_pool_bytes_max) free_.push_back(std::move(buffer));
}

Result<void> Ordered::start(std::function<Result<Buffer>()> task) {
  // Delivering the oldest leaves the others at work, and gives its permit back.
  while (!permits_ || !permits_->try_take()) {
    if (pending_.empty()) {
      TRY(auto done, task());
      return deliver_(std::move(done));
    }
    TRY_DO(deliver_first());
  }
  pending_.push_back(std::async(std::launch::async, [permits = permits_, task = std::move(task)] {
    struct GiveBack {
      Permits& permits;
      ~GiveBack() { permits.give_back(); }
    } guard{*permits};
    return task();
  }));
  return pending_.size() > in_flight_max_ ? deliver_first() : Result<void>{};
}

Result<void> Ordered::deliver_first() {
  auto first = std::move(pending_.front());
  pending_.pop_front();
  TRY(auto done, first.get());
  return deliver_(std::move(done));
}

Result<void> Ordered::drain() {
  while (!pending_.empty()) TRY_DO(deliver_first());
  return {};
}

} // namespace codec
} // namespace quarry::archive
