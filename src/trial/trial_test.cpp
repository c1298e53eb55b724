#include "trial/trial.hpp"

#include "base/text.hpp"
#include "registry/registry.hpp"
#include "store/testing/faulty_store.hpp"
#include "sys/tree.hpp"
#include "trial/kept.hpp"
#include "venv/install.hpp"
#include "venv/testing/tiny_sdk.hpp"
#include <gmock/gmock.h>

namespace quarry::trial {
namespace {

using testing::HasSubstr;
using venv::testing::must;
using venv::testing::Scratch;

const sys::FixedClock k_clock(1'795'000'000'000'000);

/// Environments of one published release, made once: tests that alter one take a copy.
struct World {
  World() : store(scratch.at("store")) {
    set = store.publish("42", {});
    sealed = venv::testing::fresh_environment(scratch.at("sealed"));
    install(sealed, "set:" + set);
    venv::testing::build_packages(scratch.at("out"), {});
    unsealed = venv::testing::fresh_environment(scratch.at("unsealed"));
    install(unsealed, scratch.at("out"));
  }
  void install(const std::string& directory, const std::string& from) {
    venv::InstallOptions options;
    options.directory = directory;
    options.source.locator = from;
    options.source.store = store.store.get();
    options.installer.packages = {"rocm[libraries]"};
    must(venv::install(options, venv::testing::machine_variables(), k_clock));
  }
  Scratch scratch;
  venv::testing::TinyStore store;
  std::string set, sealed, unsealed;
};

class Trial : public ::testing::Test {
protected:
  static void SetUpTestSuite() { world_ = new World; }
  static void TearDownTestSuite() {
    delete world_;
    world_ = nullptr;
  }

  Trial() {
    options_.directory = world_->sealed;
    options_.quarry_version = "0.1.0";
    options_.workers = 2;
  }

  Result<TrialOutcome> run() { return run_trial(options_, *world_->store.store, variables_, k_clock); }

  /// A copy of the sealed environment. Its scripts still name the original's Python, which does not matter to a proof
  /// of files.
  std::string copy() {
    venv::testing::copy_tree(world_->sealed, scratch_.at("copy"));
    return scratch_.at("copy");
  }
  std::string core_file(const std::string& directory) {
    return path::join(must(venv::open_environment(directory)).site_packages, "_rocm_sdk_core/lib/libx.so");
  }
  std::size_t evidence_count() {
    Findings skipped;
    return must(registry::list_evidence(*world_->store.store, skipped)).size();
  }

  static World* world_;
  Scratch scratch_;
  TrialOptions options_;
  venv::Variables variables_ = venv::testing::machine_variables();
};
World* Trial::world_ = nullptr;

TEST_F(Trial, ThePackagedSuitePasses) {
  auto done = run();
  ASSERT_TRUE(done) << render(done.error());
  const auto& e = done->evidence;
  EXPECT_EQ(done->exit_code, 0);
  EXPECT_EQ(e.result.text(), "passed");
  EXPECT_EQ(e.suite, "rocm-sdk");
  EXPECT_EQ(e.passed, 1u);
  EXPECT_EQ(e.skipped, 1u);
  EXPECT_EQ(e.cell.platform, Platform::linux);
  EXPECT_EQ(e.cell.family, "gfx103X-dgpu");
  EXPECT_EQ(e.cell.python, must(venv::open_environment(world_->sealed)).minor());
  EXPECT_EQ(e.set.hex(), world_->set);
  EXPECT_TRUE(e.sealed);
  EXPECT_FALSE(e.machine.at("kernel").empty());
  EXPECT_TRUE(e.tools.contains("with pip"));
  auto set = must(registry::load_set(*world_->store.store, e.set));
  ASSERT_EQ(e.subjects.size(), set.files.size());
  for (const auto& subject : e.subjects)
    EXPECT_TRUE(std::any_of(set.files.begin(), set.files.end(), [&](const auto& f) {
      return f.sha256 == subject.sha256 && f.filename == subject.filename;
    }));
  EXPECT_TRUE(std::is_sorted(e.subjects.begin(), e.subjects.end(),
                             [](const auto& a, const auto& b) { return a.sha256 < b.sha256; }));
  EXPECT_EQ(registry::to_json(must(registry::load_evidence(*world_->store.store, done->digest))), registry::to_json(e));
  auto log = must(world_->store.store->get(e.log, 1 << 20));
  ASSERT_TRUE(log);
  EXPECT_THAT(*log, HasSubstr("testing in"));
  EXPECT_EQ(e.log, "evidence/logs/" + sha256(*log).hex() + ".txt");
}

struct Mode {
  const char* mode;
  const char* result;
  const char* row;
};
class Modes : public Trial, public ::testing::WithParamInterface<Mode> {};
TEST_P(Modes, AreEvidenceOfFailure) {
  variables_["TINY_SDK"] = GetParam().mode;
  options_.passed = {"TINY_SDK"};
  auto done = run();
  ASSERT_TRUE(done) << render(done.error());
  EXPECT_EQ(done->exit_code, 1);
  EXPECT_EQ(done->evidence.result.text(), GetParam().result);
  std::string rows;
  for (const auto& row : done->evidence.rows)
    rows += row.name + ": " + std::string(row.outcome.text()) + " " + row.message + "\n";
  EXPECT_THAT(rows, HasSubstr(GetParam().row));
  EXPECT_THAT(rows, ::testing::Not(HasSubstr("X030"))) << "these tests know --json";
}
INSTANTIATE_TEST_SUITE_P(Table, Modes,
                         ::testing::Values(Mode{"fail", "failed", "core.loads: failed asked to"},
                                           Mode{"silent", "error", "wrote no report (exit code 0)"},
                                           Mode{"lie", "error", "the report shows no failure, and the exit code is 3"}),
                         [](const auto& row) { return std::string(row.param.mode); });

struct Printed {
  const char* mode;
  const char* result;
  std::size_t rows;
  const char* said; ///< of the last row
};
class PrintedModes : public Trial, public ::testing::WithParamInterface<Printed> {};
TEST_P(PrintedModes, AreReadFromWhatTheTestsPrint) {
  variables_["TINY_SDK"] = GetParam().mode;
  options_.passed = {"TINY_SDK"};
  auto done = run();
  ASSERT_TRUE(done) << render(done.error());
  const auto& e = done->evidence;
  EXPECT_EQ(e.result.text(), GetParam().result);
  EXPECT_EQ(e.suite, "rocm-sdk");
  EXPECT_EQ(e.tools.at("report"), "what unittest printed");
  ASSERT_EQ(e.rows.size(), GetParam().rows);
  EXPECT_THAT(e.rows.back().name + ": " + e.rows.back().message, HasSubstr(GetParam().said));
  auto log = must(world_->store.store->get(e.log, 1 << 20));
  ASSERT_TRUE(log);
  EXPECT_THAT(*log, HasSubstr("does not know --json"));
}
INSTANTIATE_TEST_SUITE_P(Table, PrintedModes,
                         ::testing::Values(Printed{"printed", "passed", 2, "Core.test_mode: "},
                                           Printed{"printed-fail", "failed", 2,
                                                   "Core.test_mode: AssertionError: 'printed-fail' != 'printed'"},
                                           Printed{"printed-nothing", "error", 1,
                                                   "`quarry explain X030` says what can be read"}),
                         [](const auto& row) { return text::replace_all(row.param.mode, "-", "_"); });

TEST_F(Trial, TheDeadlineEndsTheWholeGroup) {
  variables_["TINY_SDK"] = "hang";
  options_.passed = {"TINY_SDK"};
  options_.deadline_ms = 1500;
  auto done = run();
  ASSERT_TRUE(done) << render(done.error());
  EXPECT_EQ(done->exit_code, 124);
  EXPECT_EQ(done->evidence.result.text(), "timed_out");
  ASSERT_EQ(done->evidence.rows.size(), 1u);
  EXPECT_EQ(done->evidence.rows[0].name, "deadline");
  EXPECT_THAT(done->evidence.rows[0].message, HasSubstr("stopped by the deadline of 1.5 s"));
}

TEST_F(Trial, TheLogKeepsWhatWasSaidBeforeTheDeadline) {
  // Python keeps output of a pipe in a buffer, which a signal discards.
  options_.command = {"python", "-c", "import time; print('said before'); time.sleep(600)"};
  options_.deadline_ms = 3000;
  auto done = must(run());
  EXPECT_EQ(done.exit_code, 124);
  auto log = must(world_->store.store->get(done.evidence.log, 1u << 20));
  ASSERT_TRUE(log);
  EXPECT_THAT(*log, ::testing::AllOf(HasSubstr("said before\n"), HasSubstr("[stopped by the deadline of 3.0 s]")));
}

TEST_F(Trial, AnAlteredEnvironmentGivesNoEvidence) {
  options_.directory = copy();
  venv::testing::append(core_file(options_.directory), "!");
  auto before = evidence_count();
  auto done = run();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "V031");
  EXPECT_EQ(traits(done.error().kind).exit_code, 6);
  EXPECT_EQ(evidence_count(), before);
}

TEST_F(Trial, NorDoesOneThatTheSuiteAlters) {
  options_.directory = copy();
  options_.command = {"sh", "-c", "echo '!' >> '" + core_file(options_.directory) + "'"};
  auto before = evidence_count();
  auto done = run();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "V031");
  EXPECT_THAT(render(done.error()), HasSubstr("after the suite had run"));
  EXPECT_EQ(evidence_count(), before);
}

TEST_F(Trial, AnUnsealedSourceIsRecordedAsSuch) {
  options_.directory = world_->unsealed;
  auto done = run();
  ASSERT_TRUE(done) << render(done.error());
  EXPECT_EQ(done->exit_code, 0);
  EXPECT_FALSE(done->evidence.sealed);
  EXPECT_TRUE(done->evidence.set.empty());
  EXPECT_EQ(done->evidence.subjects.size(), 3u);
}

TEST_F(Trial, AReceiptOrALocatorIsNeeded) {
  options_.directory = copy();
  must(venv::remove_receipt(must(venv::open_environment(options_.directory))));
  auto without = run();
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().code, "X001");
  EXPECT_EQ(traits(without.error().kind).exit_code, 3);
  options_.locator = "run:42";
  auto with = run();
  ASSERT_TRUE(with) << render(with.error());
  EXPECT_EQ(with->evidence.set.hex(), world_->set);
  EXPECT_TRUE(with->evidence.sealed);
  world_->store.publish("77", {"1.0", "other bytes"});
  options_.locator = "run:77";
  auto other = run();
  ASSERT_FALSE(other);
  EXPECT_EQ(traits(other.error().kind).exit_code, 6);
}

