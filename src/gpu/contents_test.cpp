#include "gpu/contents.hpp"
#include "gpu/gpu_forge_for_test.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::gpu {
namespace {
using namespace forge;

Contents read_text(const std::string& bytes) {
  auto contents = read_contents(content::Rope::literal(bytes), "x");
  EXPECT_TRUE(contents) << (contents ? "" : contents.error().message);
  return contents ? *contents : Contents{};
}

/// "gfx942 5000, …": targets and bytes in the order of the file.
std::string targets_listed(const Contents& contents) {
  std::string out;
  for (const auto& object : contents.objects)
    out += fmt::format("{}{} {}{}", out.empty() ? "" : ", ", object.target.str(), object.bytes,
                       object.label_agrees ? "" : " LIE");
  return out;
}

/// The findings' codes and messages.
std::string found(const Contents& contents) {
  std::string out;
  for (const auto& finding : contents.findings) out += finding.code + " " + finding.message + "\n";
  return out;
}

std::string two_targets() {
  return bundle({device("gfx942", code(k_gfx942)), device("gfx1201", code(k_gfx1201, 9000))});
}
constexpr auto k_two = "gfx942 5000, gfx1201 9000";

TEST(Contents, ABareCodeObjectSaysItsTargetItself) {
  auto contents = read_text(code(k_gfx90a_xnack_on, 777));
  EXPECT_EQ(targets_listed(contents), "gfx90a:xnack+ 777");
  EXPECT_EQ(contents.objects.at(0).container, Container::elf);
  EXPECT_EQ(found(contents), "");
}

TEST(Contents, ACodeObjectThatIsCutOff) {
  auto whole = code(k_gfx942, 2000);
  whole.replace(0x28, 8, std::string("\xD0\x03\0\0\0\0\0\0", 8)); // e_shoff 976
  whole.replace(0x3A, 4, std::string("\x40\0\x10\0", 4));         // e_shentsize 64, e_shnum 16
  EXPECT_EQ(found(read_text(whole)), "");
  for (const auto& file : {whole.substr(0, 1999), bundle({device("gfx942", whole.substr(0, 1000))})})
    EXPECT_NE(found(read_text(file)).find("G101 the code object for gfx942"), std::string::npos);
}

TEST(Contents, ABundleListsItsDeviceEntries) {
  auto contents = read_text(two_targets());
  EXPECT_EQ(targets_listed(contents), k_two);
  EXPECT_EQ(contents.objects.at(1).offset, 4096u + 8192u);
  EXPECT_EQ(contents.containers, 1u);
  EXPECT_EQ(found(contents), "");
}

TEST(Contents, CompressedBundlesOfAllVersionsAndMethods) {
  for (std::uint16_t version : {1, 2, 3})
    for (std::uint16_t method : {0, 1}) {
      auto contents = read_text(compressed(two_targets(), {version, method, {}, {}}));
      EXPECT_EQ(targets_listed(contents), k_two) << version << " " << method;
      EXPECT_EQ(found(contents), "") << version << " " << method;
      EXPECT_EQ(contents.objects.at(0).elf_target->processor, "gfx942");
    }
}

TEST(Contents, LinkedBundlesFollowEachOtherAtPages) {
  for (std::uint16_t version : {1, 2, 3}) {
    auto packed = compressed(two_targets(), {version, 1, {}, {}});
    auto contents = read_text(library(
        {{".text", "code", {}, {}}, {".hip_fatbin", linked({two_targets(), packed, two_targets(), packed}), {}, {}}}));
    EXPECT_EQ(contents.objects.size(), 8u) << version;
    EXPECT_EQ(contents.containers, 4u) << version;
    EXPECT_EQ(found(contents), "") << version;
  }
}

TEST(Contents, AMagicInsideCodeBeginsNoBundle) {
  auto payload = code(k_gfx942, 20000);
  payload.replace(8192, 4, "CCOB");
  payload.replace(12288, 24, "__CLANG_OFFLOAD_BUNDLE__");
  auto contents =
      read_text(library({{".hip_fatbin", linked({bundle({device("gfx942", payload)}), two_targets()}), {}, {}}}));
  EXPECT_EQ(targets_listed(contents), std::string("gfx942 20000, ") + k_two);
  EXPECT_EQ(found(contents), "");
}

TEST(Contents, ASkippableFrameBeforeTheStreamIsSkipped) {
  auto packed = compressed(two_targets(), {1, 1, {}, {}});
  std::string skippable("\x50\x2A\x4D\x18\x04\0\0\0CCOB", 12);
  EXPECT_EQ(targets_listed(read_text(packed.insert(20, skippable))), k_two);
}

TEST(Contents, LabelsAreComparedWithTheHeaders) {
  auto contents =
      read_text(bundle({device("gfx942", code(k_gfx1201)), device("gfx90a:xnack+", code(k_gfx90a_xnack_on)),
                        device("gfx90a", code(k_gfx90a_xnack_on)), device("amdgcnspirv", "\x03\x02\x23\x07")}));
  EXPECT_EQ(targets_listed(contents), "gfx942 5000 LIE, gfx90a:xnack+ 5000, gfx90a 5000 LIE, amdgcnspirv 4");
  EXPECT_FALSE(contents.objects.at(3).elf_target);
  auto packed = read_text(compressed(bundle({device("gfx942", code(k_gfx1201))})));
  EXPECT_EQ(targets_listed(packed), "gfx942 5000 LIE");
}

TEST(Contents, OtherBytesAreNotCode) {
  auto host = code(k_gfx942);
  host.replace(18, 2, std::string("\x3E\0", 2)); // x86-64
  const std::pair<std::string, std::string> cases[] = {{std::string(200, '\0'), "zeros"},
                                                       {"some text", "bytes that are not an ELF file"},
                                                       {"BC\xC0\xDE bitcode", "LLVM bitcode"},
                                                       {"", "nothing"},
                                                       {host, "an ELF file for another machine"}};
  for (const auto& [payload, what] : cases) {
    auto plain = bundle({device("gfx1030", payload), device("gfx942", code(k_gfx942))});
    for (const auto& file : {plain, compressed(plain)}) {
      auto contents = read_text(file);
      EXPECT_EQ(targets_listed(contents), "gfx942 5000") << what;
      ASSERT_EQ(contents.findings.size(), 1U) << what;
      EXPECT_EQ(contents.findings[0].code, "G117");
      auto severity = payload.empty() ? Severity::warning : what == "LLVM bitcode" ? Severity::note : Severity::error;
      EXPECT_EQ(contents.findings[0].severity, severity);
      EXPECT_THAT(contents.findings[0].message, ::testing::HasSubstr("holds " + what));
    }
  }
}

TEST(Contents, ATargetTwiceInOneBundle) {
  auto contents = read_text(bundle({device("gfx942", code(k_gfx942)), device("gfx942", code(k_gfx942))}));
  ASSERT_EQ(contents.findings.size(), 1U);
  EXPECT_EQ(contents.findings[0].code, "G118");
  EXPECT_THAT(
      read_text(linked({bundle({device("gfx942", code(k_gfx942))}), bundle({device("gfx942", code(k_gfx942))})}))
          .findings,
      ::testing::IsEmpty());
}

TEST(Contents, FilesNamedLikeCode) {
  EXPECT_TRUE(is_named_like_code("x/kernel.hsaco"));
  EXPECT_TRUE(is_named_like_code("rocblas/library/Kernels.so-000-gfx90a.co"));
  EXPECT_FALSE(is_named_like_code("po/de.co"));
  EXPECT_FALSE(is_named_like_code("x.py"));
}

TEST(Contents, AnUnknownProcessorIsNamedAndNotGuessed) {
  EXPECT_EQ(found(read_text(code(0xFE))),
            "G102 it is device code, and its e_flags 0xfe name no processor that is known\n");
  auto contents = read_text(bundle({device("gfx9999", code(0xFE))}));
  EXPECT_EQ(targets_listed(contents), "gfx9999 5000");
  EXPECT_EQ(contents.findings.at(0).code, "G102");
}

TEST(Contents, RegistrationRecordsSayWhereTheCodeIs) {
  auto embedded = read_text(library({{".hipFatBinSegment", record("FPIH"), {}, {}}}));
  EXPECT_TRUE(embedded.embedded && !embedded.split);
  auto split = read_text(library({{".hipFatBinSegment", record("HIPK") + record("HIPK"), {}, {}}}));
  EXPECT_TRUE(!split.embedded && split.split);
  EXPECT_TRUE(read_text(library({{".rocm_kpack_ref", "x", {}, {}}})).split);
}

TEST(Contents, WhatAConversionLeavesIsNotDamage) {
  for (const auto& left : {std::string(200'000, '\0'), std::string(5000, 'n')}) {
    Part code{".hip_fatbin", left, {}, {}}, records{".hipFatBinSegment", record("HIPK"), {}, {}};
    EXPECT_EQ(found(read_text(library({code, records}))), "");
    EXPECT_NE(found(read_text(library({code}))), "");
    records.bytes += record("FPIH");
    EXPECT_NE(found(read_text(library({code, records}))), "");
  }
}

TEST(Contents, WindowsLibraries) {
  auto contents = read_text(
      dll({{".text", "code", {}, {}}, {".hip_fat", two_targets(), {}, {}}, {".hipFatB", record("FPIH"), {}, {}}}));
  EXPECT_EQ(targets_listed(contents), k_two);
  EXPECT_EQ(found(contents), "");
  EXPECT_TRUE(contents.embedded);
}

TEST(Contents, OtherFilesHoldNothing) {
  for (const auto& bytes : {std::string(), std::string("CCO"), std::string("text"), library({{".text", "x", {}, {}}}),
                            std::string("MZ"), std::string("MZ").append(70, '\xFF')}) {
    auto contents = read_text(bytes);
    EXPECT_EQ(targets_listed(contents) + found(contents), "");
  }
}

TEST(Contents, KpackArchives) {
  std::vector<Kernel> kernels{{"lib/liba.so", "gfx942", code(k_gfx942)},
                              {"lib/libb.so", "gfx1201", code(k_gfx1201, 9000)},
                              {"lib/libc.so", "gfx1030", code(k_gfx906)}};
  for (bool packed : {false, true}) {
    auto contents = read_text(kpack(kernels, packed));
    EXPECT_EQ(targets_listed(contents), std::string(k_two) + ", gfx1030 5000 LIE") << packed;
    EXPECT_EQ(found(contents), "");
    EXPECT_EQ(contents.objects.at(0).container, Container::kpack);
  }
}

// Hostile input: a finding that names the place, or nothing; never a crash, a hang or more memory than the file allows.

struct Hostile {
  std::string what, bytes, finding;
};
std::vector<Hostile> hostile_files() {
  auto one = [](Item item) { return bundle({std::move(item)}); };
  auto lying = [&](auto change) {
    auto item = device("gfx942", code(k_gfx942));
    change(item);
    return one(item);
  };
  auto plain = two_targets();
  return {
      {"count of 2^63", bundle({device("gfx942", code(k_gfx942))}, 1ull << 63), "promises 9223372036854775808 entries"},
      {"count one too many", plain.substr(0, 150), "ends too early"},
      {"id of 2^63 bytes", lying([](Item& i) { i.id_length = 1ull << 63; }), "has an id of 9223372036854775808 bytes"},
      {"offset of 2^64-1", lying([](Item& i) { i.offset = ~0ull; }), "outside the bundle"},
      {"size of 2^64-1", lying([](Item& i) { i.size = ~0ull; }), "outside the bundle"},
      {"payload cut off", plain.substr(0, plain.size() - 1), "outside the bundle"},
      {"table cut off", plain.substr(0, 60), "ends too early"},
      {"overlapping entries",
       bundle(
           {device("gfx942", code(k_gfx942)), {device("gfx1201", code(k_gfx1201)).id, code(k_gfx1201), 4096, {}, {}}}),
       "overlap"},
      {"CCOB header cut off", "CCOB", "inside its header"},
      {"CCOB version 4", compressed(plain, {4, 1, {}, {}}), "version 4"},
      {"CCOB method 7", compressed(plain, {3, 7, {}, {}}), "unknown method 7"},
      {"CCOB total beyond the file", compressed(plain, {3, 1, 1ull << 62, {}}), "are left"},
      {"CCOB total smaller than its header", compressed(plain, {3, 1, 8, {}}), "promises 8 bytes"},
      {"CCOB promises less", compressed(plain, {3, 1, {}, 100}), "more than the 100 bytes"},
      {"CCOB promises more", compressed(plain, {1, 1, {}, 1u << 30}), "promises 1073741824 bytes"},
      {"CCOB stream cut off", compressed(plain).substr(0, 60), "are left"},
      {"CCOB stream cut off, version 1", compressed(plain, {1, 1, {}, {}}).substr(0, 60), "ends too early"},
      {"CCOB stream damaged", compressed(plain).replace(40, 8, 8, '\xFF'), "damaged"},
      {"CCOB around no bundle", compressed(std::string(9000, 'x')), "no offload bundle"},
      {"CCOB that unpacks to 80 MB", compressed(bundle({device("gfx942", code(k_gfx942, 80u << 20))}), {1, 1, {}, {}}),
       "more than 200 times"},
      {"section outside the file", library({{".hip_fatbin", "x", 1ull << 40, {}}}), "past the end of the file"},
      {"section of 2^64-1 bytes", library({{".hip_fatbin", "x", {}, ~0ull}}), "past the end of the file"},
      {"section of junk", library({{".hip_fatbin", std::string(100, 'j'), {}, {}}}), "no offload bundle begins"},
      {"bundle, then junk", library({{".hip_fatbin", linked({plain, "junk"}), {}, {}}}), "no offload bundle begins"},
      {"a megabyte of zeros", library({{".hip_fatbin", std::string(1u << 20, '\0') + plain, {}, {}}}),
       "zeros stand where"},
      {"kpack header cut off", "KPAK\1\0\0\0", "inside its header"},
      {"kpack version 9", std::string("KPAK\11\0\0\0\20\0\0\0\0\0\0\0x", 17), "version 9"},
      {"kpack contents outside", std::string("KPAK\1\0\0\0\377\377\377\377\377\377\377\377", 16), "is outside it"},
      {"kpack contents with 2^32 pairs", std::string("KPAK\1\0\0\0\20\0\0\0\0\0\0\0\xDF\xFF\xFF\xFF\xFF", 21),
       "table of contents"},
      {"kpack contents 100,000 deep",
       std::string("KPAK\1\0\0\0\20\0\0\0\0\0\0\0\x81\xA1x", 19) + std::string(100'000, '\x91'), "table of contents"},
      {"ELF file that ends in its header", std::string("\177ELF\2\1\1\0", 8).append(30, '\0'), "damaged ELF file"},
      {"big-endian ELF file", std::string("\177ELF\2\2\1\0", 8).append(60, '\0'), "big-endian"},
  };
}

TEST(Hostile, IsAFinding) {
  for (const auto& [what, bytes, finding] : hostile_files()) {
    auto contents = read_text(bytes);
    EXPECT_NE(found(contents).find(finding), std::string::npos) << what << ":\n" << found(contents);
    for (const auto& one : contents.findings) EXPECT_EQ(one.place, "x") << what;
  }
}

TEST(Hostile, EveryTruncationIsRead) {
  for (const auto& bytes : {two_targets().substr(0, 4400), compressed(two_targets()),
                            library({{".hip_fatbin", compressed(two_targets()), {}, {}}}),
                            kpack({{"lib/liba.so", "gfx942", code(k_gfx942, 100)}}, true)})
    for (std::size_t size = 0; size < bytes.size(); size += 1 + size / 200) read_text(bytes.substr(0, size));
}

TEST(Hostile, ABlobOutsideTheArchiveIsListedForNoRow) {
  auto row = map({{"ordinal", number(0)}, {"original_size", number(10)}});
  auto table = map({{"compression_scheme", text("none")},
                    {"blobs", array({map({{"offset", number(1u << 30)}, {"size", number(10)}})})},
                    {"toc", map({{"a", map({{"gfx942", row}})}, {"b", map({{"gfx942", row}})}})}});
  std::string file("KPAK");
  put<std::uint32_t>(file, 1), put<std::uint64_t>(file, 16);
  auto contents = read_text(file + table);
  EXPECT_EQ(targets_listed(contents), "");
  EXPECT_EQ(contents.findings.size(), 2u);
}

TEST(Hostile, BundlesBeforeTheDamageAreListed) {
  auto contents =
      read_text(library({{".hip_fatbin",
                          linked({two_targets(), compressed(two_targets(), {3, 1, 1ull << 50, {}}), two_targets()}),
                          {},
                          {}}}));
  EXPECT_EQ(targets_listed(contents), k_two);
  EXPECT_EQ(contents.findings.size(), 1u);
}

TEST(Hostile, ManySectionsOfCode) {
  std::vector<Part> parts(1000, Part{".hip_fatbin", "", 4096, 4096});
  auto contents = read_text(library(parts));
  EXPECT_NE(found(contents).find("more than 64 sections"), std::string::npos);
}

TEST(Hostile, ManyLabels) {
  std::string bytes;
  for (int b = 0; b < 40; ++b) {
    std::vector<Item> items;
    for (int i = 0; i < 50; ++i) items.push_back(device(fmt::format("gfx{}", 10'000 + 50 * b + i), code(k_gfx942, 70)));
    pad(bytes, 4096), bytes += bundle(items);
  }
  auto contents = read_text(bytes);
  EXPECT_EQ(contents.objects.size(), 1024u);
  EXPECT_NE(found(contents).find("labels of more than 1024 targets"), std::string::npos);
  EXPECT_LE(contents.findings.size(), 101u);
}

TEST(Hostile, TheNextBundleBeginsBehindTheTable) {
  // 99 entries of nothing with long names: the table takes three pages, and the file is the table alone.
  std::vector<Item> items;
  for (int i = 1; i < 100; ++i) items.push_back(device(std::string("amdgcnspirv") + std::string(i, '-'), ""));
  auto contents = read_text(bundle(items));
  EXPECT_EQ(contents.containers, 1u);
  EXPECT_EQ(contents.objects.size(), 99u);
  EXPECT_EQ(found(contents), "");
}

TEST(Hostile, ControlCharactersAreNotPrinted) {
  auto text = found(read_text(bundle({{"hip-\x1b[31m", code(k_gfx942), {}, {}, {}}})));
  EXPECT_NE(text, "");
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(Hostile, AHundredThousandSections) {
  // The count stands in section 0 (gABI, extended numbering): more than 65,279 do not fit into the header.
  constexpr std::uint64_t k_sections = 100'000;
  auto file = library({{".hip_fatbin", two_targets(), {}, {}}});
  std::string count, table_size;
  put<std::uint16_t>(count, 0);
  put(table_size, k_sections);
  auto table_at = file.size() - 3 * 64;
  file.replace(60, 2, count).replace(table_at + 32, 8, table_size);
  file.resize(table_at + k_sections * 64);
  EXPECT_EQ(targets_listed(read_text(file)), k_two);
}

} // namespace
} // namespace quarry::gpu
