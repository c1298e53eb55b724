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
THIS_ENTRY = ALL['core']
COUNT = 3
)py";

TEST(PythonModules, ConstantsAreReadAsTheModuleLeavesThem) {
  auto module = read_module(k_theirs);
  EXPECT_THAT(module.values,
              ElementsAre(Pair("CACHED", "None"), Pair("COUNT", "3"), Pair("FAMILIES", R"(["gfx1030", "gfx942"])"),
                          Pair("THIS_ENTRY", R"("core")"), Pair("__version__", R"("7.2.0")")));
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
  EXPECT_THAT(places, ElementsAre("m.py!value:FAMILIES", "m.py!value:MORE!ours", "m.py!value:CACHED!theirs",
                                  "m.py!exports:preload!theirs", "m.py!source"));
}

} // namespace
} // namespace quarry::inspect
