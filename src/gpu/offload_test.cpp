#include "gpu/contents.hpp"
#include "gpu/gpu_forge_for_test.hpp"
#include "gpu/thin.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::gpu {
namespace {
using namespace forge;

/// An offload binary of one image: header, entry, strings, image.
std::string offload_binary(const std::string& triple, const std::string& arch, const std::string& image,
                           std::uint32_t version = 1) {
  std::string texts;
  auto put_text = [&](std::string_view text) {
    auto at = 32 + 40 + 32 + texts.size();
    texts += std::string(text) + '\0';
    return static_cast<std::uint64_t>(at);
  };
  std::string strings;
  for (auto text : {std::string("triple"), triple, std::string("arch"), arch}) put(strings, put_text(text));
  std::uint64_t image_at = (32 + 40 + 32 + texts.size() + 7) / 8 * 8, size = (image_at + image.size() + 7) / 8 * 8;
  std::string out("\x10\xFF\x10\xAD");
  put(out, version), put(out, size), put<std::uint64_t>(out, 32), put<std::uint64_t>(out, 40);
  put<std::uint16_t>(out, 1), put<std::uint16_t>(out, 1), put<std::uint32_t>(out, 0), put<std::uint64_t>(out, 72);
  put<std::uint64_t>(out, 2), put(out, image_at), put<std::uint64_t>(out, image.size());
  out += strings + texts;
  out.resize(image_at);
  out += image;
  out.resize(size);
  return out;
}

struct Piece {
  std::uint16_t kind = 2;
  std::uint32_t processor = 90;
  std::uint64_t stored = 128, unpacked = 0, flags = 0x11;
};
std::string fatbin(const std::vector<Piece>& pieces) {
  std::string body;
  for (const auto& piece : pieces) {
    put(body, piece.kind), put<std::uint16_t>(body, 0x101), put<std::uint32_t>(body, 64), put(body, piece.stored);
    put<std::uint32_t>(body, 0), put<std::uint32_t>(body, 0), put<std::uint32_t>(body, 0), put(body, piece.processor);
    put<std::uint64_t>(body, 0), put(body, piece.flags), put<std::uint64_t>(body, 0), put(body, piece.unpacked);
    body += std::string(piece.stored, 'p');
  }
  std::string out;
  put<std::uint32_t>(out, 0xBA55ED50), put<std::uint16_t>(out, 1), put<std::uint16_t>(out, 16);
  put<std::uint64_t>(out, body.size());
  return out + body;
}

Contents read_section(const std::string& name, const std::string& bytes) {
  auto file = content::Rope::literal(library({{name, bytes, {}, {}}}));
  auto contents = read_contents(file, "x");
  EXPECT_TRUE(contents);
  return contents ? *contents : Contents{};
}
std::string offload_listed(const Contents& contents) {
  std::string out;
  for (const auto& object : contents.objects)
    out += fmt::format("{}{} {} {}", out.empty() ? "" : ", ", object.target.str(), to_string(object.container),
                       object.bytes);
  for (const auto& finding : contents.findings)
    out += fmt::format("; {} {}", to_string(finding.severity), finding.code);
  return out;
}

TEST(Offload, BinariesOfClangsNewDriver) {
  auto amd = offload_binary("amdgcn-amd-amdhsa", "gfx942", code(k_gfx942, 400));
  auto other = offload_binary("nvptx64-nvidia-cuda", "sm_80", std::string("\177ELF") + std::string(96, 'c'));
  auto contents = read_section(".llvm.offloading", amd + other + std::string(64, '\0') + amd);
  EXPECT_EQ(offload_listed(contents), "gfx942 offload binary 400, sm_80 offload binary 100, gfx942 offload binary 400");
  EXPECT_EQ(contents.containers, 3u);
  EXPECT_TRUE(contents.objects[0].label_agrees);
  EXPECT_EQ(offload_listed(read_section(".llvm.offloading", offload_binary("spirv64-intel", "", "code"))),
            "spirv64 offload binary 4");
}

TEST(Offload, ALabelIsComparedWithTheHeader) {
  auto contents = read_section(".llvm.offloading", offload_binary("amdgcn-amd-amdhsa", "gfx1030", code(k_gfx942, 400)));
  ASSERT_EQ(contents.objects.size(), 1u);
  EXPECT_FALSE(contents.objects[0].label_agrees);
}

TEST(Offload, AnotherFormIsANote) {
  auto good = offload_binary("amdgcn-amd-amdhsa", "gfx942", code(k_gfx942, 400));
  EXPECT_EQ(offload_listed(read_section(".llvm.offloading", good + offload_binary("t", "gfx942", "x", 2))),
            "gfx942 offload binary 400; note G102");
  for (std::size_t at : {8u, 16u, 24u, 40u, 48u, 56u, 64u}) { // sizes and places
    auto lie = good;
    lie.replace(at, 8, 8, '\xFF');
    EXPECT_EQ(offload_listed(read_section(".llvm.offloading", lie)), "; note G102") << at;
  }
  for (std::size_t size = 1; size < good.size(); size += 7) {
    auto contents = read_section(".llvm.offloading", good.substr(0, size));
    EXPECT_TRUE(contents.objects.empty()) << size;
  }
  EXPECT_EQ(offload_listed(read_section(".llvm.offloading", std::string(4096, '\0'))), "");
}

TEST(Offload, FatbinsOfCuda) {
  auto one = fatbin({{2, 90, 128, 0, 0x11}, {1, 90, 64, 500, 0x2011}, {2, 75, 96, 0, 0x11}});
  auto two = fatbin({{2, 120, 200, 1000, 0x8011}, {64, 120, 8, 0, 0}});
  EXPECT_EQ(offload_listed(read_section(".nv_fatbin", one + two)),
            "sm_90 fatbin 128, compute_90 compressed fatbin 500, sm_75 fatbin 96, sm_120 compressed fatbin 1000");
  EXPECT_EQ(offload_listed(read_section(".nv_fatbin", std::string(4096, '\0'))), "");
}

TEST(Offload, AnotherFormOfAFatbinIsANote) {
  auto good = fatbin({{}, {}});
  for (const auto& bytes :
       {good.substr(0, good.size() - 8), good + "another thing", std::string("no fatbin at all...")})
    EXPECT_EQ(read_section(".nv_fatbin", bytes).findings.at(0).severity, Severity::note);
  auto endless = good;
  endless.replace(16 + 8, 8, 8, '\xFF'); // the size of the first piece
  EXPECT_EQ(offload_listed(read_section(".nv_fatbin", endless)), "; note G102");
}

TEST(Offload, ThinningLeavesThemAndSaysSo) {
  auto bytes =
      library({{".llvm.offloading", offload_binary("amdgcn-amd-amdhsa", "gfx942", code(k_gfx942, 400)), {}, {}},
               {".nv_fatbin", fatbin({{}}), {}, {}}});
  auto spool = content::Spool::create(testing::TempDir()).value();
  for (const auto* target : {"gfx942", "gfx1030"}) {
    auto done = thin(content::Rope::literal(bytes), "x", {{target}, testing::TempDir(), spool});
    ASSERT_TRUE(done);
    EXPECT_FALSE(done->changed);
    EXPECT_EQ(done->left.size(), target == std::string_view("gfx942") ? 0u : 1u);
  }
}

} // namespace
} // namespace quarry::gpu
