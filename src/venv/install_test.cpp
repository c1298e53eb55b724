#include "venv/install.hpp"

#include "base/json.hpp"
#include "sys/beneath.hpp"
#include "sys/tree.hpp"
#include "venv/proof.hpp"
#include "venv/testing/tiny_sdk.hpp"
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace quarry::venv {
namespace {

using ::testing::ElementsAre;
using testing::fresh_environment;
using ::testing::HasSubstr;
using testing::must;
using testing::Release;
using testing::Scratch;
using testing::TinyStore;

const sys::FixedClock k_clock(1'795'000'000'000'000);

class Install : public ::testing::Test {
protected:
  Install() : store_(scratch_.at("store")), env_(fresh_environment(scratch_.at("env"))) {}

  Result<InstallOutcome> install(const std::string& from, const std::string& packages = "rocm[libraries]",
                                 Installer installer = Installer::pip) {
    InstallOptions options;
    options.source.locator = from;
    options.source.store = store_.store.get();
    return install(std::move(options), packages, installer);
  }
  Result<InstallOutcome> install(InstallOptions options, const std::string& packages, Installer installer) {
    options.directory = env_;
    options.installer.packages = {packages};
    options.installer.installer = installer;
    options.workers = 2;
    options.on_output = [this](std::string_view line) { output_ += std::string(line) + "\n"; };
    return venv::install(options, variables_, k_clock);
  }

  /// A page as plain scripts write it.
  std::string links_without_digests(const std::string& run) {
    std::string page;
    for (const auto& file : must(sys::list_directory(store_.file(run, ""))))
      page += "<a href=\"file://" + store_.file(run, file.path) + "\">" + file.path + "</a>\n";
    must(sys::write_file(scratch_.at("links.html"), page));
    return scratch_.at("links.html");
  }

  bool has_receipt() const { return sys::exists(path::join(env_, k_receipt_name)); }
  std::string site(const std::string& path) const {
    return path::join(must(open_environment(env_)).site_packages, path);
  }

  Result<Proof> prove_against(const std::string& from) {
    SourceRequest request;
    request.locator = from;
    request.store = store_.store.get();
    auto source = must(find_source(request));
    VerifiedPaths verified;
    return venv::prove(must(open_environment(env_)), source, 2, verified);
  }

  Scratch scratch_;
  TinyStore store_;
  std::string env_, output_;
  Variables variables_ = testing::machine_variables();
};

registry::SetDigest digest_of(const std::string& text) { return *registry::SetDigest::parse(text); }

void expect_whole_release(const Receipt& receipt, const std::string& set) {
  EXPECT_TRUE(receipt.sealed);
  EXPECT_THAT(receipt.sets, ElementsAre(digest_of(set)));
  ASSERT_EQ(receipt.files.size(), 3u);
  EXPECT_EQ(receipt.files[0].filename, "rocm-1.0.tar.gz");
  EXPECT_EQ(receipt.files[0].kind, FileKind::sdist);
  EXPECT_EQ(receipt.files[1].filename, "rocm_sdk_core-1.0-py3-none-linux_x86_64.whl");
  EXPECT_EQ(receipt.files[1].kind, FileKind::wheel);
  EXPECT_EQ(receipt.files[2].project, "rocm-sdk-libraries-gfx103x-dgpu");
}

TEST_F(Install, FromASetWithPip) {
  auto set = store_.publish("42", {});
  auto done = install("set:" + set);
  ASSERT_TRUE(done) << render(done.error());
  expect_whole_release(done->receipt, set);
  EXPECT_EQ(done->receipt.installer, "pip");
  EXPECT_EQ(done->receipt.store, store_.store->describe());
  EXPECT_EQ(must(read_receipt(must(open_environment(env_)))), done->receipt);
  EXPECT_FALSE(sys::exists(path::join(env_, k_lock_name)));
  auto again = prove_against("set:" + set);
  ASSERT_TRUE(again) << render(again.error());
  EXPECT_EQ(again->files, done->receipt.files);
}

// The installer has changed the environment before the proof finds what was there already.
TEST_F(Install, AFailureBehindTheInstallerSaysThatTheEnvironmentChanged) {
  auto set = store_.publish("42", {});
  const std::string info = "rocm_sdk_libraries_gfx103x_dgpu-9.9.dist-info/";
  must(sys::make_directories(site(info)));
  must(sys::write_file(site(info + "METADATA"),
                       "Metadata-Version: 2.1\nName: rocm-sdk-libraries-gfx103x-dgpu\nVersion: 9.9\n"));
  must(sys::write_file(site(info + "RECORD"), info + "METADATA,,\n" + info + "RECORD,,\n"));
  auto refused = install("set:" + set, "rocm-sdk-core");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "V032") << render(refused.error());
  EXPECT_THAT(render(refused.error()), HasSubstr("the installer has run, and the receipt is missing"));
  EXPECT_FALSE(has_receipt());
}

TEST_F(Install, FromARunAndAChannelWithUv) {
  if (!testing::have_uv()) GTEST_SKIP() << "uv is not on PATH";
  auto set = store_.publish("42", {});
  store_.channel("staging", {set});
  auto done = install("run:42", "rocm[libraries]", Installer::uv);
  ASSERT_TRUE(done) << render(done.error());
  expect_whole_release(done->receipt, set);
  EXPECT_EQ(done->receipt.installer, "uv");
  auto channel = install("channel:staging", "rocm[libraries]", Installer::uv);
  ASSERT_TRUE(channel) << render(channel.error());
  expect_whole_release(channel->receipt, set);
  EXPECT_EQ(channel->receipt.generation, 1u);
  EXPECT_FALSE(channel->receipt.view.empty());
}

TEST_F(Install, TheNewestOfAChannelAndItsSet) {
  auto first = store_.publish("42", {}), second = store_.publish("43", {"2.0", "b"});
  store_.channel("staging", {first, second});
  auto newest = install("channel:staging");
  ASSERT_TRUE(newest) << render(newest.error());
  EXPECT_THAT(newest->receipt.sets, ElementsAre(digest_of(second)));
  EXPECT_EQ(newest->receipt.files[0].version, "2.0");
  auto pinned = install("channel:staging", "rocm[libraries]==1.0");
  ASSERT_TRUE(pinned) << render(pinned.error());
  EXPECT_THAT(pinned->receipt.sets, ElementsAre(digest_of(first)));
}

TEST_F(Install, OtherBytesOfTheSameVersionReplaceWhatIsThere) {
  auto first = store_.publish("42", {}), second = store_.publish("43", {"1.0", "b"});
  ASSERT_TRUE(install("set:" + first));
  EXPECT_FALSE(prove_against("set:" + second));
  auto done = install("set:" + second);
  ASSERT_TRUE(done) << render(done.error());
  EXPECT_THAT(done->receipt.sets, ElementsAre(digest_of(second)));
}

TEST_F(Install, OnlyPrereleasesNeedNoFlag) {
  auto set = store_.publish("42", {"2.0rc1", "a"});
  auto done = install("set:" + set);
  ASSERT_TRUE(done) << render(done.error());
  EXPECT_EQ(done->receipt.files[0].version, "2.0rc1");
}

TEST_F(Install, UserSettingsDecideNothing) {
  auto set = store_.publish("42", {});
  testing::build_packages(scratch_.at("decoy"), {"9.0", "decoy"});
  must(sys::write_file(scratch_.at("pip.conf"), "[global]\nfind-links = " + scratch_.at("decoy") + "\n"));
  variables_["PIP_FIND_LINKS"] = scratch_.at("decoy");
  variables_["PIP_CONFIG_FILE"] = scratch_.at("pip.conf");
  variables_["PIP_TARGET"] = scratch_.at("elsewhere");
  variables_["UV_FIND_LINKS"] = scratch_.at("decoy");
  variables_["PYTHONPATH"] = scratch_.at("decoy");
  auto done = install("set:" + set);
  ASSERT_TRUE(done) << render(done.error());
  expect_whole_release(done->receipt, set);
}

TEST_F(Install, AnUnsealedSetIsRefused) {
  auto set = store_.publish("42", {}, false);
  for (const auto& from : {"set:" + set, std::string("run:42"), scratch_.at("store/42-linux/python/g/dist")}) {
    if (from.ends_with("dist")) must(sys::make_directories(scratch_.at("store/42-linux/python/g/simple")));
    auto done = install(from);
    ASSERT_FALSE(done) << from;
    EXPECT_EQ(traits(done.error().kind).exit_code, 3) << render(done.error());
    EXPECT_EQ(done.error().code, "R013");
    EXPECT_FALSE(has_receipt());
  }
}

TEST_F(Install, APublishedDirectoryIsItsSealedSet) {
  auto set = store_.publish("42", {});
  auto done = install(scratch_.at("store/42-linux/python/g"));
  ASSERT_TRUE(done) << render(done.error());
  expect_whole_release(done->receipt, set);
}

TEST_F(Install, AnAlteredFileIsRefusedBeforeAnythingRuns) {
  for (const char* name : {"rocm_sdk_core-1.0-py3-none-linux_x86_64.whl", "rocm-1.0.tar.gz"}) {
    auto run = std::string(name).substr(0, 5) == "rocm_" ? "42" : "43";
    auto set = store_.publish(run, {});
    auto path = store_.file(run, name);
    auto bytes = must(sys::read_file(path));
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    must(sys::write_file(path, bytes));
    must(sys::write_file(path::join(env_, k_receipt_name), "{}"));
    auto done = install("set:" + set);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, "V007");
    EXPECT_EQ(traits(done.error().kind).exit_code, 6);
    EXPECT_THAT(done.error().message, HasSubstr(name));
    EXPECT_FALSE(has_receipt());
    EXPECT_EQ(output_, "");
  }
}

TEST_F(Install, AnAlteredOlderFileIsFoundWhenItIsChosen) {
  auto first = store_.publish("42", {}), second = store_.publish("43", {"2.0", "b"});
  store_.channel("staging", {first, second});
  auto path = store_.file("42", "rocm_sdk_core-1.0-py3-none-linux_x86_64.whl");
  Scratch other;
  auto replacement = testing::build_packages(other.path, {"1.0", "evil"})[0];
  must(sys::write_file(path, must(sys::read_file(replacement))));
  auto done = install("channel:staging", "rocm[libraries]==1.0");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "V007");
  EXPECT_FALSE(has_receipt());
  EXPECT_TRUE(install("channel:staging"));
}

