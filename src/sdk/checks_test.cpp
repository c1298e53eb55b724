// What a build checks beyond the contents of single files: launchers, run paths, leftovers of other builds.
#include "sdk/leftovers.hpp"
#include "sdk/populate.hpp"
#include "sdk/run_path.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::sdk {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

std::vector<std::string> codes(const Findings& findings) {
  std::vector<std::string> out;
  for (const auto& f : findings) out.push_back(f.code);
  return out;
}

TEST(RunPath, OnlyWhatBeginsWithOriginIsPortable) {
  for (const char* part : {"$ORIGIN", "${ORIGIN}", "$ORIGIN/../lib", "${ORIGIN}/x"})
    EXPECT_EQ(kind_of_part(part, "lib/a.so"), RunPathPart::portable) << part;
  for (const char* part :
       {"", ".", "lib", "./lib", "../lib", "$LIB/x", "$ORIGINAL", "$ORIGIN2/x", "$PLATFORM", "~/lib", "x/$ORIGIN"})
    EXPECT_EQ(kind_of_part(part, "lib/a.so"), RunPathPart::relative) << part;
  for (const char* part : {"/", "/opt/rocm/lib", "//x", "/home/builder/$ORIGIN", "$ORIGIN/../../../tmp",
                           "${ORIGIN}/x/../../../../home/builder", "$ORIGIN/../../.."})
    EXPECT_EQ(kind_of_part(part, "lib/a.so"), RunPathPart::absolute) << part;
}

TEST(RunPath, ItMayLeadToOtherPackagesAndNoFurther) {
  EXPECT_EQ(kind_of_part("$ORIGIN/../../_rocm_sdk_core/lib", "lib/a.so"), RunPathPart::portable);
  EXPECT_EQ(kind_of_part("$ORIGIN/../../..", "lib/rocprofiler/a.so"), RunPathPart::portable);
  EXPECT_EQ(kind_of_part("$ORIGIN/..", "a.so"), RunPathPart::portable);
  EXPECT_EQ(kind_of_part("$ORIGIN/../..", "a.so"), RunPathPart::absolute);
  DroppedRunPaths dropped;
  EXPECT_EQ(dropped.portable("lib/a.so", "$ORIGIN/../../../../tmp/evil:$ORIGIN"), "$ORIGIN");
  Findings findings;
  dropped.report("pkg", findings);
  ASSERT_THAT(codes(findings), ElementsAre("S052"));
  EXPECT_THAT(findings[0].message, HasSubstr("leads out of the installed packages"));
}

TEST(RunPath, WhatIsDroppedIsReportedOncePerPart) {
  DroppedRunPaths dropped;
  EXPECT_EQ(dropped.portable("lib/a.so", "lib:.:$ORIGIN:/home/x:$ORIGIN/.."), "$ORIGIN:$ORIGIN/..");
  EXPECT_EQ(dropped.portable("lib/b.so", ".:"), "");
  EXPECT_EQ(dropped.portable("lib/c.so", ""), "");
  EXPECT_EQ(dropped.portable("lib/d.so", "$ORIGIN"), "$ORIGIN");
  Findings findings;
  dropped.report("pkg", findings);
  ASSERT_THAT(codes(findings), ElementsAre("S051", "S051", "S052", "S051")); // "", ".", "/home/x", "lib"
  EXPECT_EQ(findings[0].place, "pkg!lib/b.so");
  EXPECT_THAT(findings[0].message, HasSubstr("an empty part"));
  EXPECT_EQ(findings[1].message,
            "\".\", relative to the working directory, was removed from its run path and 1 file more");
  EXPECT_EQ(findings[0].severity, Severity::warning);
  EXPECT_EQ(findings[2].severity, Severity::note);
}

SourceEntry directory() { return {sys::EntryType::directory, 0, false, "", {}, "", "a_run_generic"}; }
SourceEntry link(std::string to) { return {sys::EntryType::symlink, 0, false, std::move(to), {}, "", "a_run_generic"}; }
SourceEntry program(bool executable) {
  auto data = content::Rope::file("/usr/bin/env").value();
  return {sys::EntryType::file, data.size(), executable, "", data, "", "a_run_generic"};
}

const std::string k_mark("QUARRY-LAUNCHER-TARGET-SLOT-1:\n\0", 32);

Population populated(bool executable, Findings& findings) {
  View view;
  view.entries = {{"bin", directory()},
                  {"bin/amdclang", link("../llvm/bin/clang-22")},
                  {"bin/amdclang++", link("amdclang")},
                  {"bin/deep", link("../llvm/../llvm/bin/../bin/clang-22")},
                  {"lib/llvm/bin", directory()},
                  {"lib/llvm/bin/clang", link("clang-22")},
                  {"lib/llvm/bin/clang-22", program(executable)},
                  {"llvm", link("lib/llvm")}};
  for (const char* path : {"lib", "lib/llvm"}) view.entries[path] = directory();
  PopulateOptions options;
  options.launcher = content::Rope::literal(k_mark + std::string(4096, '\0'));
  options.place = "pkg";
  options.platform = "_pkg";
  return populate(view, options, findings).value();
}

