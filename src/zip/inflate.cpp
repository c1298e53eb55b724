#include "zip/inflate.hpp"

#include "codec/deflate_chunk.hpp"
#include <algorithm>
#include <cstring>
#include <fmt/core.h>
#include <isa-l/igzip_lib.h>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::zip {

namespace {

constexpr std::size_t k_output_bytes = 1u << 20, k_input_bytes = 256u << 10;
// A chunk, however badly it packs, and the head of the next block; room for several, since what is left is moved to
// the front when the buffer is filled again.
constexpr std::size_t k_cut_ahead_bytes = codec::encoded_bytes_max(k_output_bytes) + 1024;
constexpr std::size_t k_cut_input_bytes = 4 * k_cut_ahead_bytes;
static_assert(k_output_bytes == codec::k_chunk_bytes); // for cuts
constexpr std::size_t k_first_input_bytes = 32u << 10; // who only wants to see how far content begins fetches no more

Unexpected broken(std::string message) {
  return fail(ErrorKind::corrupt, "Z005", std::move(message),
              "do not use this file: get it again from its source, or build it again");
}

// ISA-L and not libdeflate, which is faster but accepts some streams that zlib refuses, such as symbols that do not
// exist in a fixed code (found by comparing both with zlib on 400,000 damaged streams; ISA-L agreed on all).
class Stream {
public:
  Stream(const content::Rope& packed, std::uint64_t size, const Inflating& into)
      : packed_(packed), size_(size), into_(into),
        in_(std::min<std::uint64_t>(into.cuts ? k_cut_input_bytes : k_input_bytes, packed.size())) {
    for (auto& buffer : into_.buffers) buffer.resize(std::min<std::uint64_t>(k_output_bytes, size + 1));
    isal_inflate_init(state_.get());
    if (into_.cuts) into_.cuts->assign(1, 0);
  }

  Result<void> run() {
    while (state_->block_state != ISAL_BLOCK_FINISH) {
      if (state_->avail_in == 0 || (begins_chunk() && state_->avail_in < k_cut_ahead_bytes)) TRY_DO(refill());
      auto& out = into_.buffers[next_];
      auto room = static_cast<std::size_t>(std::min<std::uint64_t>(out.size() - made_ % k_output_bytes,
                                                                   size_ - made_ + 1)); // one more than there may be
      state_->next_out = reinterpret_cast<std::uint8_t*>(out.data());
      state_->avail_out = static_cast<std::uint32_t>(room);
      bool starved = state_->avail_in == 0;
      if (isal_inflate(state_.get()) != ISAL_DECOMP_OK) return broken("the compressed data is damaged");
      auto n = room - state_->avail_out;
      if (n == 0 && starved && state_->block_state != ISAL_BLOCK_FINISH)
        return broken("the compressed data ends too early");
      made_ += n;
      if (made_ > size_) return broken(fmt::format("the data is longer than the {} bytes it should have", size_));
      if (n) {
        next_ = (next_ + 1) % into_.buffers.size();
        TRY_DO(into_.tap(std::span(out).first(n)));
      }
      if (n && into_.cuts && made_ % k_output_bytes == 0) TRY_DO(find_cut());
    }
    if (made_ != size_) return broken(fmt::format("the data has {} bytes, not {}", made_, size_));
    // The decoder reads ahead into its bit buffer.
    auto left =
        packed_.size() - read_ + state_->avail_in + static_cast<std::uint64_t>(std::max(0, state_->read_in_length)) / 8;
    if (left != 0) return broken(fmt::format("{} bytes are hidden behind the compressed data", left));
    return {};
  }

private:
  /// When looking for cuts, the decoder gets the whole packed chunk at once, so that it stops close behind its end.
  bool begins_chunk() const { return into_.cuts && made_ % k_output_bytes == 0; }
  Result<void> refill() {
    auto left = state_->avail_in;
    if (left) std::memmove(in_.data(), state_->next_in, left);
    auto n = static_cast<std::size_t>(std::min<std::uint64_t>(in_.size() - left, packed_.size() - read_));
    if (read_ == 0 && !into_.cuts) n = std::min(n, k_first_input_bytes);
    TRY_DO(packed_.read(read_, std::span(in_).subspan(left, n)));
    read_ += n;
    state_->next_in = reinterpret_cast<std::uint8_t*>(in_.data());
    state_->avail_in = static_cast<std::uint32_t>(left + n);
    return {};
  }

  /// The decoder stops some symbols behind the chunk's last byte: behind the empty stored block that ends the chunk,
  /// and the head of the next block. Bytes that only look like that end do no harm: who uses a cut inflates what it
  /// cuts off.
  Result<void> find_cut() {
    constexpr std::string_view k_end("\0\0\xff\xff", 4); // the lengths of the empty block
    constexpr std::uint64_t k_head_max = 600;            // of a block: 316 codes of 14 bits, at most
    auto at = read_ - state_->avail_in;
    auto begin = at - std::min(at, k_head_max);
    std::string bytes(std::min(at + k_end.size(), packed_.size()) - begin, '\0');
    TRY_DO(packed_.read(begin, std::as_writable_bytes(std::span(bytes))));
    auto found = bytes.rfind(k_end);
    into_.cuts->push_back(found == bytes.npos ? 0 : begin + found + k_end.size());
    return {};
  }

  const content::Rope& packed_;
  std::uint64_t size_, made_ = 0, read_ = 0;
  const Inflating& into_;
  std::unique_ptr<inflate_state> state_ = std::make_unique<inflate_state>();
  std::vector<std::byte> in_;
  std::size_t next_ = 0; ///< of the buffers: the next chunk goes there
};

} // namespace

Result<void> inflate(const content::Rope& packed, std::uint64_t size, const Inflating& into) {
  std::vector<std::byte> own;
  auto with = into;
  if (with.buffers.empty()) with.buffers = std::span(&own, 1);
  return Stream(packed, size, with).run();
}

} // namespace quarry::zip
