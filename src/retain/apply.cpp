#include "retain/apply.hpp"

#include "base/json.hpp"
#include "pages/merged.hpp"
#include "publish/reachable.hpp"
#include "registry/locks.hpp"
#include "retain/steps.hpp"
#include "store/put_once.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <set>

namespace quarry::retain {

using registry::Retirement;
using registry::SetDigest;
using store::ObjectReader;
using store::ObjectStore;

namespace {

constexpr std::size_t k_batch = 64; // sets that are purged between two looks at what names them

std::string plan_key(const registry::PlanDigest& digest) { return "retention/plans/" + digest.hex() + ".json"; }

const Entry& entry_of(const Inventory& inventory, const SetDigest& set) {
  return *std::ranges::find(inventory.entries, set, &Entry::digest);
}

Result<void> store_plan(ObjectStore& store, const Plan& plan) {
  auto bytes = to_json(plan);
  TRY_DO(store::put_once(
      store, plan_key(plan.digest),
      {content::Rope::literal(bytes), sha256(bytes), "application/json", "public, max-age=31536000, immutable"}));
  return {};
}

/// Those of the plan, and those of an earlier run that was killed before it wrote them.
Result<Findings> write_pages_of(ObjectStore& store, const Inventory& inventory, const Plan& plan) {
  std::set<std::string> directories;
  for (const auto* list : {&plan.tombstone, &plan.restore})
    for (const auto& leaving : *list) directories.insert(leaving.directory);
  for (const auto& entry : inventory.entries)
    if (entry.is(Retirement::tombstoned)) directories.insert(entry.set.directory);
  Findings notes;
  for (const auto& directory : directories) {
    TRY(auto projected, pages::project_directory(store, directory), "while writing the pages of " + directory);
    std::ranges::move(pages::foreign_notes(projected), std::back_inserter(notes));
    TRY(auto merged, pages::merge_directory(store, directory), "while writing the pages of " + directory);
    std::ranges::move(merged.notes, std::back_inserter(notes));
    TRY(auto whole, pages::merge_run_of(store, directory), "while writing the pages of the run of " + directory);
    std::ranges::move(whole.notes, std::back_inserter(notes));
    if (!merged.exists && !whole.exists) continue;
    TRY(auto groups, pages::merge_groups_of(store, directory), "while writing the pages of the run of " + directory);
    std::ranges::move(groups.notes, std::back_inserter(notes));
  }
  return notes;
}

/// What names sets by now: the plan was made before.
class Namers {
public:
  Namers(ObjectStore& store, std::int64_t now_us) : store_(store), now_us_(now_us), reached_(store) {}

  Result<void> look(Findings& notes) {
    TRY_DO(reached_.update(notes));
    TRY(auto locks, registry::list_locks(store_));
    locked_.clear();
    for (const auto& lock : locks)
      if (lock.record.until.us() > now_us_) locked_.insert(lock.record.sets.begin(), lock.record.sets.end());
    return {};
  }
  /// "channel stable", "a lock"; empty: nothing does.
  std::string of(const SetDigest& set) const {
    auto channel = reached_.channel_of(registry::set_key(set));
    if (!channel.empty()) return "channel " + channel;
    return locked_.contains(set) ? "a lock" : "";
  }

private:
  ObjectStore& store_;
  std::int64_t now_us_;
  publish::Reachable reached_;
  std::set<SetDigest> locked_;
};

/// Removes files, looking again at what names them.
class Purge {
public:
  Purge(ObjectStore& store, const Inventory& inventory, const Change& change, Namers& namers)
      : store_(store), inventory_(inventory), change_(change), namers_(namers) {
    for (const auto& entry : inventory.entries)
      if (entry.sealed())
        for (const auto& file : entry.set.files) keys_in_use_.insert(file.key);
  }

