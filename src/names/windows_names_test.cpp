#include "names/windows_names.hpp"

#include <gtest/gtest.h>

namespace quarry::names {
namespace {

// The answers are those of ntpath.isreserved in Python 3.13; "" and "a/b" are not one component of a path.
TEST(WindowsNames, AreWhatWindowsCanCreate) {
  for (const char* name : {"a", "a.py", ".hidden", "console", "con1", "com", "com0", "com10", "lpt", "auxiliary.py",
                           "nul-1", "x con", "caf\xC3\xA9", "a b", "comx", "conin", "com\xE2\x81\xB4"})
    EXPECT_TRUE(is_windows_name(name)) << name;
  for (const char* name : {"",          "a.",       "a ",       "a:b",         "__init__.py:evil",
                           "a?.py",     "a*",       "a<b",      "a>b",         "a|b",
                           "a\"b",      "a\\b",     "a/b",      "a\x01",       "CON",
                           "con.py",    "Aux.py",   "nul .txt", "prn.tar.gz",  "conin$",
                           "CONOUT$.x", "com1.dll", "LPT9",     "com\xC2\xB9", "lpt\xC2\xB2.h",
                           "..."})
    EXPECT_FALSE(is_windows_name(name)) << name;
}

} // namespace
} // namespace quarry::names
