// Random sequences of moves against an oracle that knows nothing of the records: it only remembers what was tested and
// waived, and what each channel must show. The usual run tries some; QUARRY_LONG=1 tries 10,000 (docs/campaigns.md).
// QUARRY_SEED chooses others.
#include "promote/promote.hpp"

#include "gate/testing/policies.hpp"
#include "promote/guard.hpp"
#include "promote/withdraw.hpp"
#include "publish/garbage.hpp"
#include "publish/move.hpp"
#include "registry/revocations.hpp"
#include "registry/testing/samples.hpp"
#include "store/testing/faulty_store.hpp"
#include "sys/clock.hpp"
#include <algorithm>
#include <cstdlib>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <random>

namespace quarry::promote {
namespace {

using registry::SealedSet;
using store::testing::FaultyStore;

constexpr std::int64_t k_hour_of_moves_us = 3'600'000'000;
constexpr std::size_t k_steps = 14;

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Files by name.
using Shown = std::map<std::string, Sha256>;

/// What the oracle knows of one set: its last result, and until when it is waived.
struct Known {
  SealedSet set;
  std::int64_t tested_us = 0; ///< 0: never
  bool passed = false;
  std::int64_t waived_until_us = 0;
  std::vector<registry::WaiverDigest> waivers = {};
};

/// The channel `stable` as it must be.
struct Model {
  Shown shown, blocked;
  std::vector<Shown> history = {}; ///< after each move
  std::set<std::string> approved;  ///< files that came by a verdict, or were there when the channel was protected
  bool guarded = false;
};

gate::Policy rules() {
  return gate::testing::parsed_policy(
      "approvers = [\"lead\"]\nwaiver_max_age = \"2d\"\n"
      "[[require]]\nplatforms=[\"linux\"]\nfamilies=[\"*\"]\npythons=[\"*\"]\nsuites=[\"smoke\"]\nmax_age=\"1d\"\n");
}
gate::Policy lax_rules() {
  return gate::testing::parsed_policy("mode = \"report_only\"\n[[require]]\nplatforms=[\"linux\"]\nfamilies=[\"*\"]\n"
                                      "pythons=[\"*\"]\nsuites=[\"smoke\"]\n");
}

struct World {
  std::unique_ptr<store::ObjectStore> store = store::make_memory_store();
  std::mt19937_64 random;
  std::int64_t now_us = *sys::parse_rfc3339("2026-11-20T12:00:00Z");
  std::vector<Known> sets = {};
  Model model = {};
  std::string log = {};

