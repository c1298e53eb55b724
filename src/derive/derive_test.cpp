#include "derive/finalize.hpp"
#include "derive/occurrences.hpp"
#include "derive/prove.hpp"
#include "derive/sdist.hpp"

#include "sys/file.hpp"
#include "sys/path.hpp"
#include "wheel/wheel.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::derive {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::uint64_t count_in(const std::string& text, std::size_t piece) {
  WordCounter counter("7.2.0rc1");
  for (std::size_t at = 0; at < text.size(); at += piece) counter.feed(std::string_view(text).substr(at, piece));
  return counter.finish();
}

TEST(WordCounter, FindsWholeVersionsHoweverTheTextIsCut) {
  for (std::size_t piece = 1; piece < 30; ++piece) {
    EXPECT_EQ(count_in("7.2.0rc1", piece), 1u) << piece;
    EXPECT_EQ(count_in("x7.2.0rc1 7.2.0rc17.2.0rc1;7.2.0rc10 17.2.0rc1\n7.2.0rc1", piece), 2u) << piece;
    EXPECT_EQ(count_in("7.2.0rc17.2.0rc1", piece), 0u) << piece;
    EXPECT_EQ(count_in("7.2.0rc1 7.2.0rc1 7.2.0rc1x", piece), 3u) << piece;
    EXPECT_EQ(count_in("7.2.0rc", piece), 0u) << piece;
  }
}

class Finalize : public testing::Test {
protected:
  void SetUp() override { directory_ = sys::make_temporary_directory(testing::TempDir(), "derive-").value(); }
  void TearDown() override { ASSERT_TRUE(sys::remove_tree(directory_)); }

  static std::string sdist_bytes(const std::string& version, const std::string& more = "") {
    Sdist sdist{"rocm-" + version + ".tar.gz", {}};
    auto add = [&](const std::string& path, const std::string& content) {
      sdist.members.push_back({"rocm-" + version + "/" + path, tar::Type::file, false, {}, content});
    };
    add("PKG-INFO", "Metadata-Version: 2.4\nName: rocm\nVersion: " + version +
                        "\nRequires-Dist: rocm-sdk-core==" + version + "\n\n");
    add("src/rocm_sdk/_dist_info.py", "__version__ = \"" + version + "\"\n" + more);
    return packed_sdist(sdist).value();
  }
  std::string wheel_bytes(const std::string& version, const std::string& library = "library",
                          const std::string& project = "rocm-sdk-core", const std::string& requires_dist = "") {
    wheel::WheelSpec spec;
    spec.metadata.name = project;
    spec.metadata.version = version;
    if (!requires_dist.empty()) spec.metadata.requires_dist = {requires_dist};
    spec.tags = {"py3", "none", "linux_x86_64"};
    spec.members = {{"rocm_sdk_core/lib.so", content::Rope::literal(library), true}};
    auto built = wheel::pack(spec, directory_ + "/pack", {});
    EXPECT_TRUE(built) << render(built.error());
    return sys::read_file(built->path).value();
  }
  registry::SealedSet put(const std::string& directory, const std::map<std::string, std::string>& files) {
    registry::SetRecord set;
    set.directory = directory;
    set.origin.platform = Platform::linux;
    for (const auto& [name, bytes] : files) {
      registry::FileRecord file;
      auto parsed = dist::DistributionName::parse(name).value();
      file.filename = name;
      file.project = parsed.project.str();
      file.version = parsed.version.str();
      file.size = bytes.size();
      file.sha256 = sha256(bytes);
      file.upload_time = "2026-11-20T10:00:00.000000Z";
      file.key = directory + "/dist/" + name;
      EXPECT_TRUE(store_->put(file.key, content::Rope::literal(bytes), {}));
      if (name.ends_with(".whl")) file.metadata_sha256 = sha256(name);
      set.files.push_back(file);
    }
    auto digest = registry::put_set(*store_, set).value();
    EXPECT_TRUE(registry::seal(*store_, digest, *sys::Timestamp::parse("2026-11-20T10:00:01.000000Z")));
    return registry::load_sealed(*store_, digest).value();
  }
  registry::SealedSet candidate() {
    return put("41-linux/python/g", {{"rocm-7.2.0rc1.tar.gz", sdist_bytes("7.2.0rc1")},
                                     {"rocm_sdk_core-7.2.0rc1-py3-none-linux_x86_64.whl", wheel_bytes("7.2.0rc1")},
                                     {"jinja-3.1-py3-none-linux_x86_64.whl", wheel_bytes("3.1", "7.2.0rc1", "jinja")}});
  }
  Result<std::vector<MadeSet>> make(const registry::SealedSet& sealed, const std::string& candidate_version = "") {
    TRY(auto plan, plan_finalize({{sealed}, "7.2.0", candidate_version}));
    return finalize(*store_, plan, {directory_ + "/out", {}, 2, {}});
  }
  /// What was made, as a set of its own.
  registry::SealedSet published(const MadeSet& made) {
    std::map<std::string, std::string> files;
    for (const auto& file : made.record.files)
      files[file.filename] = sys::read_file(path::join(made.path, "dist/" + file.filename)).value();
    return put("42-linux/python/g", files);
  }
  std::string directory_;
  std::unique_ptr<store::ObjectStore> store_ = store::make_memory_store();
};