  Result<void> run(const std::vector<Leaving>& batch, Applied& applied) {
    for (const auto& leaving : batch) TRY_DO(begin_purge(store_, entry_of(inventory_, leaving.set), change_));
    TRY_DO(namers_.look(applied.notes));
    for (const auto& leaving : batch) {
      auto namer = namers_.of(leaving.set);
      TRY_DO(namer.empty() ? remove(leaving, applied) : keep(leaving, namer, applied));
    }
    return {};
  }

private:
  /// Only if nothing was removed yet.
  Result<void> keep(const Leaving& leaving, const std::string& why, Applied& applied) {
    const auto& entry = entry_of(inventory_, leaving.set);
    for (const auto& file : entry.set.files) {
      TRY(auto there, store_.head(file.key));
      if (there) continue;
      applied.notes.push_back({"O203", Severity::error, "set:" + leaving.set.short_hex(),
                               fmt::format("{} names it now, and {} was removed already", why, file.key),
                               "take it out of there: `quarry yank`, or `quarry rollback`"});
      return {};
    }
    TRY_DO(restore(store_, entry, change_));
    applied.spared.push_back({leaving.set, why + " names it since"});
    return {};
  }

  Result<void> remove(const Leaving& leaving, Applied& applied) {
    const auto& entry = entry_of(inventory_, leaving.set);
    TRY(auto sealed, registry::sealed_sets_below(store_, entry.set.directory)); // what was published meanwhile
    auto in_use = keys_in_use_;
    for (const auto& other : sealed)
      for (const auto& file : other.set.files) in_use.insert(file.key);
    for (const auto& file : entry.set.files) {
      if (in_use.contains(file.key)) continue;
      TRY_DO(store_.remove(file.key));
      if (file.metadata_sha256) TRY_DO(store_.remove(file.key + ".metadata"));
      applied.bytes += file.size;
    }
    TRY_DO(end_purge(store_, entry, change_));
    applied.purged.push_back(leaving);
    return {};
  }