TEST_F(Trial, TheSetOfTheReceiptMustBeInTheStore) {
  auto empty = must(store::open_file_store(scratch_.at("empty")));
  auto done = run_trial(options_, *empty, variables_, k_clock);
  ASSERT_FALSE(done);
  EXPECT_EQ(traits(done.error().kind).exit_code, 3) << render(done.error());
}

TEST_F(Trial, AForgedReceiptIsNoProof) {
  options_.directory = copy();
  auto environment = must(venv::open_environment(options_.directory));
  auto receipt = must(venv::read_receipt(environment)).value();
  receipt.sets = {*registry::SetDigest::parse(world_->store.publish("78", {"1.0", "forged"}))};
  must(venv::write_receipt(environment, receipt));
  auto done = run();
  ASSERT_FALSE(done);
  EXPECT_EQ(traits(done.error().kind).exit_code, 6);
}

TEST_F(Trial, AnyCommandIsASuite) {
  options_.command = {"python", "-c", "import rocm_sdk_core"};
  options_.suite = "smoke";
  auto done = run();
  ASSERT_TRUE(done) << render(done.error());
  EXPECT_EQ(done->exit_code, 0);
  EXPECT_EQ(done->evidence.suite, "smoke");
  EXPECT_EQ(done->evidence.passed, 1u);
  options_.command = {"python", "-c", "raise SystemExit(9)"};
  auto failed = run();
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->exit_code, 1);
  EXPECT_EQ(failed->evidence.rows[0].message, "exit code 9");
  EXPECT_NE(failed->evidence.suite_digest, done->evidence.suite_digest);
}

