#include "gpu/gpu_forge_for_test.hpp"
#include "gpu/thin.hpp"
#include "gpu/thin_proof.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::gpu {
namespace {
using namespace forge;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Result<Thinned> thinned(const std::string& bytes, const std::vector<std::string>& devices) {
  auto spool = content::Spool::create(testing::TempDir()).value();
  return thin(content::Rope::literal(bytes), "x", {devices, testing::TempDir(), spool});
}

Thinned good(const std::string& bytes, const std::vector<std::string>& devices) {
  auto done = thinned(bytes, devices);
  EXPECT_TRUE(done) << (done ? "" : render(done.error()));
  return done ? std::move(*done) : Thinned{};
}

std::string bytes_of(const content::Rope& rope) { return rope.read_all(1u << 30).value(); }

std::string thin_listed(const Contents& contents) {
  std::string out;
  for (const auto& object : contents.objects)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", object.target.str(), object.bytes);
  return out;
}

std::string three() {
  return bundle({device("gfx942", code(k_gfx942)), device("gfx1030", code(k_gfx1030, 7001)),
                 device("gfx1201", code(k_gfx1201, 9000))});
}
constexpr auto k_three = "gfx942 5000, gfx1030 7001, gfx1201 9000";

TEST(Thin, DropsEntriesAndZerosTheirCode) {
  auto before = three();
  auto done = good(before, {"gfx1030"});
  EXPECT_TRUE(done.changed);
  EXPECT_EQ(thin_listed(done.before), k_three);
  EXPECT_EQ(thin_listed(done.after), "gfx1030 7001");
  auto after = bytes_of(done.file);
  ASSERT_EQ(after.size(), before.size());
  EXPECT_EQ(after.substr(12288, 8192), before.substr(12288, 8192)); // the code for gfx1030, behind 4096 + 8192
  EXPECT_EQ(after.substr(4096, 8192), std::string(8192, '\0'));
  EXPECT_EQ(after.substr(20480), std::string(9000, '\0'));
  EXPECT_EQ(after.substr(24, 8), std::string("\2\0\0\0\0\0\0\0", 8)); // the host and gfx1030
  EXPECT_EQ(after.find("gfx942"), after.npos);
}

// A thinned file in which one byte more differs than the plan says is not handed out.
TEST(Thin, BytesOutsideTheRemovedCodeAreProven) {
  auto before = content::Rope::literal(three());
  auto done = thin(before, "x", {{"gfx1030"}, testing::TempDir(), content::Spool::create(testing::TempDir()).value()});
  ASSERT_TRUE(done);
  ThinRequest request{{"gfx1030"}, testing::TempDir(), {}};
  Thinning same{before, request};
  Thinned unchanged{before, false, done->before, done->before, {}};
  EXPECT_TRUE(prove_thinned(same, unchanged, "x"));
  auto refused = prove_thinned(same, *done, "x");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "G116");
}

TEST(Thin, IsDoneOnceAndChangesNothingWithoutNeed) {
  auto once = bytes_of(good(three(), {"gfx1030"}).file);
  for (const auto& bytes :
       {once, bundle({device("gfx1030", code(k_gfx1030))}), std::string("no code"), std::string()}) {
    auto again = good(bytes, {"gfx1030"});
    EXPECT_FALSE(again.changed);
    EXPECT_EQ(bytes_of(again.file), bytes);
    EXPECT_THAT(again.left, IsEmpty());
  }
}

TEST(Thin, LinkedBundlesAreFoundBehindCodeThatWasZeroed) {
  // More zeros than linkers put between bundles: the last objects of the first two bundles go.
  auto large = bundle({device("gfx1030", code(k_gfx1030)), device("gfx942", code(k_gfx942, 3u << 20))});
  auto file = library({{".hip_fatbin", linked({large, large, three()}), {}, {}}, {".text", "code", {}, {}}});
  auto done = good(file, {"gfx1030"});
  EXPECT_EQ(thin_listed(done.after), "gfx1030 5000, gfx1030 5000, gfx1030 7001");
  EXPECT_EQ(done.after.containers, 3u);
  EXPECT_EQ(done.file.size(), file.size());
}

