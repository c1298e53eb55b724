#include "archive/deflate_walk.hpp"

#include <gtest/gtest.h>
#include <libdeflate.h>
#include <random>
#include <string>
#include <vector>
#include <zlib.h>

namespace quarry::archive {
namespace {

std::span<const std::byte> bytes(const std::string& s) { return std::as_bytes(std::span(s)); }

// The oracle: zlib stops at every block (Z_BLOCK).
LastBlock oracle(const std::string& stream) {
  z_stream z{};
  EXPECT_EQ(inflateInit2(&z, -15), Z_OK);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(stream.data()));
  z.avail_in = static_cast<uInt>(stream.size());
  std::vector<Bytef> out(1 << 16);
  LastBlock block;
  int result = Z_OK;
  while (result == Z_OK) {
    z.next_out = out.data();
    z.avail_out = static_cast<uInt>(out.size());
    result = inflate(&z, Z_BLOCK);
    auto position = z.total_in * 8 - (z.data_type & 7u);
    bool behind_block = z.data_type & 128, in_last = z.data_type & 64;
    if (behind_block && !in_last) block.header_bit = position;
    if (in_last) block.end_bit = position;
  }
  EXPECT_EQ(result, Z_STREAM_END);
  inflateEnd(&z);
  return block;
}

std::string sample(unsigned seed, std::size_t size) {
  std::mt19937 random(seed);
  std::string text;
  while (text.size() < size) {
    switch (random() % 4) {
    case 0: text.append(random() % 300, static_cast<char>(random())); break;
    case 1:
      for (unsigned i = random() % 200; i; --i) text += static_cast<char>('a' + random() % 20);
      break;
    case 2:
      for (unsigned i = random() % 200; i; --i) text += static_cast<char>(random());
      break;
    default:
      if (!text.empty()) text += text.substr(random() % text.size(), random() % 4000);
    }
  }
  text.resize(size);
  return text;
}

std::string deflated(const std::string& data, int level, int strategy) {
  z_stream z{};
  EXPECT_EQ(deflateInit2(&z, level, Z_DEFLATED, -15, 8, strategy), Z_OK);
  std::string out(deflateBound(&z, data.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  z.avail_in = static_cast<uInt>(data.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

TEST(DeflateWalk, AgreesWithZlibOnEveryKindOfBlock) {
  DeflateWalker walker;
  for (int strategy : {Z_DEFAULT_STRATEGY, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED})
    for (int level : {0, 1, 6, 9})
      for (std::size_t size : {0, 1, 2, 100, 4000, 70000, 400000}) {
        auto stream = deflated(sample(static_cast<unsigned>(size), size), level, strategy);
        auto block = walker.find_last_block(bytes(stream));
        ASSERT_TRUE(block) << strategy << " " << level << " " << size;
        EXPECT_EQ((block->end_bit + 7) / 8, stream.size());
        auto expected = oracle(stream);
        EXPECT_EQ(block->header_bit, expected.header_bit) << strategy << " " << level << " " << size;
      }
}

TEST(DeflateWalk, AgreesWithZlibOnLibdeflate) {
  DeflateWalker walker;
  for (int level : {1, 6, 9, 12})
    for (unsigned seed = 0; seed < 6; ++seed) {
      auto data = sample(seed, 300000);
      auto* compressor = libdeflate_alloc_compressor(level);
      std::string stream(libdeflate_deflate_compress_bound(compressor, data.size()), '\0');
      stream.resize(libdeflate_deflate_compress(compressor, data.data(), data.size(), stream.data(), stream.size()));
      libdeflate_free_compressor(compressor);
      auto block = walker.find_last_block(bytes(stream));
      ASSERT_TRUE(block);
      EXPECT_EQ((block->end_bit + 7) / 8, stream.size());
      EXPECT_EQ(block->header_bit, oracle(stream).header_bit);
    }
}

TEST(DeflateWalk, RefusesEveryTruncation) {
  DeflateWalker walker;
  auto stream = deflated(sample(7, 3000), 6, Z_DEFAULT_STRATEGY);
  for (std::size_t n = 0; n < stream.size(); ++n) EXPECT_FALSE(walker.find_last_block(bytes(stream.substr(0, n)))) << n;
}

TEST(DeflateWalk, EndsOnRubbish) {
  DeflateWalker walker;
  std::mt19937 random(1);
  int found = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string rubbish(random() % 300, '\0');
    for (auto& c : rubbish) c = static_cast<char>(random());
    if (auto block = walker.find_last_block(bytes(rubbish))) {
      ++found;
      EXPECT_LE(block->end_bit, rubbish.size() * 8);
      EXPECT_LT(block->header_bit, block->end_bit);
    }
  }
  EXPECT_LT(found, 10000);
  EXPECT_FALSE(walker.find_last_block(bytes(std::string(5000, '\0'))));
}

} // namespace
} // namespace quarry::archive
