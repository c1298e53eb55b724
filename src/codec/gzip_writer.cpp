#include "codec/gzip_writer.hpp"

#include "codec/compression_work.hpp"
#include "codec/deflate_chunk.hpp"
#include <algorithm>
#include <array>
#include <cstring>
#include <libdeflate.h>

namespace quarry::codec {

namespace {
constexpr std::size_t k_group_chunks = 4, k_group_bytes = k_group_chunks * k_chunk_bytes; // one task of a thread
constexpr std::size_t k_gzip_head = 10;
constexpr std::array<std::uint8_t, k_gzip_head> k_header{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
constexpr std::array<std::uint8_t, 2> k_empty_block{3, 0}; // the last block, with nothing in it

/// Bytes of a stream, with those before them, which they may refer back to.
struct Group {
  Buffer memory; ///< the history, then the data
  std::size_t history = 0;
  bool last = false;
  std::size_t size() const { return memory.size - history; }
};

class GzipWriter final : public Compressor {
public:
  GzipWriter(const CodecOptions& options, ByteSink out)
      : out_(std::move(out)), ordered_(options, [this](Buffer done) { return deliver(std::move(done)); }) {
    group_ = next_group();
  }

  Result<void> write(std::span<const std::byte> bytes) override {
    crc_ = libdeflate_crc32(crc_, bytes.data(), bytes.size());
    total_ += static_cast<std::uint32_t>(bytes.size()); // modulo 2^32, as the format has it
    while (!bytes.empty()) {
      if (group_.size() == k_group_bytes) TRY_DO(pack());
      auto n = std::min(bytes.size(), k_group_bytes - group_.size());
      std::memcpy(group_.memory.memory.get() + group_.memory.size, bytes.data(), n);
      group_.memory.size += n;
      bytes = bytes.subspan(n);
    }
    return {};
  }

  Result<void> finish() override {
    bool empty = group_.size() == 0;
    group_.last = true;
    if (!empty) TRY_DO(pack());
    TRY_DO(ordered_.drain());
    if (empty) {
      TRY_DO(begin());
      TRY_DO(out_(std::as_bytes(std::span(k_empty_block))));
    }
    std::array<std::uint8_t, 8> trailer{};
    for (unsigned i = 0; i < 4; ++i) {
      trailer[i] = static_cast<std::uint8_t>(crc_ >> (8 * i));
      trailer[4 + i] = static_cast<std::uint8_t>(total_ >> (8 * i));
    }
    return out_(std::as_bytes(std::span(trailer)));
  }

private:
  Group next_group() {
    Group next;
    next.memory = ordered_.plain().take(k_history_bytes + k_group_bytes);
    next.memory.size = 0;
    return next;
  }

  Result<void> begin() {
    if (begun_) return {};
    begun_ = true;
    return out_(std::as_bytes(std::span(k_header)));
  }

  /// Hands the group to a thread, or packs it here where none is free. Only the last group may be short.
  Result<void> pack() {
    TRY_DO(begin());
    auto next = next_group();
    next.history = std::min(k_history_bytes, group_.memory.size);
    next.memory.size = next.history;
    std::memcpy(next.memory.memory.get(), group_.memory.memory.get() + group_.memory.size - next.history, next.history);
    auto group = std::make_shared<Group>(std::move(group_));
    group_ = std::move(next);
    TRY(auto permit, ordered_.reserve(2 * k_group_bytes));
    auto task = [this, group] { return deflated(*group); };
    if (permit) {
      ordered_.start(std::move(*permit), task);
      return {};
    }
    TRY(auto done, task());
    return deliver(std::move(done));
  }

  Result<Buffer> deflated(Group& group) {
    ChunkEncoder encoder(Profile::release);
    auto out = ordered_.packed().take(k_group_chunks * encoded_bytes_max(k_chunk_bytes));
    out.size = 0;
    auto bytes = group.memory.bytes();
    for (auto at = group.history; at < bytes.size(); at += k_chunk_bytes) {
      auto size = std::min(k_chunk_bytes, bytes.size() - at);
      auto history = std::min(k_history_bytes, at);
      ChunkInput input{bytes.subspan(at, size), bytes.subspan(at - history, history),
                       group.last && at + size == bytes.size()};
      out.size += encoder.encode(input, out.all().subspan(out.size)).size;
    }
    ordered_.plain().give_back(std::move(group.memory));
    return out;
  }

  Result<void> deliver(Buffer done) {
    TRY_DO(out_(done.bytes()));
    ordered_.packed().give_back(std::move(done));
    return {};
  }

  ByteSink out_;
  Group group_;
  std::uint32_t crc_ = 0, total_ = 0;
  bool begun_ = false;
  Ordered ordered_; // last: its destructor joins the threads before the other members are destroyed
};
} // namespace

std::unique_ptr<Compressor> gzip_writer(const CodecOptions& options, ByteSink out) {
  return std::make_unique<GzipWriter>(options, std::move(out));
}

} // namespace quarry::codec