TEST(Thin, ABundleWithoutWantedCodeKeepsTheHost) {
  auto done = good(library({{".hip_fatbin", linked({three(), bundle({device("gfx906", code(k_gfx906))})}), {}, {}}}),
                   {"gfx1030"});
  EXPECT_EQ(thin_listed(done.after), "gfx1030 7001");
  EXPECT_EQ(done.after.containers, 2u);
  auto empty = bytes_of(good(bundle({device("gfx906", code(k_gfx906))}), {"gfx1030"}).file);
  EXPECT_EQ(empty.substr(0, 24), "__CLANG_OFFLOAD_BUNDLE__");
  EXPECT_EQ(empty[24], 1);
  EXPECT_NE(empty.find("host-x86_64"), empty.npos);
  EXPECT_EQ(empty.find("gfx906"), empty.npos);
}

TEST(Thin, WhatServesATargetStays) {
  struct Row {
    const char* label;
    std::uint32_t flags;
    std::vector<std::string> devices;
    bool stays;
  };
  constexpr std::uint32_t k_gfx11_generic = 0x1000054;
  for (const auto& row : std::vector<Row>{{"gfx90a:xnack+", k_gfx90a_xnack_on, {"gfx90a"}, true},
                                          {"gfx90a", k_gfx90a, {"gfx942"}, false},
                                          {"gfx11-generic", k_gfx11_generic, {"gfx1100"}, true},
                                          {"gfx11-generic", k_gfx11_generic, {"gfx1201"}, false},
                                          {"gfx1201", k_gfx1201, {"gfx942", "gfx1201"}, true},
                                          {"gfx1201", k_gfx1201, {"gfx1200"}, false}}) {
    auto file = bundle({device(row.label, code(row.flags, 5000, row.flags == k_gfx11_generic ? 4 : 2))});
    EXPECT_EQ(good(file, row.devices).changed, !row.stays) << row.label;
  }
}

TEST(Thin, CodeForAnUnknownProcessorStays) {
  for (const auto& [label, payload] : {std::pair{"amdgcnspirv", std::string("SPIR-V")},
                                       {"gfx14-generic", code(0xFE, 70)},
                                       {"gfx9999", code(0xFE, 70)}}) {
    auto done = good(bundle({device(label, payload), device("gfx942", code(k_gfx942))}), {"gfx1030"});
    EXPECT_EQ(thin_listed(done.after), fmt::format("{} {}", label, payload.size()));
  }
  EXPECT_TRUE(is_unwanted(*parse_target("gfx11xx"), {"gfx942"}));
  EXPECT_FALSE(is_unwanted(*parse_target("gfx11xx"), {"gfx1101"}));
  EXPECT_FALSE(is_unwanted(*parse_target("sm_90"), {"gfx942"}));
}

TEST(Thin, CompressedBundlesOfAllVersionsAndMethods) {
  for (std::uint16_t version : {1, 2, 3})
    for (std::uint16_t method : {0, 1}) {
      auto packed = compressed(three(), {version, method, {}, {}});
      auto file = library({{".hip_fatbin", linked({packed, three(), packed}), {}, {}}});
      auto done = good(file, {"gfx1030", "gfx906"});
      EXPECT_EQ(thin_listed(done.after), "gfx1030 7001, gfx1030 7001, gfx1030 7001") << version << " " << method;
      EXPECT_THAT(done.left, IsEmpty()) << version << " " << method;
      auto after = bytes_of(done.file);
      ASSERT_EQ(after.size(), file.size());
      EXPECT_EQ(after.substr(4096, 8), file.substr(4096, 8)) << "magic, version and method";
      EXPECT_EQ(thin_listed(read_contents(content::Rope::literal(after.substr(4096, packed.size())), "x").value()),
                "gfx1030 7001");
    }
}

