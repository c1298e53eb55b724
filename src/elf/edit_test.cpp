#include "elf/elf_fixtures.hpp"
#include "elf/intent.hpp"
#include "elf/place.hpp"
#include "elf/proof.hpp"

#include <gmock/gmock.h>

namespace quarry::elf {
namespace {
using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string k_long = "$ORIGIN/../../_rocm_sdk_core/lib:$ORIGIN/../../_rocm_sdk_core/lib/rocm_sysdeps/lib:$ORIGIN/"
                           "../../_rocm_sdk_core/lib/host-math/lib";

Edit rpath(std::string value, bool new_segment = false) {
  Edit e;
  e.rpath = std::move(value);
  e.new_segment = new_segment;
  return e;
}

Edited edited(const content::Rope& file, const Edit& change) {
  auto result = edit(file, change, "fixture");
  EXPECT_TRUE(result) << (result ? "" : render(result.error()));
  return result ? *result : Edited{};
}

TEST(Edit, WithoutChangeGivesTheSameRope) {
  auto file = rope(library());
  Edit same_soname;
  same_soname.soname = "libplain.so.1";
  Edit same_runpath = rpath("$ORIGIN/../lib");
  same_runpath.as_runpath = true;
  for (const auto& change : {Edit{}, same_soname, same_runpath}) {
    auto result = edited(file, change);
    EXPECT_EQ(result.strategy, "none");
    EXPECT_EQ(result.changed_bytes, 0u);
    EXPECT_TRUE(content::same_piece({file, 0}, {result.file, 0}, file.size()));
  }
}

TEST(Edit, RunPathBecomesRpathInPlace) {
  auto file = rope(library());
  auto result = edited(file, rpath("$ORIGIN/../lib"));
  EXPECT_EQ(result.strategy, "S0");
  EXPECT_EQ(result.file.size(), file.size());
  EXPECT_EQ(facts(result.file).rpath, "$ORIGIN/../lib");
  EXPECT_EQ(facts(result.file).runpath, std::nullopt);
  EXPECT_TRUE(loads(write(result.file, "s0.so")));
}

TEST(Edit, AShorterPathOverwritesTheOldOne) {
  auto file = rope(library());
  auto result = edited(file, rpath("$ORIGIN"));
  EXPECT_EQ(result.strategy, "S0");
  EXPECT_EQ(facts(result.file).rpath, "$ORIGIN");
  EXPECT_THAT(bytes(result.file), ::testing::Not(HasSubstr("$ORIGIN/../lib")));
}

TEST(Edit, AStringThatTheTableHoldsIsReused) {
  auto file = rope(library());
  auto result = edited(file, rpath("libplain.so.1")); // the SONAME's text
  EXPECT_EQ(result.strategy, "S0");
  EXPECT_EQ(facts(result.file).rpath, "libplain.so.1");
  EXPECT_EQ(facts(result.file).soname, "libplain.so.1");
}

// The linker merges tails: here the run path's string is the tail of a symbol's name, and must not be overwritten.
TEST(Edit, ASharedStringIsNotOverwritten) {
  auto path = build("libshared.so", "int a_long_name(void) { return 1; }\n", {"-shared", "-Wl,-rpath,name"});
  auto file = rope(path);
  ASSERT_EQ(facts(file).runpath.value_or(facts(file).rpath.value_or("")), "name");
  auto result = edited(file, rpath("lib"));
  EXPECT_EQ(facts(result.file).rpath, "lib");
  EXPECT_THAT(bytes(result.file), HasSubstr("a_long_name"));
  EXPECT_THAT(run({"readelf", "--dyn-syms", "-W", write(result.file, "shared.so")}).out, HasSubstr("a_long_name"));
}

TEST(Edit, ALongerPathGrowsTheLastSegment) {
  auto file = rope(library());
  auto result = edited(file, rpath(k_long));
  EXPECT_EQ(result.strategy, "S1");
  EXPECT_EQ(facts(result.file).rpath, k_long);
  EXPECT_EQ(image(result.file).segments.size(), image(file).segments.size());
  EXPECT_THAT(verify(result.file, "x"), IsEmpty());
  EXPECT_TRUE(loads(write(result.file, "s1.so")));
}

TEST(Edit, EachFurtherEditAddsOnlyItsString) {
  auto file = edited(rope(library()), rpath(k_long)).file;
  for (int i = 0; i < 5; ++i) {
    auto text = k_long + ":/a/directory" + std::string(static_cast<std::size_t>(i) + 1, 'x');
    auto next = edited(file, rpath(text));
    EXPECT_EQ(next.strategy, "S1");
    EXPECT_LE(next.file.size(), file.size() + text.size() + 1 + 64);
    EXPECT_EQ(facts(next.file).rpath, text);
    file = next.file;
  }
  EXPECT_TRUE(loads(write(file, "again.so")));
}

TEST(Edit, ALargeBssGetsANewSegment) {
  auto file = rope(large_bss_library());
  auto result = edited(file, rpath(k_long));
  EXPECT_EQ(result.strategy, "S2");
  EXPECT_LT(result.file.size(), file.size() + 4096);
  EXPECT_EQ(image(result.file).segments.size(), image(file).segments.size() + 1);
  EXPECT_THAT(verify(result.file, "x"), IsEmpty());
  EXPECT_TRUE(loads(write(result.file, "s2.so")));
}

TEST(Edit, WithoutSpareEntryTheDynamicSectionMoves) {
  auto file = rope(tight_library());
  auto before = image(file);
  ASSERT_EQ(before.dynamic.size() + 1, before.dynamic_capacity);
  Edit change = rpath("");
  auto without = edited(file, change).file; // two free entries now
  EXPECT_EQ(image(without).dynamic.size() + 2, image(without).dynamic_capacity);
  change.rpath = k_long;
  for (bool new_segment : {false, true}) {
    auto full = rope(
        build("libfull.so", "int full;\n", {"-shared", "-nostdlib", "-fuse-ld=bfd", "-Wl,--spare-dynamic-tags=0"}));
    change.new_segment = new_segment;
    auto result = edited(full, change);
    EXPECT_EQ(result.strategy, new_segment ? "S2" : "S1");
    EXPECT_NE(image(result.file).dynamic_segment->offset, image(full).dynamic_segment->offset);
    EXPECT_EQ(facts(result.file).rpath, k_long);
    EXPECT_THAT(verify(result.file, "x"), IsEmpty());
    EXPECT_TRUE(loads(write(result.file, "moved.so")));
  }
}

TEST(Edit, AddsTagsToALibraryThatHasNone) {
  Edit change = rpath("$ORIGIN");
  change.soname = "libbare.so.3";
  auto result = edited(rope(bare_library()), change);
  EXPECT_EQ(facts(result.file).rpath, "$ORIGIN");
  EXPECT_EQ(facts(result.file).soname, "libbare.so.3");
  EXPECT_TRUE(loads(write(result.file, "bare.so")));
}

TEST(Edit, RemovesTheRunPath) {
  auto file = rope(library());
  auto result = edited(file, rpath(""));
  EXPECT_EQ(result.strategy, "S0");
  EXPECT_EQ(facts(result.file).rpath, std::nullopt);
  EXPECT_EQ(facts(result.file).runpath, std::nullopt);
  EXPECT_EQ(edited(result.file, rpath("")).strategy, "none");
}

TEST(Edit, WritesRunPathWhenAsked) {
  Edit change = rpath(k_long);
  change.as_runpath = true;
  auto f = facts(edited(rope(library()), change).file);
  EXPECT_EQ(f.runpath, k_long);
  EXPECT_EQ(f.rpath, std::nullopt);
}

TEST(Edit, TwoRunPathsBecomeOne) {
  // An entry nobody needs here becomes the second path, as older tools left it.
  auto file = rope(library());
  auto parsed = image(file);
  auto entries = parsed.dynamic;
  entries.push_back({DT_RPATH, *parsed.value(DT_SONAME)});
  entries.push_back({DT_NULL, 0});
  file = file.overlay(parsed.dynamic_segment->offset, encode(entries));
  ASSERT_EQ(facts(file).rpath, "libplain.so.1");
  auto result = edited(file, rpath("$ORIGIN/../lib"));
  EXPECT_EQ(result.strategy, "S0");
  EXPECT_EQ(facts(result.file).rpath, "$ORIGIN/../lib");
  EXPECT_EQ(image(result.file).values(DT_RPATH).size() + image(result.file).values(DT_RUNPATH).size(), 1u);
}

TEST(Edit, AllChangesInOneBatch) {
  Edit change = rpath(k_long);
  change.soname = "libother_with_a_longer_name.so.1";
  change.replace_needed = {{"libm.so.6", "libmvec.so.1"}};
  for (bool new_segment : {false, true}) {
    change.new_segment = new_segment;
    auto result = edited(rope(library()), change);
    auto f = facts(result.file);
    EXPECT_EQ(f.rpath, k_long);
    EXPECT_EQ(f.soname, "libother_with_a_longer_name.so.1");
    EXPECT_THAT(f.needed, ElementsAre("libmvec.so.1", "libc.so.6", "ld-linux-x86-64.so.2"));
    EXPECT_EQ(edited(result.file, change).strategy, "none");
  }
}

// The loader stops with an assertion when the version table names a library that is not needed.
TEST(Edit, AReplacedLibraryIsRenamedInTheVersionTable) {
  auto file = rope(library());
  Edit change;
  change.replace_needed = {{"libc.so.6", "libc_in_another_place.so.6"}};
  auto result = edited(file, change);
  auto parsed = image(result.file);
  auto needs = read_version_needs(parsed).value();
  std::vector<std::string> names;
  for (const auto& need : needs) names.push_back(parsed.string_at(need.name).value());
  EXPECT_THAT(names, ::testing::Contains("libc_in_another_place.so.6"));
  EXPECT_THAT(names, ::testing::Not(::testing::Contains("libc.so.6")));
  EXPECT_THAT(error_codes(result.file), IsEmpty());
  Edit back;
  back.replace_needed = {{"libc_in_another_place.so.6", "libc.so.6"}};
  auto restored = edited(result.file, back);
  EXPECT_TRUE(loads(write(restored.file, "restored.so")));
}

TEST(Edit, ProgramsRunAfterwards) {
  for (const auto& path : {program(), fixed_program()})
    for (bool new_segment : {false, true}) {
      ASSERT_EQ(run({path}).out, "plain 42\n");
      auto result = edited(rope(path), rpath(k_long + ":" + directory(), new_segment));
      EXPECT_EQ(result.strategy, new_segment ? "S2" : "S1");
      auto copy = write(result.file, "program-edited");
      EXPECT_EQ(run({copy}).out, "plain 42\n");
      auto without = write(edited(rope(path), rpath("/nowhere/at/all/where/a/library/could/be", new_segment)).file,
                           "program-lost");
      EXPECT_EQ(run({without}).exit_code, 127); // the new path is the one that counts
    }
}

TEST(Edit, ReadsOnlyTables) {
  struct Counting final : content::Source {
    explicit Counting(content::Rope rope) : inner(std::move(rope)) {}
    std::uint64_t size() const override { return inner.size(); }
    Result<void> read(std::uint64_t offset, std::span<std::byte> into) const override {
      count += into.size();
      return inner.read(offset, into);
    }
    content::Rope inner;
    mutable std::uint64_t count = 0;
  };
  auto large =
      build("liblarge.so", "const char large[8 << 20] = {1};\nint f(int i) { return large[i]; }\n", {"-shared"});
  auto source = std::make_shared<Counting>(rope(large));
  ASSERT_GT(source->size(), 8u << 20);
  auto result = edited(content::Rope::of(source), rpath(k_long));
  EXPECT_LT(source->count, 1u << 20);
  EXPECT_LT(result.changed_bytes, 16u << 10);
  EXPECT_LT(result.file.piece_count(), 40u);
}

TEST(Edit, OtherLinkersToo) {
  for (std::string linker : {"mold", "gold", "lld"}) {
    if (program_path(linker == "lld" ? "ld.lld" : linker == "gold" ? "ld.gold" : "mold").empty()) continue;
    auto path = build("lib" + linker + ".so",
                      "#include <stdio.h>\nint zeros[5000];\nint f(void) { return puts(\"\") + zeros[1]; }\n",
                      {"-shared", "-fuse-ld=" + linker, "-Wl,-soname,libx.so"});
    for (bool new_segment : {false, true}) {
      auto result = edited(rope(path), rpath(k_long, new_segment));
      EXPECT_EQ(facts(result.file).rpath, k_long);
      EXPECT_TRUE(loads(write(result.file, linker + ".so"))) << linker;
    }
  }
}

TEST(Edit, OtherLayoutsToo) {
  const std::vector<std::vector<std::string>> layouts{{"-Wl,-z,noseparate-code"},
                                                      {"-Wl,-z,norelro"},
                                                      {"-Wl,-z,now"},
                                                      {"-Wl,--hash-style=sysv"},
                                                      {"-Wl,--hash-style=both"},
                                                      {"-Wl,-z,max-page-size=0x200000"},
                                                      {"-Wl,--build-id=none"},
                                                      {"-Wl,-z,common-page-size=65536,-z,max-page-size=65536"}};
  int number = 0;
  for (auto flags : layouts) {
    flags.push_back("-shared");
    auto path = build("liblayout" + std::to_string(number++) + ".so",
                      "#include <stdio.h>\nint zeros[5000];\nint f(void) { return puts(\"\") + zeros[1]; }\n", flags);
    for (bool new_segment : {false, true}) {
      auto result = edited(rope(path), rpath(k_long, new_segment));
      EXPECT_EQ(facts(result.file).rpath, k_long) << flags[0];
      EXPECT_TRUE(loads(write(result.file, "layout.so"))) << flags[0];
    }
  }
}

TEST(Edit, AFileWithoutSectionHeadersStillGrows) {
  auto file = rope(library());
  std::uint64_t end = 0; // of the loaded bytes
  for (const auto& segment : image(file).segments)
    if (segment.type == PT_LOAD) end = std::max(end, segment.file_end());
  auto bare = file.slice(0, end)
                  .overlay(offsetof(Elf64_Ehdr, e_shoff), std::string(8, '\0'))
                  .overlay(offsetof(Elf64_Ehdr, e_shnum), std::string(4, '\0'));
  auto result = edited(bare, rpath(k_long));
  EXPECT_EQ(result.strategy, "S1");
  EXPECT_TRUE(loads(write(result.file, "nosections.so")));
  auto refused = edit(bare, rpath(k_long, true), "x.so");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "E014");
  EXPECT_THAT(refused.error().details, ElementsAre(HasSubstr("asked for"), HasSubstr("without sections")));
}

struct Refusal {
  const char* name;
  std::function<std::pair<content::Rope, Edit>()> make;
  const char* code;
  ErrorKind kind;
  const char* says;
};

Edit needed(std::string from, std::string to) {
  Edit e;
  e.replace_needed = {{std::move(from), std::move(to)}};
  return e;
}
Edit soname(std::string name) {
  Edit e;
  e.soname = std::move(name);
  return e;
}

class EditRefuses : public ::testing::TestWithParam<Refusal> {};
TEST_P(EditRefuses, WithItsReason) {
  auto [file, change] = GetParam().make();
  auto result = edit(file, change, "x.so");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, GetParam().code);
  EXPECT_EQ(result.error().kind, GetParam().kind);
  EXPECT_THAT(result.error().message, HasSubstr(GetParam().says));
}

