#include "closure/change_rules.hpp"
#include "closure/closure_rules.hpp"
#include "closure/coherence.hpp"
#include "registry/requirements.hpp"
#include "sys/file.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace quarry::closure {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Draft {
  std::string file;
  std::vector<std::string> requires_dist = {}, extras = {};
  std::string requires_python = {};
  std::uint64_t size = 100;
};

Package package(const Draft& draft) {
  dist::Metadata metadata;
  metadata.requires_dist = draft.requires_dist;
  metadata.provides_extra = draft.extras;
  metadata.requires_python = draft.requires_python;
  auto made = package_of(draft.file, metadata, draft.size);
  EXPECT_TRUE(made) << (made ? "" : render(made.error()));
  return *made;
}

std::vector<Package> packages(const std::vector<Draft>& drafts) {
  std::vector<Package> made;
  for (const auto& draft : drafts) made.push_back(package(draft));
  return made;
}

std::string pure(const std::string& name_and_version) { return name_and_version + "-py3-none-any.whl"; }

/// A base index as a table.
class Base final : public mirror::Candidates {
public:
  void add(const std::string& file, std::vector<std::string> requires_dist = {}) {
    auto name = *dist::DistributionName::parse(file);
    index::PageFile page_file;
    page_file.filename = file;
    pages_[name.project.str()].files.push_back(page_file);
    requirements_[file] = std::move(requires_dist);
  }
  void yank(const std::string& project) { pages_[project].files.back().yanked = true; }
  void break_metadata(const std::string& file) { broken_.insert(file); }
  Result<const index::IndexPage*> page(const std::string& project) override {
    if (auto found = pages_.find(project); found != pages_.end()) return &found->second;
    return fail(ErrorKind::not_found, "U003", "no project " + project);
  }
  Result<dist::Metadata> metadata(const index::PageFile& file) override {
    dist::Metadata metadata;
    if (broken_.contains(file.filename)) return fail(ErrorKind::invalid_argument, "M006", "Summary twice");
    metadata.requires_dist = requirements_.at(file.filename);
    for (const auto& text : metadata.requires_dist)
      if (auto extra = text.find("extra == '"); extra != text.npos)
        metadata.provides_extra.push_back(text.substr(extra + 10, text.rfind('\'') - extra - 10));
    return metadata;
  }

private:
  std::map<std::string, index::IndexPage> pages_;
  std::map<std::string, std::vector<std::string>> requirements_;
  std::set<std::string> broken_;
};

Findings closure_of(const std::vector<Package>& set, mirror::Candidates* base = nullptr,
                    std::vector<std::string> assumed = {}, const std::string& pythons = "3.12",
                    const std::string& platforms = "linux") {
  auto findings =
      check_closure(set, {*mirror::parse_targets(pythons, platforms), base, "the base index", std::move(assumed)});
  EXPECT_TRUE(findings) << (findings ? "" : render(findings.error()));
  return *findings;
}

std::vector<std::string> codes_of(const Findings& findings) {
  std::vector<std::string> codes;
  for (const auto& one : findings) codes.push_back(one.code);
  return codes;
}

TEST(Closure, ASetThatHasEverythingHasNoFinding) {
  auto set = packages({{pure("torch-2.10.0+rocm7"), {"triton==3.6.0", "numpy>=1.26"}, {}, {}, 100},
                       {pure("triton-3.6.0"), {}, {}, {}, 100}});
  Base base;
  base.add(pure("numpy-1.20"));
  base.add(pure("numpy-2.1"));
  EXPECT_THAT(closure_of(set, &base), IsEmpty());
}

TEST(Closure, WhatNobodyHasIsNamedOnceWithWhoAsksAndWhere) {
  auto set = packages({{pure("a-1.0"), {"c"}}, {pure("b-1.0"), {"a"}}});
  auto found = closure_of(set, nullptr, {}, "3.11,3.12");
  ASSERT_THAT(codes_of(found), ElementsAre("Q401"));
  EXPECT_EQ(found[0].place, pure("a-1.0"));
  EXPECT_EQ(found[0].message, "a 1.0 requires c, which is not in the set, and no base index was asked (Python 3.11 "
                              "linux, 3.12 linux)");
  EXPECT_THAT(closure_of(set, nullptr, {"c"}), IsEmpty());
  Base base;
  EXPECT_THAT(closure_of(set, &base)[0].message, HasSubstr("which neither the set nor the base index has"));
}

