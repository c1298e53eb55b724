#include "artifact/descriptor.hpp"

#include "artifact/testing.hpp"

namespace quarry::artifact {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Refused {
  std::string_view what, text, code, place;
};

constexpr Refused k_refused[] = {
    {"syntax", "[components.lib\n", "A023", "artifact-blas.toml:1"},
    {"unknown key at the top", "version = 1\n", "A024", "artifact-blas.toml:1: version"},
    {"unknown option", "[options]\nunmatched = []\n", "A024", "artifact-blas.toml:2: options.unmatched"},
    {"unknown component", "\n[components.bin.\"a/stage\"]\n", "A024", "artifact-blas.toml:2: components.bin"},
    {"unknown key of a base", "[components.lib.\"a/stage\"]\ninclud = \"x\"\n", "A024",
     "artifact-blas.toml:2: components.lib.a/stage.includ"},
    {"include of another type", "[components.lib.\"a\"]\n\ninclude = 7\n", "A024",
     "artifact-blas.toml:3: components.lib.a.include"},
    {"optional of another type", "[components.lib.\"a\"]\noptional = 7\n", "A024", "components.lib.a.optional"},
    {"a value where a base belongs", "[components.lib]\nextend = \"dev\"\n", "A024", "components.lib.extend"},
    {"extends nothing known", "[components.lib]\nextends = \"bin\"\n", "A024", "components.lib.extends"},
    {"a circle", "[components.lib]\nextends = \"test\"\n", "A024", "circle"},
    {"a base outside", "[components.lib.\"../a\"]\n", "A024", "components.lib.../a"},
};

TEST(Descriptor, NamesFileLineAndKeyOfWhatItRefuses) {
  for (const auto& row : k_refused) {
    auto parsed = parse_descriptor({row.text, "d/artifact-blas.toml"}, Platform::linux);
    ASSERT_FALSE(parsed) << row.what;
    EXPECT_EQ(parsed.error().code, row.code) << row.what;
    EXPECT_THAT(parsed.error().message, HasSubstr(row.place)) << row.what;
  }
}

TEST(Descriptor, TakesItsNameFromItsFile) {
  EXPECT_EQ(parse_descriptor({"", "d/artifact-core-hip.toml"}, Platform::linux)->name, "core-hip");
  for (auto file : {"artifact.toml", "artifact-.toml", "blas.toml", "artifact-a_b.toml"})
    EXPECT_EQ(parse_descriptor({"", file}, Platform::linux).error().code, "A023") << file;
}

TEST(Descriptor, IsOptionalOnThePlatformsItNames) {
  auto optional = [](std::string_view value, const Platform& platform) {
    auto text = fmt::format("[components.lib.a]\noptional = {}\n", value);
    return parse_descriptor({text, "artifact-x.toml"}, platform)->components.front().bases.front().optional;
  };
  EXPECT_TRUE(optional("true", Platform::linux));
  EXPECT_FALSE(optional("false", Platform::linux));
  EXPECT_TRUE(optional("\"Windows\"", Platform::windows));
  EXPECT_FALSE(optional("\"windows\"", Platform::linux));
  EXPECT_TRUE(optional("[\"darwin\", \"linux\"]", Platform::linux));
}

class Described : public testing::Directory {
protected:
  void stage(const std::string& path, const std::string& text = "x") { write(from_ + "/" + path, text); }
  std::string descriptor(const std::string& text, const std::string& name = "blas") {
    auto file = root_ + "/artifact-" + name + ".toml";
    write(file, text);
    return file;
  }
  Result<Source> describe(const std::vector<std::string>& files) {
    return source_of_descriptors(from_, files, {"gfx942", Platform::linux});
  }
  /// "component: path path …" of every item.
  std::vector<std::string> contents(const std::string& text) {
    auto source = describe({descriptor(text)});
    if (!source) return {source.error().code};
    std::vector<std::string> lines;
    for (const auto& item : source->items) {
      auto line = item.name.component + ":";
      for (const auto& entry : *item.chosen) line += " " + entry.path;
      lines.push_back(line);
    }
    return lines;
  }
  void full_stage() {
    for (auto path : {"m/lib/libx.so.1", "m/bin/tool", "m/include/x.h", "m/lib/cmake/x/x.cmake", "m/share/doc/x.txt",
                      "m/.build-id/ab/cd.debug", "m/bin/x-test"})
      stage(path);
  }
};

TEST_F(Described, GivesEachComponentWhatItsDefaultsSay) {
  full_stage();
  EXPECT_THAT(contents("[components.lib.m]\n[components.dbg.m]\n[components.dev.m]\n[components.doc.m]\n"
                       "[components.run.m]\ninclude = \"bin/*\"\nexclude = \"**/*-test\"\n[components.test.m]\n"),
              ElementsAre("dbg: m/.build-id/ab/cd.debug", "dev: m/include/x.h m/lib/cmake/x/x.cmake",
                          "doc: m/share/doc/x.txt", "lib: m/lib/libx.so.1", "run: m/bin/tool", "test: m/bin/x-test"));
}

TEST_F(Described, LetsRunTakeAllThatIsLeft) {
  full_stage();
  EXPECT_THAT(contents("[components.lib.m]\n[components.run.m]\n[components.dev.m]\n"),
              ElementsAre("dev:", "lib: m/lib/libx.so.1",
                          "run: m/.build-id/ab/cd.debug m/bin/tool m/bin/x-test m/include/x.h m/lib/cmake/x/x.cmake "
                          "m/share/doc/x.txt"));
}

TEST_F(Described, ForcesWhatIsExcludedElsewhere) {
  stage("m/lib/a.so");
  stage("m/lib/b.so");
  stage("m/.kpack/blas_lib.kpm");
  EXPECT_THAT(contents("[components.lib.m]\nexclude = \"lib/**\"\nforce_include = [\"lib/b.so\"]\n"
                       "[options]\nunmatched_exclude = [\"lib/a.so\"]\n"),
              ElementsAre("lib: m/.kpack/blas_lib.kpm m/lib/b.so"));
}

TEST_F(Described, LeavesDefaultsOutWhenAsked) {
  stage("m/lib/a.so");
  stage("m/lib/a.txt");
  EXPECT_THAT(contents("[components.lib.m]\ndefault_patterns = false\ninclude = \"**/*.txt\"\n[components.run.m]\n"),
              ElementsAre("lib: m/lib/a.txt", "run: m/lib/a.so"));
}

TEST_F(Described, NamesTheFilesThatNoComponentTakes) {
  stage("m/lib/a.so");
  stage("m/README");
  auto source = describe({descriptor("[components.lib.m]\n")});
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().code, "A026");
  EXPECT_THAT(source.error().details, ElementsAre("m/README"));
  EXPECT_TRUE(describe({descriptor("[options]\nunmatched_include = \"*.txt\"\n[components.lib.m]\n")}));
}

