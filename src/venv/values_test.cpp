// The parts of the room that are pure, or nearly.
#include "dist/name.hpp"
#include "venv/environment.hpp"
#include "venv/installer.hpp"
#include "venv/offers.hpp"
#include "venv/receipt.hpp"
#include "venv/reinstall.hpp"
#include "venv/source.hpp"
#include "venv/testing/tiny_sdk.hpp"
#include <fcntl.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

namespace quarry::venv {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;
using testing::must;
using ::testing::Not;
using ::testing::Pair;
using testing::Scratch;

TEST(Variables, WhatSteersToolsIsDropped) {
  auto clean = clean_variables({{"PATH", "/bin"},
                                {"PIP_INDEX_URL", "x"},
                                {"UV_INDEX", "x"},
                                {"PYTHONPATH", "x"},
                                {"PYTHONHOME", "x"},
                                {"VIRTUAL_ENV", "x"},
                                {"LD_PRELOAD", "x"},
                                {"LD_LIBRARY_PATH", "x"},
                                {"HTTPS_PROXY", "p"},
                                {"SSL_CERT_FILE", "c"},
                                {"ROCM_SDK_TARGET_FAMILY", "f"},
                                {"LC_ALL", "l"}});
  EXPECT_THAT(clean, Contains(Pair("PATH", "/bin")));
  EXPECT_THAT(clean, Contains(Pair("HTTPS_PROXY", "p")));
  EXPECT_THAT(clean, Contains(Pair("ROCM_SDK_TARGET_FAMILY", "f")));
  EXPECT_THAT(clean, Contains(Pair("REQUESTS_CA_BUNDLE", "c")));
  EXPECT_THAT(clean, Contains(Pair("PIP_CONFIG_FILE", "/dev/null")));
  for (const char* gone :
       {"PIP_INDEX_URL", "UV_INDEX", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LD_PRELOAD", "LD_LIBRARY_PATH"})
    EXPECT_THAT(clean, Not(Contains(Key(gone))));
}

// Whatever a job has, code under test starts without it unless it is on the list.
TEST(Variables, CredentialsAndUnknownNamesAreNotPassedOn) {
  Variables job;
  const std::vector<std::string> secret = {"AWS_SECRET_ACCESS_KEY",
                                           "AWS_SESSION_TOKEN",
                                           "AWS_WEB_IDENTITY_TOKEN_FILE",
                                           "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
                                           "ACTIONS_ID_TOKEN_REQUEST_URL",
                                           "ACTIONS_RUNTIME_TOKEN",
                                           "ACTIONS_CACHE_URL",
                                           "GITHUB_TOKEN",
                                           "GITHUB_ENV",
                                           "GITHUB_OUTPUT",
                                           "GITHUB_PATH",
                                           "GITHUB_STEP_SUMMARY",
                                           "GH_TOKEN",
                                           "AMD_ARTIFACTORY_TOKEN",
                                           "HIP_CLIENT_SECRET",
                                           "NETRC",
                                           "INPUT_KEY",
                                           "ANYTHING"};
  const std::vector<std::string> passed = {"ROCR_VISIBLE_DEVICES",
                                           "HIP_VISIBLE_DEVICES",
                                           "HSA_OVERRIDE_GFX_VERSION",
                                           "AMD_LOG_LEVEL",
                                           "GPU_MAX_HW_QUEUES",
                                           "https_proxy",
                                           "SSL_CERT_DIR",
                                           "TMPDIR"};
  for (const auto& name : secret) job[name] = "v";
  for (const auto& name : passed) job[name] = "v";
  auto clean = clean_variables(job);
  for (const auto& name : secret) EXPECT_THAT(clean, Not(Contains(Key(name))));
  for (const auto& name : passed) EXPECT_THAT(clean, Contains(Key(name)));
  auto more = activated_variables(Environment{"/e", "/e/bin/python", "3.11.7", "/s"}, job, {"HF_HOME", "ANYTHING"});
  EXPECT_THAT(more, Contains(Pair("ANYTHING", "v")));
  EXPECT_THAT(more, Not(Contains(Key("HF_HOME"))));
  EXPECT_THAT(more, Not(Contains(Key("GITHUB_TOKEN"))));
}

TEST(Variables, AnActivatedEnvironmentComesFirst) {
  Environment environment{"/e", "/e/bin/python", "3.11.7", "/e/lib/python3.11/site-packages"};
  EXPECT_EQ(environment.minor(), "3.11");
  auto active = activated_variables(environment, {{"PATH", "/usr/bin"}});
  EXPECT_EQ(active["PATH"], "/e/bin/:/usr/bin");
  EXPECT_EQ(active["VIRTUAL_ENV"], "/e");
}

const Environment k_env{"/e", "/e/bin/python", "3.11.7", "/s"};

TEST(InstallerCommand, OldPipsAreToldToMakeWheels) {
  EXPECT_TRUE(makes_no_wheels("22.2") && makes_no_wheels("23.0.1"));
  EXPECT_FALSE(makes_no_wheels("23.1") || makes_no_wheels("26.0") || makes_no_wheels("unknown"));
}

TEST(InstallerCommand, LocalSourcesAreAllThereIs) {
  Source source;
  InstallerRequest request;
  request.packages = {"rocm[libraries,devel]"};
  auto pip = installer_command(k_env, source, request, {"/l", "/r", "/c"});
  EXPECT_THAT(pip, ElementsAre("/e/bin/python", "-I", "-m", "pip", "--isolated", "--disable-pip-version-check",
                               "--no-input", "install", "--progress-bar", "off", "--no-index", "--find-links", "/l",
                               "--no-cache-dir", "--", "rocm[libraries,devel]"));
  request.build_wheels = true;
  EXPECT_THAT(installer_command(k_env, source, request, {"/l", "/r", "/c"}), ::testing::Contains("--use-pep517"));
  request.installer = Installer::uv;
  request.pre = request.reinstall = true;
  auto uv = installer_command(k_env, source, request, {"/l", "/r", "/c"});
  EXPECT_THAT(uv, ElementsAre("uv", "pip", "install", "--no-config", "--no-progress", "--python", "/e/bin/python",
                              "--no-index", "--find-links", "/l", "--prerelease=allow", "--reinstall", "--offline",
                              "--cache-dir", "/c", "--", "rocm[libraries,devel]"));
}

TEST(InstallerCommand, RemoteSourcesAreReported) {
  Source source;
  source.index_url = "https://example.org/simple/";
  InstallerRequest request;
  request.packages = {"rocm"};
  request.pre = true;
  auto command = installer_command(k_env, source, request, {"/l", "/r", "/c"});
  EXPECT_THAT(text::join(command, " "), HasSubstr("--index-url https://example.org/simple/ --pre --report /r -- rocm"));
  source.index_url = "";
  source.find_links = {"https://example.org/index.html"};
  command = installer_command(k_env, source, request, {"/l", "/r", "/c"});
  EXPECT_THAT(text::join(command, " "),
              HasSubstr("--no-index --find-links https://example.org/index.html --no-build-isolation --pre"));
}

// Every user of a machine can read the arguments of a process.
TEST(InstallerCommand, CredentialsAreNotArguments) {
  Source source;
  source.index_url = "https://me:pw$x@host/simple/?sig=1";
  source.find_links = {"https://host/links.html"};
  EXPECT_EQ(source_addresses(source),
            "--index-url https://me:pw%24x@host/simple/?sig=1\n--find-links https://host/links.html\n");
  InstallerRequest request;
  request.packages = {"rocm", "torch @ https://me:pw@host/torch.whl"};
  EXPECT_EQ(secret_packages(request.packages), "rocm\ntorch @ https://me:pw@host/torch.whl\n");
  for (auto installer : {Installer::pip, Installer::uv}) {
    request.installer = installer;
    auto words = installer_command(k_env, source, request, {"/l", "/r", "/c", "/a", "/p"});
    EXPECT_THAT(words, Not(Contains(HasSubstr("me:pw"))));
    EXPECT_THAT(words, Not(Contains(HasSubstr("sig="))));
    EXPECT_THAT(words, Contains("/a"));
    EXPECT_THAT(words, Contains("/p"));
  }
  source.index_url = "https://host/simple/";
  EXPECT_EQ(source_addresses(source), "");
  EXPECT_EQ(secret_packages({"rocm[libraries]", "torch @ https://host/torch.whl"}), "");
  SourceRequest wanted;
  wanted.index_url = "https://me:pw@host/simple/?sig=1";
  auto found = must(find_source(wanted));
  EXPECT_EQ(found.description, "url:https://host/simple/");
  EXPECT_EQ(found.locator, "https://host/simple/");
  EXPECT_EQ(found.index_url, wanted.index_url);
  wanted = {};
  wanted.locator = "https://token@host/simple/";
  EXPECT_EQ(must(find_source(wanted)).description, "url:https://host/simple/");
}

TEST(InstallerOutput, TransientOrNot) {
  EXPECT_TRUE(looks_transient("WARNING: Retrying … NewConnectionError: Temporary failure in name resolution"));
  EXPECT_TRUE(looks_transient("error: Failed to fetch: `https://x`\n  Caused by: dns error"));
  EXPECT_FALSE(looks_transient("ERROR: No matching distribution found for rocm"));
  EXPECT_FALSE(looks_transient(""));
}

TEST(FindSource, IndexesHaveNames) {
  struct Case {
    const char *name, *subdir, *url;
  };
  for (auto [name, subdir, url] : {Case{"nightly", "", "nightly.repo.amd.com/rocm/whl-next/"},
                                   {"prerelease", "", "rc.repo.amd.com/rocm/whl-next/"},
                                   {"nightly", "gfx94X-dcgpu", "rocm.nightlies.amd.com/v2/gfx94X-dcgpu/"},
                                   {"prerelease", "gfx1151", "rocm.prereleases.amd.com/whl/gfx1151/"},
                                   {"stable", "gfx1151", "repo.amd.com/rocm/whl/gfx1151/"},
                                   {"dev", "gfx1151/", nullptr},
                                   {"dev", "../v1", nullptr}}) {
    SourceRequest request;
    request.index_name = name;
    request.index_subdir = subdir;
    auto source = find_source(request);
    ASSERT_EQ(source.has_value(), url != nullptr) << subdir;
    EXPECT_EQ(source ? *source->index_url : source.error().code, url ? fmt::format("https://{}", url) : "V005");
  }
  SourceRequest own;
  own.index_url = "https://example.org/v2/";
  own.index_subdir = "gfx1151";
  EXPECT_EQ(*find_source(own)->index_url, "https://example.org/v2/gfx1151/");
}

struct Attempts {
  int waits = 0;
  std::uint64_t waited = 0;
  std::string reason;
};

TEST(RunInstaller, TriesAgainUntilTheTimeIsUp) {
  Source source;
  source.index_url = "https://example.org/";
  InstallerRequest request;
  request.packages = {"x"};
  request.retry_timeout_ms = 60'000;
  request.retry_wait_ms = 25'000;
  Attempts attempts;
  InstallerHooks hooks{{}, [&](std::uint64_t ms, const std::string& reason) -> Result<void> {
                         attempts.reason = reason;
                         ++attempts.waits;
                         attempts.waited += ms;
                         return {};
                       }};
  auto run = [&] {
    return run_installer({{"sh", "-c", "echo Connection refused; exit 1"}, k_env, testing::machine_variables()}, source,
                         request, hooks);
  };
  auto done = run();
  ASSERT_FALSE(done);
  EXPECT_EQ(traits(done.error().kind).exit_code, 5);
  EXPECT_EQ(attempts.waits, 2);
  EXPECT_EQ(attempts.reason, "Connection refused");
  attempts = {};
  request.retry_timeout_ms = 0;
  EXPECT_FALSE(run());
  EXPECT_EQ(attempts.waits, 0);
  request.retry_timeout_ms = 60'000;
  auto after = [&](std::string_view output) {
    attempts = {};
    EXPECT_FALSE(
        run_installer({{"sh", "-c", fmt::format("echo '{}'; exit 1", output)}, k_env, testing::machine_variables()},
                      source, request, hooks));
    return attempts.waits;
  };
  EXPECT_EQ(after("ERROR: No matching distribution found for x"), 2); // an index may be behind its files
  EXPECT_EQ(after("error: subprocess-exited-with-error"), 0);         // a build that fails does so again
  source.index_url.reset();                                           // a local source does not heal by waiting
  auto local = run();
  ASSERT_FALSE(local);
  EXPECT_EQ(attempts.waits, 0);
  EXPECT_EQ(traits(local.error().kind).exit_code, 1);
}

Source offering(std::initializer_list<std::pair<const char*, const char*>> files) {
  Source source;
  source.description = "run:42-linux";
  for (const auto& [name, version] : files) {
    Offered offered;
    offered.file.filename = name;
    offered.file.project = must(dist::DistributionName::parse(name)).project.str();
    offered.file.version = version;
    source.files.push_back(std::move(offered));
  }
  return source;
}

TEST(OffersHint, SaysWhatTheSourceHas) {
  auto source = offering({{"rocm-7.1.0.tar.gz", "7.1.0"},
                          {"rocm-7.2.0.tar.gz", "7.2.0"},
                          {"soon-1.0rc1-py3-none-any.whl", "1.0rc1"},
                          {"other-1.0-cp39-cp39-linux_x86_64.whl", "1.0"},
                          {"dlls-1.0-py3-none-win_amd64.whl", "1.0"}});
  auto hint = [&](const std::string& package) { return offers_hint(source, {package}, "", false); };
  EXPECT_EQ(hint("nosuch"), "run:42-linux has no nosuch; it has: dlls, other, rocm, soon");
  EXPECT_EQ(hint("rocm==9.9"), "run:42-linux has rocm 7.2.0, 7.1.0");
  EXPECT_EQ(hint("soon"), "only pre-releases of soon fit (1.0rc1): add --pre");
  EXPECT_EQ(hint("dlls"), "the wheels of dlls in run:42-linux are for Windows: install them there");
  EXPECT_EQ(hint("other"), "no file of other fits this Python and platform: other-1.0-cp39-cp39-linux_x86_64.whl");
  EXPECT_EQ(offers_hint(source, {"rocm"}, "ERROR: No matching distribution found for dlls==1.0 (from rocm)\n", false),
            hint("dlls"));
  EXPECT_EQ(offers_hint(Source{}, {"rocm"}, "", false), "");
}

TEST(FailureReason, IsTheLastErrorAndTheNetworksFailure) {
  EXPECT_EQ(failure_reason("WARNING: Retrying after '[Errno 111] Connection refused': /simple/x/\n"
                           "ERROR: Could not find a version\nERROR: No matching distribution found for x\n\n"),
            "No matching distribution found for x (Connection refused)");
  EXPECT_EQ(failure_reason("a\nlast words\n"), "last words");
  EXPECT_EQ(failure_reason(""), "");
}

TEST(ReinstallCommand, IsWhole) {
  EXPECT_EQ(reinstall_command({"/x/my env", "channel:staging", "file:/srv/store", {"rocm[libraries]", "numpy"}}),
            "quarry venv install '/x/my env' --clean --from channel:staging --store file:/srv/store "
            "--packages 'rocm[libraries] numpy'");
  EXPECT_EQ(reinstall_command({"/x", "dist", "", {"rocm"}}),
            "quarry venv install /x --clean --from dist --packages rocm");
}

TEST(RunInstaller, LastLinesAreKept) {
  InstallerRequest request;
  request.packages = {"x"};
  auto done = run_installer(
      {{"sh", "-c", "for i in $(seq 100); do echo line $i; done; echo; exit 7"}, k_env, testing::machine_variables()},
      Source{}, request, {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().details.size(), 12u);
  EXPECT_EQ(done.error().details.back(), "line 100");
}

TEST(PipReport, IsRead) {
  std::string hash(64, 'a');
  auto files = parse_pip_report(
      {R"({"version":"1","install":[{"metadata":{"name":"Rocm_SDK.core","version":"1.0"},"download_info":{"url":"https://h/a%2Bb/rocm_sdk_core-1.0%2Bx-py3-none-any.whl","archive_info":{"hashes":{"sha256":")" +
           hash + R"("}}}}]})",
       "r"});
  ASSERT_TRUE(files) << render(files.error());
  EXPECT_EQ(files->at(0).project, "rocm-sdk-core");
  EXPECT_EQ(files->at(0).filename, "rocm_sdk_core-1.0+x-py3-none-any.whl");
  EXPECT_EQ(files->at(0).sha256.hex(), hash);
  // As pip 22.2 writes it; 23.0 writes the same in format 1, for a page without digests.
  for (const std::string format : {"0", "1"}) {
    auto older = parse_pip_report(
        {R"({"version":")" + format +
             R"(","install":[{"metadata":{"name":"a","version":"1"},"download_info":{"url":"file:///a-1.tar.gz","archive_info":{"hash":"sha256=)" +
             hash + R"("}}}]})",
         "r"});
    ASSERT_TRUE(older) << render(older.error());
    EXPECT_EQ(older->at(0).sha256.hex(), hash);
  }
  for (
      const char* bad :
      {"", "{}", R"({"version":"2","install":[]})", R"({"version":"1"})", R"({"version":"1","install":[{}]})",
       R"({"version":"1","install":[{"metadata":{"name":"a","version":"1"},"download_info":{"url":"u","dir_info":{}}}]})",
       R"({"version":"1","install":[{"metadata":{"name":"a","version":"1"},"download_info":{"url":"u","archive_info":{"hashes":{"sha256":"zz"}}}}]})",
       R"({"version":"1","install":[{"metadata":{"name":"a","version":"1"},"download_info":{"url":"u","archive_info":{"hash":"md5=d41d8cd98f00b204e9800998ecf8427e"}}}]})",
       R"({"version":"1","install":[{"metadata":{"name":"a","version":"1"},"download_info":{"url":"u","archive_info":{}}}]})"}) {
    auto wrong = parse_pip_report({bad, "r"});
    ASSERT_FALSE(wrong) << bad;
    EXPECT_EQ(wrong.error().code, "V012");
  }
}