TEST(Closure, WhatTheSetHasIsNeverTakenFromElsewhere) {
  auto set = packages({{pure("torch-2.10.0"), {"triton==3.6.0"}}, {pure("triton-3.5.1")}});
  Base base;
  base.add(pure("triton-3.6.0"));
  auto found = closure_of(set, &base, {"triton"});
  ASSERT_THAT(codes_of(found), ElementsAre("Q402"));
  EXPECT_THAT(found[0].message, HasSubstr("torch 2.10.0 requires triton==3.6.0; the set has 3.5.1"));
}

TEST(Closure, ConflictsNameAllWhoAsk) {
  auto set = packages({{pure("a-1.0"), {"numpy<2", "b"}}, {pure("b-1.0"), {"numpy>=2"}}});
  Base base;
  base.add(pure("numpy-1.26"));
  base.add(pure("numpy-2.1"));
  auto found = closure_of(set, &base);
  ASSERT_THAT(codes_of(found), ElementsAre("Q402"));
  EXPECT_THAT(found[0].message, HasSubstr("a 1.0 requires numpy<2, b 1.0 requires numpy>=2; the base index has 2.1, "
                                          "1.26"));
}

TEST(Closure, ChoicesAreTakenBack) {
  auto set = packages({{pure("a-1.0"), {"app", "lib<2"}}});
  Base base;
  base.add(pure("lib-1.0"));
  base.add(pure("lib-2.0"));
  base.add(pure("app-1.0"), {"helper<2"});
  base.add(pure("app-2.0"), {"helper>=2"});
  base.add(pure("helper-1.0"), {"lib>=1"});
  base.add(pure("helper-2.0"), {"lib>=2"}); // so app 2.0 cannot be chosen
  EXPECT_THAT(closure_of(set, &base), IsEmpty());
}

TEST(Closure, EachExtraIsAskedFor) {
  auto set = packages({{pure("a-1.0"), {"b; extra == 'all'", "c; extra == 'dev'"}, {"all", "dev"}}, {pure("c-1")}});
  auto found = closure_of(set);
  ASSERT_THAT(codes_of(found), ElementsAre("Q401"));
  EXPECT_THAT(found[0].message, HasSubstr("a[all] 1.0 requires b"));
}

TEST(Closure, AnExtraThatDoesNotExistIsAWarning) {
  auto set = packages({{pure("a-1.0"), {"b[nothing]"}}, {pure("b-1.0")}});
  auto found = closure_of(set);
  ASSERT_THAT(codes_of(found), ElementsAre("Q407"));
  EXPECT_EQ(found[0].severity, Severity::warning);
}

TEST(Closure, MarkersAndTagsAreThoseOfTheTarget) {
  auto set = packages({{pure("a-1.0"), {"w; sys_platform == 'win32'", "l; sys_platform == 'linux'"}},
                       {"l-1.0-cp312-cp312-manylinux_2_28_x86_64.whl"}});
  EXPECT_THAT(closure_of(set, nullptr, {}, "3.12"), IsEmpty());
  auto other_python = closure_of(set, nullptr, {}, "3.13");
  ASSERT_THAT(codes_of(other_python), ElementsAre("Q403"));
  EXPECT_THAT(other_python[0].message, HasSubstr("the set has no file of it for this target (Python 3.13 linux)"));
  EXPECT_THAT(codes_of(closure_of(set, nullptr, {}, "3.12", "windows")), ElementsAre("Q401"));
}

