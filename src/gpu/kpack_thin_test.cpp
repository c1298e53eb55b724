#include "gpu/gpu_forge_for_test.hpp"
#include "gpu/kpack.hpp"
#include "gpu/message_pack.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::gpu {
namespace {
using namespace forge;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Result<Thinned> thinned_archive(const std::string& bytes, const std::vector<std::string>& devices) {
  auto spool = content::Spool::create(testing::TempDir()).value();
  return thin(content::Rope::literal(bytes), "x.kpack", {devices, testing::TempDir(), spool});
}

std::string bytes_in(const content::Rope& rope) { return rope.read_all(1u << 30).value(); }

std::vector<Kernel> four() {
  return {{"lib/liba.so#0", "gfx942", code(k_gfx942, 5001)},
          {"lib/liba.so#1", "gfx1030", code(k_gfx1030, 7000)},
          {"lib/libb.so#0", "gfx90a:xnack+", code(k_gfx90a_xnack_on, 3000)},
          {"lib/libb.so#1", "gfx1030", code(k_gfx1030, 9000)}};
}

/// "binary target bytes", row by row.
std::string rows_of(const std::string& bytes) {
  auto archive = read_kpack_archive(content::Rope::literal(bytes)).value();
  std::string out;
  for (const auto& kernel : archive.kernels)
    out += (out.empty() ? "" : ", ") + kernel.binary + " " + kernel.target + " " + std::to_string(kernel.size);
  return out;
}

TEST(ThinKpack, RowsAndCodeLeave) {
  for (bool packed : {false, true}) {
    auto before = kpack(four(), packed);
    auto done = thinned_archive(before, {"gfx1030"});
    ASSERT_TRUE(done) << render(done.error());
    auto after = bytes_in(done->file);
    EXPECT_TRUE(done->changed);
    EXPECT_THAT(done->left, IsEmpty());
    EXPECT_EQ(rows_of(after), "lib/liba.so#1 gfx1030 7000, lib/libb.so#1 gfx1030 9000") << packed;
    EXPECT_EQ(done->after.objects.size(), 2u);
    EXPECT_LT(after.size(), before.size());
    EXPECT_EQ(after.find("gfx942"), after.npos) << "gfx_arches, too";
    if (packed) continue;
    EXPECT_EQ(after.substr(64, 7000), code(k_gfx1030, 7000)) << "blobs begin at multiples of 64";
    EXPECT_EQ(after.find(code(k_gfx942, 5001)), after.npos);
  }
}

// What an archive made for the target alone would be, but for the way its numbers are written.
TEST(ThinKpack, IsAsIfItWasPackedWithoutThem) {
  for (bool packed : {false, true}) {
    auto alone = kpack({four()[1], four()[3]}, packed);
    auto done = bytes_in(thinned_archive(kpack(four(), packed), {"gfx1030"})->file);
    auto table_at = [](const std::string& bytes) { return value_in<std::uint64_t>(bytes, 8); };
    EXPECT_EQ(rows_of(done), rows_of(alone));
    EXPECT_EQ(done.substr(0, table_at(done)), alone.substr(0, table_at(alone))) << packed;
    auto again = thinned_archive(done, {"gfx1030"});
    EXPECT_FALSE(again->changed);
    EXPECT_THAT(again->left, IsEmpty());
  }
}

TEST(ThinKpack, AVariantCountsAsItsProcessor) {
  auto done = thinned_archive(kpack(four(), true), {"gfx90a"});
  EXPECT_EQ(rows_of(bytes_in(done->file)), "lib/libb.so#0 gfx90a:xnack+ 3000");
}

TEST(ThinKpack, AnArchiveOfWhichNothingStaysIsTheCallersToDrop) {
  auto before = kpack(four(), false);
  auto done = thinned_archive(before, {"gfx1201"});
  EXPECT_FALSE(done->changed);
  EXPECT_EQ(bytes_in(done->file), before);
  EXPECT_THAT(done->left, ElementsAre(HasSubstr("nothing would be left")));
}

TEST(ThinKpack, BlobsThatShareBytesStay) {
  // Two rows name one blob's bytes by two numbers: apart, they would take more room.
  std::string payload = code(k_gfx1030, 7000) + code(k_gfx942, 64);
  auto blob = map({{"offset", number(64)}, {"size", number(7000)}});
  auto row = [](std::uint64_t ordinal) { return map({{"ordinal", number(ordinal)}, {"original_size", number(7000)}}); };
  auto table = map({{"compression_scheme", text("none")},
                    {"blobs", array({blob, blob, map({{"offset", number(64 + 7000)}, {"size", number(64)}})})},
                    {"toc", map({{"a", map({{"gfx1030", row(0)}})},
                                 {"b", map({{"gfx1030", row(1)}})},
                                 {"c", map({{"gfx942", row(2)}})}})}});
  std::string file("KPAK");
  put<std::uint32_t>(file, 1), put<std::uint64_t>(file, 64 + payload.size());
  pad(file, 64);
  file += payload + table;
  auto done = thinned_archive(file, {"gfx1030"});
  ASSERT_TRUE(done) << render(done.error());
  EXPECT_FALSE(done->changed);
  EXPECT_THAT(done->left, ElementsAre(HasSubstr("would not get smaller")));
}

TEST(ThinKpack, ATableThatLeavesAPlaceOutIsRefused) {
  // Read as 0, the place would be another one in the new file.
  auto whole = kpack(four(), false);
  for (std::string key : {"ordinal", "offset"}) {
    auto odd = whole;
    for (auto at = odd.find(key); at != odd.npos; at = odd.find(key, at)) odd[at] = 'x';
    auto done = thinned_archive(odd, {"gfx1030"});
    ASSERT_FALSE(done) << key;
    EXPECT_EQ(done.error().code, "G101");
  }
}

TEST(ThinKpack, EveryTruncationIsThinnedOrRefused) {
  for (bool packed : {false, true}) {
    auto whole = kpack(four(), packed);
    for (std::size_t size = 0; size < whole.size(); size += 1 + size / 100)
      if (auto done = thinned_archive(whole.substr(0, size), {"gfx1030"}); done)
        EXPECT_LE(done->file.size(), size);
      else
        EXPECT_EQ(done.error().code, "G101");
  }
}

TEST(MessagePack, WritesWhatItReads) {
  for (std::uint64_t value :
       std::initializer_list<std::uint64_t>{0, 127, 128, 255, 256, 65535, 65536, 1ull << 32, UINT64_MAX}) {
    auto bytes = packed_number(value);
    MessagePack in(bytes);
    EXPECT_EQ(in.number(), value);
    EXPECT_EQ(in.rest(), "");
  }
  for (std::uint32_t count : {0u, 15u, 16u, 65535u, 65536u}) {
    auto pairs = packed_map(count), elements = packed_array(count);
    EXPECT_EQ(MessagePack(pairs).map(), count);
    EXPECT_EQ(MessagePack(elements).array(), count);
  }
}

// ---- Windows

std::string three_targets() {
  return bundle({device("gfx942", code(k_gfx942)), device("gfx1030", code(k_gfx1030, 7001)),
                 device("gfx1201", code(k_gfx1201, 9000))});
}

TEST(ThinWindows, ALibraryKeepsItsPlacesAndItsSize) {
  auto before =
      dll({{".text", "code", {}, {}}, {".hip_fat", three_targets(), {}, {}}, {".hipFatB", record("FPIH"), {}, {}}});
  auto done = thinned_archive(before, {"gfx1030"});
  ASSERT_TRUE(done) << render(done.error());
  EXPECT_THAT(done->left, IsEmpty());
  ASSERT_EQ(done->after.objects.size(), 1u);
  EXPECT_EQ(done->after.objects[0].target.str(), "gfx1030");
  auto after = bytes_in(done->file);
  ASSERT_EQ(after.size(), before.size());
  EXPECT_EQ(after.substr(0, 8192), before.substr(0, 8192)) << "headers and .text";
  EXPECT_EQ(after.substr(after.size() - 24), before.substr(before.size() - 24));
  EXPECT_EQ(after.find(code(k_gfx942)), after.npos);
}

TEST(ThinWindows, PlacesInTheFileAreNotThoseInMemory) {
  // As linkers do it: sections begin at multiples of 512 of the file, the bundles of one are pages apart.
  std::vector<Part> parts{
      {".text", "code", {}, {}},
      {".hip_fat", linked({three_targets(), compressed(three_targets()), three_targets()}), {}, {}}};
  auto before = dll(parts, {.align = 512});
  ASSERT_NE(before.find("__CLANG_OFFLOAD_BUNDLE__") % 4096, 0u);
  auto done = thinned_archive(before, {"gfx1030"});
  ASSERT_TRUE(done) << render(done.error());
  EXPECT_THAT(done->before.findings, IsEmpty());
  EXPECT_EQ(done->before.objects.size(), 9u);
  EXPECT_THAT(done->left, IsEmpty());
  EXPECT_EQ(done->after.objects.size(), 3u);
  EXPECT_EQ(done->after.containers, 3u);
}

std::uint32_t sum_of(const std::string& bytes) { // as Microsoft describes CheckSumMappedFile
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    if (i == 88 + 64 || i == 88 + 66) continue;
    auto high = i + 1 < bytes.size() ? static_cast<unsigned char>(bytes[i + 1]) : 0u;
    sum += static_cast<unsigned char>(bytes[i]) + 256u * high;
    sum = (sum & 0xFFFF) + (sum >> 16);
  }
  return sum + static_cast<std::uint32_t>(bytes.size());
}

