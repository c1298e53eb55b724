// The line from packages to a promoted channel, as scripts see it: exit codes and JSON.
#include "cli/commands.hpp"
#include "cli/testing/world.hpp"
#include "sys/file.hpp"
#include "sys/tree.hpp"
#include "wheel/wheel.hpp"
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <nlohmann/json.hpp>

namespace quarry::cli {
namespace {

using ::testing::HasSubstr;

constexpr const char* k_policy =
    "schema = \"quarry.policy/1\"\nname = \"p\"\nmax_age = \"1d\"\napprovers = [\"lead\"]\nwaiver_max_age = \"1d\"\n"
    "[[require]]\nplatforms = [\"linux\"]\nfamilies = [\"*\"]\npythons = [\"*\"]\nsuites = [\"smoke\"]\n";

class Line : public ::testing::Test {
protected:
  void SetUp() override {
    place_ = *sys::make_temporary_directory(::testing::TempDir(), "quarry-line-");
    ASSERT_TRUE(sys::write_file(place_ + "/policy.toml", k_policy));
    world_.environment["QUARRY_STORE"] = "file:" + place_ + "/store";
    world_.directory = place_;
    world_.clock.advance_us(sys::RealClock().now_us() - world_.clock.now_us()); // `promote` compares it with the store
    for (const auto* name : {"data/coherence.toml", "data/profiles/store.toml", "data/profiles/release.toml"})
      world_.resources.files[name] = *sys::read_file(std::string(QUARRY_SOURCE_DIR) + "/" + name);
    // Rule profiles name codes, which must exist.
    for (const auto& file : std::filesystem::directory_iterator(QUARRY_SOURCE_DIR "/data/codes"))
      world_.resources.files["data/codes/" + file.path().filename().string()] = *sys::read_file(file.path());
    for (auto* room : {publish_commands, set_commands, channel_commands, gate_commands, promote_commands}) {
      auto more = room();
      std::move(more.begin(), more.end(), std::back_inserter(commands_));
    }
  }
  void TearDown() override { EXPECT_TRUE(sys::remove_tree(place_)); }