TEST(Closure, RequiresPythonExcludesAFile) {
  auto set = packages({{pure("a-1.0"), {"b"}}, {pure("b-1.0"), {}, {}, ">=3.13"}});
  EXPECT_THAT(codes_of(closure_of(set)), ElementsAre("Q403"));
  EXPECT_THAT(closure_of(set, nullptr, {}, "3.13"), IsEmpty());
}

TEST(Closure, AUrlIsServedByNoIndex) {
  auto set = packages({{pure("a-1.0"), {"b @ https://example.org/b-1.0-py3-none-any.whl"}}, {pure("b-1.0")}});
  EXPECT_THAT(codes_of(closure_of(set)), ElementsAre("Q404"));
}

TEST(Closure, YankedVersionsCountForPinsAlone) {
  Base base;
  base.add(pure("b-1.0"));
  base.yank("b");
  EXPECT_THAT(codes_of(closure_of(packages({{pure("a-1.0"), {"b"}}}), &base)), ElementsAre("Q402"));
  EXPECT_THAT(closure_of(packages({{pure("a-1.0"), {"b==1.0"}}}), &base), IsEmpty());
}

TEST(Closure, APinThatArrivesLaterCallsForAYankedVersion) {
  Base base;
  base.add(pure("k-1.0"));
  base.yank("k");
  base.add(pure("k-2.0"));
  base.add(pure("m-1.0"), {"k==1.0"});
  EXPECT_THAT(closure_of(packages({{pure("app-1.0"), {"k", "m"}}}), &base), IsEmpty());
  EXPECT_THAT(codes_of(closure_of(packages({{pure("app-1.0"), {"k==1.*"}}}), &base)), ElementsAre("Q402"));
}

TEST(Closure, APreReleaseCountsOnlyWhereNoStableVersionFits) {
  Base base;
  base.add(pure("b-1.0"), {"nobody"});
  base.add(pure("b-2.0rc1"));
  EXPECT_THAT(codes_of(closure_of(packages({{pure("a-1.0"), {"b"}}}), &base)), ElementsAre("Q401"));
  EXPECT_THAT(closure_of(packages({{pure("a-1.0"), {"b>1"}}}), &base), IsEmpty());
  base.add(pure("c-1.0"), {"b>=2.0rc1"});
  EXPECT_THAT(closure_of(packages({{pure("a-1.0"), {"b", "c"}}}), &base), IsEmpty());
}

TEST(Closure, WhoAskedForAnExtraIsTakenBackToo) {
  Base base;
  base.add(pure("mm-1.0"), {"r>=9; extra == 'x'"});
  base.add(pure("r-1.0"));
  base.add(pure("y-1.0"), {"mm"});
  base.add(pure("y-2.0"), {"mm[x]"});
  EXPECT_THAT(closure_of(packages({{pure("app-1.0"), {"mm", "y"}}}), &base), IsEmpty());
}

TEST(Closure, AVersionThatCannotBeReadIsAGap) {
  Base base;
  base.add(pure("bad-1.0"), {"???"});
  auto set = packages({{pure("app-1.0"), {"bad"}}});
  auto found = closure_of(set, &base);
  ASSERT_THAT(codes_of(found), ElementsAre("Q409"));
  EXPECT_THAT(found[0].message, HasSubstr("app 1.0 requires bad, and METADATA of bad 1.0 cannot be read"));
  base.add(pure("bad-0.9"));
  EXPECT_THAT(closure_of(set, &base), IsEmpty());
  base.break_metadata(pure("bad-0.9"));
  EXPECT_THAT(codes_of(closure_of(set, &base)), ElementsAre("Q409"));
  auto own = closure_of(packages({{pure("app-1.0"), {"???"}}}), &base);
  ASSERT_THAT(codes_of(own), ElementsAre("Q409"));
  EXPECT_EQ(own[0].place, pure("app-1.0"));
  own = closure_of(packages({{pure("app-1.0"), {}, {}, "banana"}}), &base);
  ASSERT_THAT(codes_of(own), ElementsAre("Q409")) << "installers leave such a file out";
  EXPECT_THAT(own[0].message, HasSubstr("Requires-Python \"banana\""));
}

