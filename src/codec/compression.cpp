#include "codec/compression.hpp"

#include "codec/compression_codecs.hpp"
#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/core.h>

namespace quarry::codec {

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
  Input input(rope, raw);
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

Result<void> decompress(const content::Rope& compressed, Compression compression, const CodecOptions& options,
                        const ByteSink& sink) {
  const auto& raw = options.raw;
  switch (compression) {
  case Compression::none: return copy(compressed, sink, raw);
  case Compression::zstd: return decompress_zstd(compressed, options, sink, raw);
  case Compression::xz: return decompress_xz(compressed, options, sink, raw);
  case Compression::gzip: return decompress_gzip(compressed, sink, raw);
  }
  return fail(ErrorKind::internal, "T001", "unknown compression");
}
Result<void> decompress(const content::Rope& compressed, Compression compression, const ByteSink& sink) {
  return decompress(compressed, compression, CodecOptions{}, sink);
}

std::unique_ptr<Compressor> Compressor::create(Compression compression, const CodecOptions& options, ByteSink out) {
  switch (compression) {
  case Compression::zstd: return zstd_compressor(options, std::move(out));
  case Compression::xz: return xz_compressor(options, std::move(out));
  case Compression::gzip: return gzip_compressor(std::move(out));
  case Compression::none: break;
  }
  return std::make_unique<PlainCompressor>(std::move(out));
}
std::unique_ptr<Compressor> Compressor::create(Compression compression, unsigned workers, ByteSink out) {
  return create(compression, CodecOptions{workers, nullptr}, std::move(out));
}

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

Result<void> Reader::fetch(std::span<std::byte> into) {
  if (into.empty()) return {};
  TRY_DO(rope_.read(offset_, into));
  offset_ += into.size();
  return raw_ ? raw_(into) : Result<void>{};
}

Result<std::span<const std::byte>> Reader::peek(std::size_t wanted) {
  if (tail_ - head_ < wanted) {
    std::memmove(buffer_.data(), buffer_.data() + head_, tail_ - head_);
    tail_ -= head_;
    head_ = 0;
    auto fresh = std::span(buffer_).subspan(tail_, std::min<std::uint64_t>(k_chunk, rope_.size() - offset_));
    TRY_DO(fetch(fresh));
    tail_ += fresh.size();
  }
  return std::span<const std::byte>(buffer_).subspan(head_, tail_ - head_);
}

Result<bool> Reader::pass(std::uint64_t bytes) {
  while (bytes > 0) {
    TRY(auto next, peek());
    if (next.empty()) return false;
    auto n = std::min<std::uint64_t>(bytes, next.size());
    skip(n);
    bytes -= n;
  }
  return true;
}

Result<std::size_t> Reader::read(std::span<std::byte> into) {
  if (head_ == tail_) {
    into = into.first(std::min<std::uint64_t>({into.size(), k_chunk, rope_.size() - offset_}));
    TRY_DO(fetch(into));
    return into.size();
  }
  auto n = std::min({into.size(), k_chunk, tail_ - head_});
  std::memcpy(into.data(), buffer_.data() + head_, n);
  head_ += n;
  return n;
}

void Reader::put_back(std::span<const std::byte> bytes) {
  if (head_ < tail_) { // they stand before what is left
    head_ -= bytes.size();
    return;
  }
  std::memcpy(buffer_.data(), bytes.data(), bytes.size());
  head_ = 0;
  tail_ = bytes.size();
}

} // namespace quarry::codec
