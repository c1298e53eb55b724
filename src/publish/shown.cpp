#include "publish/shown.hpp"

#include "pages/merged.hpp"
#include "pages/projection.hpp"
#include "registry/distribution_views.hpp"
#include "registry/rounds.hpp"
#include "signature/stored.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <iterator>

namespace quarry::publish {

using registry::ShownSet;
using store::ObjectReader;
using store::ObjectStore;

namespace {

/// Those that it does not show yet.
std::vector<ShownSet> not_shown_in(const registry::Shown& shown, const std::vector<ShownSet>& sets) {
  std::vector<ShownSet> fresh;
  for (const auto& one : sets) {
    auto same = [&](const ShownSet& known) { return known.set == one.set; };
    if (std::none_of(shown.sets.begin(), shown.sets.end(), same) && std::none_of(fresh.begin(), fresh.end(), same))
      fresh.push_back(one);
  }
  return fresh;
}

/// A pointer of the first format shows what is sealed, also what its caller has sealed a moment ago: that is new.
void forget_just_sealed(registry::Distribution& now, const std::vector<ShownSet>& sets) {
  auto& shown = now.record.shown.sets;
  for (auto i = shown.size(); i > now.named; --i) {
    auto one = shown.begin() + static_cast<std::ptrdiff_t>(i - 1);
    if (std::any_of(sets.begin(), sets.end(), [&](const ShownSet& fresh) { return fresh.set == one->set; }))
      shown.erase(one);
  }
}

Result<void> refuse_if_blocked(ObjectReader& store, const registry::DistributionRecord& record,
                               const std::vector<ShownSet>& fresh) {
  if (record.shown.blocked.empty()) return {};
  std::vector<registry::SealedSet> sets;
  for (const auto& one : fresh) {
    TRY(auto set, registry::load_set(store, one.set));
    sets.push_back({one.set, std::move(set), {}});
  }
  return registry::refuse_blocked(record, sets, address_of(store, record.directory));
}

/// The time of a run that was to make this very move, and was killed after it had signed the record: the pointer takes
/// that record then. With a record of its own it would leave one behind that is signed and that nobody can explain.
Result<sys::Timestamp> time_of_killed_run(ObjectReader& store, const registry::Distribution& expected,
                                          const registry::Shown& next, const registry::DistributionMove& move,
                                          const Ed25519PrivateKey& key) {
  TRY(auto left, registry::views_to_follow(store, expected.record));
  for (const auto& [digest, record] : left) {
    auto same = record.move;
    same.when = move.when;
    if (same != move || record.shown != next || record.fed_by != expected.record.fed_by) continue;
    TRY(auto envelopes, signature::load_of(store, *digest.sha256(), {key.public_key()}));
    for (const auto& envelope : envelopes[*digest.sha256()])
      if (signature::verifies(envelope, {"move", *digest.sha256()}, key.public_key())) return record.move.when;
  }
  return move.when;
}

} // namespace

std::string address_of(const ObjectReader& store, const std::string& directory) {
  return fmt::format("{}/{}", store.describe(), directory);
}

Result<registry::DistributionRecord> move_signed(ObjectStore& store, const registry::Distribution& expected,
                                                 const registry::Shown& next, const registry::DistributionMove& move,
                                                 const std::optional<Ed25519PrivateKey>& key) {
  if (!key || expected.record.fed_by.empty()) return registry::move_distribution(store, expected, next, move);
  auto same = move;
  TRY(same.when, time_of_killed_run(store, expected, next, move, *key));
  return registry::move_distribution(store, expected, next, same,
                                     [&](const registry::DistributionViewDigest& record) -> Result<void> {
                                       TRY_DO(signature::sign(store, {"move", *record.sha256()}, *key));
                                       return {};
                                     });
}

Result<bool> show_sets(ObjectStore& store, const std::string& directory, const std::vector<ShownSet>& sets,
                       const registry::DistributionMove& move, const Showing& showing) {
  for (registry::Rounds rounds("distribution " + directory);;) {
    TRY(auto now, registry::require_distribution(store, directory));
    forget_just_sealed(now, sets);
    auto fresh = not_shown_in(now.record.shown, sets);
    auto fed_by = now.record.fed_by;
    if (showing.admission) {
      TRY(fed_by, showing.admission(now.record));
    }
    auto next = now.record.shown;
    next.sets.insert(next.sets.end(), fresh.begin(), fresh.end());
    if (showing.channels) TRY_DO(registry::note_revoked(*showing.channels, next));
    if (fresh.empty() && fed_by == now.record.fed_by && next.revoked == now.record.shown.revoked) return false;
    TRY_DO(refuse_if_blocked(store, now.record, fresh));
    now.record.fed_by = std::move(fed_by);
    auto moved = move_signed(store, now, next, move, showing.key);
    if (moved) return true;
    TRY_DO(rounds.another(std::move(moved).error()));
  }
}

Result<Displayed> display(ObjectStore& store, const std::string& directory) {
  Displayed done;
  TRY(auto projected, pages::project_distribution(store, directory));
  done.notes = pages::foreign_notes(projected);
  TRY(auto merged, pages::merge_directory(store, directory));
  std::ranges::move(merged.notes, std::back_inserter(done.notes));
  done.has_merged = merged.exists;
  return done;
}

} // namespace quarry::publish
