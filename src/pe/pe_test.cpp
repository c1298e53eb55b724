#include "pe/pe.hpp"

#include "pe/pe_forge_for_test.hpp"
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

namespace quarry::pe {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<Facts> facts(std::string bytes) { return read_facts(content::Rope::literal(std::move(bytes)), "x.dll"); }

TEST(Pe, ReadsADll) {
  auto f = facts(forged_dll({"KERNEL32.dll", "amdhip64_7.dll"}));
  ASSERT_TRUE(f) << render(f.error());
  EXPECT_TRUE(f->is_64 && f->is_dll);
  EXPECT_EQ(f->machine, k_machine_amd64);
  EXPECT_THAT(f->imports, ElementsAre("KERNEL32.dll", "amdhip64_7.dll"));
}

TEST(Pe, ReadsAProgramWithoutImports) {
  auto bytes = forged_dll({});
  put<std::uint16_t>(bytes, k_pe_at + 22, 0x0022);
  put<std::uint32_t>(bytes, k_optional_at + 112 + 8, 0);
  auto f = facts(bytes);
  ASSERT_TRUE(f) << render(f.error());
  EXPECT_FALSE(f->is_dll);
  EXPECT_THAT(f->imports, ElementsAre());
}

TEST(Pe, ReadsA32BitImage) {
  auto bytes = forged_dll({});
  put<std::uint16_t>(bytes, k_pe_at + 4, 0x014c);
  put<std::uint16_t>(bytes, k_optional_at, 0x10b);
  put<std::uint32_t>(bytes, k_optional_at + 92, 2);
  put<std::uint32_t>(bytes, k_optional_at + 96 + 8, 0);
  auto f = facts(bytes);
  ASSERT_TRUE(f) << render(f.error());
  EXPECT_FALSE(f->is_64);
  EXPECT_EQ(machine_name(f->machine), "x86");
}

TEST(Pe, KnowsTheMagic) {
  EXPECT_TRUE(*has_magic(content::Rope::literal("MZ")));
  EXPECT_FALSE(*has_magic(content::Rope::literal("M")));
  EXPECT_FALSE(*has_magic(content::Rope::literal("\x7f"
                                                 "ELF")));
}

struct Damage {
  const char* says;
  std::function<void(std::string&)> break_it;
};

class PeRefusal : public ::testing::TestWithParam<Damage> {};

TEST_P(PeRefusal, SaysWhatIsWrong) {
  auto bytes = forged_dll();
  GetParam().break_it(bytes);
  auto f = facts(bytes);
  ASSERT_FALSE(f);
  EXPECT_EQ(f.error().code, "J001");
  EXPECT_EQ(f.error().kind, ErrorKind::corrupt);
  EXPECT_THAT(f.error().message, HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Table, PeRefusal,
    ::testing::Values(
        Damage{"DOS header", [](std::string& b) { b.resize(40); }},
        Damage{"does not start with MZ", [](std::string& b) { b[0] = 'X'; }},
        Damage{"the PE header", [](std::string& b) { put<std::uint32_t>(b, 60, 0xffffffff); }},
        Damage{"no PE signature", [](std::string& b) { b[k_pe_at + 2] = 'X'; }},
        Damage{"not marked as linked", [](std::string& b) { put<std::uint16_t>(b, k_pe_at + 22, 0x2000); }},
        Damage{"optional header is 0x107", [](std::string& b) { put<std::uint16_t>(b, k_optional_at, 0x107); }},
        Damage{"optional header is 0x0", [](std::string& b) { put<std::uint16_t>(b, k_pe_at + 20, 0); }},
        Damage{"cut short", [](std::string& b) { put<std::uint16_t>(b, k_pe_at + 20, 100); }},
        Damage{"directories are cut short", [](std::string& b) { put<std::uint32_t>(b, k_optional_at + 108, 17); }},
        Damage{"97 sections", [](std::string& b) { put<std::uint16_t>(b, k_pe_at + 6, 97); }},
        Damage{"section table", [](std::string& b) { put<std::uint16_t>(b, k_pe_at + 6, 60); }},
        Damage{"section 1 reaches past", [](std::string& b) { b.resize(b.size() - 1); }},
        Damage{"import table has no end",
               [](std::string& b) { put<std::uint32_t>(b, k_optional_at + 112 + 8, 0xfffffff0); }},
        Damage{"outside its sections", [](std::string& b) { put<std::uint32_t>(b, k_raw_at + 12, 0x5000); }},
        Damage{"empty or has no end", [](std::string& b) { std::fill(b.begin() + k_raw_at + 0x200, b.end(), 'x'); }}));

// Damage anywhere is described or refused, never a crash; the fuzzer goes further.
TEST(Pe, SurvivesAnyDamage) {
  std::mt19937 random(20261121);
  for (int i = 0; i < 3000; ++i) {
    auto bytes = forged_dll({"a.dll", "b.dll"});
    for (int k = 0; k < 4; ++k) bytes[random() % bytes.size()] = static_cast<char>(random());
    if (i % 3 == 0) bytes.resize(random() % bytes.size());
    auto f = facts(bytes);
    EXPECT_TRUE(f || f.error().code == "J001");
  }
}

} // namespace
} // namespace quarry::pe
