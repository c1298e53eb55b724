#include "codec/deflate_chunk.hpp"

#include "base/zeros.hpp"
#include <algorithm>
#include <array>
#include <cstring>
#include <isa-l/igzip_lib.h>
#include <libdeflate.h>
#include <optional>
#include <vector>

// Defined in cmake/deflate_open.c: like libdeflate_deflate_compress, but the stream stays open and ends at a byte
// boundary.
extern "C" std::size_t quarry_deflate_open(libdeflate_compressor* compressor, const void* in, std::size_t in_size,
                                           void* out, std::size_t out_size);

namespace quarry::codec {

namespace {

// libdeflate, smaller than zlib 6 at 2.5 to 3 times its speed. Where a chunk shrinks less, level 6 saves fewer bytes
// for its time: 1.5 MB a second above k_probe_denser, 2.5 MB below it (GPU libraries and LLVM, 1.7 GB).
constexpr int k_dense_level = 5, k_denser_level = 6;
constexpr double k_probe_denser = 0.25;
// ISA-L: level 3 depends on the CPU; 0 to 2 do not, from SSE4.2 on. A buffer of 6 K symbols (16 K are its SMALL) makes
// blocks whose codes fit better: GPU libraries shrink by 3.5 % more than with its default (decision 36 has the cost).
constexpr unsigned k_fast_level = 2;
constexpr std::size_t k_fast_symbols = 6u << 10;
constexpr std::size_t k_fast_memory = ISAL_DEF_LVL2_REQ + ISAL_DEF_LVL2_TOKEN_SIZE * k_fast_symbols;
// After the first byte of a stream, ISA-L (x86-64, 2.30 to 2.32) hashes the address of the stream in memory where it
// means the third to sixth byte (.write_first_byte of igzip_icf_body_h1_gr_bt.asm), so the bytes it writes depend on
// where the stream lies: one file of 1 KB in some hundred builds. Fed this many bytes, with more to follow, it codes
// the first one and starts again with the second.
constexpr std::size_t k_fast_first_bytes = 288 + 1; // ISAL_LOOK_AHEAD, which it never codes before the end is known
bool too_short_for_fast(const ChunkInput& in) { return in.history.empty() && in.data.size() <= k_fast_first_bytes; }
constexpr std::size_t k_stored_block_max = 65535;
constexpr std::size_t k_open_end_max = 8; // what an open end takes; kept free of a last chunk, too: the same bytes fit

// The probe: a few slices of the chunk through the fast encoder, 3 % of what that takes for the whole chunk.
constexpr std::size_t k_probe_slices = 4, k_probe_slice_bytes = 8u << 10;
constexpr std::size_t k_small_bytes = 64u << 10;
// Above the first no deflate gains anything; above the second (GPU code that is compressed already) the dense encoder
// takes eight times as long as the fast one for 2 % less.
constexpr double k_probe_stored = 0.985, k_probe_fast = 0.90;

// In profile ci, a chunk whose beginning the fast encoder leaves at this share is worth the dense one: machine code of
// hosts. Below it (GPU code) smaller blocks of the fast encoder save more bytes in the same time, above it nothing
// does.
constexpr int k_ci_dense_level = 2;
constexpr std::size_t k_ci_trial_bytes = 128u << 10; // less of a chunk says too little, more of it is done twice
constexpr double k_ci_dense_from = 0.50, k_ci_dense_below = 0.85; // the last block is not written yet
bool worth_dense(std::size_t fast) {
  auto share = static_cast<double>(fast) / static_cast<double>(k_ci_trial_bytes);
  return share >= k_ci_dense_from && share < k_ci_dense_below;
}

std::uint8_t* raw(std::byte* p) { return reinterpret_cast<std::uint8_t*>(p); }
// ISA-L's API lacks the const.
std::uint8_t* raw(const std::byte* p) { return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(p)); }

} // namespace

