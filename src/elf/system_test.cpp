// The editor on real files: every library of this machine, with readelf, eu-elflint, strip and the dynamic loader as
// judges.
#include "elf/elf_fixtures.hpp"

#include "base/text.hpp"
#include "sys/tree.hpp"
#include <algorithm>
#include <gmock/gmock.h>
#include <set>

namespace quarry::elf {
namespace {
using namespace testing;
using ::testing::HasSubstr;

constexpr const char* k_libraries = "/usr/lib/x86_64-linux-gnu";
const std::string k_rpath = "$ORIGIN/../../_rocm_sdk_core/lib:$ORIGIN/../../_rocm_sdk_core/lib/rocm_sysdeps/"
                            "lib:$ORIGIN/../../_rocm_sdk_core/lib/host-math/lib";

std::vector<std::string> system_libraries() {
  std::vector<std::string> out;
  auto entries = sys::list_directory(k_libraries);
  if (!entries) return out;
  for (const auto& e : *entries)
    if (e.type == sys::EntryType::file && e.path.find(".so") != e.path.npos)
      out.push_back(std::string(k_libraries) + "/" + e.path);
  return out;
}

// The new path first, then what the file had, so that it still finds its own.
Edit edit_for(const std::string& path, bool new_segment) {
  auto f = facts(rope(path));
  auto old = f.runpath ? *f.runpath : f.rpath.value_or("");
  old = text::replace_all(old, "$ORIGIN", k_libraries);
  Edit e;
  e.rpath = old.empty() ? k_rpath : k_rpath + ":" + old;
  e.new_segment = new_segment;
  return e;
}

class System : public ::testing::TestWithParam<bool> {};

TEST_P(System, EveryLibraryIsEditedOrRefusedForItsKind) {
  std::map<std::string, int> count;
  for (const auto& path : system_libraries()) {
    auto file = rope(path);
    if (!has_magic(file).value_or(false) || !facts(file).has_dynamic) continue;
    auto result = edit(file, edit_for(path, GetParam()), path);
    ASSERT_TRUE(result || result.error().code == "E011") << render(result.error());
    ++count[result ? result->strategy : result.error().code];
  }
  for (const auto& [strategy, n] : count) RecordProperty(strategy, n);
  EXPECT_EQ(count["none"], 0);
}

std::set<std::string> lint(const std::string& path) {
  std::set<std::string> out;
  for (const auto& line : text::lines(run({"eu-elflint", "--gnu-ld", path}).out)) {
    // .bss holds zeros in the file now, which is what the linter says; it also takes copy relocations in a .bss with
    // bytes for wrong versions, and a relocation for as large as its symbol, so that one just below a read-only segment
    // seems to write to it.
    bool known = line.find("has wrong type: expected NOBITS") != line.npos ||
                 line.find("is for requested version") != line.npos ||
                 line.find("read-only section modified") != line.npos || line.empty() || line == "No errors";
    auto colon = line.find(": ");
    if (!known) out.insert(colon == line.npos ? line : line.substr(colon)); // without the section's number
  }
  return out;
}

TEST_P(System, EditedLibrariesLoadAndStrip) {
  auto all = system_libraries();
  int tried = 0;
  for (std::size_t i = 0; i < all.size() && tried < 40; i += std::max<std::size_t>(1, all.size() / 60)) {
    auto original = rope(all[i]);
    if (!has_magic(original).value_or(false) || original.size() > (8u << 20) || !facts(original).is_shared_object())
      continue;
    if (run({loader(), all[i]}).exit_code != 0) continue; // cannot be loaded alone
    ++tried;
    auto result = edit(original, edit_for(all[i], GetParam()), all[i]);
    ASSERT_TRUE(result) << render(result.error());
    auto copy = write(result->file, "system.so");
    EXPECT_TRUE(loads(copy)) << all[i] << " " << result->strategy;
    EXPECT_THAT(run({"readelf", "-dW", copy}).out, HasSubstr("Library rpath: [" + k_rpath)) << all[i];
    EXPECT_THAT(run({"readelf", "-lSW", copy}).out, ::testing::Not(HasSubstr("readelf: "))) << all[i];
    if (!program_path("eu-elflint").empty()) {
      auto before = lint(all[i]);
      for (const auto& line : lint(copy)) EXPECT_TRUE(before.contains(line)) << all[i] << " " << line;
    }
    auto stripped = run({"strip", "-s", copy});
    EXPECT_EQ(stripped.exit_code, 0) << stripped.out;
    EXPECT_TRUE(loads(copy)) << all[i] << " after strip";
    EXPECT_EQ(facts(rope(copy)).rpath, facts(result->file).rpath) << all[i];
    EXPECT_THAT(error_codes(rope(copy)), ::testing::IsEmpty()) << all[i] << " after strip";
  }
  EXPECT_GE(tried, 20);
}

INSTANTIATE_TEST_SUITE_P(, System, ::testing::Values(false, true),
                         [](const auto& made) { return std::string(made.param ? "NewSegment" : "FirstThatFits"); });

TEST(SystemPrograms, RunAfterwards) {
  for (std::string path : {"/usr/bin/ls", "/usr/bin/env", "/usr/bin/python3", "/usr/bin/gcc"})
    for (bool new_segment : {false, true}) {
      auto file = content::Rope::file(path);
      if (!file) continue;
      auto before = run({path, "--version"});
      Edit e;
      e.rpath = k_rpath;
      e.new_segment = new_segment;
      auto result = edit(*file, e, path);
      ASSERT_TRUE(result) << render(result.error());
      auto copy = write(result->file, std::string(path.substr(path.rfind('/') + 1)));
      auto after = run({copy, "--version"});
      EXPECT_EQ(after.exit_code, before.exit_code) << path;
      EXPECT_EQ(after.out.substr(after.out.find('\n')), before.out.substr(before.out.find('\n'))) << path;
    }
}

} // namespace
} // namespace quarry::elf
