#include "inspect/machine_rules.hpp"

#include "inspect/wheel_for_test.hpp"
#include <gmock/gmock.h>
#include <tuple>

namespace quarry::inspect {
namespace {
using made::file;
using made::library;
using made::wheel;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Findings findings(const std::vector<WheelContents>& wheels, std::vector<std::string> allowed = {}) {
  std::vector<JudgedWheel> judged;
  for (const auto& one : wheels) judged.push_back({&one, platform_verdict(one, made::platforms())});
  return check_machine_code(judged, {made::platforms(), made::windows(), std::move(allowed)});
}
/// "e Q101" for an error, "w Q112" for a warning.
std::vector<std::string> codes(const Findings& found) {
  std::vector<std::string> out;
  for (const auto& one : found) out.push_back((one.severity == Severity::error ? "e " : "w ") + one.code);
  return out;
}
std::vector<std::string> codes(const WheelContents& one, std::vector<std::string> allowed = {}) {
  return codes(findings({one}, std::move(allowed)));
}

elf::Linking asking(const std::string& version) {
  auto linking = library({"libc.so.6"});
  linking.versions = {{"libc.so.6", version}};
  return linking;
}
elf::Linking importing(const std::string& symbol) {
  auto linking = library({"libz.so.1"});
  linking.imports = {symbol};
  return linking;
}
template <class Change> elf::Linking changed(Change change) {
  auto linking = library();
  change(linking);
  return linking;
}
WheelContents of_record(std::vector<std::pair<std::string, std::uint64_t>> digests) {
  auto made = wheel("linux_x86_64", {file("x/a.so")});
  int number = 0;
  for (const auto& [digest, size] : digests)
    made.report.record.push_back({"x/" + std::to_string(number++), {}, "sha256", digest, size});
  return made;
}
WheelContents pure(WheelContents made) {
  made.report.wheel_info->root_is_purelib = true;
  return made;
}

struct MachineCase {
  const char* what;
  WheelContents wheel;
  std::vector<std::string> expected;
};

constexpr const char* k_2_28 = "manylinux_2_28_x86_64";
constexpr const char* k_linux = "linux_x86_64";

TEST(MachineRules, Tags) {
  auto fast = changed([](auto& l) { l.isa_level = 3; });
  auto arm = changed([](auto& l) { l.facts.machine = EM_AARCH64; });
  const MachineCase cases[] = {
      {"Q101 kept", wheel(k_2_28, {file("x/a.so", asking("GLIBC_2.28"))}), {}},
      {"Q101 broken", wheel(k_2_28, {file("x/a.so", asking("GLIBC_2.29"))}), {"e Q101"}},
      {"Q101 promises nothing", wheel(k_linux, {file("x/a.so", asking("GLIBC_2.99"))}), {}},
      {"Q101 one of two tags broken",
       wheel("manylinux_2_17_x86_64.manylinux_2_28_x86_64", {file("x/a.so", asking("GLIBC_2.28"))}),
       {"e Q101"}},
      {"Q101 two names of one tag",
       wheel("manylinux2014_x86_64.manylinux_2_17_x86_64", {file("x/a.so", asking("GLIBC_2.28"))}),
       {"e Q101"}},
      {"Q106 fits", wheel("linux_aarch64", {file("x/a.so", arm)}), {}},
      {"Q106 another machine", wheel(k_linux, {file("x/a.so"), file("x/b.so", arm)}), {"w Q106"}},
      {"Q106 Windows fits", wheel("win_amd64", {made::dll("x/a.dll", {})}), {}},
      {"Q106 a library for Windows", wheel("win_arm64", {made::dll("x/a.dll", {})}), {"e Q106"}},
      {"Q106 all for another machine", wheel(k_linux, {file("x/a.so", arm), file("x/b.so", arm)}), {"e Q106"}},
      {"Q106 a program for another machine", wheel("win_arm64", {made::dll("x/a.exe", {})}), {"w Q106"}},
      {"Q107 a launcher", wheel("any", {made::dll("x/a.exe", {})}), {}},
      {"Q107", wheel("any", {file("x/a.so")}), {"e Q107"}},
      {"Q107 without code", wheel("any", {}), {}},
      {"Q108", pure(wheel(k_linux, {file("x/a.so")})), {"w Q108"}},
      {"Q108 without code", pure(wheel(k_linux, {})), {}},
      {"Q109", wheel(k_2_28, {file("x/a.so", fast)}), {"e Q109"}},
      {"Q109 promises nothing", wheel(k_linux, {file("x/a.so", fast)}), {}},
      {"Q110", wheel(k_2_28, {file("x/a.so", importing("inflate_fast"))}), {"e Q110"}},
      {"Q110 a public symbol", wheel(k_2_28, {file("x/a.so", importing("inflate"))}), {}},
      {"Q110 private in older systems", wheel(k_2_28, {file("x/a.so", importing("uncompress2"))}), {"e Q110"}},
      {"Q110 public in all that the tag names",
       wheel("manylinux_2_34_x86_64", {file("x/a.so", importing("uncompress2"))}),
       {}},
  };
  for (const auto& one : cases) EXPECT_EQ(codes(one.wheel), one.expected) << one.what;
  auto found = findings({wheel(k_2_28, {file("x/a.so", asking("GLIBC_2.34"))})});
  EXPECT_THAT(found.at(0).message, HasSubstr("manylinux_2_28_x86_64 promises: GLIBC_2.34 (x/a.so)"));
  EXPECT_THAT(found.at(0).fix, HasSubstr("--platform-tag manylinux_2_34_x86_64"));
}

TEST(MachineRules, Libraries) {
  auto needs = [](const char* tag, const std::string& name) { return wheel(tag, {file("x/a.so", library({name}))}); };
  EXPECT_THAT(codes(needs(k_2_28, "libz.so.1")), IsEmpty()) << "every system has it";
  EXPECT_THAT(codes(needs(k_2_28, "libnuma.so.1")), ElementsAre("e Q102"));
  EXPECT_THAT(codes(needs(k_linux, "libnuma.so.1")), ElementsAre("w Q102"));
  EXPECT_THAT(codes(needs(k_2_28, "libnuma.so.1"), {"libnuma.so.*"}), IsEmpty());
  EXPECT_THAT(codes(needs(k_2_28, "libnuma.so.1"), {"libnumb.so.*"}), ElementsAre("e Q102"));
  EXPECT_THAT(codes(needs("manylinux_2_12_x86_64", "libmvec.so.1")), ElementsAre("e Q102")) << "newer than its glibc";

  auto beside = wheel(k_2_28, {file("x/a.so", library({"libb.so"})), file("x/l/libb.so")});
  EXPECT_THAT(codes(beside), ElementsAre("w Q103"));
  EXPECT_THAT(findings({beside}).at(0).message, HasSubstr("x/l/libb.so (x/a.so)"));
  EXPECT_THAT(codes(wheel(k_2_28, {file("x/a.so", library({"libb.so"}, "$ORIGIN/l")), file("x/l/libb.so")})),
              IsEmpty());
  EXPECT_THAT(codes(findings({wheel(k_2_28, {file("t/a.so", library({"libb.so"}, "$ORIGIN/../x/l"))}),
                              wheel(k_2_28, {file("x/l/libb.so")})})),
              IsEmpty());
}

TEST(MachineRules, ASearchThatEndsAtItsBoundSaysSo) {
  auto one = wheel(k_linux, {file("x/a.so", library({"x.so", "y.so"})), file("x/b.so", library({"z.so"}))});
  std::vector<JudgedWheel> judged{{&one, platform_verdict(one, made::platforms())}};
  auto codes_of_search = [&](std::size_t needs_max) {
    return codes(check_machine_code(judged, {made::platforms(), made::windows(), {}, needs_max}));
  };
  EXPECT_THAT(codes_of_search(2), ::testing::Contains("w Q118"));
  EXPECT_THAT(codes_of_search(4), ::testing::Not(::testing::Contains("w Q118")));
}

TEST(MachineRules, RunPaths) {
  const std::pair<const char*, std::vector<std::string>> cases[] = {
      {"$ORIGIN", {}},
      {"$ORIGIN/../lib:${ORIGIN}/../../nvidia/lib", {}},
      {"$ORIGIN/../../../../lib", {}}, // the environment's own
      {"$ORIGIN/../../../../../lib", {"w Q104"}},
      {"/opt/rocm/lib", {"w Q104"}},
      {"lib", {"w Q105"}},
      {"$ORIGIN:", {"w Q105"}},
      {"", {}},
      {"/opt/rocm/lib:lib", {"w Q105", "w Q104"}},
  };
  for (const auto& [entry, expected] : cases)
    EXPECT_EQ(codes(wheel(k_linux, {file("x/a.so", library({}, entry))})), expected) << entry;
}

TEST(MachineRules, WhatFilesCarry) {
  constexpr std::uint64_t k_limit = 1u << 20;
  auto object = changed([](auto& l) { l.facts.has_dynamic = l.has_relro = false; });
  const MachineCase cases[] = {
      {"Q111", wheel(k_linux, {file("x/a.so", changed([](auto& l) { l.text_relocations = true; }))}), {"w Q111"}},
      {"Q112", wheel(k_linux, {file("x/a.so", changed([](auto& l) { l.has_relro = false; }))}), {"w Q112"}},
      {"Q112 is about files that the loader relocates", wheel(k_linux, {file("x/a.o", object)}), {}},
      {"Q113", wheel(k_linux, {file("x/a.so", changed([](auto& l) { l.debug_bytes = k_limit; }))}), {"w Q113"}},
      {"Q113 in sum",
       wheel(k_linux, {file("x/a.so", changed([](auto& l) { l.debug_bytes = k_limit / 2; })),
                       file("x/b.so", changed([](auto& l) { l.debug_bytes = k_limit / 2; }))}),
       {"w Q113"}},
      {"Q113 little", wheel(k_linux, {file("x/a.so", changed([](auto& l) { l.debug_bytes = k_limit - 1; }))}), {}},
      {"Q114", of_record({{"d", k_limit}, {"d", k_limit}}), {"w Q114"}},
      {"Q114 little", of_record({{"d", k_limit - 1}, {"d", k_limit - 1}}), {}},
      {"Q114 in sum of three", of_record({{"d", k_limit / 2}, {"d", k_limit / 2}, {"d", k_limit / 2}}), {"w Q114"}},
      {"Q114 different", of_record({{"d", k_limit}, {"e", k_limit}}), {}},
      {"Q114 empty files", of_record({{"d", 0}, {"d", 0}}), {}},
  };
  for (const auto& one : cases) EXPECT_EQ(codes(one.wheel), one.expected) << one.what;
}

TEST(MachineRules, ExtensionModules) {
  auto module = [](const char* tag, const char* name) { return codes(wheel(tag, {file(name)})); };
  EXPECT_THAT(module("cp312-cp312-linux_x86_64", "x/a.cpython-312-x86_64-linux-gnu.so"), IsEmpty());
  EXPECT_THAT(module("cp312-cp312-linux_x86_64", "x/a.cpython-39-x86_64-linux-gnu.so"), ElementsAre("w Q115"));
  EXPECT_THAT(module("cp39.cp310-none-linux_x86_64", "x/a.cpython-310-x86_64-linux-gnu.so"), IsEmpty());
  EXPECT_THAT(module("cp39-abi3-linux_x86_64", "x/a.abi3.so"), IsEmpty());
  EXPECT_THAT(module("py3-none-linux_x86_64", "x/libx.cpu.so"), IsEmpty());
  EXPECT_THAT(codes(wheel("cp312-cp312-win_amd64", {made::dll("x/a.cp312-win_amd64.pyd", {})})), IsEmpty());
  EXPECT_THAT(codes(wheel("cp312-cp312-win_amd64", {made::dll("x/a.cp311-win_amd64.pyd", {})})), ElementsAre("w Q115"));
}

TEST(MachineRules, EndingsOfExtensionModules) {
  const std::tuple<const char*, const char*, bool> cases[] = {
      {"cp313-cp313t-linux_x86_64", "a.cpython-313t-x86_64-linux-gnu.so", true},
      {"cp313-cp313-linux_x86_64", "a.cpython-313t-x86_64-linux-gnu.so", false},
      {"cp313-cp313t-linux_x86_64", "a.cpython-313-x86_64-linux-gnu.so", false},
      {"cp313-cp313.cp313t-linux_x86_64", "a.cpython-313-x86_64-linux-gnu.so", true},
      {"cp313-none-linux_x86_64", "a.cpython-313t-x86_64-linux-gnu.so", true},
      {"cp313-abi3-linux_x86_64", "a.cpython-313t-x86_64-linux-gnu.so", false},
      {"cp313-abi3-linux_x86_64", "a.cpython-313-x86_64-linux-gnu.so", true},
      {"cp312-cp312-linux_x86_64", "a.cpython-312d-x86_64-linux-gnu.so", false},
      {"cp312-cp312d-linux_x86_64", "a.cpython-312d-x86_64-linux-gnu.so", true},
      {"cp312-cp312d-linux_x86_64", "a.cpython-312-x86_64-linux-gnu.so", true}, // since Python 3.8
      {"cp37-cp37m-linux_x86_64", "a.cpython-37m-x86_64-linux-gnu.so", true},
      {"pp310-pypy310_pp73-linux_x86_64", "a.pypy310-pp73-x86_64-linux-gnu.so", true},
      {"pp310-pypy310_pp73-linux_x86_64", "a.pypy39-pp73-x86_64-linux-gnu.so", false},
      {"pp310-pypy310_pp73-linux_x86_64", "a.pypy310.so", true},
      {"pp310-pypy310_pp73-linux_x86_64", "a.pypy310-.so", true},
      {"cp312-cp312-linux_x86_64", "a.abi3.so", true},
      {"cp312-cp312-linux_x86_64", "a.cpython-312-aarch64-linux-gnu.so", false},
      {"cp312-cp312-linux_x86_64", "a.cpython-312.so", true},
      {"cp312-cp312-musllinux_1_2_x86_64", "a.cpython-312-x86_64-linux-musl.so", true},
      {"cp312-cp312-linux_x86_64", "a.cpython-312-some-new-system.so", true},
  };
  for (const auto& [tag, name, fits] : cases)
    EXPECT_EQ(codes(wheel(tag, {file(name)})), fits ? std::vector<std::string>() : std::vector<std::string>{"w Q115"})
        << tag << " " << name;
  EXPECT_THAT(codes(wheel("cp313-cp313-win_amd64", {made::dll("a.cp313t-win_amd64.pyd", {})})), ElementsAre("w Q115"));
  EXPECT_THAT(codes(wheel("cp313-cp313-win_amd64", {made::dll("a.cp313-win32.pyd", {})})), ElementsAre("w Q115"));
}

TEST(MachineRules, PlatformTagsThatNoSystemHas) {
  for (const auto* tag : {"manylinux1_x86_64", "manylinux2014_aarch64", "manylinux_2_17_x86_64",
                          "manylinux_2_39_riscv64", "musllinux_1_2_x86_64", "linux_x86_64", "win_amd64", "any", "win32",
                          "macosx_11_0_arm64", "macosx_10_9_universal2", "ios_13_0_arm64_iphoneos",
                          "android_21_arm64_v8a", "pyodide_2024_0_wasm32", "freebsd_14_0_release_amd64"})
    EXPECT_THAT(codes(wheel(tag, {})), IsEmpty()) << tag;
  for (const auto* tag :
       {"manylinux_2_17", "manylinux_2_17_", "manylinux_9_9_9_x86_64", "manylinux_2_x86_64", "manylinux2015_x86_64",
        "manylinux2014", "manylinux_x86_64", "musllinux_1_x86_64", "manylinux_2_28_x86_64.manylinux_2_28", "foo",
        "plan9_vax", "win_foo", "linux", "macosx_10_9_sparc", "macosx_11_arm64", "manylinux_2_17_sparc"})
    EXPECT_THAT(codes(wheel(tag, {})), ElementsAre("e Q119")) << tag;
}

TEST(MachineRules, HeadersThatTheLoaderRefuses) {
  auto with = [](auto change) {
    auto linking = library();
    change(linking.facts);
    return linking;
  };
  auto object = with([](auto& f) { f.type = ET_REL, f.has_dynamic = false; });
  auto bsd = with([](auto& f) { f.os_abi = ELFOSABI_FREEBSD; });
  auto x32 = with([](auto& f) { f.is_64 = false; });
  EXPECT_THAT(codes(wheel(k_linux, {file("x/a.so", object)})), ElementsAre("w Q120"));
  EXPECT_THAT(codes(wheel(k_linux, {file("x/a.so.1", with([](auto& f) { f.type = ET_EXEC; }))})),
              ElementsAre("w Q120"));
  EXPECT_THAT(codes(wheel(k_linux, {file("x/a.so", x32)})), ElementsAre("w Q120"));
  EXPECT_THAT(codes(wheel(k_linux, {file("x/a.so", bsd)})), ElementsAre("w Q120"));
  EXPECT_THAT(codes(wheel("musllinux_1_2_x86_64", {file("x/a.so", bsd)})), IsEmpty()) << "musl does not look at it";
  EXPECT_THAT(codes(wheel(k_linux, {file("x/a.so", with([](auto& f) { f.os_abi = ELFOSABI_GNU; }))})), IsEmpty());
  EXPECT_THAT(codes(wheel(k_linux, {file("x/a.o", object)})), IsEmpty()) << "data of a compiler";
}

TEST(MachineRules, Dlls) {
  auto importing_dll = [](const std::string& name) { return wheel("win_amd64", {made::dll("x/a.dll", {name})}); };
  EXPECT_THAT(codes(importing_dll("KERNEL32.dll")), IsEmpty());
  EXPECT_THAT(codes(importing_dll("api-ms-win-crt-runtime-l1-1-0.dll")), IsEmpty());
  EXPECT_THAT(codes(importing_dll("MSVCP140.dll")), ElementsAre("w Q116"));
  EXPECT_THAT(codes(importing_dll("MSVCP140.dll"), {"MSVCP140.dll"}), IsEmpty());
  auto holder = wheel("win_amd64", {made::dll("y/Amdhip64_7.dll", {})});
  EXPECT_THAT(codes(findings({importing_dll("amdhip64_7.DLL"), holder})), IsEmpty());
  EXPECT_THAT(codes(importing_dll("amdhip64_7.DLL")), ElementsAre("w Q116"));
}

TEST(MachineRules, TheOtherLibc) {
  auto musl = library({"libc.musl-x86_64.so.1"}), glibc = library({"libc.so.6"});
  constexpr const char* k_musl = "musllinux_1_2_x86_64";
  EXPECT_THAT(codes(wheel(k_musl, {file("x/a.so", musl)})), IsEmpty());
  EXPECT_THAT(codes(wheel(k_musl, {file("x/a.so", musl), file("x/b.so", glibc)})), ElementsAre("w Q117", "e Q102"));
  EXPECT_THAT(codes(wheel(k_2_28, {file("x/a.so", glibc)})), IsEmpty());
  EXPECT_THAT(codes(wheel(k_2_28, {file("x/a.so", musl)})), ElementsAre("e Q117")) << "nothing in it can be loaded";
  EXPECT_THAT(codes(wheel("manylinux_2_28_x86_64.musllinux_1_2_x86_64", {file("x/a.so", glibc)})), IsEmpty());
  EXPECT_THAT(codes(wheel(k_linux, {file("x/a.so", glibc), file("x/b.so", library({"libc.so.6"}))})), IsEmpty());

  auto private_to_libz = library({"libz.so.1", "libc.musl-x86_64.so.1"}), fast = musl;
  private_to_libz.imports = {"inflate_fast"};
  fast.isa_level = 3;
  EXPECT_THAT(codes(wheel(k_musl, {file("x/a.so", private_to_libz)})), ElementsAre("e Q110"));
  EXPECT_THAT(codes(wheel(k_musl, {file("x/a.so", fast)})), ElementsAre("e Q109"));
  EXPECT_THAT(codes(wheel(k_linux, {file("x/a.so", fast)})), IsEmpty());
}

TEST(MachineRules, FindingsOfFilesComeFirst) {
  auto one = wheel("any", {file("x/a.so")});
  one.files.front().findings.push_back({"E103", Severity::error, "x/a.so", "m", ""});
  EXPECT_THAT(codes(one), ElementsAre("e E103", "e Q107"));
}

TEST(MachineRules, TableOfWindows) {
  for (const auto* text :
       {"", "schema = \"quarry.windows-libraries/2\"\n", "schema = \"quarry.windows-libraries/1\"\nlibrary = []\n"})
    EXPECT_EQ(parse_windows_libraries({text, "w.toml"}).error().code, "Q007") << text;
}

} // namespace
} // namespace quarry::inspect