TEST(Thin, ACompressedBundleNamesItsContent) {
  auto after = bytes_of(good(compressed(three()), {"gfx1030"}).file);
  auto plain = bytes_of(good(three(), {"gfx1030"}).file);
  EXPECT_LT(after.size(), compressed(three()).size()) << "a file of its own has nothing behind the stream";
  // The hash stands at 24 in version 3: the first 8 bytes of the MD5 of the plain bundle.
  auto other = bytes_of(good(compressed(three()), {"gfx942"}).file);
  EXPECT_NE(after.substr(24, 8), other.substr(24, 8));
  EXPECT_EQ(after.substr(16, 8), std::string("\x59\x2b\0\0\0\0\0\0", 8)) << "4096 + 7001: what stays is moved together";
  EXPECT_EQ(plain.size(), three().size());
}

// Blanked code compresses to nothing; readers refuse a stream that unpacks to hundreds of times its size.
TEST(Thin, OneTargetOfManyInACompressedBundle) {
  auto large = code(k_gfx942, 72u << 20); // a reader unpacks 64 MiB of anything
  for (std::size_t at = 64, state = 1; at + 1024 < large.size(); at += 64)
    large[at] = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  auto file = library({{".hip_fatbin",
                        linked({compressed(bundle({device("gfx1030", code(k_gfx1030)), device("gfx942", large)}))}),
                        {},
                        {}}});
  auto done = good(file, {"gfx1030"});
  EXPECT_EQ(thin_listed(done.after), "gfx1030 5000");
  EXPECT_THAT(done.left, IsEmpty());
}

TEST(Thin, ACompressedBundleThatDoesNotFitStays) {
  // A stream that was packed much harder than we do it, of which only the table's entry of an empty object goes.
  std::string words = code(k_gfx1030, 100);
  for (std::uint32_t i = 0, state = 1; i < 100'000; ++i) {
    state = state * 1664525 + 1013904223;
    words += fmt::format("{} ", (state >> 16) % 700 * 7919);
  }
  auto plain = bundle({device("gfx942", ""), device("gfx1030", words)});
  std::string stream(ZSTD_compressBound(plain.size()), '\0');
  stream.resize(ZSTD_compress(stream.data(), stream.size(), plain.data(), plain.size(), 22));
  auto file = compressed(plain, {3, 1, 32 + stream.size(), {}}).substr(0, 32) + stream;
  auto done = good(file, {"gfx1030"});
  EXPECT_FALSE(done.changed);
  EXPECT_THAT(done.left, ElementsAre(HasSubstr("holds nothing"), HasSubstr("does not fit")));
  EXPECT_EQ(bytes_of(done.file), file);
}

TEST(Thin, ABundleWithBytesThatNoEntryDescribesStays) {
  // Between the code for gfx942 and gfx1201, which both would go: the next bundle could not be found behind them.
  auto plain = bundle(
      {device("gfx1030", code(k_gfx1030)), device("gfx942", code(k_gfx942)), device("gfx1201", code(k_gfx1201))});
  auto odd = plain;
  odd[4096 + 8192 + 6000] = 'x';
  auto done = good(linked({odd, plain}), {"gfx1030"});
  EXPECT_THAT(done.left, ElementsAre(HasSubstr("that no entry describes")));
  EXPECT_EQ(thin_listed(done.after), "gfx1030 5000, gfx942 5000, gfx1201 5000, gfx1030 5000");
  auto packed = compressed(plain);
  for (auto bytes : {linked({plain, plain}), linked({packed, packed})}) {
    auto end = bytes.starts_with("CCOB") ? packed.size() : plain.size();
    bytes[end + 1] = 'x'; // before the page of the next bundle
    EXPECT_EQ(good(bytes, {"gfx1030"}).left.size(), 1u);
  }
  auto last = good(library({{".hip_fatbin", plain, {}, {}}}).replace(4096 + plain.size() + 1, 1, "x"), {"gfx1030"});
  EXPECT_EQ(thin_listed(last.after), "gfx1030 5000") << "behind the section it is another one's";
  // Before what stays, such bytes are in nobody's way.
  EXPECT_EQ(thin_listed(good(linked({odd, plain}), {"gfx1201"}).after), "gfx1201 5000, gfx1201 5000");
}

