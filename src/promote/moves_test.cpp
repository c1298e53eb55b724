// Random sequences of moves against an oracle that knows nothing of the records: it only remembers what was tested and
// waived, who signs, and what the channel and the distribution that it feeds must show. The usual run tries some;
// QUARRY_LONG=1 tries 10,000 (docs/campaigns.md). QUARRY_SEED chooses others.
#include "promote/promote.hpp"

#include "gate/testing/policies.hpp"
#include "promote/distributions.hpp"
#include "promote/fed_moves.hpp"
#include "promote/guard.hpp"
#include "promote/signed_moves.hpp"
#include "promote/withdraw.hpp"
#include "promote/withdraw_from.hpp"
#include "publish/distribute.hpp"
#include "publish/garbage.hpp"
#include "publish/move.hpp"
#include "registry/feeders.hpp"
#include "registry/revocations.hpp"
#include "registry/testing/samples.hpp"
#include "signature/stored.hpp"
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
constexpr std::size_t k_steps = 20;
const std::string k_distribution = "v2/all";

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

/// The policy that protects the channel: two that judge alike, and only the second wants moves signed by the lead.
enum class Law : std::uint8_t { none, plain, wants_signatures };

/// What yanks took out of a place and nobody has let in again.
struct Yanks {
  std::map<std::string, std::uint64_t> taken_out = {}; ///< by name: the generation of the yank
  Shown before = {};                                   ///< what was shown before the last change of what is shown
  std::uint64_t last_change = 0;

  void changed(const Shown& shown, const Shown& next, std::uint64_t generation) {
    if (shown == next) return;
    before = shown;
    last_change = generation;
    std::erase_if(taken_out, [&](const auto& file) { return next.contains(file.first); });
  }
  bool are_touched_by(const Shown& next) const {
    return std::ranges::any_of(taken_out, [&](const auto& file) { return next.contains(file.first); });
  }
  /// Whether a move to `next` undoes a yank that it does not take back.
  bool are_undone_by(const Shown& next) const {
    return std::ranges::any_of(taken_out, [&](const auto& file) {
      return next.contains(file.first) && (file.second != last_change || next != before);
    });
  }
};

/// The channel `stable` as it must be.
struct Model {
  Shown shown, blocked;
  std::vector<Shown> history = {}; ///< after each move
  std::set<std::string> approved;  ///< files that came by a verdict, or that somebody answered for at the protection
  Law law = Law::none;
  std::map<Law, std::set<std::string>> let_in = {}; ///< files by the policy of a verdict
  Yanks yanks = {};
  std::uint64_t keeps_from = 0;
  bool guarded() const { return law != Law::none; }
};

/// The distribution that the channel feeds, in another store.
struct Fed {
  Shown shown, blocked;
  std::map<std::uint64_t, Shown> history = {}; ///< by generation
  bool claimed = false;
  Law law = Law::none;          ///< of the channel when it brought something last
  std::set<std::string> let_in; ///< files that it brought since it is protected without a break
  Yanks yanks = {};
  bool guarded() const { return law != Law::none; }
};