TEST_F(Finalize, MakesProvenPackagesAndARecord) {
  auto old = candidate();
  auto all = make(old);
  ASSERT_TRUE(all) << render(all.error());
  const auto& made = all->at(0);
  EXPECT_EQ(path::basename(made.path), "linux-python");
  EXPECT_EQ(made.record.candidate, old.digest);
  ASSERT_EQ(made.record.files.size(), 3u);
  EXPECT_EQ(made.record.files[0].filename, "jinja-3.1-py3-none-linux_x86_64.whl");
  EXPECT_EQ(made.record.files[0].sha256, made.record.files[0].candidate_sha256);
  EXPECT_EQ(made.record.files[1].filename, "rocm-7.2.0.tar.gz");
  EXPECT_THAT(made.record.files[1].changed,
              ElementsAre("rocm-7.2.0/PKG-INFO", "rocm-7.2.0/src/rocm_sdk/_dist_info.py"));
  EXPECT_EQ(made.record.files[2].filename, "rocm_sdk_core-7.2.0-py3-none-linux_x86_64.whl");
  EXPECT_THAT(made.findings, IsEmpty()) << "a copied package is not searched";
  EXPECT_EQ(sys::read_file(made.path + "/derivation.json").value(), registry::to_json(made.record));
  EXPECT_FALSE(sys::exists(made.path + "/dist/" + dist::k_being_built));

  auto release = published(made);
  auto proven = prove_derivation(*store_, release.set, made.record, 2);
  ASSERT_TRUE(proven) << render(proven.error());
  EXPECT_EQ(proven->digest, old.digest);
  auto again = make(old);
  ASSERT_TRUE(again) << render(again.error());
  EXPECT_EQ(registry::to_json(again->at(0).record), registry::to_json(made.record))
      << "made already: a run over several sets may have been killed later";
  ASSERT_TRUE(sys::write_file(made.path + "/dist/rocm-7.2.0.tar.gz", "another"));
  EXPECT_EQ(make(old).error().code, "O103") << "packages of another run are there";
}

TEST_F(Finalize, ReplacesWhatAKilledRunLeft) {
  auto dist = directory_ + "/out/linux-python/dist";
  ASSERT_TRUE(sys::make_directories(dist));
  ASSERT_TRUE(sys::write_file(dist + "/" + dist::k_being_built, ""));
  ASSERT_TRUE(sys::write_file(dist + "/half-7.2.0.tar.gz", "half"));
  ASSERT_TRUE(make(candidate()));
  EXPECT_FALSE(sys::exists(dist + "/half-7.2.0.tar.gz"));
}

