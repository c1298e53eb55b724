#include "matrix/python_literal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::matrix {
namespace {

using ::testing::HasSubstr;
using Kind = Literal::Kind;

Literal value_of(const std::string& text) {
  auto found = parse_python_tables({"x = [" + text + "]\n", "t.py"});
  EXPECT_TRUE(found) << text << (found ? "" : render(found.error()));
  return found && !found->empty() && !found->front().value.items.empty() ? found->front().value.items.front()
                                                                         : Literal{};
}

TEST(PythonLiteral, Strings) {
  struct Row {
    const char *python, *value;
  };
  for (auto row : {Row{"'a'", "a"}, Row{"\"a\"", "a"}, Row{"'it\\'s'", "it's"}, Row{"'''a\n'b''c'''", "a\n'b''c"},
                   Row{"r'a\\n'", "a\\n"}, Row{"u'a'", "a"}, Row{"'a' \"b\"\n  'c'", "abc"},
                   Row{"'\\x41\\u00e9\\U0001F600\\101\\q\\t'", "A\u00e9\U0001F600A\\q\t"}, Row{"'a\\\nb'", "ab"},
                   Row{"'# no comment'", "# no comment"}, Row{"('a')", "a"}, Row{"''", ""}}) {
    auto value = value_of(row.python);
    EXPECT_EQ(value.kind, Kind::text) << row.python;
    EXPECT_EQ(value.text, row.value) << row.python;
  }
}

TEST(PythonLiteral, OtherScalars) {
  EXPECT_EQ(value_of("True").boolean, true);
  EXPECT_EQ(value_of("False").kind, Kind::boolean);
  EXPECT_EQ(value_of("None").kind, Kind::none);
  EXPECT_EQ(value_of("-1_000").integer, -1000);
  EXPECT_EQ(value_of("+7").integer, 7);
  EXPECT_DOUBLE_EQ(value_of("1.5e-3").number, 0.0015);
  EXPECT_EQ(value_of("1.0").kind, Kind::number);
  EXPECT_EQ(value_of("(1, 2)").items.size(), 2u);
  EXPECT_EQ(value_of("(1,)").items.size(), 1u);
  EXPECT_EQ(value_of("{}").kind, Kind::dict);
}

TEST(PythonLiteral, SkipsWhatIsNoTable) {
  auto found = parse_python_tables({R"py("""A module.
x = {"not": "this"}
"""
import os, sys
from a import (b,
    c)
VERSION = "1.2"  # no table
@decorator
def f(x={}):
    y = {"inner": 1}
    return f"{x}"
class A:
    z = []
TABLE: dict[str, dict[str, int]] = {  # comment
    "a": {"b": 1,},   # trailing commas
    'c': [],
}
if TABLE:
    print(TABLE)
other = [1,
  2]
)py",
                                    "t.py"});
  ASSERT_TRUE(found) << render(found.error());
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[0].name, "TABLE");
  EXPECT_EQ((*found)[0].line, 14);
  EXPECT_EQ((*found)[0].value.find("a")->find("b")->integer, 1);
  EXPECT_EQ((*found)[0].value.find("a")->line, 15);
  EXPECT_EQ((*found)[1].value.items.size(), 2u);
}

TEST(PythonLiteral, RefusesEverythingElseWithItsLine) {
  struct Row {
    const char *python, *why;
  };
  for (auto row : {Row{"x = {'a': b}", "t.py:1: b is a name"},
                   Row{"x = {\n'a': f()}", "t.py:2: f is a name"},
                   Row{"x = {'a': __import__('os').system('id')}", "t.py:1: __import__ is a name"},
                   Row{"x = {'a': 1 + 1}", "expected `,`"},
                   Row{"x = [i for i in y]", "i is a name"},
                   Row{"x = {**y}", "`*` is not a literal"},
                   Row{"x = {1: 2}", "a key that is not a string"},
                   Row{"x = {'a': 1, 'a': 2}", "appears twice"},
                   Row{"x = {'a'}", "expected `:`"},
                   Row{"x = {'a': 1} | y", "goes on after its literal"},
                   Row{"x = ['a", "t.py:1: a string that does not end"},
                   Row{"x = '''a\n\n", "t.py:1: a string that does not end"},
                   Row{"x = ['a'\n", "expected `,`"},
                   Row{"x = [f'a']", "f-string"},
                   Row{"x = [b'a']", "f-string or bytes"},
                   Row{"x = [0x10]", "not a decimal number"},
                   Row{"x = [1j]", "not a decimal number"},
                   Row{"x = ['\\ud800']", "not a character"},
                   Row{"x = ['\\xg0']", "not a character"},
                   Row{"x = ['\\N{DASH}']", "by its name"},
                   Row{"x = [-'a']", "`-` is not a literal"},
                   Row{"def f(:\n", "a bracket that does not close"},
                   Row{"f)\n", "was not opened"},
                   Row{"x = [1 2]", "expected `,`"},
                   Row{"x = [True False]", "expected `,`"}}) {
    auto found = parse_python_tables({row.python, "t.py"});
    ASSERT_FALSE(found) << row.python;
    EXPECT_EQ(found.error().code, "F009") << row.python;
    EXPECT_THAT(found.error().message, HasSubstr(row.why)) << row.python;
  }
  EXPECT_FALSE(parse_python_tables({std::string("x = [\0]", 7), "t.py"}));
  EXPECT_FALSE(parse_python_tables({"x = ['\xff']", "t.py"}));
}

TEST(PythonLiteral, IsBounded) {
  std::string deep = "x = " + std::string(100'000, '[');
  EXPECT_THAT(parse_python_tables({deep, "t.py"}).error().message, HasSubstr("nested deeper"));
  std::string wide = "x = [";
  for (int i = 0; i < 200'001; ++i) wide += "1,";
  EXPECT_THAT(parse_python_tables({wide + "]", "t.py"}).error().message, HasSubstr("more than 200000 values"));
  EXPECT_THAT(parse_python_tables({std::string((4u << 20) + 1, ' '), "t.py"}).error().message, HasSubstr("bytes"));
}

} // namespace
} // namespace quarry::matrix
