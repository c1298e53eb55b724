#include "dist/requirement.hpp"

#include <gtest/gtest.h>

namespace quarry::dist {
namespace {

const MarkerEnvironment k_linux{{"python_version", "3.10"},
                                {"python_full_version", "3.10.4"},
                                {"os_name", "posix"},
                                {"sys_platform", "linux"},
                                {"platform_machine", "x86_64"},
                                {"platform_system", "Linux"},
                                {"platform_python_implementation", "CPython"},
                                {"implementation_name", "cpython"},
                                {"implementation_version", "3.10.4"}};

TEST(Requirement, MarkersHoldAsPackagingSays) {
  struct Case {
    const char* marker;
    const char* extra;
    bool holds;
  };
  for (const auto& c : std::vector<Case>{
           {R"(python_version < "3.11")", "", true},
           {R"(python_version >= "3.9" and python_version < "3.10")", "", false},
           {R"("3.10" <= python_version)", "", true},
           {R"(python_version == '3.*')", "", true},
           {R"(python_full_version < "3.10.5")", "", true},
           {R"(python_version in "3.9 3.10")", "", true},
           {R"(sys_platform == "win32" or os_name == "posix")", "", true},
           {R"(sys_platform == "win32" or os_name == "nt" and python_version > "3")", "", false},
           {R"((sys_platform == "win32" or os_name == "posix") and python_version > "3")", "", true},
           {R"(platform_machine not in "arm64 aarch64")", "", true},
           {R"(extra == "Test_Extra")", "test-extra", true},
           {R"(extra != "test-extra")", "test-extra", false},
           {R"(os.name == "posix")", "", true},
           {R"(python_implementation == "CPython")", "", true},
           {R"(platform_release >= "5")", "", false},
           {R"(sys_platform < "zzz")", "", false},
           {R"(sys_platform >= "linux")", "", true},
           {R"(python_version ~= "3.8")", "", true},
           {R"("linux" in sys_platform)", "", true},
           {R"(python_version>"3"and os_name=="posix")", "", true},
       }) {
    auto marker = Marker::parse(c.marker);
    ASSERT_TRUE(marker) << c.marker << ": " << marker.error().message;
    EXPECT_EQ(marker->holds(k_linux, c.extra), c.holds) << c.marker;
  }
}

TEST(Requirement, ReadsItsParts) {
  auto full = Requirement::parse(" Foo.Bar [Test, x_y,test] (>=1.0,<2) ; python_version < '3.11' ");
  ASSERT_TRUE(full) << full.error().message;
  EXPECT_EQ(full->project.str(), "foo-bar");
  EXPECT_EQ(full->extras, (std::vector<std::string>{"test", "x-y"}));
  EXPECT_EQ(full->specifier_text, ">=1.0,<2");
  EXPECT_TRUE(full->specifiers.contains(*Version::parse("1.5")));
  EXPECT_FALSE(full->specifiers.contains(*Version::parse("2.0")));
  EXPECT_TRUE(full->marker.holds(k_linux));
  auto bare = Requirement::parse("numpy");
  ASSERT_TRUE(bare);
  EXPECT_TRUE(bare->specifiers.contains(*Version::parse("1")) && bare->marker.holds({}));
  auto url = Requirement::parse("a @ https://host.example/a;b.whl ; os_name == 'nt'");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->url, "https://host.example/a;b.whl");
  EXPECT_FALSE(url->marker.holds(k_linux));
}

TEST(Requirement, RefusesWhatHasNoOneMeaning) {
  for (const char* text : {"",
                           ">=1",
                           "a b",
                           "a[",
                           "a[x,]",
                           "a>=",
                           "a==1.x",
                           "a; ",
                           "a @ ",
                           "-r other.txt",
                           "a;python_version",
                           "a;python_version <",
                           "a;python_version < 3",
                           "a;'a' == 'b'",
                           "a ,>=1",
                           "a >=1,,<2",
                           "a (>=1,,<2)",
                           "a >=1 <2",
                           "a @ ; os_name == 'nt'",
                           "a @ https://host.example/a.whl; os_name == 'nt'",
                           "a @ https://host.example/a.whl b ; os_name == 'nt'",
                           "a @ https://host.example/a.whl ;",
                           "a;python_version == os_name",
                           "a;nothing == 'x'",
                           "a;(python_version > '3'",
                           "a;python_version > '3' or",
                           "a;python_version > '3' os_name",
                           "a;python_version > '3",
                           "a;python_version not '3'"}) {
    auto parsed = Requirement::parse(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, "M010") << text;
  }
  auto deep = Marker::parse(std::string(1000, '(') + "os_name == 'x'" + std::string(1000, ')'));
  ASSERT_FALSE(deep);
  EXPECT_NE(deep.error().message.find("too deeply"), std::string::npos);
}

} // namespace
} // namespace quarry::dist