TEST_F(Finalize, KeepsWhatARunHasFinished) {
  auto old = candidate();
  auto made = make(old).value().at(0);
  // As it looks to a run that saw the marker, and got the lock only when the other run was done.
  ASSERT_TRUE(sys::write_file(made.path + "/dist/" + dist::k_being_built, ""));
  auto bytes = sys::read_file(made.path + "/dist/rocm-7.2.0.tar.gz").value();
  EXPECT_TRUE(make(old));
  EXPECT_FALSE(sys::exists(made.path + "/dist/" + dist::k_being_built)) << "the killed run could not remove it";
  EXPECT_EQ(sys::read_file(made.path + "/dist/rocm-7.2.0.tar.gz").value(), bytes);
  ASSERT_TRUE(sys::write_file(made.path + "/dist/" + dist::k_being_built, ""));
  ASSERT_TRUE(sys::write_file(made.path + "/dist/foreign.whl", "somebody's"));
  EXPECT_EQ(make(old).error().code, "O103");
  EXPECT_TRUE(sys::exists(made.path + "/dist/rocm-7.2.0.tar.gz"));
  ASSERT_TRUE(sys::remove_tree(made.path + "/dist"));
  EXPECT_TRUE(make(old)) << "a record without packages stops nobody";
}

TEST_F(Finalize, WritesNothingWhereOneDirectoryIsTaken) {
  auto first = candidate(), second = candidate();
  first.set.origin.group = "gfx110X-all";
  second.set.origin.group = "gfx94X-dcgpu";
  auto plan = plan_finalize({{first, second}, "7.2.0", ""});
  ASSERT_TRUE(plan) << render(plan.error());
  auto taken = directory_ + "/out/" + plan->sets[1].directory + "/dist";
  ASSERT_TRUE(sys::make_directories(taken));
  ASSERT_TRUE(sys::write_file(taken + "/foreign.whl", "somebody's"));
  EXPECT_EQ(check_output(*plan, {directory_ + "/out"}).error().code, "O103");
  EXPECT_EQ(finalize(*store_, *plan, {directory_ + "/out", {}, 2, {}}).error().code, "O103");
  EXPECT_FALSE(sys::exists(directory_ + "/out/" + plan->sets[0].directory));
}

// The second set was finished for another release: that is told before the first one is made.
TEST_F(Finalize, FailsBeforeTheWorkWhereAnotherReleaseHasMadeASet) {
  auto first = candidate(), second = candidate();
  first.set.origin.group = "gfx110X-all";
  second.set.origin.group = "gfx94X-dcgpu";
  auto both = plan_finalize({{first, second}, "7.2.0", ""});
  ASSERT_TRUE(both) << render(both.error());
  auto out = directory_ + "/out";
  const registry::ReleaseDigest one(sha256("one")), other(sha256("other"));
  ASSERT_TRUE(finalize(*store_, *both, {out, one, 2, {}}));
  ASSERT_TRUE(sys::remove_tree(out + "/" + both->sets[0].directory));
  EXPECT_EQ(check_output(*both, {out, other}).error().code, "O103");
  EXPECT_EQ(finalize(*store_, *both, {out, other, 2, {}}).error().code, "O103");
  EXPECT_FALSE(sys::exists(out + "/" + both->sets[0].directory)) << "nothing was made";
  auto again = finalize(*store_, *both, {out, one, 2, {}});
  ASSERT_TRUE(again) << render(again.error());
  EXPECT_FALSE(again->at(0).before);
  EXPECT_TRUE(again->at(1).before);
  // Altered packages are told before the work, too.
  ASSERT_TRUE(sys::remove_tree(out + "/" + both->sets[0].directory));
  ASSERT_TRUE(sys::write_file(out + "/" + both->sets[1].directory + "/dist/rocm-7.2.0.tar.gz", "another"));
  EXPECT_EQ(finalize(*store_, *both, {out, one, 2, {}}).error().code, "O103");
  EXPECT_FALSE(sys::exists(out + "/" + both->sets[0].directory));
}

TEST_F(Finalize, TellsWhereTheCandidateIsStillNamed) {
  auto sealed =
      put("41-linux/python/g",
          {{"rocm-7.2.0rc1.tar.gz", sdist_bytes("7.2.0rc1", "# 7.2.0rc1\n")},
           {"rocm_sdk_core-7.2.0rc1-py3-none-linux_x86_64.whl", wheel_bytes("7.2.0rc1", "7.2.0rc1 and 7.2.0rc1")}});
  auto made = make(sealed);
  ASSERT_TRUE(made) << render(made.error());
  ASSERT_EQ(made->at(0).findings.size(), 2u);
  EXPECT_EQ(made->at(0).findings[0].place, "rocm-7.2.0.tar.gz!rocm-7.2.0/src/rocm_sdk/_dist_info.py");
  EXPECT_EQ(made->at(0).findings[1].code, "O104");
  EXPECT_EQ(made->at(0).findings[1].message, "holds `7.2.0rc1` 2 times");
}