TEST(Thin, OtherContainersStay) {
  auto archive = kpack({{"lib/liba.so", "gfx942", code(k_gfx942, 100)}}, true);
  auto done = good(archive, {"gfx1030"});
  EXPECT_FALSE(done.changed);
  EXPECT_THAT(done.left, ElementsAre(HasSubstr("nothing would be left")));
  EXPECT_FALSE(good(code(k_gfx942), {"gfx1030"}).changed);
  std::string table("__CLANG_OFFLOAD_BUNDLE__"), id("hipv4-amdgcn-amd-amdhsa--gfx942");
  put<std::uint64_t>(table, 1), put<std::uint64_t>(table, 4096), put<std::uint64_t>(table, 5000);
  put<std::uint64_t>(table, id.size());
  table += id;
  pad(table, 4096);
  auto alone = good(table + code(k_gfx942), {"gfx1030"});
  EXPECT_FALSE(alone.changed);
  EXPECT_THAT(alone.left, ElementsAre(HasSubstr("no entry for the host")));
}

// ---- hostile

TEST(Thin, DamagedBundlesAreRefused) {
  auto plain = three();
  auto item = device("gfx942", code(k_gfx942));
  auto in_table = item, overlapping = item, outside = item, long_id = item;
  in_table.offset = 60;
  overlapping.offset = 4096 + 8192 - 100; // its end is in the second one's code
  outside.offset = 1ull << 63;
  long_id.id_length = 1ull << 63;
  auto second = device("gfx1030", code(k_gfx1030));
  // The head of a code object stands in the name of a host's entry, which is the second one of the table.
  constexpr std::string_view k_first = "host-x86_64-unknown-linux-gnu-", k_begin = "host-";
  Item hiding{std::string(k_begin) + code(k_gfx942).substr(0, 64), "", {}, {}, {}};
  auto in_name = item;
  in_name.offset = 24 + 8 + 24 + k_first.size() + 24 + k_begin.size();
  struct Row {
    const char* what;
    std::string bytes, message;
  };
  for (const auto& row : std::vector<Row>{
           {"2^63 entries", bundle({item}, 1ull << 63), "promises"},
           {"an id of 2^63 bytes", bundle({long_id}), "an id of"},
           {"an entry outside", bundle({outside}), "outside the bundle"},
           {"an entry in the table", bundle({in_table, second}), "does not count as code"},
           {"code in the table", bundle({hiding, in_name, second}), "begins inside the table"},
           {"entries that overlap", bundle({overlapping, second}), "overlap"},
           {"a compressed bundle cut off", compressed(plain).substr(0, 60), "promises"},
           {"a stream that ends later than it says", compressed(plain, {3, 1, {}, 20000}), ""},
           {"junk behind a bundle", linked({plain, "junk"}), "no offload bundle begins"},
           {"one section twice", library({{".hip_fatbin", plain, {}, {}}, {".hip_fatbin", plain, 4096, plain.size()}}),
            "share the bytes"},
           {"code in .text", library({{".hip_fatbin", plain, {}, {}}, {".text", "x", 8192, 100}}),
            "stands in section .text"},
       }) {
    auto done = thinned(row.bytes, {"gfx1030"});
    ASSERT_FALSE(done) << row.what;
    EXPECT_EQ(done.error().code, "G101") << row.what;
    EXPECT_THAT(render(done.error()), HasSubstr(row.message)) << row.what;
  }
}

TEST(Thin, EveryTruncationIsThinnedOrRefused) {
  for (const auto& bytes : {three().substr(0, 4400), compressed(three()), library({{".hip_fatbin", three(), {}, {}}})})
    for (std::size_t size = 0; size < bytes.size(); size += 1 + size / 100)
      if (auto done = thinned(bytes.substr(0, size), {"gfx1030"}); done)
        EXPECT_LE(done->file.size(), size);
      else
        EXPECT_EQ(done.error().code, "G101");
}

} // namespace
} // namespace quarry::gpu
