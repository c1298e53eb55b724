#include "dist/resolver_fields.hpp"

#include <gtest/gtest.h>

namespace quarry::dist {
namespace {

Metadata metadata(const std::string& version = "2.1") {
  Metadata m;
  m.metadata_version = version;
  m.name = "x";
  m.version = "1";
  return m;
}

TEST(ResolverFields, EachValueThatCannotBeParsedIsAFinding) {
  auto m = metadata();
  m.requires_dist = {"good>=1", "bad !!", "six; bogus == 'x'", "six @ https://host.example/s.whl; os_name == 'nt'"};
  m.requires_python = "banana";
  m.provides_extra = {"good", "a b c!", ""};
  auto found = check_resolver_fields(m, "x.whl!METADATA");
  std::vector<std::string> codes;
  for (const auto& f : found) {
    codes.push_back(f.code);
    EXPECT_EQ(f.place, "x.whl!METADATA");
    EXPECT_EQ(f.severity, Severity::error);
  }
  EXPECT_EQ(codes, (std::vector<std::string>{"M010", "M010", "M010", "M005", "M011", "M011"}));
  EXPECT_TRUE(found[0].message.starts_with("Requires-Dist: \"bad !!\" is not a requirement")) << found[0].message;
}

TEST(ResolverFields, TheyAreErrorsFromMetadata21On) {
  for (const auto& [version, severity] : std::vector<std::pair<std::string, Severity>>{{"1.0", Severity::warning},
                                                                                       {"1.2", Severity::warning},
                                                                                       {"2.0", Severity::warning},
                                                                                       {"2.1", Severity::error},
                                                                                       {"2.4", Severity::error},
                                                                                       {"2.10", Severity::error},
                                                                                       {"", Severity::error}}) {
    auto m = metadata(version);
    m.requires_dist = {"pytz (>dev)"};
    auto found = check_resolver_fields(m, "x");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].severity, severity) << version;
  }
}

TEST(ResolverFields, WhatPackagingReadsIsFine) {
  auto m = metadata();
  m.requires_dist = {"six",
                     "six (>=1)",
                     "six[a,b]>=1,; extra == 'x'",
                     "six ()",
                     "six@ https://host.example/s.whl",
                     "six @ https://host.example/s.whl ; os_name == 'nt'",
                     "six===1"};
  m.requires_python = ">=3.8,!=3.9.*,<4,";
  m.provides_extra = {"dev", "Test_Extra", "a.b", "1"};
  EXPECT_EQ(render(check_resolver_fields(m, "x")), "");
  EXPECT_EQ(render(check_resolver_fields(metadata(), "x")), "");
}

TEST(ResolverFields, FindingsAreBounded) {
  auto m = metadata();
  m.requires_dist.assign(5000, "bad !!");
  EXPECT_EQ(check_resolver_fields(m, "x").size(), 100u);
}

TEST(EntryPoints, AReferenceIsWhatImportlibLoads) {
  for (const char* value : {"m", "m.n", "m:a", "m.n:a.b", "m : a", "m:a [x]", "m:a[x,y]", "1m:a", "caf\xC3\xA9:a"}) {
    auto points = parse_entry_points(std::string("[g]\na = ") + value + "\n");
    ASSERT_TRUE(points) << value;
    EXPECT_TRUE(points->at(0).is_reference()) << value;
  }
  for (const char* value : {"not a ref!", "my-module:a", "m:", ":a", "m:a:b", "m:a-b", "m/n:a", ""}) {
    auto points = parse_entry_points(std::string("[g]\na = ") + value + "\n");
    ASSERT_TRUE(points) << value;
    EXPECT_FALSE(points->at(0).is_reference()) << value;
  }
}

TEST(EntryPoints, NoScriptIsCalledLikeAnInterpreter) {
  for (const char* name :
       {"python", "Python", "PYTHON3", "python3.12", "pythonw", "python.exe", "pypy3", "python3.13t"})
    EXPECT_FALSE(parse_entry_points(std::string("[console_scripts]\n") + name + " = m:a\n")) << name;
  for (const char* name : {"python-config", "pythons", "ipython", "python3-tool"})
    EXPECT_TRUE(parse_entry_points(std::string("[console_scripts]\n") + name + " = m:a\n")) << name;
}

} // namespace
} // namespace quarry::dist