TEST_F(Install, AMissingFileIsAnIntegrityError) {
  auto set = store_.publish("42", {});
  must(sys::remove_file(store_.file("42", "rocm-1.0.tar.gz")));
  auto done = install("set:" + set);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "V007");
}

TEST_F(Install, AFailingInstallerIsReportedWithItsLastLines) {
  auto set = store_.publish("42", {});
  ASSERT_TRUE(install("set:" + set));
  auto done = install("set:" + set, "no-such-package");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "V010");
  EXPECT_EQ(traits(done.error().kind).exit_code, 1);
  EXPECT_THAT(text::join(done.error().details, "\n"), HasSubstr("no-such-package"));
  EXPECT_FALSE(has_receipt()) << "a receipt must not outlive the installation it speaks of";
}

TEST_F(Install, ADirectoryIsAnUnsealedSourceAndFrozen) {
  testing::build_packages(scratch_.at("out/dist"), {});
  for (const char* from : {"out", "out/dist"}) {
    auto done = install(scratch_.at(from));
    ASSERT_TRUE(done) << render(done.error());
    EXPECT_FALSE(done->receipt.sealed);
    EXPECT_TRUE(done->receipt.sets.empty());
    EXPECT_EQ(done->receipt.files.size(), 3u);
    auto lock = Json::parse(must(sys::read_file(path::join(env_, k_lock_name))));
    EXPECT_EQ(lock["schema"], "quarry.lock/1");
    EXPECT_EQ(lock["files"][0]["sha256"], must(content::sha256_of_file(scratch_.at("out/dist/rocm-1.0.tar.gz"))).hex());
  }
}