TEST(Closure, ABaseIndexWithOnlyASourceDistributionSaysSo) {
  Base base;
  base.add("b-1.0.tar.gz");
  auto found = closure_of(packages({{pure("a-1.0"), {"b"}}}), &base);
  ASSERT_THAT(codes_of(found), ElementsAre("Q403"));
  EXPECT_THAT(found[0].message, HasSubstr("has only a source distribution of it"));
}

TEST(Closure, AGapWithoutExtrasDoesNotHideThoseOfTheExtras) {
  auto found = closure_of(packages({{pure("a-1.0"), {"b", "c; extra == 'x'", "b; extra == 'x'"}, {"x"}}}));
  EXPECT_THAT(codes_of(found), ElementsAre("Q401", "Q401"));
  EXPECT_THAT(found[1].message, HasSubstr("a[x] 1.0 requires c"));
}

TEST(Closure, ChainsOfExtrasEnd) {
  std::vector<std::string> chain, extras{"e0"};
  for (int each = 0; each < 20'000; ++each) {
    extras.push_back("e" + std::to_string(each + 1));
    chain.push_back("chain[" + extras.back() + "]; extra == 'e" + std::to_string(each) + "'");
  }
  auto asked = closure_of(packages({{pure("chain-1.0"), chain, extras}, {pure("a-1.0"), {"chain[e0]"}}}));
  EXPECT_THAT(codes_of(asked), ElementsAre("Q405", "Q405"));
}

TEST(Closure, ExtrasOfATakenBackChoiceOrOfABuildAreNotMissed) {
  Base base;
  base.add(pure("b-2.0"), {"nobody"});
  base.add(pure("b-1.0"), {"c; extra == 'x'"});
  base.add(pure("c-1.0"));
  EXPECT_THAT(closure_of(packages({{pure("a-1.0"), {"b[x]"}}}), &base), IsEmpty());
  dist::Metadata dynamic;
  dynamic.dynamic = {"Requires-Dist", "Provides-Extra"};
  dynamic.requires_dist = {"torch"};
  auto rocm = *package_of("rocm-7.2.0.tar.gz", dynamic, 1);
  EXPECT_THAT(closure_of({rocm, package({pure("torch-1.0"), {"rocm[device-gfx942]"}})}), IsEmpty());
}

TEST(Closure, AnEndlessSearchIsGivenUp) {
  // Ten projects of ten versions; each combination fails at the very end, and every project has a part in it.
  std::vector<std::string> all;
  Base base;
  for (int project = 0; project < 10; ++project) {
    auto name = "p" + std::to_string(project);
    all.push_back(name);
    for (int version = 0; version < 10; ++version)
      base.add(pure(name + "-" + std::to_string(version)), {"z!=" + std::to_string(project * 10 + version)});
  }
  for (int version = 0; version < 100; ++version)
    base.add(pure("z-" + std::to_string(version)),
             {"p" + std::to_string(version / 10) + "!=" + std::to_string(version % 10), "nobody"});
  auto found = closure_of(packages({{pure("a-1.0"), all}}), &base);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].is("Q405")) << found[0].message;
}

// Each new demand was compared with all demands before it: 60,000 requirements of one project were 1.8 billion
// comparisons.
TEST(Closure, ManyRequirementsOfOneProjectAreReadOnce) {
  std::vector<std::string> all(20'000, "b>=1");
  EXPECT_THAT(closure_of(packages({{pure("a-1.0"), all}, {pure("b-1.0")}})), IsEmpty());
}

// Each conflict looks at all demands of a project; thousands of conflicts with thousands of demands took minutes.
TEST(Closure, ComparisonsAreBounded) {
  Base base;
  for (int version = 0; version < 40; ++version) {
    base.add(pure("b-" + std::to_string(version)));
    base.add(pure("p-" + std::to_string(version)), {"b==1000"});
  }
  std::vector<std::string> all{"p"};
  for (int i = 0; i < 4'000; ++i) all.push_back("b!=1." + std::to_string(i));
  auto found = closure_of(packages({{pure("a-1.0"), all}}), &base);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].is("Q405")) << found[0].message;
}