TEST_F(Trial, JunitIsReadAndAnOldReportIsNot) {
  auto report = scratch_.at("r.xml");
  options_.junit = report;
  options_.command = {
      "sh", "-c",
      "echo '<testsuite><testcase name=\"a\"/><testcase name=\"b\"><skipped/></testcase></testsuite>' > " + report};
  auto done = run();
  ASSERT_TRUE(done) << render(done.error());
  EXPECT_EQ(done->evidence.result.text(), "passed");
  EXPECT_EQ(done->evidence.suite, "command");
  EXPECT_EQ(done->evidence.rows.size(), 2u);
  options_.command = {"true"};
  auto stale = run();
  ASSERT_TRUE(stale);
  EXPECT_EQ(stale->evidence.result.text(), "error") << "the report of the run before must not speak for this one";
  EXPECT_NE(stale->evidence.rows.at(0).message.find("has not changed"), std::string::npos);
  EXPECT_TRUE(sys::exists(report)) << "it is the user's file";
  options_.command = {"sh", "-c",
                      "echo '<testsuite><testcase name=\"a\"><skipped/></testcase></testsuite>' > " + report};
  auto nothing = run();
  ASSERT_TRUE(nothing);
  EXPECT_EQ(nothing->evidence.result.text(), "error");
  EXPECT_EQ(nothing->exit_code, 1);
  options_.command = {"sh", "-c", "echo '<!DOCTYPE x><testsuite/>' > " + report};
  EXPECT_EQ(must(run()).evidence.result.text(), "error");
}