TEST(HashedRequirements, AreRead) {
  std::string a(64, 'a'), b(64, 'b');
  auto files =
      parse_hashed_requirements("rocm[libraries]==7.2.0 \\\n    --hash=sha256:" + a +
                                "\nrocm-sdk-core==7.2.0 ; sys_platform == 'linux' \\\n    --hash=sha256:" + b + "\n");
  ASSERT_TRUE(files) << render(files.error());
  ASSERT_EQ(files->size(), 2u);
  EXPECT_EQ(files->at(0).project, "rocm");
  EXPECT_EQ(files->at(0).version, "7.2.0");
  EXPECT_EQ(files->at(1).sha256.hex(), b);
  auto several = parse_hashed_requirements("x==1 --hash=sha256:" + a + " --hash=sha256:" + b + "\n");
  ASSERT_FALSE(several);
  EXPECT_EQ(several.error().code, "V013");
  EXPECT_FALSE(parse_hashed_requirements("x==1\n"));
}

Receipt a_receipt() {
  Receipt receipt;
  receipt.locator = "channel:staging";
  receipt.source = "channel:staging";
  receipt.store = "file:/s";
  receipt.sealed = true;
  receipt.sets = {registry::SetDigest(sha256("a"))};
  receipt.view = registry::ViewDigest(sha256("b"));
  receipt.generation = 7;
  receipt.packages = {"rocm[libraries]"};
  receipt.files = {{"rocm", "1.0", "rocm-1.0.tar.gz", sha256("x"), 12, FileKind::sdist, sha256("y"), ""}};
  receipt.others = {{"pip", "23.2.1"}};
  receipt.installer = "pip";
  receipt.installer_version = "23.2.1";
  receipt.python_version = "3.11.7";
  receipt.quarry_version = "0.1.0";
  receipt.time = "2026-11-21T10:00:00.000000Z";
  return receipt;
}