TEST_F(Described, RefusesAStageThatIsMissing) {
  stage("m/lib/a.so");
  EXPECT_THAT(contents("[components.lib.m]\n[components.lib.\"n/stage\"]\n"), ElementsAre("A025"));
  EXPECT_THAT(contents("[components.lib.m]\n[components.lib.\"n/stage\"]\noptional = true\n"),
              ElementsAre("lib: m/lib/a.so"));
}

TEST_F(Described, RefusesTwoDescriptorsOverOneStage) {
  stage("m/lib/a.so");
  auto source =
      describe({descriptor("[components.lib.m]\n"), descriptor("[components.run.m]\ninclude='bin/*'\n", "rand")});
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().code, "A027");
  EXPECT_THAT(source.error().message, HasSubstr("artifact-rand.toml"));
}

TEST_F(Described, PacksWhatAFetchAccepts) {
  full_stage();
  link(from_ + "/m/lib/libx.so", "libx.so.1");
  auto source = describe({descriptor("[components.lib.m]\n[components.run.m]\n")});
  ASSERT_TRUE(source) << render(source.error());
  auto packed = pack(*source, root_ + "/packed", {});
  ASSERT_TRUE(packed) << render(packed.error());
  auto archives = source_of_path(root_ + "/packed");
  ASSERT_TRUE(archives);
  ASSERT_TRUE(fetch(archives->items, out_, {}));
  EXPECT_THAT(visible(out_ + "/blas_lib_gfx942"),
              ElementsAre("artifact_manifest.txt", "m/lib/libx.so -> libx.so.1", "m/lib/libx.so.1"));
}

} // namespace
} // namespace quarry::artifact
