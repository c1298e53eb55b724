#include "promote/withdraw_from.hpp"

#include "promote/fed_moves.hpp"
#include "promote/named_files.hpp"
#include "publish/publish.hpp"
#include "publish/shown.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>

namespace quarry::promote {

using registry::SealedSet;
using registry::SetDigest;
using registry::ShownSet;
using store::ObjectReader;
using store::ObjectStore;

namespace {

constexpr std::string_view k_set_of_shown = "set:";
constexpr std::size_t k_set_digits_min = 8; // as registry::complete_set_digest() takes them

/// A set that is shown, and its record; nullptr: it is lost, so nobody knows its files.
struct ShownRecord {
  const ShownSet& shown;
  const SealedSet* sealed;
};

bool has_source(const ShownSet& shown, const SetDigest& digest) {
  return shown.set == digest || shown.source == digest;
}

/// The digest of a shown set, or of the set that one was copied from.
Result<SetDigest> digest_named(ObjectReader& store, const std::vector<ShownSet>& shown, const std::string& digits) {
  std::set<SetDigest> found;
  for (const auto& one : shown)
    for (const auto& digest : {one.set, one.source})
      if (!digest.empty() && digits.size() >= k_set_digits_min && digest.hex().starts_with(digits))
        found.insert(digest);
  if (found.size() == 1) return *found.begin();
  return registry::complete_set_digest(store, digits);
}

struct LeavingShown {
  std::set<SetDigest> sets;
  std::set<Sha256> files;
  bool empty() const { return sets.empty() && files.empty(); }
};

/// Adds what one word names. Returns whether something of it is shown.
Result<bool> add_named(ObjectReader& store, const std::vector<ShownRecord>& records, const std::string& word,
                       LeavingShown& leaving) {
  bool shows = false;
  if (word.starts_with(k_set_of_shown)) {
    std::vector<ShownSet> shown;
    for (const auto& record : records) shown.push_back(record.shown);
    TRY(auto digest, digest_named(store, shown, word.substr(k_set_of_shown.size())));
    for (const auto& one : shown)
      if (has_source(one, digest)) {
        leaving.sets.insert(one.set);
        shows = true;
      }
    return shows;
  }
  for (const auto& record : records) {
    if (!record.sealed) continue;
    for (const auto& file : record.sealed->set.files)
      if (file.filename == word || file.sha256.hex() == word) {
        leaving.files.insert(file.sha256);
        shows = true;
      }
  }
  return shows;
}

Result<LeavingShown> leaving_of(ObjectReader& store, const registry::DistributionRecord& now,
                                const std::vector<ShownRecord>& records, const std::vector<std::string>& what) {
  LeavingShown leaving;
  for (const auto& word : what) {
    TRY(bool shows, add_named(store, records, word, leaving));
    if (shows) continue;
    // It left already, perhaps by this very command, which was killed before it had written the pages.
    auto blocked = now.shown.blocked;
    TRY(auto left, take_named(store, word, blocked));
    if (left.empty())
      return fail(ErrorKind::not_found, "O024",
                  fmt::format("distribution {} shows nothing of {} that Quarry copied there", now.directory, word),
                  "nothing was changed; its pages list the files, and those that another tool published there stay");
  }
  return leaving;
}

/// The set without these files, as a copy of that part of its source would be: it names no whole, which is not there.
SealedSet rest_of_copy(const SealedSet& whole, const std::set<Sha256>& leaving) {
  SealedSet rest;
  rest.set = whole.set;
  std::erase_if(rest.set.files, [&](const registry::FileRecord& file) { return leaving.contains(file.sha256); });
  rest.digest = registry::digest_of(rest.set);
  return rest;
}

/// What is shown afterwards.
void keep(const std::vector<ShownRecord>& records, const LeavingShown& leaving, DistributionWithdrawal& plan) {
  auto show = [&](ShownSet one) {
    auto& next = plan.plan.next.sets;
    if (std::ranges::find(next, one.set, &ShownSet::set) == next.end()) next.push_back(std::move(one));
  };
  for (const auto& [shown, sealed] : records) {
    if (leaving.sets.contains(shown.set)) {
      ++plan.plan.leave;
      continue;
    }
    auto rest = sealed ? rest_of_copy(*sealed, leaving.files) : SealedSet();
    bool whole = !sealed || rest.set.files.size() == sealed->set.files.size();
    if (whole) {
      show(shown);
      if (sealed) plan.stay.push_back(*sealed);
      continue;
    }
    ++plan.plan.leave;
    if (rest.set.files.empty()) continue;
    show({rest.digest, shown.source, shown.remarks});
    plan.derived.push_back(rest.set);
    plan.stay.push_back(std::move(rest));
  }
}

/// The files that are shown and not kept.
void block_what_leaves(const std::vector<SealedSet>& shown, DistributionWithdrawal& plan) {
  std::set<Sha256> kept;
  for (const auto& sealed : plan.stay)
    for (const auto& file : sealed.set.files) kept.insert(file.sha256);
  std::map<Sha256, registry::BlockedFile> gone, blocked;
  for (const auto& sealed : shown)
    for (const auto& file : sealed.set.files) {
      if (kept.contains(file.sha256)) continue;
      plan.projects.insert(file.project);
      gone.try_emplace(file.sha256, registry::BlockedFile{
                                        file.sha256, file.filename, "", plan.plan.expected.record.generation + 1, {}});
    }
  for (const auto& file : plan.plan.expected.record.shown.blocked) blocked.emplace(file.sha256, file);
  for (const auto& [sha, file] : gone) {
    plan.plan.blocks += blocked.try_emplace(sha, file).second;
    plan.gone.push_back(file);
  }
  for (auto& [sha, file] : blocked) plan.plan.next.blocked.push_back(std::move(file));
}

} // namespace

Result<DistributionWithdrawal> plan_distribution_withdrawal(ObjectReader& store, const std::string& directory,
                                                            const std::vector<std::string>& what) {
  DistributionWithdrawal plan;
  TRY(plan.plan.expected, registry::require_distribution(store, directory));
  const auto& now = plan.plan.expected.record;
  TRY(auto sealed, registry::sealed_of(store, now.shown), "while reading distribution " + directory);
  std::vector<ShownRecord> records;
  for (const auto& one : now.shown.sets) {
    auto found = std::ranges::find(sealed, one.set, &SealedSet::digest);
    records.push_back({one, found == sealed.end() ? nullptr : &*found});
  }
  TRY(auto leaving, leaving_of(store, now, records, what));
  if (leaving.empty()) { // all of it left before
    plan.plan.next = now.shown;
    plan.stay = std::move(sealed);
    return plan;
  }
  plan.plan.next.revoked = now.shown.revoked;
  keep(records, leaving, plan);
  block_what_leaves(sealed, plan);
  if (!plan.gone.empty()) return plan;
  return fail(ErrorKind::precondition_failed, "O026",
              fmt::format("no file would leave distribution {}: other sets keep them all", directory),
              "nothing was changed: name these sets, too, or the files themselves");
}

Result<DistributionReceipt> withdraw_from_distribution(ObjectStore& store, const DistributionWithdrawal& withdrawal,
                                                       const Author& author) {
  auto before = store.counters();
  DistributionReceipt receipt;
  receipt.plan = withdrawal.plan;
  receipt.generation = receipt.plan.generation();
  if (receipt.plan.moves()) {
    const auto yank = registry::Action::read("yank");
    TRY_DO(check_signer_there(store, receipt.plan.expected.record, yank, author.key));
    for (const auto& set : withdrawal.derived) {
      TRY(auto digest, registry::put_set(store, set));
      TRY_DO(registry::seal(store, digest, author.when));
    }
    auto next = receipt.plan.next;
    for (auto& file : next.blocked)
      if (file.generation == receipt.generation && file.reason.empty()) file.reason = author.why;
    TRY_DO(publish::move_signed(store, receipt.plan.expected, next, {yank, {}, author.who, author.when, author.why},
                                author.key));
    receipt.moved = true;
  }
  TRY(auto displayed, publish::display(store, receipt.plan.directory()));
  receipt.notes = std::move(displayed.notes);
  receipt.writes = publish::writes_between(before, store.counters());
  return receipt;
}

} // namespace quarry::promote
