#include "elf/linking.hpp"

#include "elf/elf_fixtures.hpp"
#include <gmock/gmock.h>

namespace quarry::elf {
namespace {
using namespace testing;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

Linking linking(const std::string& path, const AskedSymbols& asked = {}) {
  return read_linking(rope(path), path, asked).value();
}

std::string shared(const std::string& name, const std::string& source, std::vector<std::string> flags) {
  flags.insert(flags.begin(), {"-shared", "-fPIC", "-nostdlib"});
  return build(name, source, flags);
}

const std::string k_one = "int one(void) { return 1; }";

TEST(Linking, VersionsNameTheirLibrary) {
  auto found = linking(library()).versions;
  ASSERT_FALSE(found.empty());
  EXPECT_TRUE(std::ranges::is_sorted(found));
  EXPECT_THAT(found, Contains(NeededVersion{"libc.so.6", "GLIBC_2.2.5"}));
  EXPECT_THAT(linking(bare_library()).versions, IsEmpty());
}

TEST(Linking, LevelOfTheProcessor) {
  EXPECT_EQ(linking(shared("isa1.so", k_one, {"-Wl,-z,x86-64-baseline"})).isa_level, 1u);
  EXPECT_EQ(linking(shared("isa2.so", k_one, {"-Wl,-z,x86-64-v2"})).isa_level, 2u);
  EXPECT_EQ(linking(shared("isa3.so", k_one, {"-Wl,-z,x86-64-v3"})).isa_level, 3u);
  EXPECT_EQ(linking(shared("isa4.so", k_one, {"-Wl,-z,x86-64-v4"})).isa_level, 4u);
}

TEST(Linking, BuildIdAndDebugInformation) {
  auto plain = linking(shared("plain-id.so", k_one, {"-Wl,--build-id=0x0badc0de", "-g0"}));
  EXPECT_EQ(plain.build_id, "0badc0de");
  EXPECT_EQ(plain.debug_bytes, 0u);
  EXPECT_EQ(linking(shared("no-id.so", k_one, {"-Wl,--build-id=none"})).build_id, "");
  EXPECT_GT(linking(shared("debug.so", k_one, {"-g"})).debug_bytes, 100u);
}

TEST(Linking, Protection) {
  EXPECT_TRUE(linking(shared("relro.so", "int a; int* b = &a;", {"-Wl,-z,relro"})).has_relro);
  EXPECT_FALSE(linking(shared("norelro.so", "int a; int* b = &a;", {"-Wl,-z,norelro"})).has_relro);
  EXPECT_FALSE(linking(library()).text_relocations);
  auto in_code = "int a; __asm__(\".text\\n.quad a\\n\");";
  EXPECT_TRUE(linking(shared("textrel.so", in_code, {"-Wl,-z,notext"})).text_relocations);
}

TEST(Linking, SegmentsOf32BitFilesAreRead) {
  const std::string source = "int a; int* b = &a;";
  auto found = linking(shared("relro32.so", source, {"-m32", "-Wl,-z,relro", "-Wl,--build-id=0x0badc0de"}));
  EXPECT_FALSE(found.facts.is_64);
  EXPECT_TRUE(found.has_relro);
  EXPECT_EQ(found.build_id, "0badc0de");
  EXPECT_FALSE(linking(shared("norelro32.so", source, {"-m32", "-Wl,-z,norelro"})).has_relro);
}

TEST(Linking, WeakImportsAreNone) {
  auto path = shared("imports.so",
                     "int strong(void); int weak(void) __attribute__((weak)); int own(void) { return 3; }"
                     "int sum(void) { return strong() + (weak ? weak() : 0) + own(); }",
                     {});
  EXPECT_THAT(linking(path, {{"strong", "weak", "own", "sum"}}).imports, UnorderedElementsAre("strong"));
  EXPECT_THAT(linking(path).imports, IsEmpty());
}

TEST(Linking, SymbolsOfPython) {
  auto path =
      shared("python.so",
             "void PyList_New(void); void _PyX(void); void Py_Weak(void) __attribute__((weak)); void other(void);"
             "void PyInit_m(void) { PyList_New(); _PyX(); if (Py_Weak) Py_Weak(); other(); }",
             {});
  auto found = linking(path, {{}, true});
  EXPECT_THAT(found.python_imports, UnorderedElementsAre("PyList_New", "_PyX"));
  EXPECT_THAT(found.python_exports, UnorderedElementsAre("PyInit_m"));
  EXPECT_THAT(linking(path, {{"PyList_New"}}).python_imports, IsEmpty());
}

TEST(Linking, OtherKindsOfFiles) {
  EXPECT_FALSE(linking(static_program()).facts.has_dynamic);
  EXPECT_THAT(linking(object_file(), {{"strong"}}).imports, IsEmpty());
}

TEST(Linking, TablesThatLeadNowhere) {
  auto broken = with_entry(rope(library()), DT_VERNEED, 0x7fffffff);
  EXPECT_EQ(read_linking(broken, "x").error().code, "E001");
  auto names = with_entry(rope(library()), DT_STRSZ, 0x7fffffff);
  EXPECT_EQ(read_linking(names, "x", {{"strong"}}).error().code, "E001");
}

} // namespace
} // namespace quarry::elf