TEST_F(Finalize, RefusesWhatCannotBeMade) {
  auto rocm = std::pair<const std::string, std::string>{"rocm-7.2.0rc1.tar.gz", sdist_bytes("7.2.0rc1")};
  auto pinning = put("1-linux/python/g",
                     {rocm, {"tool-1.0-py3-none-linux_x86_64.whl", wheel_bytes("1.0", "x", "tool", "rocm==7.2.0rc1")}});
  EXPECT_EQ(make(pinning).error().code, "O101");
  auto altered = put("2-linux/python/g", {rocm});
  ASSERT_TRUE(store_->put(altered.set.files[0].key, content::Rope::literal("other"), {}));
  EXPECT_EQ(make(altered).error().code, "O105");
  ASSERT_TRUE(store_->remove(altered.set.files[0].key));
  EXPECT_EQ(make(altered).error().code, "O105");
  auto framework = put("3-linux/python/g", {{"tool-1.0-py3-none-linux_x86_64.whl", wheel_bytes("1.0", "x", "tool")}});
  EXPECT_EQ(make(framework).error().code, "O100") << "no rocm";
  EXPECT_EQ(make(framework, "7.2.0rc1").error().code, "O106");
  auto two = put("4-linux/python/g", {rocm, {"rocm-7.2.0rc2.tar.gz", sdist_bytes("7.2.0rc2")}});
  EXPECT_THAT(render(make(two).error()), HasSubstr("7.2.0rc1, 7.2.0rc2"));
  EXPECT_EQ(make(two, "7.1.0").error().code, "M016");
}

TEST_F(Finalize, ProvesNoSetThatHoldsAnythingElse) {
  auto old = candidate();
  auto made = make(old).value().at(0);
  auto good = published(made);
  auto code_of = [&](const registry::SetRecord& set, const registry::DerivationRecord& record) {
    auto proven = prove_derivation(*store_, set, record, 1);
    return proven ? std::string("proven") : proven.error().code;
  };
  // One more file, which the record does not name; then one that the record names as made of nothing known.
  auto core = std::string("rocm_sdk_core-7.2.0-py3-none-linux_x86_64.whl");
  auto evil = wheel_bytes("7.2.0", "evil");
  auto other = put("43-linux/python/g", {{core, evil}});
  EXPECT_EQ(code_of(other.set, made.record), "O102");
  auto lying = made.record;
  lying.files[2].sha256 = sha256(evil);
  EXPECT_EQ(code_of(other.set, lying), "W031") << "a record that names the evil bytes";
  lying.files[2].candidate_sha256 = sha256(evil);
  EXPECT_EQ(code_of(other.set, lying), "O102") << "the candidate does not hold them";
  auto copied = put("44-linux/python/g", {{core, wheel_bytes("7.2.0rc1")}});
  lying = made.record;
  lying.files[2].sha256 = lying.files[2].candidate_sha256;
  EXPECT_EQ(code_of(copied.set, lying), "O102") << "the candidate's bytes under another name";
  auto sdist = put("45-linux/python/g", {{"rocm-7.2.0.tar.gz", sdist_bytes("7.2.0", "evil")}});
  lying = made.record;
  lying.files[1].sha256 = sdist.set.files[0].sha256;
  EXPECT_EQ(code_of(sdist.set, lying), "O102");
  lying = made.record;
  lying.candidate = good.digest;
  EXPECT_EQ(code_of(good.set, lying), "O102") << "another set than that of the record";
  lying = made.record;
  lying.version = "7.3.0";
  EXPECT_EQ(code_of(good.set, lying), "M016");
  ASSERT_TRUE(store_->put(old.set.files[2].key, content::Rope::literal("altered"), {}));
  EXPECT_EQ(code_of(good.set, made.record), "O105") << "the candidate is not what was tested";
}

} // namespace
} // namespace quarry::derive