gate::Policy rules(const std::string& signer = "") {
  return gate::testing::parsed_policy(
      "approvers = [\"lead\"]\nwaiver_max_age = \"2d\"\n" + signer +
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
  std::unique_ptr<store::ObjectStore> other = store::make_memory_store(); ///< with the distribution
  Fed fed = {};
  std::string log = {};
  Ed25519PrivateKey lead = *Ed25519PrivateKey::create(), stranger = *Ed25519PrivateKey::create();
  enum class Signer : std::uint8_t { lead, stranger, nobody } signer = Signer::lead; ///< of this step

  std::uint64_t pick(std::uint64_t below) { return random() % below; }
  Known& any_set() { return sets[pick(sets.size())]; }
  sys::Timestamp now() const { return sys::Timestamp::from_us(now_us); }
  gate::Policy policy(Law law) const {
    if (law == Law::plain) return rules();
    return rules("[[signer]]\nname = \"lead\"\nkey = \"" + lead.public_key().base64() + "\"\nsigns = [\"moves\"]\n");
  }
  std::optional<Ed25519PrivateKey> key() const {
    if (signer == Signer::nobody) return std::nullopt;
    return signer == Signer::lead ? lead : stranger;
  }
  /// Whether the policy that is bound lets whoever makes this step move the channel.
  bool may_move() const { return model.law != Law::wants_signatures || signer == Signer::lead; }
  bool may_move_there() const { return fed.law != Law::wants_signatures || signer == Signer::lead; }
  Author author() const { return {"tester", now(), "why", key()}; }
  Options options() const {
    Options options{"tester", now(), "why", {}, false};
    options.key = key();
    return options;
  }
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
  model.yanks.changed(model.shown, shown, model.history.size() + 1);
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

/// By the policy of the channel; where none protects it, by one of two.
Law judging(World& world) {
  if (world.model.guarded()) return world.model.law;
  return world.pick(3) ? Law::plain : Law::wants_signatures;
}

Request request_for(const World& world, const SealedSet& set, Law law) {
  return {{"test", {set}, set.set.files, {}, 0}, "stable", world.policy(law), false, world.now_us, 1};
}

void was_let_in(Model& model, const Shown& files, Law law) {
  auto next = model.shown;
  next.insert(files.begin(), files.end());
  for (const auto& [name, digest] : files) {
    model.approved.insert(name);
    model.let_in[law].insert(name);
  }
  moved_to(model, std::move(next));
}

/// A move by somebody whose key does not count changes nothing; false if it was one.
template <class T> bool was_allowed(const World& world, const Result<T>& done) {
  if (world.may_move()) return true;
  EXPECT_FALSE(done) << "moved without the signature that the policy wants: " << world.log;
  if (!done) {
    EXPECT_EQ(done.error().code, "O041") << world.log << render(done.error());
  }
  return false;
}

/// What must be after a promotion that nobody stopped: the same as the oracle says, or nothing.
void expect_promotion(World& world, const Known& known, Law law, const Result<Receipt>& receipt) {
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
  if (is_ready(world, known) && !was_allowed(world, receipt)) return;
  ASSERT_TRUE(receipt) << world.log << render(receipt.error());
  EXPECT_EQ(receipt->moved, is_ready(world, known)) << world.log;
  EXPECT_EQ(receipt->held, !receipt->moved) << world.log;
  if (receipt->moved) was_let_in(model, files, law);
}

void promote_a_set(World& world) {
  const auto& known = world.any_set();
  world.log += fmt::format("promote {}; ", known.set.digest.short_hex());
  auto options = world.options();
  auto law = judging(world);
  auto request = request_for(world, known.set, law);
  if (world.pick(3) == 0) { // reviewed first
    options.dry_run = true;
    auto dry = promote(*world.store, request, options);
    options.dry_run = false;
    if (dry && !dry->held && dry->plan.moves()) options.execute = registry::ReviewedPlan(dry->digest);
  }
  expect_promotion(world, known, law, promote(*world.store, request, options));
}

/// With a policy that holds nothing: a channel that is protected takes it from nobody.
void promote_by_another_policy(World& world) {
  const auto& known = world.any_set();
  world.log += fmt::format("promote {} by another policy; ", known.set.digest.short_hex());
  auto request = request_for(world, known.set, Law::plain);
  request.policy = lax_rules();
  if (!world.model.guarded()) return;
  auto receipt = promote(*world.store, request, world.options());
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
  if (model.guarded() || has_any(model.blocked, files)) {
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
void block_what_left(const Shown& shown, const Shown& next, Shown& blocked) {
  for (const auto& [name, digest] : next)
    if (!shown.contains(name)) blocked.erase(name);
  for (const auto& [name, digest] : shown)
    if (!next.contains(name)) blocked.emplace(name, digest);
}

void left_to(World& world, Shown next) {
  block_what_left(world.model.shown, next, world.model.blocked);
  moved_to(world.model, std::move(next));
}

Result<Shown> shown_now(World& world) {
  Shown shown;
  TRY(auto resolved, registry::resolve_channel(*world.store, "stable"));
  for (const auto& file : resolved.files) shown.emplace(file.filename, file.sha256);
  return shown;
}

void roll_back(World& world) {
  auto& model = world.model;
  auto options = world.options();
  if (world.pick(2) && !model.history.empty()) options.to_generation = 1 + world.pick(model.history.size());
  world.log += fmt::format("rollback{}; ", options.to_generation ? fmt::format(" to {}", *options.to_generation) : "");
  auto receipt = rollback(*world.store, "stable", options);
  if (!receipt) { // the next look finds the channel as it was
    const auto& code = receipt.error().code;
    for (const auto* known : {"R015", "O001", "O007", "O018", "O041", "O047"})
      if (code == known) return;
    bool undoes = options.to_generation && model.yanks.are_touched_by(model.history.at(*options.to_generation - 1));
    if (code == "O063" && undoes) return;
    FAIL() << code << " is not a reason to refuse a rollback: " << render(receipt.error()) << world.log;
  }
  if (!receipt->moved) return;
  EXPECT_TRUE(world.may_move()) << world.log;
  auto next = shown_now(world);
  ASSERT_TRUE(next) << world.log;
  if (options.to_generation) {
    EXPECT_EQ(*next, model.history.at(*options.to_generation - 1)) << world.log;
  }
  EXPECT_NE(std::find(model.history.begin(), model.history.end(), *next), model.history.end()) << world.log;
  EXPECT_FALSE(model.yanks.are_undone_by(*next)) << world.log;
  left_to(world, *next);
}

void yank_a_file(World& world) {
  auto& model = world.model;
  if (model.shown.empty()) return;
  auto victim = std::next(model.shown.begin(), static_cast<std::ptrdiff_t>(world.pick(model.shown.size())));
  world.log += fmt::format("yank {}; ", victim->first);
  auto plan = plan_withdrawal(*world.store, "stable", {victim->first});
  ASSERT_TRUE(plan) << world.log << render(plan.error());
  auto done = withdraw(*world.store, *plan, world.author());
  if (!was_allowed(world, done)) return;
  ASSERT_TRUE(done) << world.log << render(done.error());
  auto next = model.shown;
  const auto name = victim->first;
  next.erase(name);
  left_to(world, std::move(next));
  model.yanks.taken_out[name] = model.history.size();
}

void unblock_a_file(World& world) {
  auto& model = world.model;
  if (model.blocked.empty()) return;
  auto freed = std::next(model.blocked.begin(), static_cast<std::ptrdiff_t>(world.pick(model.blocked.size())));
  world.log += fmt::format("unblock {}; ", freed->first);
  auto done = unblock(*world.store, "stable", {freed->first}, world.author());
  if (!was_allowed(world, done)) return;
  ASSERT_TRUE(done) << world.log << render(done.error());
  model.yanks.taken_out.erase(freed->first);
  model.blocked.erase(freed);
  moved_to(model, model.shown);
}

void lift_protection(World& world) {
  auto& model = world.model;
  if (!model.guarded()) return;
  world.log += "unprotect; ";
  auto done = unprotect(*world.store, "stable", world.author());
  if (!was_allowed(world, done)) return;
  ASSERT_TRUE(done) << world.log << render(done.error());
  model.law = Law::none;
  moved_to(model, model.shown);
}

/// Binds a policy, also in place of another one. What a channel shows that becomes protected was let in by this policy,
/// or somebody answers for it.
void protect_by_a_policy(World& world) {
  auto& model = world.model;
  auto law = world.pick(2) ? Law::plain : Law::wants_signatures;
  Binding binding;
  auto answer = world.pick(3);
  binding.trust_shown = answer == 1;
  bool answered = model.guarded() || binding.trust_shown;
  bool all_let_in = true;
  for (const auto& [name, digest] : model.shown) {
    if (model.let_in[law].contains(name)) continue;
    all_let_in = false;
    if (answer == 2) binding.trusted.push_back(name);
  }
  world.log += fmt::format("protect{}{}; ", law == Law::plain ? "" : " signed",
                           answer == 1   ? " trusted"
                           : answer == 2 ? " named"
                                         : "");
  bool same = model.law == law;
  auto done = protect(*world.store, "stable", world.policy(law), world.author(), binding);
  bool wants_key = !same && (law == Law::wants_signatures || model.law == Law::wants_signatures);
  if (wants_key && world.signer != World::Signer::lead) {
    ASSERT_FALSE(done) << world.log;
    EXPECT_EQ(done.error().code, "O041") << world.log << render(done.error());
    return;
  }
  if (!answered && answer != 2 && !all_let_in) {
    ASSERT_FALSE(done) << "bound although nothing has let in what it shows: " << world.log;
    EXPECT_EQ(done.error().code, "O061") << world.log << render(done.error());
    return;
  }
  ASSERT_TRUE(done) << world.log << render(done.error());
  EXPECT_EQ(done->moved, !same) << world.log;
  if (same) return;
  moved_to(model, model.shown);
  if (!model.guarded()) model.approved.clear();
  for (const auto& [name, digest] : model.shown) model.approved.insert(name);
  model.law = law;
}

/// The views before the last few may be given up; what is shown and `rollback` without a generation stay.
void prune_history(World& world) {
  auto& model = world.model;
  if (model.history.empty()) return;
  auto keep = LastViews{2 + world.pick(3)};
  world.log += fmt::format("prune to {}; ", keep.count);
  auto would = prune(*world.store, "stable", keep, world.author(), true);
  ASSERT_TRUE(would) << world.log << render(would.error());
  auto keeps_from = would->guarded.channel.guard.keeps_from;
  EXPECT_GE(keeps_from, model.keeps_from) << "what was given up does not come back: " << world.log;
  bool moves = keeps_from != model.keeps_from;
  auto done = prune(*world.store, "stable", keep, world.author(), false);
  if (moves && !was_allowed(world, done)) return;
  ASSERT_TRUE(done) << world.log << render(done.error());
  EXPECT_EQ(done->guarded.moved, moves) << world.log;
  if (!moves) return;
  model.keeps_from = keeps_from;
  moved_to(model, model.shown);
}

// The distribution: a channel brings sets that it shows, or somebody copies a set from nowhere.

Result<Shown> shown_there(World& world) {
  Shown shown;
  TRY(auto now, registry::read_distribution(*world.other, k_distribution));
  if (!now) return shown;
  TRY(auto sets, registry::sealed_of(*world.other, now->record.shown));
  for (const auto& sealed : sets) shown.merge(files_of(sealed));
  return shown;
}

void moved_there(World& world, Shown next) {
  auto now = registry::require_distribution(*world.other, k_distribution);
  ASSERT_TRUE(now) << world.log;
  world.fed.yanks.changed(world.fed.shown, next, now->record.generation);
  world.fed.shown = std::move(next);
  world.fed.history[now->record.generation] = world.fed.shown;
}

/// A move of the distribution by somebody whose key does not count changes nothing; false if it was one.
template <class T> bool was_allowed_there(const World& world, const Result<T>& done) {
  if (world.may_move_there()) return true;
  EXPECT_FALSE(done) << "moved there without the signature that the policy wants: " << world.log;
  if (!done) {
    EXPECT_EQ(done.error().code, "O041") << world.log << render(done.error());
  }
  return false;
}

/// Whether a state of the distribution shows again what the channel has not brought.
bool brings_back_untested(const Fed& fed, const Shown& next) {
  return fed.guarded() && std::ranges::any_of(next, [&](const auto& file) {
           return !fed.shown.contains(file.first) && !fed.let_in.contains(file.first);
         });
}

/// The channel has brought a set: from now on its law is that of the distribution.
void was_brought(World& world, const Shown& files, bool is_new) {
  auto& fed = world.fed;
  if (!fed.guarded() || !world.model.guarded()) fed.let_in.clear();
  fed.law = world.model.law;
  if (!fed.guarded() || !is_new) return;
  for (const auto& [name, digest] : files) fed.let_in.insert(name);
}

void copy_a_set(World& world) {
  const auto& known = world.any_set();
  auto files = files_of(known.set);
  bool by_channel = world.pick(4) != 0;
  if (by_channel && !has_all(world.model.shown, files)) return; // a promotion brings what the channel shows
  world.log += fmt::format("copy {}{}; ", known.set.digest.short_hex(), by_channel ? "" : " from nowhere");
  auto planned = publish::plan_distribution({known.set}, k_distribution);
  ASSERT_TRUE(planned) << world.log;
  publish::DistributeOptions options{world.now(), 1};
  options.hash_bytes = world.model.guarded();
  if (by_channel) {
    auto feeders = registry::feeders_of(*world.store, {"stable"});
    ASSERT_TRUE(feeders) << world.log << render(feeders.error());
    options.feeders[k_distribution] = *feeders;
  }
  auto before = registry::read_distribution(*world.other, k_distribution);
  ASSERT_TRUE(before) << world.log;
  bool judged_only = *before && !(*before)->record.fed_by.empty();
  auto done = publish::distribute(*world.store, *world.other, *planned, options);
  world.fed.claimed = true;
  if (!by_channel && judged_only) {
    ASSERT_FALSE(done) << "came where only judged packages come: " << world.log;
    EXPECT_EQ(done.error().code, "O055") << world.log << render(done.error());
    return;
  }
  if (has_any(world.fed.blocked, files)) {
    ASSERT_FALSE(done) << world.log;
    EXPECT_EQ(done.error().code, "R022") << world.log << render(done.error());
    return;
  }
  ASSERT_TRUE(done) << world.log << render(done.error());
  if (world.model.guarded() && by_channel)
    for (const auto& [name, digest] : files)
      EXPECT_TRUE(world.model.approved.contains(name)) << name << " without a verdict: " << world.log;
  auto same = [&](const registry::ShownSet& one) { return one.set == planned->front().digest; };
  bool is_new = !*before || std::ranges::none_of((*before)->record.shown.sets, same);
  if (by_channel) was_brought(world, files, is_new);
  auto next = world.fed.shown;
  next.insert(files.begin(), files.end());
  moved_there(world, std::move(next));
}

void roll_distribution_back(World& world) {
  auto& fed = world.fed;
  if (fed.history.empty()) return;
  auto options = world.options();
  if (world.pick(2))
    options.to_generation =
        std::next(fed.history.begin(), static_cast<std::ptrdiff_t>(world.pick(fed.history.size())))->first;
  world.log +=
      fmt::format("rollback there{}; ", options.to_generation ? fmt::format(" to {}", *options.to_generation) : "");
  auto done = rollback_distribution(*world.other, k_distribution, options);
  bool untested = options.to_generation && brings_back_untested(fed, fed.history.at(*options.to_generation));
  bool undoes = options.to_generation && fed.yanks.are_touched_by(fed.history.at(*options.to_generation));
  if (!done) {
    const auto& code = done.error().code;
    bool known = code == "O001" || code == "O007" || (code == "O018" && fed.guarded()) || (code == "O063" && undoes) ||
                 (code == "O041" && !world.may_move_there());
    EXPECT_TRUE(known) << world.log << render(done.error());
    EXPECT_TRUE(!untested || code == "O018") << world.log << render(done.error());
    return;
  }
  EXPECT_FALSE(untested) << world.log;
  if (!done->moved) return;
  EXPECT_TRUE(world.may_move_there()) << world.log;
  auto next = shown_there(world);
  ASSERT_TRUE(next) << world.log;
  EXPECT_FALSE(brings_back_untested(fed, *next)) << world.log;
  EXPECT_FALSE(fed.yanks.are_undone_by(*next)) << world.log;
  if (options.to_generation) {
    EXPECT_EQ(*next, fed.history.at(*options.to_generation)) << world.log;
  }
  block_what_left(fed.shown, *next, fed.blocked);
  moved_there(world, std::move(*next));
}

void yank_there(World& world) {
  auto& fed = world.fed;
  if (fed.shown.empty()) return;
  auto victim = std::next(fed.shown.begin(), static_cast<std::ptrdiff_t>(world.pick(fed.shown.size())));
  world.log += fmt::format("yank {} there; ", victim->first);
  auto plan = plan_distribution_withdrawal(*world.other, k_distribution, {victim->first});
  ASSERT_TRUE(plan) << world.log << render(plan.error());
  auto done = withdraw_from_distribution(*world.other, *plan, world.author());
  if (!was_allowed_there(world, done)) return;
  ASSERT_TRUE(done) << world.log << render(done.error());
  auto next = fed.shown;
  const auto name = victim->first;
  next.erase(name);
  block_what_left(fed.shown, next, fed.blocked);
  moved_there(world, std::move(next));
  fed.yanks.taken_out[name] = fed.yanks.last_change;
}

void unblock_there(World& world) {
  auto& fed = world.fed;
  if (fed.blocked.empty()) return;
  auto freed = std::next(fed.blocked.begin(), static_cast<std::ptrdiff_t>(world.pick(fed.blocked.size())));
  world.log += fmt::format("unblock {} there; ", freed->first);
  auto done = unblock_distribution(*world.other, k_distribution, {freed->first}, world.options());
  if (!was_allowed_there(world, done)) return;
  ASSERT_TRUE(done) << world.log << render(done.error());
  fed.yanks.taken_out.erase(freed->first);
  fed.blocked.erase(freed);
  moved_there(world, fed.shown);
}

void sweep(World& world) {
  world.log += "gc; ";
  for (int twice = 0; twice < 2; ++twice)
    for (auto* store : {world.store.get(), world.other.get()})
      ASSERT_TRUE(publish::collect_garbage(*store, {0, world.now_us, false})) << world.log;
}

/// Killed at any call, a promotion has happened or has not, and the same command completes it.
void promote_and_die(World& world) {
  auto& known = world.any_set();
  auto at = 1 + world.pick(60);
  world.log += fmt::format("promote {} killed at {}; ", known.set.digest.short_hex(), at);
  FaultyStore faulty(*world.store, {FaultyStore::Fault::die_after, at, false});
  auto law = judging(world);
  auto request = request_for(world, known.set, law);
  auto options = world.options();
  if (promote(faulty, request, options)) faulty.log(); // it was done before its death
  auto now = registry::read_channel(*world.store, "stable");
  ASSERT_TRUE(now) << world.log;
  bool moved = *now && (*now)->record.generation > world.model.history.size();
  auto files = files_of(known.set);
  if (moved) {
    EXPECT_TRUE(is_ready(world, known) && !has_any(world.model.blocked, files) && world.may_move()) << world.log;
    was_let_in(world.model, files, law);
  }
  expect_promotion(world, known, law, promote(*world.store, request, options));
}

void wait(World& world) {
  world.now_us += static_cast<std::int64_t>(1 + world.pick(30)) * k_hour_of_moves_us;
  world.log += "wait; ";
}

void look_there(World& world) {
  auto shown = shown_there(world);
  ASSERT_TRUE(shown) << world.log << render(shown.error());
  EXPECT_EQ(*shown, world.fed.shown) << world.log;
  auto now = registry::read_distribution(*world.other, k_distribution);
  ASSERT_TRUE(now && now->has_value() == world.fed.claimed) << world.log;
  if (!*now) return;
  Shown blocked;
  for (const auto& file : (*now)->record.shown.blocked) blocked.emplace(file.filename, file.sha256);
  EXPECT_EQ(blocked, world.fed.blocked) << world.log;
}

/// What must hold after every step.
void look(World& world) {
  look_there(world);
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
  auto bound = model.guarded() ? world.policy(model.law).digest : std::string();
  EXPECT_EQ((*channel)->record.guard.policy.hex(), bound) << world.log;
  EXPECT_EQ((*channel)->record.guard.keeps_from, model.keeps_from) << world.log;
  for (const auto& [name, digest] : *shown) {
    EXPECT_FALSE(model.blocked.contains(name)) << name << " came back: " << world.log;
    EXPECT_TRUE(!model.guarded() || model.approved.contains(name)) << name << " without a verdict: " << world.log;
  }
}

/// At the end: what the policy of the channel wants signed in the distribution is signed.
void look_at_moves_there(World& world) {
  auto now = registry::read_distribution(*world.other, k_distribution);
  ASSERT_TRUE(now) << world.log;
  if (!*now) return;
  auto moves = registry::distribution_moves(*world.other, (*now)->record, k_steps * 2);
  ASSERT_TRUE(moves) << world.log << render(moves.error());
  auto digest = (*now)->record.view;
  for (const auto& move : *moves) {
    bool own = move.move.action == registry::Action::rollback || move.move.action == registry::Action::unblock ||
               move.move.action.text() == "yank";
    bool wants = !move.fed_by.empty() && move.fed_by.front().policy.hex() == world.policy(Law::wants_signatures).digest;
    if (own && wants) {
      auto envelopes = signature::load_of(*world.other, *digest.sha256(), {world.lead.public_key()});
      ASSERT_TRUE(envelopes) << world.log;
      EXPECT_EQ(envelopes->size(), 1u) << move.generation << " is not signed: " << world.log;
    }
    digest = move.previous;
  }
}

/// At the end: every move that had to be signed is, and the ledger is whole although its views were pruned and swept.
void look_at_moves(World& world) {
  auto channel = registry::read_channel(*world.store, "stable");
  if (!channel || !*channel) return;
  auto verified = verify_moves(*world.store, (*channel)->record);
  ASSERT_TRUE(verified) << world.log << render(verified.error());
  EXPECT_TRUE(verified->findings.empty()) << world.log << verified->findings.front().message;
  EXPECT_EQ(verified->moves.size(), world.model.history.size()) << world.log;
}

TEST(RandomMoves, FollowTheOracle) {
  using Step = void (*)(World&);
  // Some stand twice: they happen more often.
  const Step steps[] = {test_a_set,
                        test_a_set,
                        test_a_set,
                        waive_a_set,
                        revoke_waivers,
                        promote_a_set,
                        promote_a_set,
                        promote_a_set,
                        roll_back,
                        yank_a_file,
                        unblock_a_file,
                        sweep,
                        promote_and_die,
                        wait,
                        lift_protection,
                        protect_by_a_policy,
                        protect_by_a_policy,
                        prune_history,
                        publish_a_set,
                        publish_a_set,
                        promote_by_another_policy,
                        copy_a_set,
                        copy_a_set,
                        copy_a_set,
                        roll_distribution_back,
                        yank_there,
                        unblock_there};
  auto sequences = number_of("QUARRY_SEQUENCES", number_of("QUARRY_LONG", 0) ? 10'000 : 60);
  auto seed = number_of("QUARRY_SEED", 1);
  std::size_t promoted = 0;
  for (std::uint64_t i = 0; i < sequences; ++i) {
    auto world = new_world(seed * 1'000'003 + i);
    for (std::size_t step = 0; step < k_steps; ++step) {
      auto signer = world.pick(6);
      world.signer = signer < 4 ? World::Signer::lead : signer == 4 ? World::Signer::nobody : World::Signer::stranger;
      steps[world.pick(std::size(steps))](world);
      look(world);
      if (::testing::Test::HasFailure()) FAIL() << fmt::format("QUARRY_SEED={}, sequence {}: {}", seed, i, world.log);
    }
    look_at_moves(world);
    look_at_moves_there(world);
    if (::testing::Test::HasFailure()) FAIL() << fmt::format("QUARRY_SEED={}, sequence {}: {}", seed, i, world.log);
    promoted += world.model.history.size();
  }
  EXPECT_GT(promoted, sequences / 2) << "sequences in which nothing moves test nothing";
}

} // namespace
} // namespace quarry::promote
