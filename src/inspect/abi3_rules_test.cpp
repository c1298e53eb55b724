#include "inspect/abi3_rules.hpp"

#include "inspect/wheel_for_test.hpp"
#include <gmock/gmock.h>

namespace quarry::inspect {
namespace {
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const StableAbi& stable_abi() {
  static const auto table =
      parse_stable_abi({made::shipped_text("python-stable-abi.toml"), "python-stable-abi.toml"}).value();
  return table;
}

MachineFile extension(const std::string& member, std::set<std::string> imports, std::set<std::string> exports = {}) {
  auto linking = made::library();
  linking.python_imports = std::move(imports);
  linking.python_exports = std::move(exports);
  return made::file(member, linking);
}

struct Abi3Case {
  const char* what;
  const char* tag;
  std::vector<MachineFile> files;
  std::vector<std::string> expected; ///< "Q121 …": code and a part of the message
};

constexpr const char* k_cp38 = "cp38-abi3-manylinux_2_28_x86_64";

TEST(StableAbi, JudgesModulesByTheirTag) {
  const Abi3Case cases[] = {
      {"part of it since 3.2", k_cp38, {extension("x.abi3.so", {"PyList_New"})}, {}},
      {"not part of it", k_cp38, {extension("x.abi3.so", {"_PyList_Extend"})}, {"Q121 _PyList_Extend (x.abi3.so)"}},
      {"newer", k_cp38, {extension("x.so", {"PyObject_CallNoArgs"})}, {"Q122 PyObject_CallNoArgs of 3.10 (x.so)"}},
      {"as new as the tag", "cp310-abi3-linux_x86_64", {extension("x.so", {"PyObject_CallNoArgs"})}, {}},
      {"the oldest of two tags",
       "cp38.cp310-abi3-linux_x86_64",
       {extension("x.so", {"PyObject_CallNoArgs"})},
       {"Q122 promises Python 3.8"}},
      {"free-threaded", "cp315-abi3t-linux_x86_64", {extension("x.abi3t.so", {"_PyList_Extend"})}, {"Q121 _PyList"}},
      {"no promise", "cp312-cp312-linux_x86_64", {extension("x.so", {"_PyList_Extend"})}, {}},
      {"promised by its name alone",
       "cp312-cp312-linux_x86_64",
       {extension("x.abi3.so", {"_PyList_Extend"})},
       {"Q121 names of files promise"}},
      {"without a version", "py3-none-linux_x86_64", {extension("x.abi3.so", {"PyObject_CallNoArgs"})}, {}},
      {"named for one Python", k_cp38, {extension("x.cpython-38-x86_64-linux-gnu.so", {"_PyList_Extend"})}, {}},
      {"not a module", k_cp38, {extension("libx.so.1", {"_PyList_Extend"})}, {}},
      {"defined by another file",
       k_cp38,
       {extension("x.abi3.so", {"PyMine_New"}), extension("libm.so.1", {}, {"PyMine_New"})},
       {}},
      {"another module", k_cp38, {extension("x.abi3.so", {"PyInit_y"})}, {}},
      {"a DLL of one Python",
       "cp38-abi3-win_amd64",
       {made::dll("x.pyd", {"KERNEL32.dll", "Python312.dll"})},
       {"Q121 those of Python312.dll (x.pyd)"}},
      {"the DLL of the stable ABI", "cp38-abi3-win_amd64", {made::dll("x.pyd", {"python3.dll"})}, {}},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.what);
    auto found = check_stable_abi(made::wheel(one.tag, one.files), stable_abi());
    ASSERT_EQ(found.size(), one.expected.size()) << (found.empty() ? "" : found.front().message);
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].code, one.expected[i].substr(0, 4));
      EXPECT_THAT(found[i].message, HasSubstr(one.expected[i].substr(5)));
    }
  }
}

TEST(StableAbi, TheTableIsChecked) {
  for (std::string keys : {"", "[added]\n", "[added]\n\"4.1\" = [\"Py_A\"]\n", "[added]\n\"3.x\" = [\"Py_A\"]\n",
                           "[added]\n\"3.2\" = [\"Py_A\"]\n\"3.3\" = [\"Py_A\"]\n", "[add]\n\"3.2\" = [\"Py_A\"]\n"}) {
    auto read = parse_stable_abi({"schema = \"quarry.python-stable-abi/1\"\n" + keys, "t.toml"});
    ASSERT_FALSE(read) << keys;
    EXPECT_EQ(read.error().code, "Q015");
  }
}
} // namespace
} // namespace quarry::inspect
