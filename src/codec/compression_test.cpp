#include "codec/compression.hpp"

#include "codec/compression_codecs.hpp"
#include "codec/testing.hpp"
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <lzma.h>
#include <random>
#include <zstd.h>

namespace quarry::codec {
namespace {
using namespace testing; // NOLINT: the builders of this test

constexpr Compression k_all[] = {Compression::zstd, Compression::xz, Compression::gzip};

/// Half of it shrinks, half does not; the same on every run.
std::string sample(std::size_t size, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::string text(size, '\0');
  for (std::size_t i = 0; i + 8 <= size; i += 8) {
    auto word = (i / 4096) % 2 ? random() : 0x0102030405060708ull + i / 65536;
    std::memcpy(text.data() + i, &word, 8);
  }
  return text;
}

std::string zstd_frame(std::string_view text, std::initializer_list<std::pair<ZSTD_cParameter, int>> parameters = {}) {
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  for (auto [parameter, value] : parameters)
    EXPECT_FALSE(ZSTD_isError(ZSTD_CCtx_setParameter(context.get(), parameter, value)));
  std::string out(ZSTD_compressBound(text.size()) + 64, '\0');
  // As a stream: the size is not known in advance, so the header says the window.
  ZSTD_inBuffer in{text.data(), text.size(), 0};
  ZSTD_outBuffer to{out.data(), out.size(), 0};
  while (in.pos < in.size) ZSTD_compressStream2(context.get(), &to, &in, ZSTD_e_continue);
  while (ZSTD_compressStream2(context.get(), &to, &in, ZSTD_e_end) != 0) {
  }
  out.resize(to.pos);
  return out;
}
std::string skippable(std::string_view content, char low = '\x50') {
  std::string frame = {low, '\x2a', '\x4d', '\x18'};
  auto size = static_cast<std::uint32_t>(content.size());
  frame.append(reinterpret_cast<const char*>(&size), 4);
  return frame + std::string(content);
}
std::string xz_stream(std::string_view text, std::uint32_t dictionary, lzma_check check) {
  lzma_options_lzma options{};
  lzma_lzma_preset(&options, 0);
  options.dict_size = dictionary;
  lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
  std::string out(text.size() + 4096, '\0');
  std::size_t size = 0;
  EXPECT_EQ(lzma_stream_buffer_encode(filters, check, nullptr, reinterpret_cast<const std::uint8_t*>(text.data()),
                                      text.size(), reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size()),
            LZMA_OK);
  out.resize(size);
  return out;
}

void expect_refused(const std::string& packed, Compression compression, const std::string& code,
                    const std::string& what) {
  for (unsigned workers : {1u, 2u}) {
    auto text = expand(packed, compression, workers);
    ASSERT_FALSE(text) << what;
    EXPECT_EQ(text.error().code, code) << what << ": " << text.error().message;
    EXPECT_EQ(text.error().kind, ErrorKind::corrupt) << what;
  }
}
void expect_text(const std::string& packed, Compression compression, const std::string& expected,
                 const std::string& what) {
  for (unsigned workers : {1u, 2u}) {
    auto text = expand(packed, compression, workers);
    ASSERT_TRUE(text) << what << ": " << text.error().message;
    EXPECT_TRUE(*text == expected) << what;
  }
}

TEST(Compression, IsToldByTheNameOfTheFile) {
  EXPECT_EQ(*compression_of("a.tar.zst"), Compression::zstd);
  EXPECT_EQ(*compression_of("a.tar.xz"), Compression::xz);
  EXPECT_EQ(*compression_of("a.tar.gz"), Compression::gzip);
  EXPECT_EQ(*compression_of("a.tar"), Compression::none);
  for (auto name : {"a.zst", "a.tar.bz2", "tar.xz", ".tar.xz", "a.TAR.XZ", ""}) {
    auto refused = compression_of(name);
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, "T001");
  }
}

TEST(Compression, ReturnsWhatWentIn) {
  for (auto compression : {Compression::none, Compression::zstd, Compression::xz, Compression::gzip})
    for (std::size_t size :
         {std::size_t{0}, std::size_t{1}, std::size_t{4095}, std::size_t{(1u << 20) + 1}, std::size_t{3u << 20}})
      expect_text(compress(sample(size), compression), compression, sample(size),
                  fmt::format("{} of {}", size, suffix_of(compression)));
}

TEST(Compression, DoesNotDependOnWorkersOrOnHowItIsCut) {
  for (auto compression : {Compression::zstd, Compression::xz}) {
    // More than one frame or block, and little of it hard to compress.
    auto text = std::string(compression == Compression::zstd ? k_zstd_frame : k_xz_block, 'a') + sample(300'000, 7);
    auto one = compress(text, compression, 1);
    for (unsigned workers : {2u, 5u})
      EXPECT_TRUE(compress(text, compression, workers) == one) << suffix_of(compression) << " " << workers;
    std::string pieces;
    auto compressor = Compressor::create(compression, 2, [&](std::span<const std::byte> bytes) -> Result<void> {
      pieces.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      return {};
    });
    for (std::size_t at = 0; at < text.size(); at += 1'234'567)
      ASSERT_TRUE(compressor->write(bytes_of(std::string_view(text).substr(at, 1'234'567))));
    ASSERT_TRUE(compressor->finish());
    EXPECT_TRUE(pieces == one) << suffix_of(compression);
    expect_text(one, compression, text, std::string(suffix_of(compression)));
  }
}

TEST(Compression, WritesFramesAndBlocksThatReadersCanTakeSideBySide) {
  auto text = sample(k_zstd_frame + 1000);
  auto zst = compress(text, Compression::zstd);
  auto first = ZSTD_findFrameCompressedSize(zst.data(), zst.size());
  ASSERT_LT(first, zst.size());
  EXPECT_EQ(ZSTD_getFrameContentSize(zst.data(), zst.size()), k_zstd_frame);
  EXPECT_EQ(ZSTD_getFrameContentSize(zst.data() + first, zst.size() - first), 1000u);
  EXPECT_TRUE(zst[4] & 0x04) << "the frame has a checksum";
}

TEST(Compression, RawSeesEveryByteOnceAndInOrder) {
  for (auto compression : k_all)
    for (unsigned workers : {1u, 3u}) {
      auto packed = compress(sample(2u << 20), compression) +
                    (compression == Compression::zstd ? skippable("between") + compress("more", compression) : "");
      std::string seen;
      auto see = [&](std::span<const std::byte> bytes) -> Result<void> {
        seen.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return {};
      };
      auto done = decompress(content::Rope::literal(packed), compression, CodecOptions{workers, nullptr, see},
                             [](std::span<const std::byte>) -> Result<void> { return {}; });
      ASSERT_TRUE(done) << done.error().message;
      EXPECT_TRUE(seen == packed) << suffix_of(compression);
    }
}

TEST(Compression, RefusesEveryTruncation) {
  for (auto compression : k_all) {
    auto packed = compress(sample(20'000), compression);
    for (std::size_t keep = 0; keep < packed.size(); keep += keep < 64 || keep + 64 > packed.size() ? 1 : 97)
      expect_refused(packed.substr(0, keep), compression, "T002",
                     fmt::format("{} cut to {}", suffix_of(compression), keep));
  }
}

TEST(Compression, RefusesWhatFollowsTheEnd) {
  for (auto compression : k_all) {
    auto packed = compress("text", compression);
    for (std::string tail :
         {std::string("x"), std::string("garbage behind it"), std::string(3, '\0'), std::string(512, 'a')})
      expect_refused(packed + tail, compression, "T002",
                     fmt::format("{} + {} bytes", suffix_of(compression), tail.size()));
  }
  expect_refused(compress("text", Compression::zstd) + std::string(4, '\0'), Compression::zstd, "T002", "zstd + zeros");
  expect_refused(compress("text", Compression::gzip) + std::string(512, '\0'), Compression::gzip, "T002",
                 "gzip + zeros");
}

TEST(Compression, NeverReturnsOtherTextForFlippedBits) {
  for (auto compression : k_all) {
    auto text = sample(30'000);
    auto packed = compress(text, compression);
    std::mt19937 random(42);
    for (int i = 0; i < 200; ++i) {
      auto changed = packed;
      auto at = random() % packed.size();
      changed[at] = static_cast<char>(changed[at] ^ (1 << random() % 8));
      auto found = expand(changed, compression, 1 + i % 2);
      // A gzip header has fields that say nothing about the content (time, system).
      if (!found) continue;
      EXPECT_TRUE(compression == Compression::gzip && at < 10 && *found == text)
          << suffix_of(compression) << " at " << at;
    }
  }
}

TEST(Compression, OneFormatIsNotAnother) {
  for (auto written : k_all)
    for (auto read_as : k_all)
      if (written != read_as) expect_refused(compress("text", written), read_as, "T002", "mislabelled");
}

TEST(Zstd, AcceptsFramesInARowAndSkippableOnes) {
  auto a = zstd_frame("first "), b = zstd_frame("second", {{ZSTD_c_checksumFlag, 1}});
  expect_text(a + b, Compression::zstd, "first second", "two frames");
  expect_text(skippable("") + a + skippable("seek table", '\x5e') + b + skippable("tail"), Compression::zstd,
              "first second", "skippable frames");
  expect_text(compress("", Compression::zstd) + a, Compression::zstd, "first ", "an empty frame");
}

TEST(Zstd, MixesFramesThatSayTheirSizeWithThoseThatDoNot) {
  std::string packed, text;
  for (unsigned i = 0; i < 12; ++i) {
    auto part = sample(200'000 + i * 1000, i);
    packed += i % 3 == 1 ? zstd_frame(part) : compress(part, Compression::zstd);
    text += part;
  }
  expect_text(packed, Compression::zstd, text, "mixed");
}

TEST(Zstd, RefusesWhatItCannotBound) {
  expect_refused(zstd_frame("text", {{ZSTD_c_windowLog, 28}}), Compression::zstd, "T012", "window of 256 MiB");
  expect_text(zstd_frame("text", {{ZSTD_c_windowLog, 27}}), Compression::zstd, "text", "window of 128 MiB");
  auto frame = compress("text", Compression::zstd);
  auto with_dictionary = frame;
  with_dictionary[4] = static_cast<char>(with_dictionary[4] | 1);
  with_dictionary.insert(5, "\x07");
  expect_refused(with_dictionary, Compression::zstd, "T002", "dictionary");
  auto reserved = frame;
  reserved[4] = static_cast<char>(reserved[4] | 8);
  expect_refused(reserved, Compression::zstd, "T002", "reserved bit");
  expect_refused(std::string("\x27\xb5\x2f\xfd", 4) + frame.substr(4), Compression::zstd, "T002",
                 "a format before 0.8");
  expect_refused(skippable("only"), Compression::zstd, "T002", "no frame at all");
  expect_refused(frame + skippable("tail").substr(0, 10), Compression::zstd, "T002", "a skippable frame that is cut");
  auto wrong_size = frame; // single segment: the content size is the byte behind the descriptor
  wrong_size[5] = static_cast<char>(wrong_size[5] + 1);
  expect_refused(wrong_size, Compression::zstd, "T002", "content size");
}

TEST(Xz, AcceptsStreamsInARowAndTheirPadding) {
  auto a = compress("first ", Compression::xz), b = compress("second", Compression::xz);
  expect_text(a + b, Compression::xz, "first second", "two streams");
  expect_text(a + std::string(8, '\0') + b + std::string(4, '\0'), Compression::xz, "first second", "stream padding");
  for (auto check : {LZMA_CHECK_NONE, LZMA_CHECK_CRC32, LZMA_CHECK_SHA256})
    expect_text(xz_stream("text", 1u << 20, check), Compression::xz, "text", "check");
}

TEST(Xz, RefusesDefectsInEveryPart) {
  auto stream = compress(sample(50'000), Compression::xz);
  auto flip = [&](std::size_t at) {
    auto changed = stream;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    return changed;
  };
  auto n = stream.size();
  for (auto [what, at] : std::initializer_list<std::pair<const char*, std::size_t>>{{"magic", 0},
                                                                                    {"flags", 7},
                                                                                    {"header CRC", 9},
                                                                                    {"block header", 13},
                                                                                    {"data", n / 2},
                                                                                    {"index", n - 16},
                                                                                    {"footer CRC", n - 12},
                                                                                    {"backward size", n - 7},
                                                                                    {"footer flags", n - 3},
                                                                                    {"footer magic", n - 1}})
    expect_refused(flip(at), Compression::xz, "T002", what);
  expect_refused(stream + std::string(2, '\0'), Compression::xz, "T002", "padding that is no multiple of four");
  expect_refused(stream + std::string(4, '\0') + "YZxx", Compression::xz, "T002", "rubbish behind the padding");
}

TEST(Xz, RefusesADictionaryThatNeedsTooMuchMemory) {
  auto stream = xz_stream("text", 4096, LZMA_CHECK_CRC32);
  // Block header (xz file format 1.2.0, 3.1): size, flags, sizes, then LZMA2's id 0x21 with one byte of properties,
  // CRC-32 at the end.
  auto header_bytes = (static_cast<unsigned char>(stream[12]) + 1u) * 4;
  auto filter = stream.find("\x21\x01", 14);
  ASSERT_LT(filter, 12 + header_bytes);
  auto changed = stream;
  changed[filter + 2] = 40; // 4 GiB - 1
  auto crc = lzma_crc32(reinterpret_cast<const std::uint8_t*>(changed.data()) + 12, header_bytes - 4, 0);
  std::memcpy(changed.data() + 12 + header_bytes - 4, &crc, 4);
  expect_refused(changed, Compression::xz, "T012", "4 GiB dictionary");
}

TEST(Gzip, AcceptsMembersInARow) {
  expect_text(compress("first ", Compression::gzip) + compress("second", Compression::gzip), Compression::gzip,
              "first second", "two members");
}

TEST(Compression, SinkErrorsStopTheWork) {
  auto packed = compress(sample(k_zstd_frame + 5000), Compression::zstd) + compress(sample(5000), Compression::zstd);
  for (unsigned workers : {1u, 3u}) {
    int calls = 0;
    auto done = decompress(content::Rope::literal(packed), Compression::zstd, CodecOptions{workers, nullptr},
                           [&](std::span<const std::byte>) -> Result<void> {
                             ++calls;
                             return fail(ErrorKind::resource_exhausted, "D003", "disk full");
                           });
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, "D003");
    EXPECT_EQ(calls, 1);
  }
}

TEST(Compression, WithoutAFreePermitItIsAStreamOnThisThread) {
  for (auto compression : {Compression::zstd, Compression::xz}) {
    auto text = std::string(k_xz_block, 'a') + sample(300'000); // two blocks, and little of it hard to compress
    auto packed = compress(text, compression);
    for (auto [count, bytes] : {std::pair{0u, 1ull << 30}, {4u, 1ull << 20}, {1u, 30ull << 20}}) {
      auto permits = std::make_shared<Permits>(count, bytes);
      std::string found;
      auto done = decompress(content::Rope::literal(packed), compression, CodecOptions{4, permits},
                             [&](std::span<const std::byte> part) -> Result<void> {
                               found.append(reinterpret_cast<const char*>(part.data()), part.size());
                               return {};
                             });
      ASSERT_TRUE(done) << done.error().message;
      EXPECT_TRUE(found == text) << suffix_of(compression) << " " << count;
      for (unsigned i = 0; i < count; ++i) EXPECT_TRUE(permits->try_take(bytes / count)) << "all came back";
    }
  }
}

TEST(Compression, AFailureGivesItsPermitsBack) {
  for (auto compression : {Compression::zstd, Compression::xz}) {
    auto packed = compress(std::string(k_xz_block, 'a') + sample(300'000), compression);
    packed[packed.size() / 2] ^= 1;
    auto permits = std::make_shared<Permits>(4, 200u << 20);
    EXPECT_FALSE(decompress(content::Rope::literal(packed), compression, CodecOptions{4, permits},
                            [](std::span<const std::byte>) -> Result<void> { return {}; }));
    for (unsigned i = 0; i < 4; ++i) EXPECT_TRUE(permits->try_take(50u << 20));
  }
}

TEST(Compression, AFrameOfManyEmptyBlocksIsLargerThanItsBound) {
  constexpr unsigned k_blocks = 200'000; // three bytes each: more than is read at once
  std::string packed = {'\x28', '\xB5', '\x2F', '\xFD', '\x20', '\x05'};
  packed.append(3 * k_blocks, '\0');
  packed += std::string{'\x29', '\0', '\0'} + "hello";
  expect_text(packed, Compression::zstd, "hello", "empty blocks");
  expect_text(packed + compress(" again", Compression::zstd), Compression::zstd, "hello again", "and what follows");
  expect_refused(packed.substr(0, packed.size() - 1), Compression::zstd, "T002", "cut");
}

TEST(Permits, BoundWorkAndBytes) {
  Permits permits(2, 100);
  EXPECT_FALSE(permits.try_take(101));
  EXPECT_TRUE(permits.try_take(60));
  EXPECT_FALSE(permits.try_take(41)) << "too many bytes";
  EXPECT_TRUE(permits.try_take(40));
  EXPECT_FALSE(permits.try_take(0)) << "no permit left";
  permits.give_back(40);
  EXPECT_TRUE(permits.try_take(40));
}

} // namespace
} // namespace quarry::codec