TEST(ThinWindows, AChecksumStaysRight) {
  std::vector<Part> parts{{".hip_fat", three_targets(), {}, {}}, {".text", "odd", {}, {}}};
  auto right = dll(parts, {.checksum = sum_of(dll(parts))});
  auto after = bytes_in(thinned_archive(right, {"gfx1030"})->file);
  EXPECT_EQ(value_in<std::uint32_t>(after, 88 + 64), sum_of(after));
  EXPECT_NE(sum_of(after), sum_of(right));
  auto wrong = bytes_in(thinned_archive(dll(parts, {.checksum = 12345}), {"gfx1030"})->file);
  EXPECT_EQ(value_in<std::uint32_t>(wrong, 88 + 64), 12345u);
}

TEST(ThinWindows, WhatWouldBreakStays) {
  struct Line {
    std::string bytes, reason;
  };
  Part fat{".hip_fat", three_targets(), {}, {}};
  for (const auto& line : {Line{dll({fat}, {.certificates = 4096}), "it is signed"},
                           Line{dll({fat, {".text", "code", 8192, 100}}), "in another section"},
                           Line{dll({{".hip_fat", three_targets(), 0x40, 60000}}), ""}}) {
    auto done = thinned_archive(line.bytes, {"gfx1030"});
    if (line.reason.empty()) {
      EXPECT_FALSE(done && done->changed);
      continue;
    }
    ASSERT_TRUE(done) << render(done.error());
    EXPECT_FALSE(done->changed);
    EXPECT_EQ(bytes_in(done->file), line.bytes);
    EXPECT_THAT(done->left, ElementsAre(HasSubstr(line.reason)));
  }
}

} // namespace
} // namespace quarry::gpu
