#include "codec/frames.hpp"

#include <gtest/gtest.h>
#include <random>
#include <thread>

namespace quarry::codec {
namespace {

std::string corpus(std::size_t size) {
  std::mt19937 random(7);
  std::string text;
  text.reserve(size);
  while (text.size() < size) text += std::to_string(random() % 5000) + (random() % 9 ? " " : "\n");
  text.resize(size);
  return text;
}

std::string packed(Compression compression, const std::string& text) {
  std::string out;
  auto compressor = Compressor::create(compression, 2, [&](std::span<const std::byte> bytes) -> Result<void> {
    out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return {};
  });
  EXPECT_TRUE(compressor->write(std::as_bytes(std::span(text))));
  EXPECT_TRUE(compressor->finish());
  return out;
}

std::shared_ptr<const content::Source> opened(const std::string& bytes, Compression compression,
                                              std::uint64_t cache_bytes) {
  auto rope = content::Rope::literal(bytes);
  auto frames = find_frames(rope, compression);
  EXPECT_TRUE(frames && *frames);
  return open_frames(rope, compression, **frames, std::make_shared<FrameCache>(cache_bytes));
}

class Frames : public ::testing::TestWithParam<Compression> {};

TEST_P(Frames, ReadTheSameBytesAtAnyPlaceFromSeveralThreads) {
  auto text = corpus(20u << 20); // several frames
  auto bytes = packed(GetParam(), text);
  // A cache of less than one frame still serves: what somebody reads is held by him.
  for (std::uint64_t cache_bytes : {1ull, 64ull << 20}) {
    auto source = opened(bytes, GetParam(), cache_bytes);
    ASSERT_EQ(source->size(), text.size());
    auto reader = [&](unsigned seed) {
      std::mt19937_64 random(seed);
      std::string into;
      for (int i = 0; i < 5; ++i) {
        auto offset = random() % text.size();
        into.resize(std::min<std::uint64_t>(random() % (10u << 20), text.size() - offset));
        auto read = source->read(offset, std::as_writable_bytes(std::span(into)));
        ASSERT_TRUE(read) << render(read.error());
        EXPECT_TRUE(text.compare(offset, into.size(), into) == 0) << offset << " + " << into.size();
      }
    };
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < 3; ++i) threads.emplace_back(reader, i);
  }
}

TEST_P(Frames, SayWhereAFrameIsDamaged) {
  auto text = corpus(20u << 20);
  auto bytes = packed(GetParam(), text);
  auto frames = find_frames(content::Rope::literal(bytes), GetParam());
  ASSERT_TRUE(frames && *frames);
  ASSERT_GE((*frames)->size(), 2u);
  const auto& second = (**frames)[1];
  bytes[second.packed_offset + second.packed_size / 2] ^= 0x20;
  auto source = open_frames(content::Rope::literal(bytes), GetParam(), **frames, std::make_shared<FrameCache>(1 << 20));
  std::string into(100, ' ');
  EXPECT_TRUE(source->read(0, std::as_writable_bytes(std::span(into))));
  auto read = source->read(second.offset, std::as_writable_bytes(std::span(into)));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, "T002");
}

TEST_P(Frames, RefuseATruncatedStream) {
  auto bytes = packed(GetParam(), corpus(1u << 20));
  bytes.resize(bytes.size() - 3);
  auto frames = find_frames(content::Rope::literal(bytes), GetParam());
  ASSERT_FALSE(frames);
  EXPECT_EQ(frames.error().code, "T002");
}

TEST_P(Frames, OfAnEmptyStreamAreNone) {
  auto source = opened(packed(GetParam(), ""), GetParam(), 1);
  EXPECT_EQ(source->size(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Compressions, Frames, ::testing::Values(Compression::zstd, Compression::xz),
                         [](const auto& param) { return param.param == Compression::zstd ? "zstd" : "xz"; });

TEST(FindFrames, HasNoAnswerForStreamsThatAreReadFromTheFrontOnly) {
  // A frame that does not say its size: magic, descriptor, window, one last raw block of 3 bytes.
  auto endless = content::Rope::literal(std::string("\x28\xB5\x2F\xFD\x00\x58\x19\x00\x00"
                                                    "abc",
                                                    12));
  auto frames = find_frames(endless, Compression::zstd);
  ASSERT_TRUE(frames) << render(frames.error());
  EXPECT_FALSE(*frames);
  auto gzip = find_frames(content::Rope::literal(packed(Compression::gzip, "abc")), Compression::gzip);
  ASSERT_TRUE(gzip);
  EXPECT_FALSE(*gzip);
}

} // namespace
} // namespace quarry::codec