TEST(Launchers, RunTheProgramThatTheLinksLeadTo) {
  Findings findings;
  auto population = populated(true, findings);
  EXPECT_THAT(codes(findings), IsEmpty());
  EXPECT_EQ(population.launchers, 4u);
  EXPECT_FALSE(population.files.contains("llvm"));
  for (const auto& [path, target] :
       std::vector<std::pair<std::string, std::string>>{{"bin/amdclang", "../lib/llvm/bin/clang-22"},
                                                        {"bin/amdclang++", "../lib/llvm/bin/clang-22"},
                                                        {"bin/deep", "../lib/llvm/bin/clang-22"},
                                                        {"lib/llvm/bin/clang", "clang-22"}}) {
    auto bytes = population.files.at(path).data.read_all(1 << 16).value();
    EXPECT_EQ(bytes.substr(k_mark.size(), target.size() + 1), target + '\0') << path;
    EXPECT_EQ(population.launches.at(path), "lib/llvm/bin/clang-22") << path;
    EXPECT_EQ(path::normal(path::join(path::dirname(path), target)), "lib/llvm/bin/clang-22") << path;
  }
}

TEST(Launchers, TheProgramMustBeExecutable) {
  Findings findings;
  populated(false, findings);
  EXPECT_THAT(codes(findings), ElementsAre("S049", "S049", "S049", "S049"));
  EXPECT_FALSE(has_errors(findings));
}

TEST(Launchers, TheProgramMustBeInThePackage) {
  Population population;
  population.files["bin/a"] = {{}, true, "launcher", "a_run_generic"};
  population.launches["bin/a"] = "lib/gone";
  Findings findings;
  check_launchers(population, "pkg", findings);
  ASSERT_THAT(codes(findings), ElementsAre("S048"));
  EXPECT_EQ(findings[0].severity, Severity::error);
  EXPECT_EQ(findings[0].place, "pkg!bin/a");
  population.files["lib/gone"] = {{}, true, "file", "a_run_generic"};
  findings.clear();
  check_launchers(population, "pkg", findings);
  EXPECT_THAT(findings, IsEmpty());
}

class Leftovers : public testing::Test {
protected:
  void SetUp() override {
    std::filesystem::remove_all(dist_);
    std::filesystem::create_directories(dist_);
    Package core, libraries;
    core.dist = "acme.Core";
    libraries.dist = "acme-lib_{family}";
    libraries.per_family = true;
    recipe_.packages = {core, libraries};
  }
  void put(const std::string& name) { ASSERT_TRUE(sys::write_file(path::join(dist_, name), "x")); }
  Result<void> check(Findings& findings) {
    return check_leftovers(dist_, {recipe_, dist::Version::parse("2.0").value(), {"acme_core-2.0-py3-none-any.whl"}},
                           findings);
  }
  std::string dist_ = testing::TempDir() + "quarry-leftovers";
  Recipe recipe_;
};

TEST_F(Leftovers, ThePackagesOfThisBuildAreReplaced) {
  put("acme_core-2.0-py3-none-any.whl");
  put(".quarry-being-built");
  put("index.html");
  Findings findings;
  EXPECT_TRUE(check(findings));
  EXPECT_THAT(findings, IsEmpty());
}

TEST_F(Leftovers, AnotherVersionIsRefused) {
  for (const char* name : {"acme_core-1.0-py3-none-any.whl", "acme_core-1.0.tar.gz",
                           "acme_lib_gfx94x-1.0-py3-none-linux_x86_64.whl", "acme_core-2.0.post1-py3-none-any.whl"}) {
    SetUp();
    put(name);
    Findings findings;
    auto refused = check(findings);
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, "S056");
    EXPECT_EQ(refused.error().kind, ErrorKind::already_exists);
    EXPECT_THAT(refused.error().message, HasSubstr(name));
    EXPECT_THAT(refused.error().hint, HasSubstr("rm " + path::join(dist_, name)));
    EXPECT_TRUE(sys::exists(path::join(dist_, name))) << "nothing is removed";
  }
}

TEST_F(Leftovers, OtherPackagesAreReported) {
  put("acme_core-2.0-py3-none-linux_x86_64.whl"); // another tag
  put("acme_lib_gfx94x-2.0-py3-none-any.whl");    // another family
  put("numpy-1.26.0.tar.gz");
  put("not a name.whl");
  Findings findings;
  ASSERT_TRUE(check(findings));
  ASSERT_THAT(codes(findings), ElementsAre("S057"));
  EXPECT_EQ(findings[0].severity, Severity::warning);
  EXPECT_THAT(findings[0].message, HasSubstr("4 packages"));
}

TEST_F(Leftovers, ADirectoryThatDoesNotExistHoldsNothing) {
  std::filesystem::remove_all(dist_);
  Findings findings;
  EXPECT_TRUE(check(findings));
}

} // namespace
} // namespace quarry::sdk
