#include "codec/deflate_chunk.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <string>
#include <vector>
#include <zlib.h>

namespace quarry::codec {
namespace {

std::string inflated(const std::string& stream, std::size_t size) {
  z_stream z{};
  inflateInit2(&z, -15);
  std::string out(size + 1, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(stream.data()));
  z.avail_in = static_cast<uInt>(stream.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&z, Z_FINISH), Z_STREAM_END);
  EXPECT_EQ(z.avail_in, 0u);
  out.resize(z.total_out);
  inflateEnd(&z);
  return out;
}

std::string noise(std::size_t size, unsigned alphabet) {
  std::mt19937 random(static_cast<unsigned>(size) + alphabet);
  std::string out(size, '\0');
  for (auto& c : out) c = static_cast<char>(random() % alphabet);
  return out;
}

std::span<const std::byte> bytes(std::string_view s) { return std::as_bytes(std::span(s)); }

// Joins the chunks of `data` as a zip entry does.
std::string joined(Profile profile, const std::vector<std::string>& chunks,
                   std::vector<ChunkMethod>* methods = nullptr) {
  ChunkEncoder encoder(profile);
  std::string all, stream;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    std::string out(encoded_bytes_max(chunks[i].size()), '\0');
    auto history = std::string_view(all).substr(all.size() - std::min(all.size(), k_history_bytes));
    auto encoded = encoder.encode({bytes(chunks[i]), bytes(history), i + 1 == chunks.size()},
                                  std::as_writable_bytes(std::span(out)));
    EXPECT_LE(encoded.size, encoded_bytes_max(chunks[i].size()));
    if (methods) methods->push_back(encoded.method);
    stream += out.substr(0, encoded.size);
    all += chunks[i];
  }
  return stream;
}

TEST(DeflateChunk, JoinsChunksOfAllSizesToOneStream) {
  for (auto profile : {Profile::release, Profile::ci})
    for (std::size_t size : {1u, 2u, 7u, 100u, 65535u, 65536u, 70000u, 300000u})
      for (unsigned alphabet : {1u, 2u, 17u, 256u}) {
        auto a = noise(size, alphabet), b = noise(size + 1, alphabet), c = noise(size / 2 + 1, alphabet);
        EXPECT_TRUE(inflated(joined(profile, {a, b, c}), 4 * size + 4) == a + b + c) << size << " " << alphabet;
        EXPECT_TRUE(inflated(joined(profile, {a}), size) == a) << size << " " << alphabet;
      }
}

TEST(DeflateChunk, ChoosesTheEncoderByContent) {
  std::vector<ChunkMethod> methods;
  auto plain = noise(k_chunk_bytes, 16), random = noise(k_chunk_bytes, 256), dense = noise(k_chunk_bytes, 200);
  auto stream = joined(Profile::release, {plain, random, dense, plain}, &methods);
  EXPECT_EQ(methods, (std::vector{ChunkMethod::dense, ChunkMethod::stored, ChunkMethod::fast, ChunkMethod::dense}));
  EXPECT_TRUE(inflated(stream, 4 * k_chunk_bytes) == plain + random + dense + plain);
}

TEST(DeflateChunk, CiTakesTheDenseEncoderWhereItPays) {
  std::vector<ChunkMethod> methods;
  auto plain = noise(k_chunk_bytes, 24), random = noise(k_chunk_bytes, 256), dense = noise(k_chunk_bytes, 200),
       thin = noise(k_chunk_bytes, 3);
  auto stream = joined(Profile::ci, {thin, plain, random, dense, plain, thin}, &methods);
  EXPECT_EQ(methods, (std::vector{ChunkMethod::fast, ChunkMethod::dense, ChunkMethod::stored, ChunkMethod::fast,
                                  ChunkMethod::dense, ChunkMethod::fast}));
  EXPECT_TRUE(inflated(stream, 6 * k_chunk_bytes) == thin + plain + random + dense + plain + thin);
}

TEST(DeflateChunk, FastChunksReferToTheHistory) {
  auto text = noise(20000, 256); // incompressible by itself, known from the chunk before
  auto alone = joined(Profile::ci, {text}), twice = joined(Profile::ci, {text, text});
  EXPECT_LT(twice.size(), alone.size() + 2000);
  EXPECT_TRUE(inflated(twice, 40000) == text + text);
}

