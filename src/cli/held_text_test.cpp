#include "cli/verdict.hpp"

#include "cli/commands.hpp"
#include "cli/parse.hpp"
#include "cli/testing/silent.hpp"
#include "cli/testing/world.hpp"
#include "registry/requirements.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

gate::Subject subject(char digit, const std::string& run, const std::string& version) {
  gate::Subject s;
  s.digest = *registry::SetDigest::parse(std::string(64, digit));
  s.set.origin.run_id = run;
  s.set.origin.platform = Platform::linux;
  for (const std::string project : {"rocm", "rocm-sdk-devel", "rocm-sdk-libraries-gfx1151"}) {
    registry::FileRecord file;
    file.project = project;
    file.version = version;
    file.filename = project + "-" + version;
    s.set.files.push_back(file);
  }
  return s;
}

gate::CellVerdict cell(const gate::Subject& of, registry::Cell where, gate::Decision decision) {
  gate::CellVerdict c;
  c.cell = std::move(where);
  c.set = of.digest;
  c.verdict = decision;
  c.reasons = {"because"};
  c.files = {"f"};
  if (decision == gate::Decision::held) c.untested = {"rocm-sdk"};
  return c;
}

class HeldText : public ::testing::Test {
protected:
  HeldText() {
    policy.name = "p";
    policy.approvers = {"release owner"};
    policy.waiver_max_age_us = 30ll * 24 * 3600 * 1'000'000;
  }
  std::string text(std::vector<std::string> words = {"--from", "run:1", "--to", "stable", "--store", "file:s"},
                   const std::string& name = "gate") {
    Context context{environment, clock, data, out, 1, "/quarry", nullptr};
    for (const auto& command : all_commands()) {
      if (name_of(command) != name) continue;
      auto arguments = parse_words(command, words);
      EXPECT_TRUE(arguments);
      return held_text(context, *arguments, {policy, verdict, subjects});
    }
    return {};
  }
  gate::Policy policy;
  gate::Verdict verdict;
  std::vector<gate::Subject> subjects = {subject('a', "42", "7.2.0"), subject('b', "43", "7.2.1")};
  std::map<std::string, std::string> environment;
  sys::FixedClock clock{0};
  testing::MapResources data;
  testing::Silent out;
  static constexpr auto k_held = gate::Decision::held, k_ready = gate::Decision::ready;
};

TEST_F(HeldText, TheTestComesFirstThenTheOthersAndAtLastTheWaiver) {
  verdict.cells = {cell(subjects[0], {Platform::linux, "gfx1151", "", ""}, k_ready),
                   cell(subjects[1], {Platform::linux, "gfx1151", "", ""}, k_held)};
  EXPECT_EQ(text(), "1 of 2 cells is not ready.\n"
                    "Test it:\n"
                    "  quarry venv install .venv --from set:bbbbbbbbbbbb --packages 'rocm[libraries,devel]' --store "
                    "file:s\n"
                    "  quarry test --venv .venv --family gfx1151 --store file:s\n"
                    "Promote what is ready:\n"
                    "  quarry promote --from run:1 --to stable --cells ready --store file:s\n"
                    "To promote anyway (needs an approver, expires):\n"
                    "  quarry waive --to stable --reason REASON --approver 'release owner' --expires 7d --platform "
                    "linux --family gfx1151 --set set:bbbbbbbbbbbb --store file:s\n");
}

TEST_F(HeldText, WhatThePolicyTakesOnlySignedIsSigned) {
  policy.signers = {{"tester", "", true, false, false, {}, {}}, {"lead", "", false, false, false, {"promote"}, {}}};
  verdict.cells = {cell(subjects[0], {Platform::linux, "gfx1151", "", ""}, k_ready),
                   cell(subjects[1], {Platform::linux, "gfx1151", "", ""}, k_held)};
  EXPECT_THAT(text(), HasSubstr("quarry test --venv .venv --family gfx1151 --sign KEY --store file:s\n"));
  EXPECT_THAT(text(), HasSubstr("quarry promote --from run:1 --to stable --cells ready --sign KEY --store file:s\n"));
  verdict.cells[1].cell.platform = Platform::windows;
  EXPECT_THAT(text(), HasSubstr("--from set:bbbbbbbbbbbb --sign KEY"));
}

TEST_F(HeldText, TheOtherCellsThatAreHeldAreCounted) {
  verdict.cells = {cell(subjects[0], {Platform::linux, "gfx1151", "", ""}, k_held),
                   cell(subjects[1], {Platform::linux, "gfx1151", "", ""}, k_held)};
  EXPECT_THAT(text(), HasSubstr("1 more cell is held, with a line HELD above (`--json` lists all); test or waive it"));
  verdict.cells.push_back(cell(subjects[1], {Platform::linux, "gfx1152", "", ""}, k_held));
  EXPECT_THAT(text(), HasSubstr("2 more cells are held, "));
}

