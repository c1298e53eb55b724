#include "inspect/layout_rules.hpp"

#include "inspect/text_leaks.hpp"
#include "inspect/wheel_for_test.hpp"
#include <gmock/gmock.h>

namespace quarry::inspect {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// "Q254 tests": code and what the message lists; "n Q256 …" for a note.
std::vector<std::string> found_at(std::set<std::string> installed, std::vector<std::string> requires_dist = {}) {
  auto wheel = made::wheel("any", {});
  wheel.installed = std::move(installed);
  wheel.installed.insert("x-1.dist-info/METADATA");
  wheel.report.metadata.emplace();
  wheel.report.metadata->requires_dist = std::move(requires_dist);
  std::vector<std::string> out;
  for (const auto& one : check_layout(wheel))
    out.push_back((one.severity == Severity::note ? "n " : "") + one.code + " " +
                  one.message.substr(one.message.find(": ") + 2));
  return out;
}

TEST(LayoutRules, ModesThatInstallersReadDifferently) {
  for (auto [tag, expected] : {std::pair("linux_x86_64", 1u), {"any", 1u}, {"win32.win_amd64", 0u}}) {
    auto wheel = made::wheel(tag, {});
    wheel.report.metadata.emplace();
    wheel.installed.insert("x/__init__.py");
    wheel.untyped_programs = {"x/bin/tool"};
    auto found = check_layout(wheel);
    ASSERT_EQ(found.size(), expected) << tag;
    if (expected == 0) continue;
    EXPECT_EQ(found[0].code, "Q260");
    EXPECT_THAT(found[0].message, HasSubstr("uv makes these files executable; pip and installer do not"));
    EXPECT_THAT(found[0].message, HasSubstr("x/bin/tool"));
  }
}

TEST(LayoutRules, NamesAtTheTop) {
  EXPECT_THAT(found_at({"foo/__init__.py", "foo/tests/test.py", "foo.libs/libz.so.1", "foo-stubs/__init__.pyi",
                        "foo.pth", "m.cpython-312-x86_64-linux-gnu.so", "foo/my-script.py", "../../../bin/my-tool"}),
              IsEmpty());
  EXPECT_THAT(found_at({"x/__init__.py", "tests/__init__.py", "tests/a.py", "lib/libx.so"}),
              ElementsAre("Q254 lib, tests"));
  EXPECT_THAT(found_at({"my-foo/__init__.py", "2to3.py"}), ElementsAre("Q253 2to3.py, my-foo"));
  EXPECT_THAT(found_at({"x/__init__.py", "README.md"}), ElementsAre("n Q253 README.md"));
}

TEST(LayoutRules, AProjectMayHaveACommonName) {
  auto wheel = made::wheel("any", {});
  wheel.report.name = dist::WheelName::parse("docs-1-py3-none-any.whl").value();
  wheel.report.metadata.emplace();
  wheel.installed = {"docs/__init__.py"};
  EXPECT_THAT(check_layout(wheel), IsEmpty());
}

TEST(LayoutRules, EmptyWheelsAndLeftovers) {
  EXPECT_EQ(found_at({}).size(), 1U);
  EXPECT_THAT(found_at({})[0], HasSubstr("n Q255"));
  EXPECT_THAT(found_at({}, {"y"}), IsEmpty());
  auto unread = made::wheel("any", {}); // which files it has is not known
  unread.report.metadata.emplace();
  unread.report.container_broken = true;
  EXPECT_THAT(check_layout(unread), IsEmpty());
  EXPECT_THAT(found_at({"../../../bin/x"}), IsEmpty());
  EXPECT_THAT(
      found_at({"x/__pycache__/a.pyc", "x/__pycache__/b.pyc", "x/a.py.orig", "x/.gitignore", "x/sourceless.pyc"}),
      ElementsAre("n Q256 x/__pycache__, x/a.py.orig"));
}

std::string leaks_of(const std::string& member, const std::string& text) {
  auto leaks = find_text_leaks({member, text});
  std::string out;
  for (const auto& one : leaks.build_paths) out += one + " ";
  for (const auto& one : leaks.secrets) out += one + " ";
  return out;
}

TEST(TextLeaks, PathsOfTheBuildMachine) {
  EXPECT_EQ(leaks_of("x.pc", "prefix=/home/runner/work"), "/home/runner/ ");
  EXPECT_EQ(leaks_of("x.json", R"("C:\\hostedtoolcache\\x")"), "C:\\\\hostedtoolcache ");
  EXPECT_EQ(leaks_of("x.py", "'/home/user/x', '/tmp/x', 'home/runner'"), "");
  EXPECT_EQ(leaks_of("x.txt", "see /home/runner/"), ""); // nobody takes paths from it
}

// Put together, so that this file holds none itself.
const std::string k_begin = std::string("-----BEGIN RSA PRIVATE ") + "KEY-----";
const std::string k_line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
const std::string k_token = std::string("gh") + "p_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
const std::string k_key_id = std::string("AK") + "IA2E0A8F3B244C9986";

TEST(TextLeaks, Secrets) {
  const std::string key = "a private key ", token = "a token of GitHub ", aws = "an access key of AWS with its secret ";
  EXPECT_EQ(leaks_of("x.pem", k_begin + "\n" + k_line + "\n"), key);
  EXPECT_EQ(leaks_of("x.py", "K = b'" + k_begin + "\\n" + k_line + "'"), key);
  EXPECT_EQ(leaks_of("x.py", "K = (\"" + k_begin + "\\n\"\n    \"" + k_line + "\\n\""), key);
  EXPECT_EQ(leaks_of("x.pem", k_begin + "\nProc-Type: 4,ENCRYPTED\n"), key);
  EXPECT_EQ(leaks_of("x.py", "if line == b'" + k_begin + "':\n    return read(line)"), "");
  EXPECT_EQ(leaks_of("x.pem", "-----BEGIN CERTIFICATE-----\n" + k_line), "");
  EXPECT_EQ(leaks_of("x.pem", "-----BEGIN "), "");
  std::string many; // the search for the end of each of them must not go through all of it
  while (many.size() < 1000'000) many += "-----BEGIN P\n";
  EXPECT_EQ(leaks_of("x.pem", many), "");
  EXPECT_EQ(leaks_of("x.py", "t = '" + k_token + "'"), token);
  EXPECT_EQ(leaks_of("x.py", "t = 'ghp_" + std::string(36, 'x') + "'"), "");
  EXPECT_EQ(leaks_of("x.py", "a" + k_token), "");
  const auto word = [](std::size_t size) {
    return std::string("a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6a7B8c9D").substr(0, size);
  };
  const auto fine = std::string("github") + "_pat_" + word(22) + "_" + word(59);
  for (auto kind : {"o_", "u_", "s_", "r_"})
    EXPECT_EQ(leaks_of("x.py", std::string("t = 'gh") + kind + word(36) + "'"), token);
  EXPECT_EQ(leaks_of("x.env", "TOKEN=" + fine + "\n"), token);
  EXPECT_EQ(leaks_of("x.env", "TOKEN=" + fine + "A\n"), "");
  EXPECT_EQ(leaks_of("x.env", std::string("TOKEN=github") + "_pat_" + word(59) + "_" + word(22)), "");
  EXPECT_EQ(leaks_of("x.env", std::string("TOKEN=gh") + "s_" + word(35)), "");
  EXPECT_EQ(leaks_of("x.py", "ghp_other, github_pat_length = 'ghs_'"), "");
  EXPECT_EQ(leaks_of("x.cfg", "id = " + k_key_id + "\nsecret_key=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzKEY"), aws);
  EXPECT_EQ(leaks_of("x.cfg", "id = " + k_key_id + "\n"), "");
  EXPECT_EQ(leaks_of("x/.netrc", ""), "a file that holds credentials by its name ");
  EXPECT_EQ(leaks_of("x/id_rsa.py", ""), "");
}

TEST(TextLeaks, WhatIsSearched) {
  for (std::string_view yes :
       {"x/y.py", "x.pc", "bin/llvm-config", "x/.netrc", "a.key", "a.json", "x/Build_Info.h", "config.hpp"})
    EXPECT_TRUE(is_searched_text(yes)) << yes;
  for (std::string_view no : {"x.so", "x", "x.html", "x.cpp", "config", "x.h"})
    EXPECT_FALSE(is_searched_text(no)) << no;
}
} // namespace
} // namespace quarry::inspect
