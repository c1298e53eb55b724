#include "retain/look.hpp"

#include "closure/stored.hpp"
#include "publish/reachable.hpp"
#include "registry/derivations.hpp"
#include "registry/locks.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace quarry::retain {

using registry::SetDigest;
using store::ObjectReader;
using store::ObjectStore;

namespace {

constexpr unsigned k_reads = 8;

std::optional<SetDigest> digest_in_key(std::string_view key, std::string_view prefix) {
  constexpr std::string_view k_suffix = ".json";
  if (!key.starts_with(prefix) || !key.ends_with(k_suffix)) return std::nullopt;
  key.remove_prefix(prefix.size());
  return SetDigest::parse(key.substr(0, key.size() - k_suffix.size()));
}

bool is_damage(const Error& error) {
  if (registry::is_transport_error(error)) return false;
  return error.kind == ErrorKind::corrupt || error.kind == ErrorKind::unsupported ||
         error.kind == ErrorKind::resource_exhausted || error.kind == ErrorKind::invalid_argument;
}

/// nullopt: the set is not sealed and was never retired, so a publish is at work, or garbage collection will be.
Result<std::optional<Entry>> read_entry(ObjectReader& store, const SetDigest& digest, std::int64_t written_us) {
  Entry entry;
  entry.digest = digest;
  auto set = registry::load_set(store, digest);
  if (!set && registry::is_gone(set.error())) return std::optional<Entry>(); // removed meanwhile
  if (!set) return fail(std::move(set).error());
  entry.set = std::move(*set);
  TRY(entry.retired, registry::read_retired(store, entry.set.directory, digest));
  auto key = registry::seal_key(entry.set.directory, digest);
  TRY(auto seal, store.get(key, registry::k_record_bytes_max));
  if (seal) {
    TRY(auto record, registry::parse_seal({*seal, key}));
    entry.seal = std::move(*seal);
    entry.sealed_us = std::max(record.time.us(), written_us);
  } else if (entry.retired) {
    TRY(auto record, registry::parse_seal({entry.retired->record.seal, key}));
    entry.sealed_us = std::max(record.time.us(), written_us);
  } else {
    return std::optional<Entry>();
  }
  return std::optional(std::move(entry));
}

Result<std::vector<Entry>> read_entries(ObjectReader& store, Findings& notes) {
  constexpr std::string_view k_sets = "sets/";
  TRY(auto objects, store.list(std::string(k_sets)));
  std::vector<std::optional<Entry>> read(objects.size());
  Findings damaged(objects.size());
  TRY_DO(parallel_for(objects.size(), k_reads, [&](std::size_t i) -> Result<void> {
    auto digest = digest_in_key(objects[i].key, k_sets);
    if (!digest) return {};
    auto entry = read_entry(store, *digest, objects[i].modified_us);
    if (entry) {
      read[i] = std::move(*entry);
      return {};
    }
    if (!is_damage(entry.error())) return fail(std::move(entry).error());
    damaged[i] = {"R021", Severity::warning, "set:" + digest->short_hex(), "it is left alone: " + entry.error().message,
                  "`quarry set verify` says more; restore the record from a copy of the store"};
    return {};
  }));
  std::vector<Entry> entries;
  for (auto& entry : read)
    if (entry) entries.push_back(std::move(*entry));
  for (auto& note : damaged)
    if (!note.code.empty()) notes.push_back(std::move(note));
  return entries;
}

/// The candidates of sets that are still sealed: a policy may ask for the proof, which reads their bytes.
Result<void> name_candidates(ObjectReader& store, Inventory& inventory) {
  TRY(auto objects, store.list("derivations/"));
  for (const auto& object : objects) {
    auto made = digest_in_key(object.key, "derivations/");
    bool sealed = made && std::ranges::any_of(inventory.entries, [&](const Entry& entry) {
                    return entry.digest == *made && entry.sealed();
                  });
    if (!sealed) continue;
    TRY(auto derivation, registry::load_derivation(store, *made));
    if (derivation)
      inventory.named.emplace(derivation->candidate, fmt::format("set:{}, made of it,", made->short_hex()));
  }
  return {};
}

/// A part of a set has its files: what names the part names the whole.
void name_those_with_the_same_files(Inventory& inventory) {
  std::map<std::string, std::string> keys;
  for (const auto& entry : inventory.entries)
    if (auto named = inventory.named.find(entry.digest); named != inventory.named.end())
      for (const auto& file : entry.set.files) keys.emplace(file.key, named->second);
  for (const auto& entry : inventory.entries)
    for (const auto& file : entry.set.files)
      if (auto found = keys.find(file.key); found != keys.end()) inventory.named.emplace(entry.digest, found->second);
}

Result<Packages> packages_of(ObjectReader& store, const Inventory& inventory, Findings& notes) {
  struct Wanted {
    SetDigest set;
    const registry::FileRecord* file;
  };
  std::vector<Wanted> wanted;
  for (const auto& entry : inventory.entries)
    if (entry.sealed())
      for (const auto& file : entry.set.files) wanted.push_back({entry.digest, &file});
  std::vector<std::optional<closure::Package>> read(wanted.size());
  std::vector<std::string> defects(wanted.size());
  TRY_DO(parallel_for(wanted.size(), k_reads, [&](std::size_t i) -> Result<void> {
    auto package = closure::load_package(store, *wanted[i].file);
    if (package)
      read[i] = std::move(*package);
    else if (is_damage(package.error()))
      defects[i] = package.error().message;
    else
      return fail(std::move(package).error());
    return {};
  }));
  Packages packages;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (read[i]) packages[wanted[i].set].push_back(std::move(*read[i]));
    if (!defects[i].empty())
      notes.push_back({"P022", Severity::warning, wanted[i].file->key,
                       "what it requires is not known, so nothing stays on its account: " + defects[i],
                       "`quarry index rebuild` writes METADATA of wheels again"});
  }
  return packages;
}

} // namespace

Result<Inventory> look(ObjectStore& store, std::int64_t now_us) {
  Inventory inventory;
  TRY(inventory.entries, read_entries(store, inventory.notes));
  publish::Reachable reached(store);
  TRY_DO(reached.update(inventory.notes));
  for (const auto& entry : inventory.entries)
    if (auto channel = reached.channel_of(registry::set_key(entry.digest)); !channel.empty())
      inventory.named.emplace(entry.digest, "channel " + channel);
  TRY(auto locks, registry::list_locks(store));
  for (const auto& lock : locks)
    if (lock.record.until.us() > now_us)
      for (const auto& set : lock.record.sets)
        inventory.named.emplace(set,
                                fmt::format("a lock until {} (locks/{})", lock.record.until, lock.digest.short_hex()));
  TRY_DO(name_candidates(store, inventory));
  name_those_with_the_same_files(inventory);
  return inventory;
}

Result<Plan> plan_retention(ObjectReader& store, const Inventory& inventory, const Rules& rules, std::int64_t now_us) {
  auto plan = make_plan(inventory, rules, now_us);
  if (plan.tombstone.empty()) return plan;
  TRY(auto packages, packages_of(store, inventory, plan.notes));
  TRY(auto needed, still_needed(inventory, plan, packages), "while looking whether what stays can still be installed");
  spare(plan, std::move(needed));
  return plan;
}

} // namespace quarry::retain