TEST_F(Trial, NamesOfSuites) {
  options_.suite = "rocm-sdk";
  options_.command = {"true"};
  auto stolen = run();
  ASSERT_FALSE(stolen);
  EXPECT_EQ(stolen.error().code, "X003");
  options_.suite = "smoke";
  options_.command = {};
  auto unknown = run();
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, "X003");
}

TEST_F(Trial, ADefinitionIsWhatRuns) {
  const std::string text = "schema = \"quarry.suite/1\"\nname = \"own\"\n"
                           "command = [\"sh\", \"{suite}/t.sh\", \"{junit}\"]\nfiles = [\"t.sh\"]\nmin_passed = 2\n";
  std::string script = "printf '<testsuite><testcase name=\"a\"/><testcase name=\"b\"/></testsuite>' > $1; ls ${0%/*}";
  auto read = [&](const std::string&) -> Result<std::string> { return script; };
  options_.definition = must(parse_suite({text, "own.toml"}, read));
  options_.suite = "own";
  auto done = must(run());
  EXPECT_EQ(done.evidence.result.text(), "passed");
  EXPECT_EQ(done.evidence.suite, "own");
  EXPECT_EQ(done.evidence.suite_digest, options_.definition->digest.hex());
  EXPECT_EQ(done.evidence.passed, 2u);
  script = "printf '<testsuite><testcase name=\"a\"/></testsuite>' > $1";
  options_.definition = must(parse_suite({text, "own.toml"}, read));
  EXPECT_NE(options_.definition->digest.hex(), done.evidence.suite_digest) << "the file is a part of the suite";
  auto less = must(run());
  EXPECT_EQ(less.evidence.result.text(), "error");
  EXPECT_EQ(less.exit_code, 1);
  options_.definition = must(parse_suite({text + "gpu = true\n", "own.toml"}, read));
  auto refused = run();
  if (!options_.definition || refused) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_EQ(refused.error().code, "X028");
}