std::pair<content::Rope, Edit> of_library(const std::function<content::Rope(content::Rope)>& change) {
  return {change(rope(library())), rpath(k_long)};
}

INSTANTIATE_TEST_SUITE_P(
    , EditRefuses,
    ::testing::Values(
        Refusal{"NoElf", [] { return std::pair(content::Rope::literal("no ELF file at all, only text"), rpath("a")); },
                "E001", ErrorKind::corrupt, "not an ELF"},
        Refusal{"StaticProgram", [] { return std::pair(rope(static_program()), rpath("a")); }, "E010",
                ErrorKind::unsupported, "no dynamic section"},
        Refusal{"ObjectFile", [] { return std::pair(rope(object_file()), rpath("a")); }, "E010", ErrorKind::unsupported,
                "neither a program"},
        Refusal{"OtherMachine",
                [] {
                  return of_library([](auto f) {
                    return f.overlay(offsetof(Elf64_Ehdr, e_machine), encode_value(std::uint16_t{EM_AMDGPU}));
                  });
                },
                "E011", ErrorKind::unsupported, "machine 224"},
        Refusal{"BigEndian", [] { return of_library([](auto f) { return f.overlay(EI_DATA, "\2"); }); }, "E011",
                ErrorKind::unsupported, "big-endian"},
        Refusal{"Prelinked",
                [] {
                  return of_library([](auto f) {
                    auto parsed = image(f);
                    return f.overlay(parsed.dynamic_segment->offset + parsed.dynamic.size() * 16,
                                     encode(std::vector<Dynamic>{{0x6ffffdf5, 1}, {DT_NULL, 0}}));
                  });
                },
                "E013", ErrorKind::unsupported, "prelinked"},
        Refusal{"AlreadyBroken",
                [] {
                  return of_library([](auto f) {
                    auto parsed = image(f);
                    auto first = parsed.segments[0];
                    first.flags |= PF_W;
                    return with_segment(f, 0, first);
                  });
                },
                "E012", ErrorKind::unsupported, "writable"},
        Refusal{"EmptySoname", [] { return std::pair(rope(library()), soname("")); }, "E015",
                ErrorKind::invalid_argument, "empty"},
        Refusal{"NulInPath", [] { return std::pair(rope(library()), rpath(std::string("a\0b", 3))); }, "E015",
                ErrorKind::invalid_argument, "NUL"},
        Refusal{"EndlessPath", [] { return std::pair(rope(library()), rpath(std::string(70000, 'a'))); }, "E015",
                ErrorKind::invalid_argument, "70000"},
        Refusal{"EmptyReplacement", [] { return std::pair(rope(library()), needed("libm.so.6", "")); }, "E015",
                ErrorKind::invalid_argument, "empty"},
        Refusal{"NotNeeded", [] { return std::pair(rope(library()), needed("libz.so.1", "liby.so.1")); }, "E016",
                ErrorKind::not_found, "does not need libz.so.1"}),
    [](const auto& made) { return std::string(made.param.name); });