TEST(Closure, ASourceDistributionCountsWithWhatIsKnown) {
  dist::Metadata dynamic;
  dynamic.dynamic = {"Requires-Dist"};
  auto unknown = *package_of("rocm-7.2.0.tar.gz", dynamic, 1);
  EXPECT_FALSE(unknown.requirements_known);
  EXPECT_THAT(codes_of(closure_of({unknown})), ElementsAre("Q406"));
  dynamic.requires_dist = {"rocm-sdk-core==7.2.0"};
  auto known = *package_of("rocm-7.2.0.tar.gz", dynamic, 1);
  EXPECT_THAT(codes_of(closure_of({known})), ElementsAre("Q401"));
  EXPECT_THAT(closure_of({known, package({"rocm_sdk_core-7.2.0-py3-none-linux_x86_64.whl"})}), IsEmpty());
}

TEST(Closure, RecordsKeepWhatASourceDistributionRequires) {
  registry::FileRecord record;
  record.filename = "rocm-7.2.0.tar.gz";
  EXPECT_FALSE(package_of_record(record, "")->requirements_known); // written before they were recorded
  registry::record_requirements(record, {{"rocm-sdk-core==7.2.0", "x; extra == 'libraries'"}, {"libraries"}});
  auto read = package_of_record(record, "");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->requirements.size(), 2u);
  EXPECT_THAT(read->extras, ElementsAre("libraries"));
  record.unknown = R"({"requires_dist":"text"})";
  EXPECT_FALSE(package_of_record(record, "")->requirements_known);
}

TEST(Targets, AreThoseOfTheTags) {
  auto set = packages({{"a-1.0-cp311-cp311-manylinux_2_28_x86_64.whl"},
                       {"a-1.0-cp312-cp312-win_amd64.whl"},
                       {"b-1.0-cp38-abi3-manylinux_2_28_aarch64.whl"},
                       {pure("c-1.0")}});
  auto found = targets_of(set, "", {});
  ASSERT_TRUE(found);
  std::vector<std::string> names;
  for (const auto& target : found->targets) names.push_back(target.name());
  EXPECT_THAT(names, ElementsAre("3.11 linux", "3.11 windows", "3.12 linux", "3.12 windows"));
  ASSERT_THAT(codes_of(found->notes), ElementsAre("Q408"));
  EXPECT_THAT(found->notes[0].message, HasSubstr("manylinux_2_28_aarch64"));
  EXPECT_EQ(targets_of(packages({{pure("c-1.0")}}), "", {})->targets.size(), 4u);
  EXPECT_EQ(targets_of(set, "2.7", {}).error().code, "U002");
  auto old = targets_of(packages({{"a-1.0-cp36-cp36m-manylinux_2_28_x86_64.whl"}}), "", {});
  ASSERT_TRUE(old) << render(old.error());
  ASSERT_THAT(codes_of(old->notes), ElementsAre("Q408"));
  EXPECT_THAT(old->notes[0].message, HasSubstr("cp36"));
  auto late = targets_of(packages({{pure("d-1.0"), {}, {}, ">=3.99"}, {pure("c-1.0")}}), "", {});
  ASSERT_THAT(codes_of(late->notes), ElementsAre("Q408"));
  EXPECT_THAT(late->notes[0].message, HasSubstr("d-1.0-py3-none-any.whl requires is not looked for"));
  EXPECT_THAT(targets_of(packages({{pure("d-1.0"), {}, {}, ">=3.14"}}), "3.14", {})->notes, IsEmpty());
}