struct ChunkEncoder::State {
  explicit State(Profile p) : profile(p) {}

  Profile profile;
  using Dense = std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)>;
  Dense dense{nullptr, libdeflate_free_compressor}, denser{nullptr, libdeflate_free_compressor};
  std::unique_ptr<isal_zstream> fast = std::make_unique<isal_zstream>();
  std::vector<std::uint8_t> fast_memory = std::vector<std::uint8_t>(k_fast_memory);
  std::vector<std::byte> probe_out = std::vector<std::byte>(k_probe_slice_bytes + 1024);

  /// A chunk of zeros behind zeros, as it was packed last.
  struct Zeros {
    std::size_t history = 0;
    ChunkMethod method = ChunkMethod::stored;
    std::vector<std::byte> packed;
  };
  std::optional<Zeros> zeros;

  // False for too short a chunk, too.
  bool begin_fast(const ChunkInput& in, std::span<std::byte> out) {
    if (too_short_for_fast(in)) return false;
    auto& s = *fast;
    isal_deflate_init(&s);
    s.level = k_fast_level;
    s.level_buf = fast_memory.data();
    s.level_buf_size = static_cast<std::uint32_t>(fast_memory.size());
    if (!in.history.empty() &&
        isal_deflate_set_dict(&s, raw(in.history.data()), static_cast<std::uint32_t>(in.history.size())) != COMP_OK)
      return false;
    s.next_in = raw(in.data.data());
    s.next_out = raw(out.data());
    s.avail_out = static_cast<std::uint32_t>(out.size());
    return !in.history.empty() || feed_fast(k_fast_first_bytes, NO_FLUSH, false);
  }
  // Feeds the bytes of the chunk before `until`. A full buffer may hide a flush that is still due, so it counts as not
  // fitting.
  bool feed_fast(std::size_t until, std::uint16_t flush, bool end) {
    auto& s = *fast;
    s.avail_in = static_cast<std::uint32_t>(until - s.total_in);
    s.flush = flush;
    s.end_of_stream = end;
    return isal_deflate(&s) == COMP_OK && s.avail_in == 0 && s.avail_out != 0;
  }
  std::optional<std::size_t> end_fast(const ChunkInput& in) {
    if (!feed_fast(in.data.size(), in.last ? NO_FLUSH : SYNC_FLUSH, in.last)) return std::nullopt;
    return fast->total_out;
  }

  // Bytes written, or nothing when they do not fit.
  std::optional<std::size_t> run_fast(const ChunkInput& in, std::span<std::byte> out) {
    if (!begin_fast(in, out)) return std::nullopt;
    return end_fast(in);
  }

  std::optional<std::size_t> run_dense(const ChunkInput& in, int level, std::span<std::byte> out) {
    auto& compressor = level == k_denser_level ? denser : dense; // a profile has at most one level besides
    if (!compressor) compressor.reset(libdeflate_alloc_compressor(level));
    if (!compressor) return std::nullopt;
    if (out.size() < k_open_end_max) return std::nullopt;
    auto n = in.last ? libdeflate_deflate_compress(compressor.get(), in.data.data(), in.data.size(), out.data(),
                                                   out.size() - k_open_end_max)
                     : quarry_deflate_open(compressor.get(), in.data.data(), in.data.size(), out.data(), out.size());
    if (n == 0) return std::nullopt;
    return n;
  }

  double probe(std::span<const std::byte> data) {
    auto slice = std::min(k_probe_slice_bytes, data.size());
    auto slices = std::clamp<std::size_t>(data.size() / slice, 1, k_probe_slices);
    std::size_t in = 0, out = 0;
    for (std::size_t i = 0; i < slices; ++i) {
      auto part = data.subspan(slices == 1 ? 0 : (data.size() - slice) / (slices - 1) * i, slice);
      out += run_fast({part, {}, true}, probe_out).value_or(slice);
      in += slice;
    }
    return static_cast<double>(out) / static_cast<double>(in);
  }

  /// What an encoder has written; without a size it did not fit.
  struct Written {
    ChunkMethod method = ChunkMethod::stored;
    std::optional<std::size_t> size = std::nullopt;
  };
  Written run_release(const ChunkInput& in, std::span<std::byte> out) {
    // A small file costs little either way, and a probe of all of it costs more than a part of it.
    if (in.data.size() <= k_small_bytes) return {ChunkMethod::dense, run_dense(in, k_denser_level, out)};
    auto ratio = probe(in.data);
    if (ratio > k_probe_stored) return {};
    if (ratio > k_probe_fast) return {ChunkMethod::fast, run_fast(in, out)};
    return {ChunkMethod::dense, run_dense(in, ratio > k_probe_denser ? k_dense_level : k_denser_level, out)};
  }
  // The fast encoder. It gives way to the dense one when what it makes of the beginning says so.
  Written run_ci(const ChunkInput& in, std::span<std::byte> out) {
    if (too_short_for_fast(in)) return {ChunkMethod::dense, run_dense(in, k_ci_dense_level, out)};
    if (in.data.size() < 2 * k_ci_trial_bytes) return {ChunkMethod::fast, run_fast(in, out)};
    if (!begin_fast(in, out) || !feed_fast(k_ci_trial_bytes, NO_FLUSH, false)) return {};
    if (worth_dense(fast->total_out)) return {ChunkMethod::dense, run_dense(in, k_ci_dense_level, out)};
    return {ChunkMethod::fast, end_fast(in)};
  }
  Written run(const ChunkInput& in, std::span<std::byte> out) {
    switch (profile) {
    case Profile::release: return run_release(in, out);
    case Profile::ci: return run_ci(in, out);
    case Profile::stored: break;
    }
    return {};
  }
};

