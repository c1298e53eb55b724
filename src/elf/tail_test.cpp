// What an edit must not move or overwrite: bytes that no header describes, and strings whose users are not all known.
#include "elf/elf_fixtures.hpp"
#include "elf/intent.hpp"
#include "elf/tables.hpp"

#include <gmock/gmock.h>

namespace quarry::elf {
namespace {
using namespace testing;
using ::testing::HasSubstr;

const std::string k_long_name = "$ORIGIN/../../_rocm_sdk_core/lib:$ORIGIN/../../_rocm_sdk_core/lib/rocm_sysdeps/lib";

Edit rpath_edit(std::string value, bool new_segment = false) {
  Edit e;
  e.rpath = std::move(value);
  e.new_segment = new_segment;
  return e;
}

content::Rope appended(const content::Rope& file, const std::string& more) {
  auto out = file;
  out.append(content::Rope::literal(more));
  return out;
}

std::uint64_t loaded_end(const content::Rope& file) {
  std::uint64_t end = 0;
  for (const auto& s : image(file).segments)
    if (s.type == PT_LOAD) end = std::max(end, s.file_end());
  return end;
}

/// Only what is loaded, and headers that say so.
content::Rope without_sections(const content::Rope& file) {
  return file.slice(0, loaded_end(file))
      .overlay(offsetof(Elf64_Ehdr, e_shoff), std::string(8, '\0'))
      .overlay(offsetof(Elf64_Ehdr, e_shnum), std::string(4, '\0'));
}

/// The section header table stands behind `more` bytes of nobody's.
content::Rope with_gap_before_headers(const content::Rope& file, const std::string& more) {
  auto at = image(file).header.sections_at;
  auto out = file.slice(0, at);
  out.append(content::Rope::literal(more));
  out.append(file.slice(at, file.size() - at));
  return out.overlay(offsetof(Elf64_Ehdr, e_shoff), encode_value(at + more.size()));
}

void expect_refused(const content::Rope& file, const std::string& what) {
  for (bool new_segment : {false, true}) {
    auto result = edit(file, rpath_edit(k_long_name, new_segment), "x");
    ASSERT_FALSE(result) << what;
    EXPECT_EQ(result.error().code, "E040") << what;
    EXPECT_EQ(result.error().kind, ErrorKind::unsupported) << what;
    EXPECT_THAT(result.error().message, HasSubstr("no section describes")) << what;
  }
}

TEST(Tail, WhatNoSectionDescribesIsNotMoved) {
  for (const auto& path : {library(), program(), fixed_program(), large_bss_library()}) {
    auto file = rope(path);
    expect_refused(appended(file, "PAYLOAD!" + encode_value(file.size())), "a payload with its offset in a footer");
    expect_refused(appended(file, "x"), "one byte");
    expect_refused(appended(file, std::string(4097, '\0')), "more zeros than padding has");
    expect_refused(appended(file, std::string(4, '\0') + "PK\5\6"), "a payload behind padding");
    expect_refused(with_gap_before_headers(file, std::string(4096, 'x')), "a payload before the section headers");
    expect_refused(with_gap_before_headers(file, "8 bytes."), "a short one");
  }
}

TEST(Tail, WithoutSectionHeadersNothingBehindTheLoadedBytesIsKnown) {
  auto bare = without_sections(rope(library()));
  for (const auto& more : {std::string("PAYLOAD!"), std::string(4097, '\0')}) {
    auto result = edit(appended(bare, more), rpath_edit(k_long_name), "x");
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, "E040");
  }
  ASSERT_TRUE(edit(bare, rpath_edit(k_long_name), "x"));
}

TEST(Tail, AnEditInPlaceKeepsThePayload) {
  auto file = appended(rope(program()), "PAYLOAD!" + std::string(100, '\0') + "footer");
  auto result = edit(file, rpath_edit("$ORIGIN"), "x");
  ASSERT_TRUE(result) << render(result.error());
  EXPECT_EQ(result->strategy, "S0");
  EXPECT_EQ(result->file.size(), file.size());
  EXPECT_THAT(bytes(result->file), HasSubstr("PAYLOAD!"));
}

TEST(Tail, PaddingIsAllowed) {
  auto file = rope(library());
  EXPECT_TRUE(edit(appended(file, std::string(4096, '\0')), rpath_edit(k_long_name), "x"));
  EXPECT_TRUE(edit(with_gap_before_headers(file, std::string(8, '\0')), rpath_edit(k_long_name), "x"));
}

// A tool that dropped a program header left its bytes behind the table. Whether something reads them is not known.
TEST(Tail, BytesBehindTheProgramHeadersAreNotOverwritten) {
  auto file = rope(library());
  auto count = image(file).header.segment_count;
  auto dropped = file.overlay(offsetof(Elf64_Ehdr, e_phnum), encode_value(static_cast<std::uint16_t>(count - 1)));
  auto result = edit(dropped, rpath_edit(k_long_name, true), "x");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "E014");
  EXPECT_THAT(result.error().details, ::testing::Contains(HasSubstr("behind the program header table")));
  EXPECT_TRUE(edit(dropped, rpath_edit(k_long_name), "x")) << "the last segment grows without a new program header";
}