TEST_F(Install, LinksAreHandedToTheInstallerAndFrozen) {
  testing::build_packages(scratch_.at("out"), {});
  std::vector<Installer> installers = {Installer::pip};
  if (testing::have_uv()) installers.push_back(Installer::uv);
  for (auto installer : installers) {
    SCOPED_TRACE(to_string(installer));
    InstallOptions options;
    options.directory = env_;
    options.source.find_links = {scratch_.at("out")};
    options.installer.installer = installer;
    options.installer.packages = {"rocm[libraries]"};
    auto done = venv::install(options, variables_, k_clock);
    ASSERT_TRUE(done) << render(done.error());
    EXPECT_FALSE(done->receipt.sealed);
    ASSERT_EQ(done->receipt.files.size(), 3u);
    EXPECT_EQ(done->receipt.files[1].project, "rocm-sdk-core");
    EXPECT_EQ(done->receipt.files[1].sha256,
              must(content::sha256_of_file(scratch_.at("out/rocm_sdk_core-1.0-py3-none-linux_x86_64.whl"))));
    EXPECT_TRUE(sys::exists(path::join(env_, k_lock_name)));
    EXPECT_TRUE(prove_unchanged(must(open_environment(env_)), done->receipt, 1));
    env_ = fresh_environment(scratch_.at("env-" + std::string(to_string(installer))));
  }
}

TEST_F(Install, ABrokenWheelOfADirectoryIsRefused) {
  testing::build_packages(scratch_.at("out"), {});
  auto path = scratch_.at("out/rocm_sdk_core-1.0-py3-none-linux_x86_64.whl");
  auto bytes = must(sys::read_file(path));
  bytes.resize(bytes.size() - 30);
  must(sys::write_file(path, bytes));
  auto done = install(scratch_.at("out"));
  ASSERT_FALSE(done);
  EXPECT_EQ(traits(done.error().kind).exit_code, 6) << render(done.error());
  EXPECT_FALSE(has_receipt());
}

TEST_F(Install, RunsOfTheIncumbentAreUnsealedSources) {
  for (const char* place : {"store/50-linux/python/gfx103X-dgpu", "store/51-linux/python"})
    testing::build_packages(scratch_.at(place), {});
  for (const char* run : {"run:50", "run:51"}) {
    auto done = install(run);
    ASSERT_TRUE(done) << run << render(done.error());
    EXPECT_FALSE(done->receipt.sealed);
    EXPECT_EQ(done->receipt.files.size(), 3u);
  }
}

TEST_F(Install, WhatIsNotThere) {
  struct Row {
    std::string from;
    int exit_code;
  };
  must(sys::make_directories(scratch_.at("empty")));
  store_.publish("42", {});
  for (const auto& row :
       {Row{"run:99", 3}, Row{"channel:none", 3}, Row{"set:" + std::string(64, '0'), 3}, Row{scratch_.at("nowhere"), 3},
        Row{scratch_.at("empty"), 3}, Row{"", 2}, Row{"set:xyz", 2}}) {
    auto done = install(row.from);
    ASSERT_FALSE(done) << row.from;
    EXPECT_EQ(traits(done.error().kind).exit_code, row.exit_code) << render(done.error());
  }
}

TEST_F(Install, AnEnvironmentIsNeeded) {
  auto set = store_.publish("42", {});
  env_ = scratch_.at("nothing");
  auto done = install("set:" + set);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "V001");
}

TEST_F(Install, PipMustBeInTheEnvironment) {
  auto set = store_.publish("42", {});
  must(sys::remove_tree(site("pip")));
  auto done = install("set:" + set);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "V011");
  EXPECT_NE(done.error().hint.find("`quarry venv create " + env_ + " --clean`"), std::string::npos);
  EXPECT_EQ(traits(done.error().kind).exit_code, 12);
}

TEST_F(Install, UvMustBeThere) {
  auto set = store_.publish("42", {});
  variables_["PATH"] = "/usr/bin:/bin";
  if (!sys::find_program("uv", variables_["PATH"]).empty()) GTEST_SKIP() << "uv is in /usr/bin";
  auto done = install("set:" + set, "rocm", Installer::uv);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "V011");
}

TEST_F(Install, WhatPipLeavesAloneStaysKnownWhileItIsAsItWasInstalled) {
  store_.publish("42", {});
  InstallOptions page;
  page.source.index_url = "";
  page.source.find_links = {links_without_digests("42")};
  auto first = install(page, "rocm[libraries]", Installer::pip);
  ASSERT_TRUE(first) << render(first.error());
  ASSERT_EQ(first->receipt.files.size(), 3u);
  auto again = install(page, "rocm[libraries]", Installer::pip);
  ASSERT_TRUE(again) << render(again.error());
  EXPECT_EQ(again->receipt.files, first->receipt.files);
  testing::append(site("rocm_sdk_core/__init__.py"), "# edited\n");
  auto edited = install(page, "rocm[libraries]", Installer::pip);
  ASSERT_TRUE(edited) << render(edited.error());
  EXPECT_EQ(edited->receipt.files.size(), 2u);
  EXPECT_THAT(edited->receipt.others, ::testing::Contains(OtherDistribution{"rocm-sdk-core", "1.0"}));
  must(sys::write_file(scratch_.at("elsewhere.html"), must(sys::read_file(scratch_.at("links.html")))));
  page.source.find_links = {scratch_.at("elsewhere.html")};
  auto elsewhere = install(page, "rocm[libraries]", Installer::pip);
  ASSERT_TRUE(elsewhere) << render(elsewhere.error());
  EXPECT_EQ(elsewhere->receipt.files.size(), 0u); // what another page gave is not this one's
}