  std::uint64_t pick(std::uint64_t below) { return random() % below; }
  Known& any_set() { return sets[pick(sets.size())]; }
  sys::Timestamp now() const { return sys::Timestamp::from_us(now_us); }
  Author author() const { return {"tester", now(), "why"}; }
};

/// Four releases; each has a file of its own and one that every other release shares.
World new_world(std::uint64_t seed) {
  World world;
  world.random.seed(seed);
  for (int i = 0; i < 4; ++i) {
    auto version = fmt::format("7.{}", i);
    auto shared = fmt::format("rocm_sdk_core-7.{}-py3-none-linux_x86_64.whl", i % 2);
    world.sets.push_back({registry::testing::sealed_sample(
        *world.store, fmt::format("{}-linux/python/g", i + 1),
        {{"rocm-" + version + ".tar.gz", "rocm", version}, {shared, "rocm-sdk-core", fmt::format("7.{}", i % 2)}})});
  }
  return world;
}

Shown files_of(const SealedSet& set) {
  Shown files;
  for (const auto& file : set.set.files) files.emplace(file.filename, file.sha256);
  return files;
}

bool has_all(const Shown& shown, const Shown& files) {
  return std::all_of(files.begin(), files.end(), [&](const auto& file) { return shown.contains(file.first); });
}
bool has_any(const Shown& shown, const Shown& files) {
  return std::any_of(files.begin(), files.end(), [&](const auto& file) { return shown.contains(file.first); });
}

/// What may move, by what the oracle remembers.
bool is_ready(const World& world, const Known& known) {
  bool fresh = known.tested_us && world.now_us - known.tested_us <= 24 * k_hour_of_moves_us;
  return (fresh && known.passed) || known.waived_until_us > world.now_us;
}

void moved_to(Model& model, Shown shown) {
  model.shown = std::move(shown);
  model.history.push_back(model.shown);
}

// What a role does. Each returns what it was; a defect is a failed expectation.

void test_a_set(World& world) {
  auto& known = world.any_set();
  registry::EvidenceRecord e;
  e.subjects = known.set.set.files;
  e.cell = {Platform::linux, "", "3.12", ""};
  e.suite = "smoke";
  bool passes = world.pick(3) > 0;
  e.result = passes ? registry::Outcome::passed : registry::Outcome::failed;
  (passes ? e.passed : e.failed) = 1;
  e.started = e.ended = world.now();
  e.set = known.set.digest;
  e.sealed = true;
  auto spoiled = world.pick(4);
  if (spoiled == 1) e.sealed = false;
  if (spoiled == 2) e.subjects.pop_back();
  if (spoiled == 3) e.cell.framework = "torch";
  ASSERT_TRUE(registry::put_evidence(*world.store, e));
  world.log += fmt::format("test {} {}{}; ", known.set.digest.short_hex(), passes, spoiled ? " spoiled" : "");
  if (spoiled) return;
  bool failed_at_once = known.tested_us == world.now_us && !known.passed; // of two at one time the failure decides
  known.tested_us = world.now_us;
  known.passed = passes && !failed_at_once;
}

void waive_a_set(World& world) {
  auto& known = world.any_set();
  registry::WaiverRecord w;
  bool by_lead = world.pick(3) > 0;
  auto hours = static_cast<std::int64_t>(1 + world.pick(60)); // more than 48 is more than the policy allows
  w.channel = world.pick(5) ? "stable" : "nightly";
  w.reason = "why";
  w.approver = by_lead ? "lead" : "intern";
  w.created = world.now();
  w.expires = sys::Timestamp::from_us(world.now_us + hours * k_hour_of_moves_us);
  w.sets = {known.set.digest};
  auto digest = registry::put_waiver(*world.store, w);
  ASSERT_TRUE(digest);
  world.log += fmt::format("waive {} {} h by {}; ", known.set.digest.short_hex(), hours, w.approver);
  if (!by_lead || hours > 48 || w.channel != "stable") return;
  known.waived_until_us = std::max(known.waived_until_us, w.expires.us());
  known.waivers.push_back(*digest);
}

void revoke_waivers(World& world) {
  auto& known = world.any_set();
  for (const auto& waiver : known.waivers)
    ASSERT_TRUE(registry::revoke(*world.store, {waiver, "ann", "why", world.now()}));
  known.waivers.clear();
  known.waived_until_us = 0;
  world.log += fmt::format("revoke {}; ", known.set.digest.short_hex());
}

Request request_for(const World& world, const SealedSet& set) {
  return {{"test", {set}, set.set.files, {}, 0}, "stable", rules(), false, world.now_us, 1};
}

/// What must be after a promotion that nobody stopped: the same as the oracle says, or nothing.
void expect_promotion(World& world, const Known& known, const Result<Receipt>& receipt) {
  auto& model = world.model;
  auto files = files_of(known.set);
  if (has_all(model.shown, files)) {
    EXPECT_TRUE(receipt && !receipt->moved) << world.log;
    return;
  }
  if (has_any(model.blocked, files)) {
    EXPECT_TRUE(!receipt && receipt.error().code == "R022") << world.log;
    return;
  }
  ASSERT_TRUE(receipt) << world.log << render(receipt.error());
  EXPECT_EQ(receipt->moved, is_ready(world, known)) << world.log;
  EXPECT_EQ(receipt->held, !receipt->moved) << world.log;
  if (!receipt->moved) return;
  auto next = model.shown;
  next.insert(files.begin(), files.end());
  for (const auto& [name, digest] : files) model.approved.insert(name);
  moved_to(model, std::move(next));
}

void promote_a_set(World& world) {
  const auto& known = world.any_set();
  world.log += fmt::format("promote {}; ", known.set.digest.short_hex());
  Options options{"tester", world.now(), "why", {}, false};
  auto request = request_for(world, known.set);
  if (world.pick(3) == 0) { // reviewed first
    options.dry_run = true;
    auto dry = promote(*world.store, request, options);
    options.dry_run = false;
    if (dry && !dry->held && dry->plan.moves()) options.execute = registry::ReviewedPlan(dry->digest);
  }
  expect_promotion(world, known, promote(*world.store, request, options));
}

/// With a policy that holds nothing: a channel that is protected takes it from nobody.
void promote_by_another_policy(World& world) {
  const auto& known = world.any_set();
  world.log += fmt::format("promote {} by another policy; ", known.set.digest.short_hex());
  auto request = request_for(world, known.set);
  request.policy = lax_rules();
  if (!world.model.guarded) return;
  auto receipt = promote(*world.store, request, {"tester", world.now(), "why", {}, false});
  ASSERT_FALSE(receipt) << world.log;
  EXPECT_EQ(receipt.error().code, "O012") << world.log;
}

void publish_a_set(World& world) {
  const auto& known = world.any_set();
  auto& model = world.model;
  world.log += fmt::format("publish {}; ", known.set.digest.short_hex());
  publish::Reason reason;
  reason.action = registry::Action::publish;
  reason.when = world.now();
  auto added = publish::add_sets(*world.store, "stable", {known.set}, reason);
  auto files = files_of(known.set);
  if (model.guarded || has_any(model.blocked, files)) {
    EXPECT_FALSE(added && added->moved) << world.log;
    return;
  }
  ASSERT_TRUE(added) << world.log << render(added.error());
  if (!added->moved) return;
  auto next = model.shown;
  next.insert(files.begin(), files.end());
  moved_to(model, std::move(next));
}

/// Files that left are blocked, files that came back are not.
void left_to(World& world, Shown next) {
  auto& model = world.model;
  for (const auto& [name, digest] : next)
    if (!model.shown.contains(name)) model.blocked.erase(name);
  for (const auto& [name, digest] : model.shown)
    if (!next.contains(name)) model.blocked.emplace(name, digest);
  moved_to(model, std::move(next));
}

Result<Shown> shown_now(World& world) {
  Shown shown;
  TRY(auto resolved, registry::resolve_channel(*world.store, "stable"));
  for (const auto& file : resolved.files) shown.emplace(file.filename, file.sha256);
  return shown;
}

void roll_back(World& world) {
  auto& model = world.model;
  Options options{"tester", world.now(), "why", {}, false};
  if (world.pick(2) && !model.history.empty()) options.to_generation = 1 + world.pick(model.history.size());
  world.log += fmt::format("rollback{}; ", options.to_generation ? fmt::format(" to {}", *options.to_generation) : "");
  auto receipt = rollback(*world.store, "stable", options);
  if (!receipt || !receipt->moved) return; // refused: the next look finds the channel as it was
  auto next = shown_now(world);
  ASSERT_TRUE(next) << world.log;
  if (options.to_generation) {
    EXPECT_EQ(*next, model.history.at(*options.to_generation - 1)) << world.log;
  }
  EXPECT_NE(std::find(model.history.begin(), model.history.end(), *next), model.history.end()) << world.log;
  left_to(world, *next);
}

void yank_a_file(World& world) {
  auto& model = world.model;
  if (model.shown.empty()) return;
  auto victim = std::next(model.shown.begin(), static_cast<std::ptrdiff_t>(world.pick(model.shown.size())));
  world.log += fmt::format("yank {}; ", victim->first);
  auto plan = plan_withdrawal(*world.store, "stable", {victim->first});
  ASSERT_TRUE(plan) << world.log << render(plan.error());
  ASSERT_TRUE(withdraw(*world.store, *plan, world.author())) << world.log;
  auto next = model.shown;
  next.erase(victim->first);
  left_to(world, std::move(next));
}

void unblock_a_file(World& world) {
  auto& model = world.model;
  if (model.blocked.empty()) return;
  auto freed = std::next(model.blocked.begin(), static_cast<std::ptrdiff_t>(world.pick(model.blocked.size())));
  world.log += fmt::format("unblock {}; ", freed->first);
  ASSERT_TRUE(unblock(*world.store, "stable", {freed->first}, world.author())) << world.log;
  model.blocked.erase(freed);
  moved_to(model, model.shown);
}

void change_protection(World& world) {
  auto& model = world.model;
  world.log += model.guarded ? "unprotect; " : "protect; ";
  auto done = model.guarded ? unprotect(*world.store, "stable", world.author())
                            : protect(*world.store, "stable", rules(), world.author());
  if (model.guarded) {
    ASSERT_TRUE(done) << world.log << render(done.error());
  }
  if (!done) return;
  if (done->moved) moved_to(model, model.shown);
  model.guarded = !model.guarded;
  model.approved.clear();
  for (const auto& [name, digest] : model.shown) model.approved.insert(name);
}

void sweep(World& world) {
  world.log += "gc; ";
  for (int twice = 0; twice < 2; ++twice)
    ASSERT_TRUE(publish::collect_garbage(*world.store, {0, world.now_us, false})) << world.log;
}

/// Killed at any call, a promotion has happened or has not, and the same command completes it.
void promote_and_die(World& world) {
  auto& known = world.any_set();
  auto at = 1 + world.pick(60);
  world.log += fmt::format("promote {} killed at {}; ", known.set.digest.short_hex(), at);
  FaultyStore faulty(*world.store, {FaultyStore::Fault::die_after, at, false});
  auto request = request_for(world, known.set);
  Options options{"tester", world.now(), "why", {}, false};
  auto before = world.model.shown;
  if (promote(faulty, request, options)) faulty.log(); // it was done before its death
  auto now = registry::read_channel(*world.store, "stable");
  ASSERT_TRUE(now) << world.log;
  bool moved = *now && (*now)->record.generation > world.model.history.size();
  auto files = files_of(known.set);
  if (moved) {
    EXPECT_TRUE(is_ready(world, known) && !has_any(world.model.blocked, files)) << world.log;
    auto next = world.model.shown;
    next.insert(files.begin(), files.end());
    for (const auto& [name, digest] : files) world.model.approved.insert(name);
    moved_to(world.model, std::move(next));
  }
  expect_promotion(world, known, promote(*world.store, request, options));
}

void wait(World& world) {
  world.now_us += static_cast<std::int64_t>(1 + world.pick(30)) * k_hour_of_moves_us;
  world.log += "wait; ";
}

/// What must hold after every step.
void look(World& world) {
  const auto& model = world.model;
  auto channel = registry::read_channel(*world.store, "stable");
  ASSERT_TRUE(channel) << world.log;
  if (!*channel) {
    EXPECT_TRUE(model.history.empty()) << world.log;
    return;
  }
  auto shown = shown_now(world);
  ASSERT_TRUE(shown) << world.log << render(shown.error());
  EXPECT_EQ(*shown, model.shown) << world.log;
  EXPECT_EQ((*channel)->record.generation, model.history.size()) << world.log;
  Shown blocked;
  for (const auto& file : (*channel)->record.guard.blocked) blocked.emplace(file.filename, file.sha256);
  EXPECT_EQ(blocked, model.blocked) << world.log;
  EXPECT_EQ((*channel)->record.guard.policy.empty(), !model.guarded) << world.log;
  for (const auto& [name, digest] : *shown) {
    EXPECT_FALSE(model.blocked.contains(name)) << name << " came back: " << world.log;
    EXPECT_TRUE(!model.guarded || model.approved.contains(name)) << name << " without a verdict: " << world.log;
  }
}

TEST(RandomMoves, FollowTheOracle) {
  using Step = void (*)(World&);
  // Some stand twice: they happen more often.
  const Step steps[] = {
      test_a_set,      test_a_set,    test_a_set,        waive_a_set,   revoke_waivers, promote_a_set,
      promote_a_set,   promote_a_set, roll_back,         yank_a_file,   unblock_a_file, sweep,
      promote_and_die, wait,          change_protection, publish_a_set, publish_a_set,  promote_by_another_policy};
  auto sequences = number_of("QUARRY_SEQUENCES", number_of("QUARRY_LONG", 0) ? 10'000 : 60);
  auto seed = number_of("QUARRY_SEED", 1);
  std::size_t promoted = 0;
  for (std::uint64_t i = 0; i < sequences; ++i) {
    auto world = new_world(seed * 1'000'003 + i);
    for (std::size_t step = 0; step < k_steps; ++step) {
      steps[world.pick(std::size(steps))](world);
      look(world);
      if (::testing::Test::HasFailure()) FAIL() << fmt::format("QUARRY_SEED={}, sequence {}: {}", seed, i, world.log);
    }
    promoted += world.model.history.size();
  }
  EXPECT_GT(promoted, sequences / 2) << "sequences in which nothing moves test nothing";
}

} // namespace
} // namespace quarry::promote