// A plan that wrote one byte more than it said is caught, wherever the byte lies.
TEST(Proof, CatchesBytesOutsideThePlan) {
  auto file = rope(library());
  auto parsed = image(file);
  auto change = rpath(k_long);
  auto intent = make_intent(parsed, change).value();
  auto sections = parsed.read_sections().value();
  auto names = section_names(parsed, sections).value();
  auto layout = place(parsed, sections, names, intent).value();
  auto good = edited(file, change).file;
  ASSERT_TRUE(prove(parsed, change, layout, good));
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != ".text" && names[i] != ".data" && names[i] != ".comment" && names[i] != ".rodata") continue;
    auto at = sections[i].offset + (sections[i].allocated() ? 0 : layout.inserted.size());
    auto result = prove(parsed, change, layout,
                        good.overlay(at, bytes(good.slice(at, 1)))); // the same value, but not the same byte
    ASSERT_FALSE(result) << names[i];
    EXPECT_EQ(result.error().code, "E114") << names[i];
  }
  auto longer = good;
  longer.append(content::Rope::zeros(1));
  EXPECT_EQ(prove(parsed, change, layout, longer).error().code, "E114");
}

TEST(Proof, CatchesWrongFacts) {
  auto file = rope(library());
  auto parsed = image(file);
  auto change = rpath("$ORIGIN/../lib");
  auto layout = place(parsed, parsed.read_sections().value(), {}, make_intent(parsed, change).value()).value();
  auto other = change;
  other.rpath = "$ORIGIN/..";
  auto result = prove(parsed, other, layout, edited(file, change).file);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "E099");
}

} // namespace
} // namespace quarry::elf