TEST(Receipt, RoundTrip) {
  auto parsed = parse_receipt({to_json(a_receipt()), "r"});
  ASSERT_TRUE(parsed) << render(parsed.error());
  EXPECT_EQ(*parsed, a_receipt());
}

TEST(Receipt, Refusals) {
  auto good = to_json(a_receipt());
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"quarry.receipt/1", "quarry.receipt/2"},
                                                        {"\"sealed\": true", "\"sealed\": \"yes\""},
                                                        {"\"kind\": \"sdist\"", "\"kind\": \"egg\""},
                                                        {sha256("x").hex(), "abc"},
                                                        {"\"files\"", "\"filez\""},
                                                        {"\"sets\": [", "\"sets\": 5, \"x\": ["}}) {
    auto text = text::replace_all(good, from, to);
    ASSERT_NE(text, good) << from;
    EXPECT_FALSE(parse_receipt({text, "r"})) << from;
  }
  EXPECT_FALSE(parse_receipt({"[]", "r"}));
  EXPECT_FALSE(parse_receipt({"", "r"}));
}

TEST(Python, AMissingOneIsNamedWithThoseThatAreThere) {
  auto variables = testing::machine_variables();
  for (const char* wanted : {"3.99", "python3.99", "/nowhere/python3"}) {
    auto found = find_python(wanted, variables);
    ASSERT_FALSE(found) << wanted;
    EXPECT_EQ(found.error().code, "V002");
    EXPECT_EQ(traits(found.error().kind).exit_code, 12);
    EXPECT_THAT(found.error().hint, HasSubstr("here are: 3."));
  }
}