TEST_F(HeldText, TheTestSaysWhereItComputes) {
  verdict.cells = {cell(subjects[1], {Platform::linux, "", "", "", "cpu"}, k_held)};
  EXPECT_THAT(text(), HasSubstr("quarry test --venv .venv --backend cpu --store file:s\n"));
}

TEST_F(HeldText, TheTestNamesTheFrameworkAndInstallsIt) {
  verdict.cells = {cell(subjects[1], {Platform::linux, "gfx1151", "3.12", "torch"}, k_held)};
  EXPECT_THAT(text(), HasSubstr("quarry test --venv .venv --family gfx1151 --framework torch --store file:s\n"));
  EXPECT_THAT(text(), HasSubstr("--packages 'rocm[libraries,devel]'")) << "this set has no torch";
  subjects[1].set.files.push_back(subjects[1].set.files[0]);
  subjects[1].set.files.back().project = "torch";
  EXPECT_THAT(text(), HasSubstr("--packages 'rocm[libraries,devel] torch'"));
}

TEST_F(HeldText, TheChannelsOfAPatternArePromotedTogether) {
  verdict.cells = {cell(subjects[0], {Platform::linux, "gfx1151", "", ""}, k_ready),
                   cell(subjects[1], {Platform::linux, "gfx1151", "", ""}, k_held)};
  gate::Verdict held_whole;
  held_whole.cells = {verdict.cells[1]};
  Context context{environment, clock, data, out, 1, "/quarry", nullptr};
  for (const auto& command : all_commands()) {
    if (name_of(command) != "gate") continue;
    const std::vector<std::string> words = {"--from", "release:1", "--to", "q-{family}", "--store", "file:s"};
    auto arguments = parse_words(command, words);
    ASSERT_TRUE(arguments);
    std::vector<Held> channels = {{policy, held_whole, subjects, {}, true}};
    EXPECT_EQ(ready_text(context, *arguments, channels), "");
    channels.push_back({policy, verdict, subjects, {}, true});
    EXPECT_EQ(ready_text(context, *arguments, channels),
              "Promote what is ready:\n"
              "  quarry promote --from release:1 --to 'q-{family}' --cells ready --store file:s\n");
    EXPECT_THAT(held_text(context, *arguments, channels.back()), Not(HasSubstr("Promote what is ready")));
  }
}

TEST_F(HeldText, APromotionKeepsItsFlags) {
  verdict.cells = {cell(subjects[0], {Platform::linux, "gfx1151", "", ""}, k_ready),
                   cell(subjects[1], {Platform::linux, "gfx1151", "", ""}, k_held)};
  auto said = text({"--from", "run:1", "--to", "stable", "--policy", "own.toml", "--to-store", "s3://d",
                    "--distributions", "d.toml", "--public-url", "https://x", "--store", "file:s", "--execute", "abc"},
                   "promote");
  EXPECT_THAT(said, HasSubstr("quarry promote --from run:1 --to stable --policy own.toml --cells ready --to-store "
                              "s3://d --distributions d.toml --store file:s --public-url https://x\n"));
  EXPECT_THAT(said, HasSubstr("--policy own.toml --store file:s\n"));
}

TEST_F(HeldText, WhatIsAskedForAlreadyIsNotAdvised) {
  verdict.cells = {cell(subjects[0], {Platform::linux, "gfx1151", "", ""}, k_ready),
                   cell(subjects[1], {Platform::linux, "gfx1151", "", ""}, k_held)};
  EXPECT_THAT(text({"--from", "run:1", "--to", "stable", "--cells", "ready", "--store", "file:s"}, "promote"),
              Not(HasSubstr("quarry promote")));
}

TEST_F(HeldText, ASuiteOfOnesOwnAndAPythonAreNamed) {
  verdict.cells = {cell(subjects[0], {Platform::linux, "", "3.12+", "torch"}, k_held)};
  verdict.cells[0].untested = {"smoke"};
  auto said = text();
  EXPECT_THAT(said, HasSubstr("1 of 1 cells is not ready.\n"));
  EXPECT_THAT(said, HasSubstr("--python 3.12"));
  EXPECT_THAT(said, HasSubstr("quarry test --venv .venv --framework torch --suite smoke --store file:s -- COMMAND\n"));
  EXPECT_THAT(said, HasSubstr("--python 3.12+ --framework torch"));
  gate::SuiteRule rule;
  rule.name = "smoke", rule.digests = {std::string(64, 'd')};
  policy.suites = {rule};
  EXPECT_THAT(text(), HasSubstr("quarry test --venv .venv --framework torch --suite smoke --store file:s\n"))
      << "its definition says what";
}