TEST_F(Trial, Families) {
  options_.family = "gfx103X-dgpu";
  EXPECT_EQ(must(run()).evidence.cell.family, "gfx103X-dgpu");
  for (const auto* spelled : {"", "gfx103x-dgpu", "GFX103X_DGPU"}) {
    options_.family = spelled;
    EXPECT_EQ(must(run()).evidence.cell.family, "gfx103X-dgpu") << spelled;
  }
  options_.family = "gfx1151";
  auto wrong = run();
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, "X002");
  EXPECT_EQ(wrong.error().message, "family gfx1151 is not installed; gfx103X-dgpu is");
}

TEST_F(Trial, AProgramThatIsNotThere) {
  options_.command = {"no-such-program"};
  auto done = run();
  ASSERT_FALSE(done);
  EXPECT_EQ(traits(done.error().kind).exit_code, 12);
}

TEST_F(Trial, NothingIsLeftInTheEnvironment) {
  static_cast<void>(run());
  for (const auto& entry : must(sys::list_directory(world_->sealed)))
    EXPECT_FALSE(entry.path.starts_with("quarry-test-") || entry.path.starts_with(".quarry-")) << entry.path;
}

// The suite took an hour of a GPU machine.
TEST_F(Trial, EvidenceThatTheStoreRefusesIsKept) {
  options_.keep_in = scratch_.at("kept");
  must(sys::make_directories(options_.keep_in));
  options_.command = {"printf", "caf\\351\\n"}; // a log need not be UTF-8
  store::testing::FaultyStore refusing(*world_->store.store, {store::testing::FaultyStore::Fault::die_before, 1, true});
  auto count = evidence_count();
  auto done = run_trial(options_, refusing, variables_, k_clock);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "R098");
  EXPECT_EQ(evidence_count(), count);
  auto kept = must(sys::list_directory(options_.keep_in));
  ASSERT_EQ(kept.size(), 2u);
  auto file = path::join(options_.keep_in, kept[0].path), log = path::join(options_.keep_in, kept[1].path);
  EXPECT_NE(done.error().hint.find("quarry evidence record --kept " + file), std::string::npos) << done.error().hint;
  auto recorded = record_kept(file, {}, *world_->store.store);
  ASSERT_TRUE(recorded) << render(recorded.error());
  EXPECT_EQ(recorded->evidence.result.text(), "passed");
  EXPECT_EQ(evidence_count(), count + 1);
  EXPECT_EQ(**world_->store.store->get(recorded->evidence.log, 100), "caf\351\n");
  EXPECT_EQ(must(record_kept(file, {}, *world_->store.store)).digest, recorded->digest); // twice is once
  must(sys::write_file(log, "another log"));
  EXPECT_EQ(record_kept(file, {}, *world_->store.store).error().code, "X016");
  must(sys::remove_file(log));
  EXPECT_EQ(record_kept(file, {}, *world_->store.store).error().code, "X016");
  must(sys::write_file(file, "{}"));
  EXPECT_EQ(record_kept(file, {}, *world_->store.store).error().code, "X022");
}

// Code under test that runs on could write into the files: their name says what they were.
TEST_F(Trial, KeptEvidenceThatWasAlteredIsRefused) {
  options_.keep_only = true;
  options_.keep_in = scratch_.at("altered");
  must(sys::make_directories(options_.keep_in));
  options_.command = {"false"};
  auto done = must(run());
  EXPECT_EQ(done.exit_code, 1);
  auto forged = done.evidence;
  forged.result = registry::Outcome::passed;
  forged.passed = 1;
  forged.failed = 0;
  forged.rows = {{"command", registry::Outcome::passed, "", 1}};
  must(sys::write_file(done.kept, registry::to_json(forged)));
  auto count = evidence_count();
  EXPECT_EQ(record_kept(done.kept, {}, *world_->store.store).error().code, "X022");
  // Under another name nothing tells what it was, but for what it says of itself.
  forged.passed = 46;
  auto renamed = path::join(options_.keep_in, "x.json");
  must(sys::write_file(renamed, registry::to_json(forged)));
  must(sys::write_file(path::join(options_.keep_in, "x.txt"),
                       must(sys::read_file(done.kept.substr(0, done.kept.size() - 4) + "txt", 1000))));
  auto miscounted = record_kept(renamed, {}, *world_->store.store);
  ASSERT_FALSE(miscounted);
  EXPECT_EQ(miscounted.error().code, "X016");
  EXPECT_NE(miscounted.error().message.find("do not agree with its rows"), std::string::npos);
  forged.passed = 1;
  forged.rows.push_back({"odd", registry::Outcome::read("odd"), "", 1}); // no number counts it
  must(sys::write_file(renamed, registry::to_json(forged)));
  EXPECT_EQ(record_kept(renamed, {}, *world_->store.store).error().code, "X016");
  EXPECT_EQ(evidence_count(), count);
}