  void pack(const std::string& version, const std::string& text = "x = 1\n") {
    auto directory = place_ + "/out-" + version + "/dist";
    ASSERT_TRUE(sys::remove_tree(directory));
    ASSERT_TRUE(sys::make_directories(directory));
    wheel::WheelSpec spec;
    spec.metadata.name = "demo";
    spec.metadata.version = version;
    spec.members = {{"demo/__init__.py", content::Rope::literal(text), false}};
    auto built = wheel::pack(spec, directory, {});
    ASSERT_TRUE(built) << render(built.error());
  }
  int run(std::vector<std::string> words) { return world_.run(commands_, words); }
  Json json(std::vector<std::string> words, int expected = 0) {
    words.push_back("--json");
    EXPECT_EQ(run(words), expected) << world_.out << world_.err;
    auto parsed = Json::parse(world_.out, nullptr, false);
    EXPECT_FALSE(parsed.is_discarded()) << world_.out;
    return parsed;
  }
  std::vector<std::string> publish(const std::string& version, const std::string& run_id) {
    return {"publish", place_ + "/out-" + version, "--run-id", run_id, "--platform", "linux", "--channel", "staging"};
  }
  std::vector<std::string> promote(std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"promote", "--from",   "channel:staging",      "--to",
                                      "stable",  "--policy", place_ + "/policy.toml"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  void waive() {
    ASSERT_EQ(run({"waive", "--to", "stable", "--approver", "lead", "--reason", "a test", "--expires", "12h",
                   "--everything", "--policy", place_ + "/policy.toml"}),
              0)
        << world_.err;
  }
  std::string wheel_in_store(const std::string& run_id) {
    return place_ + "/store/" + run_id + "-linux/python/dist/demo-1.0-py3-none-any.whl";
  }

  testing::TestWorld world_;
  std::vector<Command> commands_;
  std::string place_;
};

TEST_F(Line, PublishTellsSetFilesAndWritesAndASecondRunWritesNothing) {
  pack("1.0");
  auto first = json(publish("1.0", "1"));
  EXPECT_EQ(first["schema"], "quarry.publish/1");
  EXPECT_GT(first["writes"], 0);
  EXPECT_EQ(first["files"].size(), 1u);
  EXPECT_EQ(first["files"][0]["project"], "demo");
  auto second = json(publish("1.0", "1"));
  EXPECT_EQ(second["writes"], 0);
  EXPECT_EQ(second["set"], first["set"]);
  auto channel = json({"channel", "show", "staging"});
  EXPECT_EQ(channel["generation"], 1);
  EXPECT_EQ(channel["files"], first["files"]);
  EXPECT_EQ(channel["index_url"], "file://" + place_ + "/store/channels/staging/simple/");
  EXPECT_TRUE(channel["previous"].is_null());
}

TEST_F(Line, ADryRunWritesNothing) {
  pack("1.0");
  auto words = publish("1.0", "1");
  words.push_back("-n");
  EXPECT_EQ(json(words)["writes"], 0);
  EXPECT_FALSE(sys::exists(place_ + "/store"));
}

TEST_F(Line, OtherBytesAreAConflict) {
  pack("1.0");
  ASSERT_EQ(run(publish("1.0", "1")), 0) << world_.err;
  pack("1.0", "x = 2\n");
  EXPECT_EQ(run(publish("1.0", "1")), 7);
  EXPECT_THAT(world_.err, HasSubstr("error[P004]"));
  EXPECT_EQ(run(publish("1.0", "2")), 7);
  EXPECT_THAT(world_.err, HasSubstr("error[R018]"));
}

TEST_F(Line, GitHubGetsOutputsAndSummary) {
  pack("1.0rc1");
  world_.environment["GITHUB_OUTPUT"] = place_ + "/output";
  world_.environment["GITHUB_STEP_SUMMARY"] = place_ + "/summary";
  ASSERT_EQ(run(publish("1.0rc1", "1")), 0) << world_.err;
  EXPECT_THAT(*sys::read_file(place_ + "/output"),
              HasSubstr("package_find_links_url=file://" + place_ + "/store/1-linux/python/index.html\n"));
  EXPECT_THAT(*sys::read_file(place_ + "/summary"), HasSubstr("pip install demo --pre --index-url file://"));
}

TEST_F(Line, GatePromoteRollback) {
  pack("1.0");
  pack("1.1");
  ASSERT_EQ(run(publish("1.0", "1")), 0) << world_.err;
  auto held = json(promote(), 10);
  EXPECT_EQ(held["writes"], 0);
  EXPECT_TRUE(held["held"]);
  EXPECT_EQ(run({"channel", "show", "stable"}), 3);
  waive();
  auto dry = json(promote({"--dry-run"}));
  EXPECT_EQ(run({"channel", "show", "stable"}), 3);
  auto done = json(promote({"--execute", dry["plan"]}));
  EXPECT_EQ(done["plan"], dry["plan"]);
  EXPECT_EQ(done["generation"], 1);
  EXPECT_GT(done["writes"], 0);
  EXPECT_EQ(json(promote({"--execute", dry["plan"]}))["writes"], 0);
  EXPECT_EQ(json(promote())["writes"], 0);
  ASSERT_EQ(run(publish("1.1", "2")), 0) << world_.err;
  EXPECT_EQ(run(promote({"--execute", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"})), 7);
  EXPECT_THAT(world_.err, HasSubstr("error[O002]"));
  EXPECT_EQ(json(promote())["generation"], 2);
  auto back = json({"rollback", "stable", "--reason", "because"});
  EXPECT_EQ(back["generation"], 3);
  EXPECT_EQ(back["view"], done["view"]);
  auto moves = json({"channel", "log", "stable"})["moves"];
  ASSERT_EQ(moves.size(), 3u);
  EXPECT_EQ(moves[0]["action"], "rollback");
  EXPECT_EQ(moves[0]["why"], "because");
}

TEST_F(Line, UnsealedIsNotFoundAndAlteredIsCorrupt) {
  pack("1.0");
  ASSERT_EQ(run(publish("1.0", "1")), 0) << world_.err;
  waive();
  auto bytes = *sys::read_file(wheel_in_store("1"));
  ASSERT_TRUE(sys::write_file(wheel_in_store("1"), std::string(bytes.size(), 'x')));
  EXPECT_EQ(run(promote()), 6);
  auto verified = json({"set", "verify", "run:1"}, 6);
  EXPECT_EQ(verified["findings"][0]["code"], "P021");
  ASSERT_TRUE(sys::write_file(wheel_in_store("1"), bytes));
  EXPECT_EQ(run({"set", "verify", "run:1", "channel:staging"}), 0) << world_.err;
  auto sets = sys::list_directory(place_ + "/store/sets");
  ASSERT_TRUE(sets);
  for (const auto& entry : *sets) ASSERT_TRUE(sys::write_file(place_ + "/store/sets/" + entry.path, "{}"));
  EXPECT_EQ(run(promote()), 6);
  ASSERT_TRUE(sys::remove_tree(place_ + "/store/1-linux/python/seals"));
  EXPECT_EQ(run({"set", "show", "run:1"}), 3);
}

TEST_F(Line, WhatOthersPutThereIsAdopted) {
  pack("1.0");
  auto bytes = *sys::read_file(place_ + "/out-1.0/dist/demo-1.0-py3-none-any.whl");
  ASSERT_TRUE(sys::make_directories(place_ + "/store/9-linux/python/dist"));
  ASSERT_TRUE(sys::write_file(wheel_in_store("9"), bytes));
  EXPECT_EQ(run({"set", "show", "run:9"}), 3);
  auto adopted = json({"set", "adopt", "run:9"});
  EXPECT_EQ(adopted["sets"].size(), 1u);
  EXPECT_EQ(run({"set", "verify", "run:9"}), 0) << world_.err;
  ASSERT_TRUE(sys::make_directories(place_ + "/store/8-linux/python/dist"));
  ASSERT_TRUE(sys::write_file(wheel_in_store("8"), "no wheel"));
  EXPECT_EQ(run({"set", "adopt", "run:8"}), 6);
}

TEST_F(Line, UpkeepPutsThingsRight) {
  pack("1.0");
  ASSERT_EQ(run(publish("1.0", "1")), 0) << world_.err;
  ASSERT_TRUE(sys::remove_tree(place_ + "/store/channels/staging"));
  EXPECT_GT(json({"index", "repair", "channel:staging"})["pages_written"], 0);
  EXPECT_EQ(json({"index", "repair", "channel:staging"})["writes"], 0);
  ASSERT_TRUE(sys::remove_file(wheel_in_store("1") + ".metadata"));
  EXPECT_EQ(json({"index", "rebuild", "run:1"})["records_written"], 1);
  EXPECT_EQ(json({"gc", "--grace", "0s"})["marked"].size(), 0u);
  ASSERT_TRUE(sys::write_file(place_ + "/store/views/" + std::string(64, 'a') + ".json", "{}"));
  EXPECT_EQ(json({"gc", "--grace", "0s", "--dry-run"})["marked"].size(), 1u);
  EXPECT_EQ(json({"gc", "--grace", "0s"})["marked"].size(), 1u);
  EXPECT_EQ(json({"gc", "--grace", "24h"})["keys"].size(), 0u);
  EXPECT_EQ(json({"gc", "--grace", "0s"})["keys"].size(), 1u);
  EXPECT_EQ(run({"gc", "--grace", "soon"}), 2);
}

} // namespace
} // namespace quarry::cli