/// A set whose code for GPUs is in packages of its own, and whose rocm has these extras.
gate::Subject split_subject(const std::vector<std::string>& targets, const std::vector<std::string>& extras) {
  auto s = subject('c', "44", "7.3.0");
  s.set.files.pop_back();
  std::vector<std::string> projects{"rocm-sdk-libraries"};
  for (const auto& target : targets) projects.push_back("rocm-sdk-device-" + target);
  for (const auto& project : projects) {
    registry::FileRecord file;
    file.project = project, file.version = "7.3.0", file.filename = project + "-7.3.0";
    s.set.files.push_back(file);
  }
  if (!extras.empty()) registry::record_requirements(s.set.files[0], {{"rocm-sdk-core==7.3.0"}, extras});
  return s;
}

TEST_F(HeldText, TheExtraForDeviceCodeIsOneThatRocmHas) {
  struct Row {
    std::vector<std::string> targets, extras;
    const char* packages;
  };
  const Row rows[] = {
      {{"gfx1030"}, {"libraries", "devel", "device-gfx1030", "device-all"}, "'rocm[libraries,devel,device-gfx1030]'"},
      {{"gfx1030"}, {"libraries", "devel", "device"}, "'rocm[libraries,devel,device]'"},
      {{"gfx1030"}, {"libraries", "devel"}, "'rocm[libraries,devel] rocm-sdk-device-gfx1030'"},
      {{"gfx1030", "gfx942"}, {"libraries", "devel", "device"}, "'rocm[libraries,devel] rocm-sdk-device-gfx1030'"},
      {{"gfx1030", "gfx942"}, {"devel", "device_gfx1030"}, "'rocm[libraries,devel,device-gfx1030]'"},
      {{"gfx942"}, {"libraries", "devel", "device"}, "'rocm[libraries,devel]'"}, // not a result about gfx942, too
      {{"gfx1030", "gfx942"}, {}, "'rocm[libraries,devel,device-gfx1030]'"}};    // what it has is not known
  for (const auto& row : rows) {
    subjects = {split_subject(row.targets, row.extras)};
    verdict.cells = {cell(subjects[0], {Platform::linux, "gfx1030", "", ""}, k_held)};
    EXPECT_THAT(text(), HasSubstr(std::string("--packages ") + row.packages + " --store"));
  }
}

TEST_F(HeldText, WindowsIsTestedElsewhereAndReported) {
  verdict.cells = {cell(subjects[0], {Platform::windows, "gfx1151", "", ""}, k_held)};
  auto said = text();
  EXPECT_THAT(said, HasSubstr("  quarry evidence record --from-report report.json --from set:aaaaaaaaaaaa --store "
                              "file:s\n"));
  EXPECT_THAT(said, Not(HasSubstr("venv install")));
  verdict.cells[0].cell.framework = "torch";
  EXPECT_THAT(text(), HasSubstr("--from set:aaaaaaaaaaaa --framework torch --store file:s\n"));
}

TEST_F(HeldText, AFailureIsShownAndNotTestedAgain) {
  verdict.cells = {cell(subjects[0], {Platform::linux, "gfx1151", "", ""}, k_held)};
  verdict.cells[0].untested.clear();
  verdict.cells[0].failed = {*registry::EvidenceDigest::parse(std::string(64, 'e'))};
  auto said = text();
  EXPECT_THAT(said, HasSubstr("See what failed:\n  quarry evidence log eeeeeeeeeeee --store file:s\n"));
  EXPECT_THAT(said, Not(HasSubstr("Test it")));
}

TEST_F(HeldText, AWaiverIsOfferedOnlyAsThePolicyAllows) {
  verdict.cells = {cell(subjects[0], {Platform::linux, "gfx1151", "", ""}, k_held)};
  policy.waiver_max_age_us = 36ll * 3600 * 1'000'000;
  EXPECT_THAT(text(), HasSubstr("--expires 36h"));
  policy.approvers.clear();
  EXPECT_THAT(text(), HasSubstr("Policy p has no approvers: nothing can be waived.\n"));
}

TEST_F(HeldText, NothingHeldIsNothingToSay) {
  verdict.cells = {cell(subjects[0], {Platform::linux, "gfx1151", "", ""}, k_ready)};
  EXPECT_EQ(text(), "");
}

TEST_F(HeldText, RowsStandBelowTheirSet) {
  verdict.cells = {cell(subjects[0], {Platform::linux, "gfx1151", "", ""}, k_ready),
                   cell(subjects[1], {Platform::linux, "gfx1151", "", ""}, k_held)};
  subjects[1].set.origin.group = "g";
  const std::string from = "channel:staging@2", to = "stable";
  EXPECT_EQ(verdict_text(verdict, subjects, {from, to, {}}),
            "rocm 7.2.0, 7.2.1  channel:staging@2 -> stable   1 of 2 cells ready\n"
            "  set:aaaaaaaaaaaa  run 42-linux  rocm 7.2.0\n"
            "    linux gfx1151 any python  READY   because\n"
            "  set:bbbbbbbbbbbb  run 43-linux@g  rocm 7.2.1\n"
            "    linux gfx1151 any python  HELD    because\n");
}

} // namespace
} // namespace quarry::cli