/// The oldest and the newest pip that have to work; the directory holds their wheels.
TEST_F(Install, WithOtherPips) {
  const char* wheels = std::getenv("QUARRY_TEST_PIP_WHEELS");
  if (!wheels) GTEST_SKIP() << "QUARRY_TEST_PIP_WHEELS names no directory with wheels of pip";
  auto set = store_.publish("42", {});
  auto entries = must(sys::list_directory(wheels));
  for (const auto& entry : entries) {
    SCOPED_TRACE(entry.path);
    sys::ProcessSpec spec;
    spec.argv = {env_ + "/bin/python",          "-m", "pip", "install", "--no-index", "--force-reinstall",
                 path::join(wheels, entry.path)};
    spec.environment = clean_variables(variables_);
    ASSERT_EQ(must(sys::run_process(spec)).exit_code, 0);
    auto done = install("set:" + set);
    ASSERT_TRUE(done) << render(done.error());
    expect_whole_release(done->receipt, set);
    EXPECT_THAT(entry.path, HasSubstr("pip-" + done->receipt.installer_version + "-"));
    InstallOptions page;
    page.source.index_url = "";
    page.source.find_links = {links_without_digests("42")};
    page.installer.reinstall = true;
    auto unsealed = install(page, "rocm[libraries]", Installer::pip);
    ASSERT_TRUE(unsealed) << render(unsealed.error());
    ASSERT_EQ(unsealed->receipt.files.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_EQ(unsealed->receipt.files[i].sha256, done->receipt.files[i].sha256) << done->receipt.files[i].filename;
  }
}

struct Alteration {
  const char* name;
  std::function<void(const std::string& site)> alter;
  const char* says;
};
void PrintTo(const Alteration& a, std::ostream* out) { *out << a.name; }

/// Installed once; each test alters a copy.
class Altered : public ::testing::TestWithParam<Alteration> {
protected:
  static void SetUpTestSuite() {
    scratch_ = new Scratch;
    TinyStore store(scratch_->at("store"));
    InstallOptions options;
    options.directory = fresh_environment(scratch_->at("env"));
    options.source.locator = "set:" + store.publish("42", {});
    options.source.store = store.store.get();
    options.installer.packages = {"rocm[libraries]"};
    must(venv::install(options, testing::machine_variables(), k_clock));
    source_ = new Source(must(find_source(options.source)));
    // What is copied often should be small.
    auto environment = must(open_environment(options.directory));
    for (const auto& entry : must(sys::list_directory(environment.site_packages)))
      if (entry.path.find("rocm") == entry.path.npos)
        must(sys::remove_tree(path::join(environment.site_packages, entry.path)));
  }
  static void TearDownTestSuite() {
    delete source_;
    delete scratch_;
  }
  static Scratch* scratch_;
  static Source* source_;
};
Scratch* Altered::scratch_ = nullptr;
Source* Altered::source_ = nullptr;

TEST_P(Altered, EnvironmentIsNotProven) {
  Scratch copy;
  testing::copy_tree(scratch_->at("env"), copy.at("env"));
  auto environment = must(open_environment(copy.at("env")));
  VerifiedPaths verified;
  ASSERT_TRUE(venv::prove(environment, *source_, 2, verified));
  GetParam().alter(environment.site_packages + "/");
  auto proof = venv::prove(environment, *source_, 2, verified);
  ASSERT_FALSE(proof);
  EXPECT_EQ(proof.error().kind, ErrorKind::corrupt);
  EXPECT_THAT(render(proof.error()), HasSubstr(GetParam().says));
}

std::string record_of(const std::string& site, const std::string& name) { return site + name + ".dist-info/RECORD"; }

/// As somebody would who knows how RECORD works.
void forge(const std::string& site, const std::string& distribution, const std::string& path, const std::string& text) {
  must(sys::write_file(site + path, text));
  auto lines = text::lines(must(sys::read_file(record_of(site, distribution))));
  std::string forged;
  for (const auto& line : lines)
    if (!line.starts_with(path + ",")) forged += line + "\n";
  forged += fmt::format("{},sha256={},{}\n", path, sha256(text).base64url(), text.size());
  must(sys::write_file(record_of(site, distribution), forged));
}

INSTANTIATE_TEST_SUITE_P(
    Table, Altered,
    ::testing::Values(
        Alteration{"a_longer_file",
                   [](const std::string& s) { testing::append(s + "_rocm_sdk_core/lib/libx.so", "!"); },
                   "_rocm_sdk_core/lib/libx.so has 100002 bytes, not 100001"},
        Alteration{"other_bytes",
                   [](const std::string& s) {
                     must(sys::write_file(s + "_rocm_sdk_core/lib/libx.so", std::string(100'001, 'y')));
                   },
                   "libx.so was altered"},
        Alteration{
            "forged_record_of_a_wheel",
            [](const std::string& s) { forge(s, "rocm_sdk_core-1.0", "rocm_sdk_core/__init__.py", "VALUE = 'e'\n"); },
            "rocm_sdk_core/__init__.py was altered"},
        Alteration{"forged_record_of_the_sdist",
                   [](const std::string& s) { forge(s, "rocm-1.0", "rocm_sdk/__init__.py", "def main(): return 0\n"); },
                   "rocm_sdk/__init__.py is not a file of rocm-1.0.tar.gz"},
        Alteration{"code_in_the_build_note",
                   [](const std::string& s) {
                     forge(s, "rocm-1.0", "rocm_sdk/_install_info.py",
                           "\"\"\"x\"\"\"\n\nTARGET_FAMILY = 'a'; import evil\n");
                   },
                   "_install_info.py is not a file of"},
        Alteration{"more_lines_in_the_build_note",
                   [](const std::string& s) {
                     forge(s, "rocm-1.0", "rocm_sdk/_install_info.py",
                           "\"\"\"x\"\"\"\n\nTARGET_FAMILY = 'a'\nimport evil\n");
                   },
                   "_install_info.py is not a file of"},
        Alteration{"a_removed_file",
                   [](const std::string& s) { must(sys::remove_file(s + "rocm_sdk_core/__init__.py")); },
                   "rocm_sdk_core/__init__.py is missing"},
        Alteration{"a_stranger_beside_the_libraries",
                   [](const std::string& s) { must(sys::write_file(s + "_rocm_sdk_core/lib/libx.so.1", "x")); },
                   "_rocm_sdk_core/lib/libx.so.1 belongs to no installed"},
        Alteration{"a_listed_stranger",
                   [](const std::string& s) { forge(s, "rocm_sdk_core-1.0", "_rocm_sdk_core/lib/evil.so", "x"); },
                   "evil.so is in RECORD and not in the wheel"},
        Alteration{"sitecustomize", [](const std::string& s) { must(sys::write_file(s + "sitecustomize.py", "")); },
                   "sitecustomize.py belongs to no installed"},
        Alteration{"a_pth_file", [](const std::string& s) { must(sys::write_file(s + "evil.pth", "import evil\n")); },
                   "evil.pth belongs to no installed"},
        Alteration{"another_version",
                   [](const std::string& s) {
                     must(sys::write_file(s + "rocm_sdk_core-1.0.dist-info/METADATA",
                                          "Metadata-Version: 2.1\nName: rocm-sdk-core\nVersion: 1.1\n"));
                   },
                   "it has no such version"},
        Alteration{"record_gone", [](const std::string& s) { must(sys::remove_file(record_of(s, "rocm-1.0"))); },
                   "RECORD is missing"},
        Alteration{"record_row_gone",
                   [](const std::string& s) {
                     must(sys::write_file(record_of(s, "rocm_sdk_core-1.0"), "rocm_sdk_core-1.0.dist-info/RECORD,,\n"));
                   },
                   "is in the wheel of rocm-sdk-core and not in RECORD"}),
    [](const auto& row) { return std::string(row.param.name); });

/// Development files as `rocm-sdk init` unpacks them: a file of the payload, a link inside the tree, a hard link to a
/// sibling's file.
class Expanded : public ::testing::Test {
protected:
  /// The development files of one recipe.
  struct Devel {
    std::string project, module, into;
    std::string header; ///< of include/hip.h
  };

  Expanded() : site_(scratch_.at("env/lib/python3.11/site-packages")) {
    environment_ = {scratch_.at("env"), scratch_.at("env/bin/python"), "3.11.7", site_};
    source_.sealed = true;
    add("rocm-sdk-core", pack("rocm-sdk-core", {{"rocm_sdk_core/__init__.py", content::Rope::literal(""), false},
                                                {"_rocm_sdk_core/bin/hipcc", content::Rope::literal("hipcc"), true}}));
    add(sdk_);
  }

  void add(const std::string& project, const wheel::Built& built) {
    registry::FileRecord file;
    file.filename = built.file_name;
    file.project = project;
    file.version = "1.0";
    file.size = built.size;
    file.sha256 = built.sha256;
    source_.files.push_back({file, built.path, {}});
    must(sys::make_directories(site_));
    testing::copy_tree(must(wheel::unpack(built.path, scratch_.at(file.project))) + "/.", site_);
  }
  /// The SDK's own needs no unpacking.json: it is known by its name.
  void add(const Devel& devel) {
    std::vector<wheel::Member> said;
    if (devel.project != sdk_.project)
      said.push_back({std::string(dist::k_unpacking_file),
                      content::Rope::literal(dist::render({devel.module + "/_devel.tar", devel.into, {}})), false});
    add(devel.project, pack(devel.project,
                            {{devel.module + "/__init__.py", content::Rope::literal(""), false},
                             {devel.module + "/_devel.tar", content::Rope::literal(payload(devel)), false}},
                            std::move(said)));
  }

  void expand() { expand(sdk_); }
  void expand(const Devel& devel) {
    for (const char* directory : {"/include", "/bin"}) must(sys::make_directories(in_site(devel.into + directory)));
    must(sys::write_file(in_site(devel.into + "/include/hip.h"), devel.header));
    auto tree = must(sys::Beneath::open(site_));
    must(tree.symlink(devel.into + "/include/hip2.h", "hip.h"));
    must(tree.hardlink("_rocm_sdk_core/bin/hipcc", devel.into + "/bin/hipcc"));
    must(sys::remove_file(in_site(devel.module + "/_devel.tar")));
    auto record = in_site(devel.module + "-1.0.dist-info/RECORD");
    std::string rows;
    for (const auto& line : text::lines(must(sys::read_file(record))))
      if (!line.starts_with(devel.module + "/_devel.tar,")) rows += line + "\n";
    rows += devel.into + "/include/hip.h,sha256=" + in_record(devel.header) + "\n" + devel.into +
            "/include/hip2.h,,\n" + devel.into + "/bin/hipcc,sha256=" + in_record("hipcc") + "\n";
    must(sys::write_file(record, rows));
  }
  std::string in_site(const std::string& name) const { return path::join(site_, name); }
  void replace(const std::string& name, const std::string& text) {
    must(sys::remove_file(in_site(name)));
    must(sys::write_file(in_site(name), text));
  }

  wheel::Built pack(const std::string& project, std::vector<wheel::Member> members,
                    std::vector<wheel::Member> dist_info = {}) {
    wheel::WheelSpec spec;
    spec.metadata.name = project;
    spec.metadata.version = "1.0";
    spec.members = std::move(members);
    spec.dist_info = std::move(dist_info);
    return must(wheel::pack(spec, scratch_.path, {}));
  }

  static std::string payload(const Devel& devel) {
    std::string bytes;
    tar::Writer tar([&](std::span<const std::byte> chunk) -> Result<void> {
      bytes.append(reinterpret_cast<const char*>(chunk.data()), chunk.size());
      return {};
    });
    must(tar.directory(devel.into));
    must(tar.file(devel.into + "/include/hip.h", content::Rope::literal(devel.header), false));
    must(tar.symlink(devel.into + "/include/hip2.h", "hip.h"));
    must(tar.symlink(devel.into + "/bin/hipcc", "../../_rocm_sdk_core/bin/hipcc"));
    must(tar.finish());
    return bytes;
  }

  /// Digest and size of a file as a row has them.
  static std::string in_record(const std::string& text) {
    return sha256(text).base64url() + "," + std::to_string(text.size());
  }

  Result<Proof> prove() {
    VerifiedPaths verified;
    return venv::prove(environment_, source_, 1, verified);
  }

  Scratch scratch_;
  std::string site_;
  Environment environment_;
  Source source_;
  const Devel sdk_{"rocm-sdk-devel", "rocm_sdk_devel", "_rocm_sdk_devel", "#pragma once\n"};
};

// Two recipes bring one devel package each; every unpacked file is compared with the payload of its own package.
TEST_F(Expanded, DevelopmentFilesOfTwoRecipesAreProvenEachByItsOwnPackage) {
  const Devel before{"acme-devel", "acme_devel", "_acme_devel", "// acme code\n"};
  const Devel after{"zeta-devel", "zeta_devel", "_zeta_devel", "// zeta code\n"};
  add(before);
  add(after);
  EXPECT_TRUE(prove()) << "nothing is unpacked yet";
  expand();
  EXPECT_TRUE(prove()) << "only one is";
  expand(before);
  expand(after);
  auto proof = prove();
  ASSERT_TRUE(proof) << render(proof.error());
  EXPECT_EQ(proof->files.size(), 4u);
  for (const auto* devel : {&before, &sdk_, &after}) {
    replace(devel->into + "/include/hip.h", devel == &sdk_ ? before.header : sdk_.header); // another one's file
    auto altered = prove();
    ASSERT_FALSE(altered) << devel->project;
    EXPECT_EQ(altered.error().code, "V031");
    EXPECT_THAT(render(altered.error()), HasSubstr(devel->into + "/include/hip.h was altered"));
    replace(devel->into + "/include/hip.h", devel->header);
  }
  // What a package that the source does not have has unpacked says nothing about the source.
  std::erase_if(source_.files, [&](const Offered& offered) { return offered.file.project == after.project; });
  EXPECT_TRUE(prove());
}

TEST_F(Expanded, DevelopmentFilesAreProvenBeforeAndAfter) {
  auto before = prove();
  ASSERT_TRUE(before) << render(before.error());
  expand();
  auto after = prove();
  ASSERT_TRUE(after) << render(after.error());
  EXPECT_EQ(before->files, after->files) << "the content digest does not depend on it";
  Receipt receipt;
  receipt.files = before->files;
  EXPECT_TRUE(prove_unchanged(environment_, receipt, 1));
}

TEST_F(Expanded, WithoutTheSourceUnpackedFilesNeedADigestOrLeadToOne) {
  auto before = prove();
  ASSERT_TRUE(before) << render(before.error());
  Receipt receipt;
  receipt.files = before->files;
  expand();
  replace("_rocm_sdk_devel/include/hip.h", "#pragma evil\n");
  auto altered = prove_unchanged(environment_, receipt, 1);
  ASSERT_FALSE(altered);
  EXPECT_THAT(render(altered.error()), HasSubstr("include/hip.h was altered"));
  replace("_rocm_sdk_devel/include/hip.h", sdk_.header);
  must(sys::write_file(scratch_.at("evil.h"), "evil"));
  for (const auto& text : {scratch_.at("evil.h"), std::string("nowhere.h"), std::string("../../evil.h")}) {
    must(sys::remove_file(in_site("_rocm_sdk_devel/include/hip2.h")));
    must(must(sys::Beneath::open(site_)).symlink("_rocm_sdk_devel/include/hip2.h", text));
    altered = prove_unchanged(environment_, receipt, 1);
    ASSERT_FALSE(altered) << text;
    EXPECT_THAT(render(altered.error()), HasSubstr("hip2.h was unpacked, and RECORD has no digest of it"));
  }
}

TEST_F(Expanded, AnArchiveWithoutARowWasUnpackedWhole) {
  auto record = in_site("rocm_sdk_devel-1.0.dist-info/RECORD");
  auto remove_rows = [&](const std::string& start) {
    std::string rows;
    for (const auto& line : text::lines(must(sys::read_file(record))))
      if (!line.starts_with(start)) rows += line + "\n";
    must(sys::write_file(record, rows));
  };
  auto whole = must(sys::read_file(record));
  remove_rows("rocm_sdk_devel/_devel.tar,");
  must(sys::remove_file(in_site("rocm_sdk_devel/_devel.tar")));
  auto proof = prove();
  ASSERT_FALSE(proof) << "nothing was unpacked";
  EXPECT_THAT(render(proof.error()), HasSubstr("_devel.tar is gone, and _rocm_sdk_devel/include/hip.h was not"));
  must(sys::write_file(record, whole));
  must(sys::write_file(in_site("rocm_sdk_devel/_devel.tar"), ""));
  expand();
  EXPECT_TRUE(prove());
  must(sys::remove_file(in_site("_rocm_sdk_devel/bin/hipcc")));
  remove_rows("_rocm_sdk_devel/bin/hipcc,");
  proof = prove();
  ASSERT_FALSE(proof);
  EXPECT_THAT(render(proof.error()), HasSubstr("_devel.tar is gone, and _rocm_sdk_devel/bin/hipcc was not"));
}

TEST_F(Expanded, AlteredDevelopmentFilesAreFound) {
  expand();
  struct Row {
    const char* file;
    const char* text;
    const char* says;
  };
  for (const auto& row : {Row{"_rocm_sdk_devel/include/hip.h", "#pragma evil\n", "include/hip.h was altered"},
                          Row{"_rocm_sdk_devel/bin/hipcc", "evil", "bin/hipcc was altered"},
                          Row{"_rocm_sdk_devel/include/new.h", "", "new.h belongs to no installed distribution"}}) {
    bool there = sys::exists(in_site(row.file));
    auto old = there ? must(sys::read_file(in_site(row.file))) : "";
    replace(row.file, row.text);
    auto proof = prove();
    ASSERT_FALSE(proof) << row.file;
    EXPECT_THAT(render(proof.error()), HasSubstr(row.says));
    if (there)
      replace(row.file, old);
    else
      must(sys::remove_file(in_site(row.file)));
  }
  must(sys::remove_file(in_site("_rocm_sdk_devel/include/hip2.h")));
  must(must(sys::Beneath::open(site_)).symlink("_rocm_sdk_devel/include/hip2.h", "/etc/passwd"));
  auto proof = prove();
  ASSERT_FALSE(proof);
  EXPECT_THAT(render(proof.error()), HasSubstr("hip2.h leads to /etc/passwd, not to hip.h"));
}

/// Development files as TheRock's own scripts unpack them: RECORD gets rows without digests, and keeps that of the
/// archive. February's make every link of the archive a link; August's make hard links of links to files.
class UnpackedByScripts : public Expanded {
protected:
  enum class Era : std::uint8_t { february, august };
  struct Entry {
    const char *path, *text; ///< in `into`; text: of a file, or where a link leads
    bool is_link;
  };

  UnpackedByScripts() {
    add("rocm-sdk-libraries",
        pack("rocm-sdk-libraries", {{"_rocm_sdk_libraries/lib/liba.so.1", content::Rope::literal("liba"), false},
                                    {"_rocm_sdk_libraries/bin/clang", content::Rope::literal("clang"), true}}));
    devel_ = pack("rocm-sdk-devel", {{"rocm_sdk_devel/__init__.py", content::Rope::literal(""), false},
                                     {"rocm_sdk_devel/_devel.tar", content::Rope::literal(archive()), false}});
    for (auto& offered : source_.files)
      if (offered.file.project == "rocm-sdk-devel")
        offered.file.size = devel_.size, offered.file.sha256 = devel_.sha256, offered.path = devel_.path;
    testing::copy_tree(must(wheel::unpack(devel_.path, scratch_.at("devel"))) + "/.", site_);
  }

  static std::string archive() {
    std::string bytes;
    tar::Writer tar([&](std::span<const std::byte> chunk) -> Result<void> {
      bytes.append(reinterpret_cast<const char*>(chunk.data()), chunk.size());
      return {};
    });
    for (const auto& entry : k_entries)
      must(entry.is_link ? tar.symlink(k_into + entry.path, entry.text)
                         : tar.file(k_into + entry.path, content::Rope::literal(entry.text), false));
    must(tar.finish());
    return bytes;
  }

  void unpack(Era era) {
    std::string rows;
    for (const auto& entry : k_entries) {
      std::filesystem::path place = in_site(k_into + entry.path);
      std::filesystem::create_directories(place.parent_path());
      auto target = place.parent_path() / entry.text;
      bool kept = place.parent_path() == in_site(k_into + "bin") && place.filename() == "amdclang";
      if (!entry.is_link)
        must(sys::write_file(place.string(), entry.text));
      else if (era == Era::august && !kept && std::filesystem::is_regular_file(target))
        ASSERT_EQ(::link(target.c_str(), place.c_str()), 0); // a link of a link is a link, as Python's os.link has it
      else
        std::filesystem::create_symlink(entry.text, place);
      rows += k_into + entry.path + ",,\n";
    }
    must(sys::remove_file(in_site("rocm_sdk_devel/_devel.tar")));
    if (era == Era::august) must(sys::write_file(in_site(k_into + ".devel_reconcile.lock"), ""));
    auto record = in_site("rocm_sdk_devel-1.0.dist-info/RECORD");
    must(sys::write_file(record, must(sys::read_file(record)) + rows));
  }

  void expect_defect(const std::string& says) {
    auto proof = prove();
    ASSERT_FALSE(proof) << says;
    EXPECT_EQ(proof.error().code, "V031");
    EXPECT_THAT(render(proof.error()), HasSubstr(says));
  }

  static inline const std::string k_into = "_rocm_sdk_devel/";
  static constexpr Entry k_entries[] = {{"__init__.py", "", false},
                                        {"llvm", "lib/llvm", true},
                                        {"include/hip.h", "#pragma once\n", false},
                                        {"include/hip2.h", "hip.h", true},
                                        {"lib/llvm/bin/clang", "../../../../_rocm_sdk_libraries/bin/clang", true},
                                        {"lib/liba.so.1", "../../_rocm_sdk_libraries/lib/liba.so.1", true},
                                        {"lib/liba.so", "liba.so.1", true},
                                        {"lib/early.so", "late.so", true},
                                        {"lib/late.so", "liba.so.1", true},
                                        {"bin/amdclang", "../llvm/bin/clang", true},
                                        {"bin/clang", "amdclang", true},
                                        {"share/lost", "not-there", true}};
  wheel::Built devel_;
};

TEST_F(UnpackedByScripts, DevelopmentFilesOfBothErasAreProven) {
  auto before = prove();
  ASSERT_TRUE(before) << render(before.error());
  Receipt receipt;
  receipt.files = before->files;
  for (auto era : {Era::february, Era::august}) {
    unpack(era);
    auto after = prove();
    ASSERT_TRUE(after) << render(after.error());
    EXPECT_EQ(before->files, after->files);
    auto unchanged = prove_unchanged(environment_, receipt, 1);
    ASSERT_FALSE(unchanged) << "the rows have no digests";
    EXPECT_EQ(unchanged.error().code, "V031");
    std::filesystem::remove_all(in_site("_rocm_sdk_devel"));
    testing::copy_tree(must(wheel::unpack(devel_.path, scratch_.at(era == Era::august ? "a" : "b"))) + "/.", site_);
    EXPECT_TRUE(prove()) << "as it was installed";
  }
}

TEST_F(UnpackedByScripts, AHardLinkHasTheBytesThatItsLinkLeadsTo) {
  unpack(Era::august);
  for (const char* file : {"include/hip2.h", "lib/liba.so", "lib/llvm/bin/clang", "lib/liba.so.1"}) {
    ASSERT_EQ(must(sys::read_file(in_site(k_into + file))).empty(), false);
    auto old = must(sys::read_file(in_site(k_into + file)));
    replace(k_into + file, std::string(file) == "include/hip2.h" ? "liba" : "#pragma once\n"); // another proven file's
    expect_defect(std::string(file) + " was altered");
    replace(k_into + file, old);
  }
  replace(k_into + "share/lost", "found");
  expect_defect("share/lost is a file, and should be a link to not-there");
}

// The text of another link of the way, but from here it leads to a place where the tested code can put a program.
TEST_F(UnpackedByScripts, ATextOfAnotherLinkIsFollowedFromWhereItLies) {
  unpack(Era::february);
  auto link = [&](const std::string& text) {
    must(sys::remove_file(in_site(k_into + "bin/amdclang")));
    std::filesystem::create_symlink(text, in_site(k_into + "bin/amdclang"));
  };
  const std::string other = "../../../../_rocm_sdk_libraries/bin/clang";
  link(other);
  EXPECT_TRUE(prove()) << "August's scripts leave links that lead nowhere";
  auto planted = path::normal(in_site(k_into + "bin/" + other));
  must(sys::make_directories(path::dirname(planted)));
  must(sys::write_file(planted, "evil"));
  expect_defect("bin/amdclang leads to " + other + ", not to ../llvm/bin/clang");
  link("../../_rocm_sdk_libraries/bin/clang");
  auto proof = prove();
  EXPECT_TRUE(proof) << "it ends at the same file: " << render(proof.error());
}

TEST_F(UnpackedByScripts, TheArchiveMayBeGoneOnceEveryMemberIsThere) {
  must(sys::remove_file(in_site("rocm_sdk_devel/_devel.tar")));
  expect_defect("rocm_sdk_devel/_devel.tar is missing"); // nothing was unpacked
  must(sys::write_file(in_site("rocm_sdk_devel/_devel.tar"), archive()));
  unpack(Era::february);
  must(sys::write_file(in_site("rocm_sdk_devel/_devel.tar"), "other"));
  expect_defect("rocm_sdk_devel/_devel.tar has 5 bytes");
  must(sys::remove_file(in_site("rocm_sdk_devel/_devel.tar")));
  std::filesystem::create_symlink("nowhere", in_site("rocm_sdk_devel/_devel.tar"));
  expect_defect("rocm_sdk_devel/_devel.tar is missing");
  must(sys::remove_file(in_site("rocm_sdk_devel/_devel.tar")));
  must(sys::remove_file(in_site(k_into + "include/hip.h")));
  expect_defect("include/hip.h is missing");
  must(sys::remove_file(in_site(k_into + "include/hip2.h")));
  auto record = in_site("rocm_sdk_devel-1.0.dist-info/RECORD");
  std::string rows;
  for (const auto& line : text::lines(must(sys::read_file(record))))
    if (!line.starts_with(k_into + "include/")) rows += line + "\n";
  must(sys::write_file(record, rows));
  expect_defect("rocm_sdk_devel/_devel.tar is gone, and _rocm_sdk_devel/include/hip.h was not unpacked from it");
}

TEST_F(UnpackedByScripts, OnlyAnEmptyLockMayLieThere) {
  unpack(Era::august);
  must(sys::write_file(in_site(k_into + ".devel_reconcile.lock"), "x"));
  expect_defect(".devel_reconcile.lock belongs to no installed distribution");
  must(sys::remove_file(in_site(k_into + ".devel_reconcile.lock")));
  must(sys::write_file(in_site(k_into + "lib/.devel_reconcile.lock"), ""));
  expect_defect("lib/.devel_reconcile.lock belongs to no installed distribution");
}

TEST_F(Install, BytecodeIsNoAlteration) {
  auto set = store_.publish("42", {});
  ASSERT_TRUE(install("set:" + set));
  sys::ProcessSpec spec;
  spec.argv = {env_ + "/bin/python", "-c", "import rocm_sdk_core, rocm_sdk"};
  spec.environment = variables_;
  ASSERT_EQ(must(sys::run_process(spec)).exit_code, 0);
  EXPECT_TRUE(prove_against("set:" + set));
}

TEST_F(Install, AnUnsealedEnvironmentIsProvenByItsReceipt) {
  testing::build_packages(scratch_.at("out"), {});
  auto done = must(install(scratch_.at("out")));
  auto environment = must(open_environment(env_));
  EXPECT_TRUE(prove_unchanged(environment, done.receipt, 1));
  forge(site("") + "/", "rocm_sdk_core-1.0", "rocm_sdk_core/__init__.py", "VALUE = 'e'\n");
  auto changed = prove_unchanged(environment, done.receipt, 1);
  ASSERT_FALSE(changed);
  EXPECT_THAT(render(changed.error()), HasSubstr("the RECORD of rocm-sdk-core is not the one"));
}

} // namespace
} // namespace quarry::venv