TEST(Coherence, OfTheDataFile) {
  auto groups = parse_coherence({*sys::read_file(QUARRY_SOURCE_DIR "/data/coherence.toml"), "coherence.toml"});
  ASSERT_TRUE(groups) << render(groups.error());
  auto found =
      check_coherence(packages({{pure("torch-2.10.0+rocm7.1")}, {pure("torchvision-0.25.0+rocm7.0")}}), *groups);
  ASSERT_THAT(codes_of(found), ElementsAre("Q411"));
  EXPECT_THAT(found[0].message, HasSubstr("torchvision 0.25.0+rocm7.0"));
  EXPECT_THAT(
      check_coherence(packages({{pure("torch-2.10.0+rocm7.1")}, {pure("torchvision-0.25.0+rocm7.1")}}), *groups),
      IsEmpty());
  auto sdk = packages({{pure("rocm_sdk_core-7.2")}, {pure("rocm_sdk_device_gfx942-7.1")}});
  EXPECT_THAT(codes_of(check_coherence(sdk, *groups)), ElementsAre("Q411"));
  EXPECT_THAT(codes_of(check_coherence(packages({{pure("jax_rocm7_plugin-0.8.2")}}), *groups)), ElementsAre("Q412"));
  EXPECT_THAT(
      codes_of(check_coherence(packages({{pure("jax_rocm7_plugin-0.8.2")}, {pure("jax_rocm7_pjrt-0.8.1")}}), *groups)),
      ElementsAre("Q411"));
  EXPECT_EQ(parse_coherence({"schema = \"quarry.coherence/1\"\n[[group]]\nname = \"x\"\n", "f"}).error().code, "Q410");
}

// What a retag does, and a newer build machine.
TEST(Change, AnotherGlibcReplacesTheWheelBefore) {
  auto before = packages({{"a-1.0-cp312-cp312-manylinux_2_27_x86_64.manylinux2014_x86_64.whl", {}, {}, {}, 1000},
                          {"b-1.0-cp312-cp312-linux_x86_64.whl"},
                          {"c-1.0-cp312-cp312-musllinux_1_1_x86_64.whl"}});
  auto now = packages({{"a-1.1-cp312-cp312-manylinux_2_28_x86_64.whl", {}, {}, {}, 700},
                       {"b-1.1-cp312-cp312-manylinux_2_28_x86_64.whl"},
                       {"c-1.1-cp312-cp312-manylinux_2_28_x86_64.whl"}});
  auto found = check_change(now, {before});
  EXPECT_THAT(codes_of(found), ElementsAre("Q423", "Q424")) << "smaller; musl is another platform";
  auto arm = packages({{"a-1.1-cp312-cp312-manylinux_2_28_aarch64.whl"}});
  EXPECT_THAT(codes_of(check_change(arm, {packages({{"a-1.0-cp312-cp312-manylinux_2_28_x86_64.whl"}})})),
              ElementsAre("Q424"));
}

TEST(Coherence, RocmKnowsTheTargetsOfDeviceCode) {
  auto set =
      packages({{pure("rocm-7.2")}, {pure("rocm_sdk_device_gfx942-7.2")}, {pure("rocm_sdk_device_gfx1100-7.2")}});
  EXPECT_THAT(check_device_code(set), IsEmpty()) << "a rocm without such extras says nothing";
  set[0].extras = {"device-all", "device-gfx942", "devel"};
  auto found = check_device_code(set);
  ASSERT_THAT(codes_of(found), ElementsAre("Q413"));
  EXPECT_EQ(found[0].place, pure("rocm_sdk_device_gfx1100-7.2"));
  EXPECT_THAT(found[0].message, HasSubstr("it was built for gfx942"));
}

TEST(Coherence, ASplitReleaseHasItsOwnPackages) {
  auto set =
      packages({{pure("rocm-7.2"),
                 {"rocm-sdk-core==7.2", "rocm-sdk-device-gfx942==7.2; extra == 'device-gfx942'", "numpy", "x==1"},
                 {"device-gfx942"}},
                {pure("torch-2.10"), {"rocm==7.2", "filelock==2.10"}}});
  EXPECT_THAT(projects_of_others(set), ElementsAre("filelock", "numpy", "rocm", "x"));
  set[0].extras = {"libraries-gfx94x-dcgpu"};
  EXPECT_THAT(projects_of_others(set), Contains("rocm-sdk-device-gfx942")) << "other jobs may publish the families";
}

