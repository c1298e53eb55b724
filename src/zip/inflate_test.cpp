#include "zip/inflate.hpp"

#include <array>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <zlib.h>

namespace quarry::zip {
namespace {

std::string sample(std::mt19937& random, std::size_t size) {
  std::string text;
  while (text.size() < size) {
    if (random() % 2 && !text.empty()) text += text.substr(random() % text.size(), random() % 500);
    for (unsigned i = random() % 60; i; --i) text += static_cast<char>('a' + random() % (random() % 3 ? 7 : 90));
  }
  text.resize(size);
  return text;
}

std::string deflated(const std::string& data, int level, int strategy) {
  z_stream z{};
  deflateInit2(&z, level, Z_DEFLATED, -15, 8, strategy);
  std::string out(deflateBound(&z, data.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  z.avail_in = static_cast<uInt>(data.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

// What zlib makes of exactly these bytes; nullopt when it objects or does not use all of them.
std::optional<std::string> zlib_inflated(const std::string& packed, std::size_t size) {
  z_stream z{};
  inflateInit2(&z, -15);
  std::string out(size + 1, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  z.avail_in = static_cast<uInt>(packed.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  auto result = inflate(&z, Z_FINISH);
  bool good = result == Z_STREAM_END && z.avail_in == 0 && z.total_out == size;
  inflateEnd(&z);
  out.resize(size);
  return good ? std::optional(out) : std::nullopt;
}

std::optional<std::string> ours(const std::string& packed, std::size_t size) {
  std::string out;
  auto done = inflate(content::Rope::literal(packed), size, {[&](std::span<const std::byte> chunk) -> Result<void> {
                        out.append(reinterpret_cast<const char*>(chunk.data()), chunk.size());
                        return {};
                      }});
  return done ? std::optional(out) : std::nullopt;
}

TEST(ZipInflate, GivesBackWhatWasDeflated) {
  std::mt19937 random(3);
  for (std::size_t size : {1u, 100u, (1u << 20) - 1, 1u << 20, (1u << 20) + 1, 3u << 20})
    for (int strategy : {Z_DEFAULT_STRATEGY, Z_HUFFMAN_ONLY, Z_FIXED})
      for (int level : {0, 1, 9}) {
        auto data = sample(random, size);
        auto got = ours(deflated(data, level, strategy), size);
        ASSERT_TRUE(got) << size << " " << strategy << " " << level;
        EXPECT_TRUE(*got == data);
      }
}

TEST(ZipInflate, LeavesChunksAloneWhileOthersFollow) {
  std::mt19937 random(5);
  const std::size_t size = 5u << 20;
  auto data = sample(random, size);
  std::array<std::vector<std::byte>, 3> buffers;
  std::vector<std::span<const std::byte>> chunks;
  std::string out;
  auto take_oldest = [&] {
    out.append(reinterpret_cast<const char*>(chunks.front().data()), chunks.front().size());
    chunks.erase(chunks.begin());
  };
  auto tap = [&](std::span<const std::byte> chunk) -> Result<void> {
    chunks.push_back(chunk);
    if (chunks.size() == buffers.size()) take_oldest();
    return {};
  };
  auto packed = content::Rope::literal(deflated(data, 6, Z_DEFAULT_STRATEGY));
  ASSERT_TRUE(inflate(packed, size, {tap, nullptr, buffers}));
  while (!chunks.empty()) take_oldest();
  EXPECT_TRUE(out == data);
}

// A stream that zlib refuses must not be accepted: other readers use zlib. `size` chooses the decoder.
void compare_with_zlib(std::size_t size, int rounds) {
  std::mt19937 random(static_cast<unsigned>(size));
  auto data = sample(random, size);
  int both = 0, neither = 0;
  for (int i = 0; i < rounds; ++i) {
    auto packed = deflated(data, 1 + static_cast<int>(random() % 9), random() % 4 ? Z_DEFAULT_STRATEGY : Z_FIXED);
    // Headers of blocks are where decoders differ, and the first one is at the front.
    auto at = random() % 3 ? random() % std::min<std::size_t>(packed.size(), 120) : random() % packed.size();
    if (random() % 8)
      packed[at] = static_cast<char>(packed[at] ^ (1 << random() % 8));
    else
      packed.resize(packed.size() - random() % 3);
    auto expected = zlib_inflated(packed, size);
    auto got = ours(packed, size);
    ASSERT_EQ(got.has_value(), expected.has_value()) << i << " at " << at;
    ASSERT_TRUE(!got || *got == *expected) << i;
    ++(got ? both : neither);
  }
  EXPECT_GT(both, 0);
  EXPECT_GT(neither, 0);
}

// Distance symbols 30 and 31 and length symbols 286 and 287 have codes in the fixed code and no meaning.
TEST(ZipInflate, RefusesSymbolsWithoutMeaning) {
  for (unsigned length_code : {0xC6u, 0xC7u}) { // 8 bits: symbols 286 and 287
    std::uint32_t bits = 0b011, at = 3;
    for (int i = 7; i >= 0; --i) bits |= (length_code >> i & 1) << at++;
    std::string stream;
    for (int i = 0; i < 4; ++i) stream += static_cast<char>(bits >> 8 * i);
    EXPECT_FALSE(ours(stream, 3));
  }
  for (unsigned distance_code : {30u, 31u}) {
    // Literal 'a' (0x91), length 3 (7 bits: 1), the distance (5 bits), end of block (7 zero bits).
    std::uint32_t bits = 0b011, at = 3;
    for (int i = 7; i >= 0; --i) bits |= (0x91u >> i & 1) << at++;
    for (int i = 6; i >= 0; --i) bits |= (1u >> i & 1) << at++;
    for (int i = 4; i >= 0; --i) bits |= (distance_code >> i & 1) << at++;
    std::string stream;
    for (int i = 0; i < 8; ++i) stream += static_cast<char>(static_cast<std::uint64_t>(bits) >> 8 * i);
    for (std::size_t n = 4; n <= stream.size(); ++n) EXPECT_FALSE(ours(stream.substr(0, n), 4)) << n;
  }
}

TEST(ZipInflate, AgreesWithZlibOnDamagedSmallStreams) { compare_with_zlib(3000, 20000); }
TEST(ZipInflate, AgreesWithZlibOnDamagedLargeStreams) { compare_with_zlib((1u << 20) + 5000, 60); }

} // namespace
} // namespace quarry::zip
