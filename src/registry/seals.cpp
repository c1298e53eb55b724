#include "registry/registry.hpp"

#include "base/codes.hpp"
#include "registry/keys.hpp"
#include "registry/retired.hpp"
#include "registry/union.hpp"
#include "store/put_once.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <set>
#include <tuple>

namespace quarry::registry {

namespace {

constexpr std::string_view k_seals = "/seals/";

constexpr const char* k_seal_hint =
    "its publishing has not finished: run that job's `quarry publish` again; a complete "
    "foreign set is sealed by `quarry set adopt`";

Unexpected wrong_seal(const std::string& key, std::string_view why) {
  return fail(ErrorKind::corrupt, "R014", fmt::format("the seal {} {}", key, why),
              "do not use it; `quarry set verify` says more");
}

// The seal at `key`, which must be that of `set`.
Result<SealRecord> fitting_seal(const std::string& bytes, const std::string& key, const SetDigest& set,
                                const std::string& directory) {
  TRY(auto record, parse_seal({bytes, key}));
  if (record.set != set) return wrong_seal(key, "names another set");
  if (record.directory != directory) return wrong_seal(key, "names another directory");
  return record;
}

Unexpected not_sealed(ObjectReader& store, const SetRecord& set, const SetDigest& digest) {
  auto retired = read_retired(store, set.directory, digest);
  if (!retired || !*retired)
    return fail(ErrorKind::not_found, "R013",
                fmt::format("set:{} is not sealed in {}", digest.short_hex(), store.describe()), k_seal_hint);
  const auto& record = (**retired).record;
  if (record.state == Retirement::tombstoned)
    return fail(ErrorKind::not_found, "R013",
                fmt::format("retention retired set:{} on {}; its files are there until {} at least", digest.short_hex(),
                            record.since, record.until),
                fmt::format("`quarry retain undo set:{}` brings it back", digest.short_hex()));
  if (record.state == Retirement::kept)
    return fail(ErrorKind::not_found, "R013",
                fmt::format("set:{} is not sealed: a command that brings it back was interrupted", digest.short_hex()),
                fmt::format("run `quarry retain undo set:{}` again", digest.short_hex()));
  return fail(ErrorKind::not_found, "R013",
              fmt::format("retention removed the files of set:{}; its record and what was found out about it stay",
                          digest.short_hex()),
              "build it again, or take a newer set: `quarry set list`");
}

} // namespace

Result<SealedSet> load_sealed(ObjectReader& store, const SetDigest& digest) {
  TRY(auto set, load_set(store, digest));
  return load_sealed(store, digest, std::move(set));
}

Result<SealedSet> load_sealed(ObjectReader& store, const SetDigest& digest, SetRecord set) {
  auto key = seal_key(set.directory, digest);
  TRY(auto bytes, store.get(key, k_record_bytes_max));
  if (!bytes) return not_sealed(store, set, digest);
  TRY(auto record, fitting_seal(*bytes, key, digest, set.directory));
  return SealedSet{digest, std::move(set), std::move(record)};
}

namespace {
// The digest in ".../seals/{digest}.json"; nullopt for any other key.
std::optional<SetDigest> sealed_digest(const std::string& key) {
  if (!key.ends_with(k_json) || key.size() < k_seals.size() + SetDigest::k_digits + k_json.size()) return std::nullopt;
  auto at = key.size() - k_json.size() - SetDigest::k_digits;
  if (key.substr(at - k_seals.size(), k_seals.size()) != k_seals) return std::nullopt;
  return SetDigest::parse(std::string_view(key).substr(at, SetDigest::k_digits));
}

// Garbage collection may have removed the set record, which was not sealed yet, after seal() read it: write it again.
Result<void> keep_set(ObjectStore& store, const SetDigest& digest, const SetRecord& record) {
  TRY(auto present, store.head(set_key(digest)));
  if (!present) TRY_DO(put_set(store, record));
  return {};
}

} // namespace

std::string seal_key(const std::string& directory, const SetDigest& set) {
  return fmt::format("{}{}{}{}", directory, k_seals, set.hex(), k_json);
}

Result<bool> seal(ObjectStore& store, const SetDigest& set, const Timestamp& time) {
  TRY(auto record, load_set(store, set));
  return seal(store, set, record, time);
}

Result<bool> seal(ObjectStore& store, const SetDigest& set, const SetRecord& record, const Timestamp& time) {
  auto key = seal_key(record.directory, set);
  TRY(auto present, store.get(key, k_record_bytes_max));
  if (present) {
    TRY_DO(fitting_seal(*present, key, set, record.directory));
    TRY_DO(keep_set(store, set, record)); // whoever sealed it may have died before
    return false;
  }
  auto bytes = to_json(SealRecord{set, record.directory, time});
  auto digest = sha256(bytes);
  auto put = store::put_once(
      store, key,
      {content::Rope::literal(std::move(bytes)), digest, "application/json", "public, max-age=31536000, immutable"});
  // Another job sealed the same set a moment earlier, with its own time. The set is sealed, which is what was asked
  // for.
  bool sealed_by_another = !put && put.error().is(codes::other_bytes);
  if (!put && !sealed_by_another) return put;
  if (sealed_by_another) {
    TRY(auto theirs, store.get(key, k_record_bytes_max));
    if (!theirs) return put; // it vanished again
    TRY_DO(fitting_seal(*theirs, key, set, record.directory));
  }
  TRY_DO(keep_set(store, set, record));
  return !sealed_by_another && *put;
}

Result<SealedSet> load_sealed(ObjectReader& store, const std::string& digits) {
  TRY(auto digest, complete_set_digest(store, digits));
  return load_sealed(store, digest);
}

Result<std::vector<SealedSet>> load_all_sealed(ObjectReader& store, const std::vector<SetDigest>& digests) {
  std::vector<SealedSet> sets(digests.size());
  TRY_DO(parallel_for(digests.size(), k_requests, [&](std::size_t i) -> Result<void> {
    TRY(sets[i], load_sealed(store, digests[i]));
    return {};
  }));
  return sets;
}

namespace {
/// The sets whose seals have these keys, oldest first; keys of other objects are passed over.
Result<std::vector<SealedSet>> sealed_by(ObjectReader& store, const std::vector<std::string>& keys,
                                         const std::vector<SealedSet>& known) {
  std::map<std::string, const SealedSet*> at;
  for (const auto& one : known) at[seal_key(one.set.directory, one.digest)] = &one;
  std::vector<SealedSet> found;
  for (const auto& key : keys) {
    auto digest = sealed_digest(key);
    if (!digest) continue;
    if (auto one = at.find(key); one != at.end()) {
      found.push_back(*one->second);
      continue;
    }
    auto set = load_sealed(store, *digest);
    if (!set && set.error().is(codes::not_sealed)) {
      TRY(auto record, load_set(store, *digest));
      if (seal_key(record.directory, *digest) == key) continue; // retention removed it since the listing
      return wrong_seal(key, "seals a set that says it is somewhere else");
    }
    if (!set) return fail(std::move(set).error().with_context("sealed by " + key));
    if (seal_key(set->set.directory, *digest) != key)
      return wrong_seal(key, "seals a set that says it is somewhere else");
    found.push_back(std::move(*set));
  }
  auto order = [](const SealedSet& s) { return std::tie(s.seal.time, s.digest); };
  std::sort(found.begin(), found.end(), [&](const SealedSet& a, const SealedSet& b) { return order(a) < order(b); });
  return found;
}
} // namespace

Result<std::vector<SealedSet>> sealed_sets_below(ObjectReader& store, const std::string& directory,
                                                 const std::vector<SealedSet>& known) {
  TRY(auto keys, store.keys(directory + "/"));
  return sealed_by(store, keys, known);
}

Result<std::vector<SealedSet>> sealed_sets_in(ObjectReader& store, const std::string& directory,
                                              const std::vector<SealedSet>& known) {
  TRY(auto keys, store.keys(directory + std::string(k_seals)));
  return sealed_by(store, keys, known);
}

Result<std::vector<FileRecord>> union_of(const std::vector<SealedSet>& sets) {
  std::vector<FileList> lists;
  for (const auto& sealed : sets) lists.push_back(&sealed.set.files);
  TRY(auto files, union_of(lists));
  std::vector<FileRecord> copies;
  copies.reserve(files.size());
  for (const auto* file : files) copies.push_back(*file);
  return copies;
}

Result<Resolved> resolve_set(ObjectReader& store, const std::string& digits) {
  TRY(auto sealed, load_sealed(store, digits));
  Resolved resolved{"set:" + sealed.digest.hex(), {}, sealed.set.files, {}, 0};
  resolved.sets.push_back(std::move(sealed));
  return resolved;
}

namespace {
/// Two groups of a run may have a file of one name, such as the `rocm` of two families: the hint names the groups.
Error naming_groups(const std::string& prefix, const std::vector<SealedSet>& sets, Error error) {
  std::set<std::string> groups;
  for (const auto& sealed : sets)
    if (!sealed.set.origin.group.empty()) groups.insert("run:" + prefix + "@" + sealed.set.origin.group);
  if (!error.is(codes::two_contents) || groups.size() < 2) return error;
  error.hint = fmt::format("the groups of this run are not for one index: name one of them, such as `{}`, or unite "
                           "them with `quarry release create` and move them with `--to 'NAME-{{family}}'`",
                           *groups.begin());
  return error;
}

/// A yank, or a promotion of what is ready, seals a part of a set beside it. A run made the whole.
void leave_out_parts(std::vector<SealedSet>& sets) {
  std::set<SetDigest> all;
  for (const auto& sealed : sets) all.insert(sealed.digest);
  std::erase_if(sets, [&](const SealedSet& sealed) { return all.contains(sealed.set.subset_of); });
}

/// Why nothing is sealed there: retention retired the sets, or nobody has finished publishing.
Unexpected nothing_sealed(ObjectReader& store, const RunGroup& place) {
  auto keys = store.keys(place.prefix + "/");
  for (const auto& key : keys ? *keys : std::vector<std::string>()) {
    auto digest = set_of_retired_key(key);
    if (!digest) continue;
    auto set = load_set(store, *digest);
    if (set && (place.group.empty() || set->origin.group == place.group)) return not_sealed(store, *set, *digest);
  }
  return fail(ErrorKind::not_found, "R013",
              fmt::format("nothing {}below {} is sealed in {}",
                          place.group.empty() ? "" : "of group " + place.group + " ", place.prefix, store.describe()),
              k_seal_hint);
}
} // namespace

Result<Resolved> resolve_run(ObjectReader& store, const std::string& prefix) {
  return resolve_group(store, {prefix, ""});
}

Result<Resolved> resolve_group(ObjectReader& store, const RunGroup& place) {
  TRY_DO(store::check_key(place.prefix));
  TRY(auto sets, sealed_sets_below(store, place.prefix));
  if (!place.group.empty())
    std::erase_if(sets, [&](const SealedSet& sealed) { return sealed.set.origin.group != place.group; });
  leave_out_parts(sets);
  if (sets.empty()) return nothing_sealed(store, place);
  auto files = union_of(sets);
  if (!files) return fail(naming_groups(place.prefix, sets, std::move(files).error()));
  auto source = "run:" + place.prefix + (place.group.empty() ? "" : "@" + place.group);
  return Resolved{std::move(source), std::move(sets), std::move(*files), {}, 0};
}

} // namespace quarry::registry
