#include "inspect/python_module.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::inspect {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

constexpr std::string_view k_theirs = R"py("""A document with
VERSION = "not this"
in it."""
import os

_VERBOSE = os.getenv("X", "0") == "1"
CACHED: str | None = None
ALL: dict[str, Entry] = {}

class Entry:
    NAME = "inner"

def f() -> str:
    VALUE = "inner"

__version__ = "DEFAULT"
__all__ = [
    "find",  # a function
    "preload",
]
FAMILIES: list[str] = []
__version__ = '7.2.0'
FAMILIES.append('gfx942')
FAMILIES.append("gfx1030")
THIS_ENTRY = ALL_PACKAGES['core']
COUNT = 3
)py";

TEST(PythonModules, ConstantsAreReadAsTheModuleLeavesThem) {
  auto module = read_module(k_theirs);
  EXPECT_THAT(module.values,
              ElementsAre(Pair("ALL", "{ }"), Pair("CACHED", "None"), Pair("COUNT", "3"),
                          Pair("FAMILIES", R"(["gfx1030", "gfx942"])"), Pair("THIS_ENTRY", R"("core")"),
                          Pair("_VERBOSE", R"(os . getenv ( "X" , "0" ) == "1")"), Pair("__version__", R"("7.2.0")")));
  EXPECT_THAT(module.exported, ElementsAre("find", "preload"));
}

TEST(PythonModules, EachDifferenceIsAPart) {
  auto ours = content::Rope::literal("__version__ = \"7.2.0\"\nFAMILIES = [\"gfx942\", \"gfx1031\"]\nCOUNT = 3\n"
                                     "THIS_ENTRY = \"core\"\nMORE = None\n__all__ = [\"find\"]\n");
  auto parts = module_parts("m.py", ours, content::Rope::literal(std::string(k_theirs)));
  ASSERT_TRUE(parts);
  std::vector<std::string> places;
  for (const auto& part : *parts)
    places.push_back(part.place + (part.kind == Kind::only_left    ? "!ours"
                                   : part.kind == Kind::only_right ? "!theirs"
                                                                   : ""));
  EXPECT_THAT(places, ElementsAre("m.py!value:FAMILIES", "m.py!value:MORE!ours", "m.py!value:ALL!theirs",
                                  "m.py!value:CACHED!theirs", "m.py!value:_VERBOSE!theirs",
                                  "m.py!exports:preload!theirs", "m.py!source"));
}

TEST(PythonModules, FeaturesOfTargetsAreAPlaceOfTheirOwn) {
  auto place = [](const std::string& name, const std::string& ours, const std::string& theirs) {
    auto parts = module_parts("m.py", content::Rope::literal(name + " = " + ours + "\n"),
                              content::Rope::literal(name + " = " + theirs + "\n"));
    return parts ? parts->front().place : "";
  };
  EXPECT_EQ(place("FAMILIES", R"(["gfx900", "gfx942"])", R"(["gfx900:xnack-", "gfx942"])"),
            "m.py!value:FAMILIES!processors");
  EXPECT_EQ(place("TARGETS", R"(["gfx942"])", R"(["gfx942:xnack-", "gfx942:xnack+"])"),
            "m.py!value:TARGETS!processors");
  EXPECT_EQ(place("FAMILIES", R"(["gfx900"])", R"(["gfx900:xnack-", "gfx942"])"), "m.py!value:FAMILIES");
  EXPECT_EQ(place("FAMILIES", R"(["gfx900:xnack-"])", R"(["gfx900"])"), "m.py!value:FAMILIES")
      << "ours names a feature";
  EXPECT_EQ(place("NAMES", R"(["gfx900"])", R"(["gfx900:xnack-"])"), "m.py!value:NAMES");
  EXPECT_EQ(place("FAMILIES", R"("gfx900")", R"(["gfx900:xnack-"])"), "m.py!value:FAMILIES");
}

/// The value of X, or "-"; "problem: …" if the module cannot be scanned to its end.
std::string value_of_x(const std::string& module) {
  auto read = read_module(module);
  if (!read.problem.empty()) return "problem: " + read.problem;
  return read.values.contains("X") ? read.values["X"] : "-";
}

struct ValueRow {
  std::string source, value;
};

TEST(PythonModules, QuotesAndCommentsDoNotHideAValue) {
  for (const auto& [module, value] : std::vector<ValueRow>{
           {"# quotes like \"\"\" here\nX = 1\n", "1"},
           {"Y = '\"\"\"'\nX = 1\n", "1"},
           {"X = 1 # \"\"\"\nY = '#'\n", "1"},
           {"'''A document\nX = 2\n'''\n", "-"},
           {"X = 1\nY = '''\nX = 2\n\\'''\nX = 3\n'''\n", "1"},
           {"Y = r'\\'\nX = 1\n", "problem: a text that begins on line 1 has no end"},
           {"Y = 'a\\\nX = 2'\nX = 1\n", "1"},
           {"f(\nX = 2)\n", "-"},
           {"def f():\n    X = 2\n\nclass C: X = 3\n", "-"},
           {"\xef\xbb\xbfX = 1\r\n", "1"},
           {"Y = 2; X = 1\n", "1"},
           {"Y = X = 1\n", "1"},
           {"X: dict[str, int] = 1\n", "1"},
           {"X = \\\n  1\n", "1"},
           {"X = 1", "1"},
       })
    EXPECT_EQ(value_of_x(module), value) << module;
}

TEST(PythonModules, ASourceThatIsNotScannedToItsEndSaysSo) {
  EXPECT_EQ(value_of_x("X = 1\nY = '''\n"), "problem: a text that begins on line 2 has no end");
  EXPECT_EQ(value_of_x("X = 1\nY = 'a\n"), "problem: a text that begins on line 2 has no end");
  EXPECT_EQ(value_of_x("X = 1\n\nY = [\n"), "problem: a bracket that opens on line 3 is not closed");
  EXPECT_EQ(value_of_x("X = 1\nY = [)\n"), "problem: a bracket that closes on line 2 was not opened");
  auto parts = module_parts("m.py", content::Rope::literal("X = '''"), content::Rope::literal("X = ''"));
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->front().place, "m.py!unread");
  EXPECT_EQ(parts->front().message, "a text that begins on line 1 has no end | it is read");
}

TEST(PythonModules, ValuesHaveOneSpelling) {
  for (const auto& [source, value] : std::vector<ValueRow>{
           {"1.50", "1.5"},
           {"-1", "-1"},
           {"1e3", "1000.0"},
           {"1.5e-3", "0.0015"},
           {"0x1F", "31"},
           {"1_000", "1000"},
           {"1j", "1j"},
           {R"('a\\b\'\x41\u00e4')", "\"a\\\\b'A\xc3\xa4\""},
           {R"(r"a\b")", R"("a\\b")"},
           {R"(b'\xff' b"a")", R"(b"\xffa")"},
           {R"("a" 'b')", R"("ab")"},
           {R"("a" b'b')", R"("a" b'b')"},
           {"'''a\nb'''", R"("a\x0ab")"},
           {"f'a'", R"("a")"},
           {"f'{y}'", "f'{y}'"},
           {R"('\N{DASH}')", R"('\N{DASH}')"},
           {R"(["a, b", "c"])", R"(["a, b", "c"])"},
           {"[1,\n  2,  # two\n]", "[1, 2]"},
           {"[[1], (2,), ()]", "[[1], (2,), ()]"},
           {"('a')", R"("a")"},
           {"'a', 'b'", R"(("a", "b"))"},
           {"T[0]", "T [ 0 ]"},
           {"T['a']", "T [ 'a' ]"},
           {"y()", "y ( )"},
           {"lambda a=1: a", "lambda a = 1 : a"},
           {"{'a': 1}", "{ 'a' : 1 }"},
       })
    EXPECT_EQ(value_of_x("X = " + source + "\n"), value) << source;
  EXPECT_EQ(value_of_x("X = " + std::string(100'000, '[') + std::string(100'000, ']')).size(), 399'999u);
}

TEST(PythonModules, OrderCountsWhereItMeansSomething) {
  EXPECT_EQ(value_of_x("X = ['/b', '/a']"), R"(["/b", "/a"])");
  EXPECT_EQ(read_module("A_FAMILIES = ['b', 'a']").values.at("A_FAMILIES"), R"(["a", "b"])");
  EXPECT_THAT(read_module("__all__ = ['b']\n__all__ += ['a']\n__all__.extend(('c',))\n").exported,
              ElementsAre("a", "b", "c"));
  EXPECT_THAT(read_module("__all__ = ['a'] + more").values, ElementsAre(Pair("__all__", "[ 'a' ] + more")));
}

TEST(PythonModules, WhatMayChangeAValueIsPartOfIt) {
  for (const auto& [after, value] : std::vector<ValueRow>{
           {"X += y", "[1]; X += y"},
           {"X += [2]", "[1, 2]"},
           {"X.append(y)", "[1]; X . append ( y )"},
           {"X[0] = 2", "[1]; X [ 0 ] = 2"},
           {"X.clear()", "[1]; X . clear ( )"},
           {"Y, X = 1, 2", "[1]; Y , X = 1 , 2"},
           {"if y: X = 2", "[1]; X = 2"},
           {"try:\n  X = 2\nexcept E:\n  def f():\n    X = 3\n", "[1]; X = 2"},
           {"match y:\n  case 1: X = 2\n", "[1]; X = 2"},
           {"from m import Y as X", "[1]; from m import Y as X"},
           {"from m import *", "[1]; from m import *"},
           {"def X(): pass", "[1]; def"},
           {"del X", "[1]; del X"},
           {"Y.append(2)", "[1]"},
           {"print(X)", "[1]"},
       })
    EXPECT_EQ(value_of_x("X = [1]\n" + after + "\n"), value) << after;
}

} // namespace
} // namespace quarry::inspect