TEST(Python, ACandidateThatDoesNotRunIsPassedOver) {
  Scratch scratch;
  must(sys::make_directories(scratch.at("shims")));
  must(sys::write_file(scratch.at("shims/python3"), "#!/bin/sh\necho no such version >&2\nexit 127\n", 0755));
  auto variables = testing::machine_variables();
  variables["PATH"] = scratch.at("shims") + ":" + variables["PATH"];
  auto found = find_python("", variables);
  ASSERT_TRUE(found) << render(found.error());
  EXPECT_NE(found->path, scratch.at("shims/python3"));
  auto minor = text::split(found->version, '.');
  auto exact = find_python(minor[0] + "." + minor[1], variables);
  ASSERT_TRUE(exact);
  EXPECT_THAT(exact->version, HasSubstr(minor[0] + "." + minor[1] + "."));
}

TEST(Python, NoneAtAll) {
  Scratch scratch;
  auto found = find_python("", {{"PATH", scratch.path}, {"HOME", scratch.path}});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, "V002");
}

TEST(Create, KeepsClearsAndRefuses) {
  Scratch scratch;
  auto variables = testing::machine_variables();
  auto env = testing::fresh_environment(scratch.at("env"));
  auto kept = create_environment({env, "", false, false}, variables);
  ASSERT_TRUE(kept) << render(kept.error());
  EXPECT_TRUE(kept->existed);

  must(sys::make_directories(scratch.at("work")));
  must(sys::write_file(scratch.at("work/thesis.txt"), "years"));
  for (bool clean : {false, true}) {
    auto refused = create_environment({scratch.at("work"), "", clean, false}, variables);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "V003");
    EXPECT_TRUE(sys::exists(scratch.at("work/thesis.txt")));
  }
  auto file = create_environment({scratch.at("work/thesis.txt"), "", true, false}, variables);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, "V003");

  auto missing = create_environment({env, "3.99", true, false}, variables);
  ASSERT_FALSE(missing);
  EXPECT_TRUE(is_environment(env)) << "nothing is cleared for a Python that is not there";
}