TEST_F(Trial, APassOfAJobThatDidNotSucceedIsRefused) {
  options_.keep_only = true;
  options_.keep_in = scratch_.at("job");
  must(sys::make_directories(options_.keep_in));
  options_.command = {"true"};
  auto passed = must(run());
  auto count = evidence_count();
  for (const auto* result : {"failure", "cancelled", "skipped"})
    EXPECT_EQ(record_kept(passed.kept, {.job_result = result}, *world_->store.store).error().code, "X023");
  EXPECT_EQ(evidence_count(), count);
  EXPECT_TRUE(record_kept(passed.kept, {.job_result = "success"}, *world_->store.store));
  options_.command = {"false"};
  EXPECT_TRUE(record_kept(must(run()).kept, {.job_result = "failure"}, *world_->store.store))
      << "a failure is evidence";
}

// The suite's process group ends with it; a daemon has a session of its own.
TEST_F(Trial, NothingThatTheSuiteStartedOutlivesIt) {
  auto file = scratch_.at("pid");
  options_.command = {"sh", "-c",
                      "setsid sh -c 'echo $$ > " + file + "; exec sleep 1000' > /dev/null 2>&1 & while [ ! -s " + file +
                          " ]; do :; done; exit 1"};
  auto done = must(run());
  EXPECT_EQ(done.evidence.result.text(), "failed");
  EXPECT_FALSE(sys::exists("/proc/" + std::string(text::trim(must(sys::read_file(file))))));
}

// The job that tests has no token; another one records what it kept, and compares what it is about.
TEST_F(Trial, EvidenceIsKeptWhereNothingIsToBeStored) {
  options_.keep_only = true;
  options_.keep_in = scratch_.at("kept-only");
  must(sys::make_directories(options_.keep_in));
  options_.command = {"true"};
  store::testing::FaultyStore read_only(*world_->store.store,
                                        {store::testing::FaultyStore::Fault::die_before, 1, true});
  auto count = evidence_count();
  auto done = must(run_trial(options_, read_only, variables_, k_clock));
  EXPECT_FALSE(read_only.fired()) << "nothing was written";
  EXPECT_EQ(evidence_count(), count);
  const auto& cell = done.evidence.cell;
  auto other = record_kept(done.kept, {{}, cell.family + "x"}, *world_->store.store);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, "X021");
  EXPECT_EQ(evidence_count(), count);
  auto recorded = must(record_kept(done.kept, {"set:" + done.evidence.set.hex(), cell.family}, *world_->store.store));
  EXPECT_EQ(recorded.digest, done.digest);
  EXPECT_EQ(evidence_count(), count + 1);
}