TEST(DeflateChunk, CiLeavesSmallChunksToTheFastEncoder) {
  // Half of the second chunk refers back to the first, and the fast encoder leaves 0.53 of it. The dense one, which
  // does not look back, would leave 0.96.
  auto known = noise(32000, 200), fresh = noise(40000, 200);
  std::vector<ChunkMethod> methods;
  auto stream = joined(Profile::ci, {known, known + fresh}, &methods);
  EXPECT_EQ(methods.back(), ChunkMethod::fast);
  EXPECT_LT(stream.size(), known.size() + fresh.size());
  EXPECT_TRUE(inflated(stream, 104000) == known + known + fresh);
}

std::string encode(ChunkEncoder& e, const std::string& data, bool last) {
  std::string out(encoded_bytes_max(data.size()), '\0');
  out.resize(e.encode({bytes(data), {}, last}, std::as_writable_bytes(std::span(out))).size);
  return out;
}

TEST(DeflateChunk, DoesNotDependOnWhatTheEncoderDidBefore) {
  for (auto profile : {Profile::release, Profile::ci}) {
    ChunkEncoder used(profile);
    for (unsigned alphabet : {3u, 256u, 200u, 30u}) (void)encode(used, noise(k_chunk_bytes, alphabet), false);
    for (unsigned alphabet : {2u, 30u, 200u}) {
      ChunkEncoder fresh(profile);
      auto data = noise(500000, alphabet);
      EXPECT_TRUE(encode(used, data, false) == encode(fresh, data, false)) << alphabet;
    }
  }
}

// A chunk of zeros is packed once for each encoder, and copied when another follows.
TEST(DeflateChunk, ChunksOfZerosPackLikeThoseOfAFreshEncoder) {
  const std::string zeros(k_chunk_bytes, '\0'), text = noise(k_chunk_bytes, 3);
  for (auto profile : {Profile::release, Profile::ci}) {
    auto stream = joined(profile, {zeros, zeros, text, zeros, zeros});
    const auto all = zeros + zeros + text + zeros + zeros;
    EXPECT_TRUE(inflated(stream, all.size()) == all);
    std::string fresh;
    for (std::size_t at = 0; at < all.size(); at += k_chunk_bytes) {
      ChunkEncoder encoder(profile);
      std::string out(encoded_bytes_max(k_chunk_bytes), '\0');
      auto history = std::min(at, k_history_bytes);
      auto view = std::string_view(all);
      auto encoded = encoder.encode({bytes(view.substr(at, k_chunk_bytes)), bytes(view.substr(at - history, history)),
                                     at + k_chunk_bytes == all.size()},
                                    std::as_writable_bytes(std::span(out)));
      fresh += out.substr(0, encoded.size);
    }
    EXPECT_TRUE(stream == fresh);
  }
}

// ISA-L hashes the address of its stream for the third byte of an entry, unless it codes the first byte by itself. One
// of some hundred addresses changed the bytes of a file of 1 KB.
TEST(DeflateChunk, DoesNotDependOnWhereTheEncoderIsInMemory) {
  std::vector<std::unique_ptr<ChunkEncoder>> encoders; // together, so that each has addresses of its own
  for (int i = 0; i < 200; ++i) encoders.push_back(std::make_unique<ChunkEncoder>(Profile::ci));
  for (std::size_t beginning : {8u, 9u, 10u, 11u, 12u, 13u, 14u, 15u})
    for (std::size_t size : {20u, 60u, 250u, 288u, 289u, 290u, 320u, 1000u}) {
      auto data = noise(beginning, 250); // repeated: what the first bytes are found by matters
      while (data.size() < size) data += data;
      data.resize(size);
      auto first = encode(*encoders.front(), data, true);
      EXPECT_TRUE(inflated(first, size) == data) << beginning << " " << size;
      for (auto& e : encoders) ASSERT_EQ(encode(*e, data, true), first) << beginning << " " << size;
    }
}

} // namespace
} // namespace quarry::codec