TEST(Create, ADirectoryThatIsThereStays) {
  Scratch scratch;
  auto variables = testing::machine_variables();
  auto directory = scratch.at("here");
  must(sys::make_directories(directory));
  auto held = sys::File(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (bool clean : {false, true}) {
    auto made = create_environment({directory, "", clean, false}, variables);
    ASSERT_TRUE(made) << render(made.error());
    EXPECT_FALSE(made->existed);
    struct stat first{}, now{};
    ASSERT_EQ(::fstat(held.descriptor(), &first), 0);
    ASSERT_EQ(::stat(directory.c_str(), &now), 0);
    EXPECT_EQ(now.st_ino, first.st_ino) << "filled, not replaced";
  }
}

TEST(Create, AFailureLeavesNothing) {
  Scratch scratch;
  must(sys::make_directories(scratch.at("bin")));
  must(sys::write_file(scratch.at("bin/python3"),
                       "#!/bin/sh\ncase \"$*\" in *version_info*) echo 3.11.0;; *) mkdir -p \"$4\"; echo Error: "
                       "ensurepip is not available; exit 1;; esac\n",
                       0755));
  auto made =
      create_environment({scratch.at("env"), scratch.at("bin/python3"), false, false}, testing::machine_variables());
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, "V004");
  EXPECT_EQ(traits(made.error().kind).exit_code, 12);
  EXPECT_THAT(made.error().hint, HasSubstr("python3-venv"));
  EXPECT_FALSE(sys::exists(scratch.at("env")));
}

TEST(Open, WhatIsNoEnvironment) {
  Scratch scratch;
  must(sys::make_directories(scratch.at("a/bin")));
  for (const char* name : {"nowhere", "a"}) {
    auto opened = open_environment(scratch.at(name));
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, "V001");
    EXPECT_EQ(traits(opened.error().kind).exit_code, 3);
  }
}

} // namespace
} // namespace quarry::venv