/// A store whose server does not say what it can do.
class Unasked final : public store::ObjectStore {
public:
  explicit Unasked(store::ObjectStore& inner) : inner_(inner) {}
  std::string describe() const override { return inner_.describe(); }
  Result<std::optional<store::ObjectInfo>> do_head(const std::string& key) override { return inner_.head(key); }
  Result<std::optional<std::string>> do_get(const std::string& key, std::uint64_t most, std::string* etag) override {
    return inner_.get(key, most, etag);
  }
  Result<content::Rope> do_open(const std::string& key) override { return inner_.open(key); }
  Result<store::ObjectInfo> do_put(const std::string&, const content::Rope&, const store::PutOptions&) override {
    return denied();
  }
  Result<void> do_copy(const store::CopyRequest&) override { return denied(); }
  Result<void> do_remove(const std::string&) override { return denied(); }
  Result<std::vector<store::ObjectInfo>> do_list(const std::string& prefix) override { return inner_.list(prefix); }
  store::Counters counters() const override { return inner_.counters(); }
  Result<bool> conditional_writes() override { return denied(); }
  std::string url(const std::string& key) const override { return inner_.url(key); }

private:
  static Unexpected denied() { return fail(ErrorKind::unauthenticated, "K003", "the server refuses"); }
  store::ObjectStore& inner_;
};

TEST_F(Trial, AStoreThatCannotTakeEvidenceIsToldBeforeTheSuiteRuns) {
  Unasked store(*world_->store.store);
  options_.keep_in = scratch_.path;
  options_.command = {"touch", scratch_.at("ran")};
  auto done = run_trial(options_, store, variables_, k_clock);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "K003");
  EXPECT_FALSE(sys::exists(scratch_.at("ran")));
}

TEST_F(Trial, TheSuiteGetsNoCredentialsOfTheJob) {
  variables_["AWS_SECRET_ACCESS_KEY"] = variables_["GITHUB_TOKEN"] = variables_["ACTIONS_ID_TOKEN_REQUEST_TOKEN"] =
      variables_["FREE_TOKEN"] = variables_["SOMETHING_ELSE"] = "value-of-the-job";
  variables_["PLAIN"] = "passed on";
  options_.passed = {"FREE_TOKEN", "PLAIN"};
  options_.command = {
      "sh", "-c",
      "test -z \"$AWS_SECRET_ACCESS_KEY$GITHUB_TOKEN$ACTIONS_ID_TOKEN_REQUEST_TOKEN$SOMETHING_ELSE\" && "
      "test \"$FREE_TOKEN\" = value-of-the-job && test \"$PLAIN\" = 'passed on'"};
  EXPECT_EQ(must(run()).exit_code, 0);
}

// The store of evidence may be public.
TEST_F(Trial, SecretsAreNotStored) {
  auto report = scratch_.at("r.xml"), log = std::string();
  options_.junit = report;
  variables_["MY_TOKEN"] = "value-of-the-job"; // the suite finds it elsewhere: in a file, in a config
  options_.on_output = [&](std::string_view line) { log += line; };
  options_.command = {
      "sh", "-c",
      "echo before value-of-the-job after; echo '<testsuite><testcase name=\"value-of-the-job\"><failure "
      "message=\"value-of-the-job\"/></testcase></testsuite>' > " +
          report};
  auto done = run();
  ASSERT_TRUE(done) << render(done.error());
  auto stored = must(world_->store.store->get(done->evidence.log, 1 << 20));
  EXPECT_NE(stored->find("before *** after"), std::string::npos);
  auto record = must(world_->store.store->get(registry::evidence_key(done->digest), 1 << 20));
  for (const auto& text : {*stored, *record, log}) EXPECT_EQ(text.find("value-of-the-job"), std::string::npos);
}

TEST_F(Trial, TestsSeeNoUserSettingsAndNoBytecode) {
  options_.command = {"sh", "-c",
                      "test -n \"$PYTHONPYCACHEPREFIX\" && test -z \"$PYTHONPATH$PIP_INDEX_URL$LD_LIBRARY_PATH\" && "
                      "test \"$VIRTUAL_ENV\" = \"" +
                          world_->sealed + "\""};
  variables_["PYTHONPATH"] = variables_["PIP_INDEX_URL"] = variables_["LD_LIBRARY_PATH"] = "/evil";
  EXPECT_EQ(must(run()).exit_code, 0);
}

} // namespace
} // namespace quarry::trial