TEST(Change, AgainstTheLastGoodSet) {
  auto before = packages({{pure("torch-2.10.0+rocm7"), {}, {}, {}, 1000},
                          {"x-1.0-cp311-cp311-linux_x86_64.whl"},
                          {"x-1.0-cp312-cp312-linux_x86_64.whl"},
                          {pure("gone-1.0")}});
  auto now = packages({{pure("torch-2.10.0+rocm10"), {}, {}, {}, 700}, {"x-1.1-cp312-cp312-linux_x86_64.whl"}});
  auto found = check_change(now, {before});
  EXPECT_THAT(codes_of(found), ElementsAre("Q421", "Q424", "Q423", "Q424"));
  EXPECT_THAT(found[0].message, HasSubstr("sorts below 2.10.0+rocm7 of the last good set"));
  EXPECT_THAT(found[1].message, HasSubstr("had gone"));
  EXPECT_THAT(found[2].message, HasSubstr("30 % less"));
  EXPECT_THAT(found[3].message, HasSubstr("x for cp311-cp311-linux_x86_64"));
  EXPECT_THAT(check_change(before, {before}), IsEmpty());
}

TEST(Change, AgainstWhatAChannelShows) {
  ShownVersions shown{"channel stable", {}};
  for (const auto& [project, version] :
       {std::pair{"torch", "2.10.0+rocm7"}, std::pair{"x", "1.0"}, std::pair{"gone", "1.0"}})
    shown.newest.emplace(std::pair(project, dist::Version::parse(version).value().base_version().key()),
                         dist::Version::parse(version).value());
  auto found =
      check_shown_versions(packages({{pure("torch-2.10.0+rocm10")}, {pure("x-1.0")}, {pure("new-0.1")}}), shown);
  ASSERT_THAT(codes_of(found), ElementsAre("Q421"));
  EXPECT_THAT(found[0].message, HasSubstr("sorts below 2.10.0+rocm7 of channel stable"));
  EXPECT_THAT(check_shown_versions(packages({{pure("torch-2.11.0+rocm10")}, {pure("torch-2.9.0+rocm7")}}), shown),
              IsEmpty());
  EXPECT_THAT(check_shown_versions(packages({{pure("torch-2.9.1+rocm7")}}), shown), IsEmpty()) << "an older line";
}

TEST(Change, OlderVersionsOfAChannelAreNotExpected) {
  auto channel = packages({{"x-1.0-cp310-cp310-linux_x86_64.whl", {}, {}, {}, 9000},
                           {"x-1.0-cp312-cp312-linux_x86_64.whl", {}, {}, {}, 9000},
                           {"x-1.1-cp312-cp312-linux_x86_64.whl"}});
  auto now = packages({{"x-1.2-cp312-cp312-linux_x86_64.whl"}});
  EXPECT_THAT(check_change(now, {channel}), IsEmpty());
}