  ObjectStore& store_;
  const Inventory& inventory_;
  const Change& change_;
  Namers& namers_;
  std::set<std::string> keys_in_use_;
};

/// Seals of what somebody names by now come back: a promotion that had found the set sealed may have ended since.
Result<void> put_back_named(ObjectStore& store, const Inventory& inventory, const Change& change, Namers& namers,
                            Applied& applied) {
  if (applied.tombstoned.empty()) return {};
  TRY_DO(namers.look(applied.notes));
  std::vector<Leaving> stay;
  for (auto& leaving : applied.tombstoned) {
    auto namer = namers.of(leaving.set);
    if (namer.empty()) {
      stay.push_back(std::move(leaving));
      continue;
    }
    TRY_DO(restore(store, entry_of(inventory, leaving.set), change));
    applied.spared.push_back({leaving.set, namer + " names it since"});
  }
  applied.tombstoned = std::move(stay);
  return {};
}

Change change_of(const Plan& plan, const Author& author, std::int64_t now_us) {
  return {plan.digest, now_us, plan.grace_us, author.who, author.why};
}

} // namespace

Result<std::int64_t> time_for_retention(ObjectStore& store) {
  TRY(bool swaps, store.conditional_writes());
  TRY(auto now, swaps ? publish::time_of(store) : Result<std::int64_t>(0));
  if (now > 0) return now;
  return fail(ErrorKind::unsupported, "O201",
              fmt::format("{} {}, so nothing is removed there", store.describe(),
                          swaps ? "tells no time" : "ignores conditional writes"),
              "`quarry doctor --store` says what the server honours");
}

Result<bool> was_begun(ObjectReader& store, const registry::PlanDigest& digest) {
  TRY(auto there, store.head(plan_key(digest)));
  return there.has_value();
}

Result<Plan> rest_of(ObjectReader& store, const registry::PlanDigest& digest, const Plan& now) {
  auto key = plan_key(digest);
  TRY(auto bytes, store.get(key, registry::k_record_bytes_max));
  if (!bytes) return fail(ErrorKind::not_found, "R010", fmt::format("{} holds no record {}", store.describe(), key));
  TRY(auto document, json::parse({*bytes, key}));
  std::set<std::string> asked;
  for (const char* list : {"tombstone", "purge", "restore"})
    for (const auto& row : document.value(list, Json::array())) asked.insert(json::string_or(row, "set", ""));
  auto rest = now;
  for (auto* list : {&rest.tombstone, &rest.purge, &rest.restore})
    std::erase_if(*list, [&](const Leaving& leaving) { return !asked.contains(leaving.set.hex()); });
  rest.digest = digest;
  return rest;
}

Result<Applied> apply(ObjectStore& store, const Inventory& inventory, const Plan& plan, const Author& author) {
  TRY(auto now_us, time_for_retention(store));
  auto change = change_of(plan, author, now_us);
  Applied applied;
  applied.plan = plan.digest;
  TRY(bool begun, was_begun(store, plan.digest));
  if (!begun && !plan.empty()) TRY_DO(store_plan(store, plan));
  for (const auto& leaving : plan.restore) {
    TRY_DO(restore(store, entry_of(inventory, leaving.set), change));
    applied.restored.push_back(leaving);
  }
  for (const auto& leaving : plan.tombstone) {
    TRY_DO(tombstone(store, entry_of(inventory, leaving.set), leaving.rule, change));
    applied.tombstoned.push_back(leaving);
  }
  Namers namers(store, now_us);
  TRY_DO(put_back_named(store, inventory, change, namers, applied));
  TRY(auto notes, write_pages_of(store, inventory, plan));
  std::ranges::move(notes, std::back_inserter(applied.notes));
  Purge purge(store, inventory, change, namers);
  for (std::size_t begin = 0; begin < plan.purge.size(); begin += k_batch) {
    auto from = plan.purge.begin() + static_cast<std::ptrdiff_t>(begin);
    auto count = std::min(plan.purge.size() - begin, k_batch);
    TRY_DO(purge.run({from, from + static_cast<std::ptrdiff_t>(count)}, applied));
  }
  return applied;
}

Result<Undone> undo(ObjectStore& store, const Inventory& inventory, const Undo& what, const Author& author) {
  TRY(auto now_us, time_for_retention(store));
  Plan back;
  Undone undone;
  std::vector<Leaving> shown; // whose pages an earlier run may not have written
  auto leaving_of = [](const Entry& entry) {
    return Leaving{entry.digest,           entry.set.directory, entry.retired->record.rule,
                   entry.set.files.size(), entry.bytes(),       sys::Timestamp::from_us(entry.sealed_us).text()};
  };
  for (const auto& entry : inventory.entries) {
    bool asked = std::ranges::find(what.sets, entry.digest) != what.sets.end() ||
                 (what.plan && entry.retired && entry.retired->record.plan == *what.plan);
    if (!asked || !entry.retired) continue;
    if (entry.sealed() && entry.is(Retirement::kept)) {
      shown.push_back(leaving_of(entry));
      undone.earlier.push_back(entry.digest);
    }
    if (entry.sealed()) continue;
    if (entry.is(Retirement::purging) || entry.is(Retirement::purged)) {
      undone.gone.push_back(entry.digest);
      continue;
    }
    back.restore.push_back(leaving_of(entry));
    TRY_DO(restore(store, entry, {entry.retired->record.plan, now_us, 0, author.who, author.why}));
  }
  if (back.restore.empty() && (undone.earlier.empty() || !undone.gone.empty()))
    return fail(ErrorKind::not_found, "O202",
                undone.gone.empty() ? "retention retired nothing of that"
                                    : "it is too late: the files are removed, or are being removed",
                "`quarry retain plan` lists what was tombstoned and is not purged yet");
  undone.restored = back.restore;
  std::ranges::move(shown, std::back_inserter(back.restore));
  TRY_DO(write_pages_of(store, inventory, back));
  return undone;
}

} // namespace quarry::retain