ChunkEncoder::ChunkEncoder(Profile profile) : state_(std::make_unique<State>(profile)) {}
ChunkEncoder::~ChunkEncoder() = default;

namespace {
std::size_t store(const ChunkInput& in, std::span<std::byte> out) {
  std::size_t to = 0;
  for (std::size_t at = 0; at < in.data.size();) {
    auto n = std::min(k_stored_block_max, in.data.size() - at);
    bool final = in.last && at + n == in.data.size();
    const std::array<std::byte, 5> header{std::byte{final}, static_cast<std::byte>(n & 255),
                                          static_cast<std::byte>(n >> 8), static_cast<std::byte>(~n & 255),
                                          static_cast<std::byte>((~n >> 8) & 255)};
    std::memcpy(out.data() + to, header.data(), header.size());
    std::memcpy(out.data() + to + header.size(), in.data.data() + at, n);
    at += n;
    to += header.size() + n;
  }
  return to;
}

/// What thinning leaves of code: whole chunks of zeros, a thousand in a library, which all pack to the same bytes.
bool is_zeros(const ChunkInput& in) {
  auto zeros = [](std::span<const std::byte> bytes) {
    return zeros::all_zero({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  };
  return !in.last && in.data.size() == k_chunk_bytes && zeros(in.data) && zeros(in.history);
}
} // namespace

Encoded ChunkEncoder::encode(const ChunkInput& input, std::span<std::byte> out) {
  auto room = out.first(encoded_bytes_max(input.data.size()));
  bool zeros = is_zeros(input);
  auto& known = state_->zeros;
  if (zeros && known && known->history == input.history.size()) {
    std::ranges::copy(known->packed, room.begin());
    return {known->method, known->packed.size()};
  }
  auto written = state_->run(input, room);
  if (!written.size) return {ChunkMethod::stored, store(input, room)};
  if (zeros) {
    auto packed = room.first(*written.size);
    known = State::Zeros{input.history.size(), written.method, {packed.begin(), packed.end()}};
  }
  return {written.method, *written.size};
}

} // namespace quarry::codec