TEST(Change, Budgets) {
  auto set = packages({{pure("torch-1.0"), {}, {}, {}, 3'000'000'000}, {pure("x-1.0"), {}, {}, {}, 1}});
  EXPECT_THAT(codes_of(check_budgets(set, {*parse_budget("3GB"), *parse_budget("torch=2.5 GB"), *parse_budget("x=1")})),
              ElementsAre("Q422", "Q422"));
  EXPECT_THAT(check_budgets(set, {*parse_budget("3.1GB")}), IsEmpty());
  for (const auto* text : {"", "GB", "3XB", "=3GB", "-1", "1e30GB", "a b=3", "nan", "2.5", "1KB", "1KiB"})
    EXPECT_FALSE(parse_budget(text)) << text;
  EXPECT_THAT(parse_budget("1KiB").error().hint, HasSubstr("B, kB, MB, GB and TB"));
  auto misspelt = check_budgets(set, {*parse_budget("torhc=2.5GB")});
  ASSERT_THAT(codes_of(misspelt), ElementsAre("Q422"));
  EXPECT_EQ(misspelt[0].severity, Severity::warning);
  EXPECT_THAT(misspelt[0].message, HasSubstr("no file of torhc"));
}

/// A channel as a table.
class Channel final : public Surroundings {
public:
  explicit Channel(std::vector<Package> shown, std::set<std::string> ours = {})
      : shown_(std::move(shown)), ours_(std::move(ours)) {}
  Result<std::vector<Package>> packages(const std::string& project) const override {
    std::vector<Package> found;
    for (auto package : shown_) {
      if (package.project != project) continue;
      package.requirements.clear(); // as its name says it
      found.push_back(std::move(package));
    }
    return found;
  }
  Result<const Package*> with_requirements(const Package& package) const override {
    return &*std::ranges::find(shown_, package.file, &Package::file);
  }
  bool owns(const std::string& project) const override {
    return ours_.contains(project) || std::ranges::find(shown_, project, &Package::project) != shown_.end();
  }

private:
  std::vector<Package> shown_;
  std::set<std::string> ours_;
};

Installable installable(const std::vector<Package>& set, const Channel& channel, mirror::Candidates* base = nullptr) {
  ClosureQuestion question{*mirror::parse_targets("3.12", "linux"), base, "the base index", {}};
  question.beside = &channel;
  question.set_name = "channel stable";
  auto answer = find_unmet(set, question);
  EXPECT_TRUE(answer) << (answer ? "" : render(answer.error()));
  return *answer;
}

std::vector<std::string> unmet_of(const Installable& answer) {
  std::vector<std::string> names;
  for (const auto& one : answer.unmet) names.push_back(one.file + "[" + one.extra + "] lacks " + one.lacks);
  return names;
}

TEST(Closure, WhatMovesSeesWhatTheChannelShows) {
  auto set = packages({{pure("torch-2.10"), {"rocm==7.2"}}});
  EXPECT_THAT(installable(set, Channel(packages({{pure("rocm-7.2")}}))).unmet, IsEmpty());
  EXPECT_THAT(unmet_of(installable(set, Channel(packages({{pure("rocm-7.1")}})))),
              ElementsAre(pure("torch-2.10") + "[] lacks rocm"));
  // What the channel's own package requires counts, too, and is read when it is tried.
  auto broken = installable(set, Channel(packages({{pure("rocm-7.2"), {"core==7.2"}}}), {"core"}));
  ASSERT_THAT(unmet_of(broken), ElementsAre(pure("torch-2.10") + "[] lacks core"));
  EXPECT_EQ(broken.unmet[0].reason, "rocm 7.2 requires core==7.2, which channel stable lacks");
}

TEST(Closure, WhatTheReleaseMakesIsNotTakenFromElsewhere) {
  auto set = packages({{pure("torch-2.10"), {"triton", "numpy"}}});
  Base base;
  base.add(pure("triton-3.0"));
  base.add(pure("numpy-2.0"));
  EXPECT_THAT(installable(set, Channel({}), &base).unmet, IsEmpty());
  EXPECT_THAT(unmet_of(installable(set, Channel({}, {"triton"}), &base)),
              ElementsAre(pure("torch-2.10") + "[] lacks triton"));
  // Without an index, the projects of others are taken as given.
  auto given = installable(set, Channel({}, {"triton"}));
  EXPECT_THAT(unmet_of(given), ElementsAre(pure("torch-2.10") + "[] lacks triton"));
  EXPECT_THAT(given.taken_as_given, ElementsAre("numpy"));
}

TEST(Closure, EachExtraIsAskedForEachPackageOfTheSetAlone) {
  auto set = packages({{pure("rocm-7.2"), {"lib-a; extra == 'a'", "lib-b; extra == 'b'"}, {"a", "b"}}});
  Channel channel(packages({{pure("lib_a-1.0")}, {pure("old-1.0"), {"lib-b"}}}), {"lib-b"});
  EXPECT_THAT(unmet_of(installable(set, channel)), ElementsAre(pure("rocm-7.2") + "[b] lacks lib-b"));
}

} // namespace
} // namespace quarry::closure