content::Rope without_entry(const content::Rope& file, std::int64_t tag) {
  auto parsed = image(file);
  for (std::size_t i = 0; i < parsed.dynamic.size(); ++i)
    if (parsed.dynamic[i].tag == tag)
      return file.overlay(parsed.dynamic_segment->offset + i * sizeof(Elf64_Dyn),
                          encode(std::vector<Dynamic>{{DT_DEBUG, 0}}));
  ADD_FAILURE() << "no entry " << tag;
  return file;
}

// The linker stores equal strings once: here the run path is a symbol's name.
TEST(Tail, AStringIsNotOverwrittenWhenItsUsersAreNotKnown) {
  auto exporting = rope(build("libshares.so", "int shared_name(void) { return 1; }\n",
                              {"-shared", "-Wl,-rpath,shared_name", "-Wl,--hash-style=gnu"}));
  auto importing = rope(build("imports", "extern int plain(void);\nint main(void) { return plain(); }\n",
                              {library(), "-no-pie", "-Wl,-rpath,plain", "-Wl,--hash-style=gnu"}));
  struct Case {
    const char* what;
    content::Rope file;
    const char* name;
  };
  for (const auto& [what, file, name] :
       {Case{"no hash table, no sections", without_entry(without_sections(exporting), DT_GNU_HASH), "shared_name"},
        Case{"a hash table without symbols, no sections", without_sections(importing), "plain"}}) {
    auto parsed = image(file);
    ASSERT_FALSE(count_dynamic_symbols(parsed, {}).value().exact) << what;
    auto old = parsed.value(DT_RUNPATH) ? *parsed.value(DT_RUNPATH) : parsed.value(DT_RPATH).value();
    auto result = edit(file, rpath_edit("abc"), "x");
    ASSERT_TRUE(result) << what << render(result.error());
    EXPECT_EQ(facts(result->file).rpath, "abc") << what;
    EXPECT_EQ(image(result->file).string_at(old).value(), name) << what << ": the symbol has lost its name";
  }
}

TEST(Tail, ASectionOrAHashTableTellsHowManySymbolsThereAre) {
  auto file = rope(library());
  auto parsed = image(file);
  auto sections = parsed.read_sections().value();
  auto by_section = count_dynamic_symbols(parsed, sections).value();
  EXPECT_TRUE(by_section.exact);
  EXPECT_EQ(count_dynamic_symbols(parsed, {}).value().count, by_section.count);
  EXPECT_TRUE(count_dynamic_symbols(parsed, {}).value().exact);
  auto none = image(without_entry(file, DT_GNU_HASH));
  EXPECT_TRUE(count_dynamic_symbols(none, sections).value().exact);
  EXPECT_FALSE(count_dynamic_symbols(none, {}).value().exact);
}

} // namespace
} // namespace quarry::elf
