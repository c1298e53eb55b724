#include "registry/judged.hpp"

#include "base/text.hpp"
#include "registry/evidence_marks.hpp"
#include "registry/keys.hpp"
#include "registry/verdicts.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <set>

namespace quarry::registry {

namespace {
constexpr std::string_view k_by_set = "verdicts/by-set/";
constexpr std::string_view k_evidence_below = "evidence/";
constexpr std::size_t k_named = 5; // in an error

std::string marks_of(const SetDigest& set) { return std::string(k_by_set) + set.hex() + "/"; }

std::vector<SetDigest> each_once(std::vector<SetDigest> sets) {
  std::erase_if(sets, [](const SetDigest& set) { return set.empty(); });
  std::sort(sets.begin(), sets.end());
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  return sets;
}

/// The keys that a verdict says it has read.
std::vector<std::string> read_by(const VerdictRecord& verdict) {
  auto document = read_verdict(verdict);
  return document ? std::move(document->read) : std::vector<std::string>();
}

/// The verdicts on each of these sets, with the first of them.
Result<std::map<VerdictDigest, SetDigest>> verdicts_on(ObjectReader& store, const std::vector<SetDigest>& sets) {
  std::vector<std::vector<VerdictDigest>> found(sets.size());
  TRY_DO(parallel_for(sets.size(), k_requests, [&](std::size_t i) -> Result<void> {
    auto prefix = marks_of(sets[i]);
    TRY(auto listed, store.children(prefix));
    for (const auto& object : listed.objects)
      if (auto digest = VerdictDigest::parse(std::string_view(object.key).substr(prefix.size())))
        found[i].push_back(*digest);
    return {};
  }));
  std::map<VerdictDigest, SetDigest> verdicts;
  for (std::size_t i = 0; i < sets.size(); ++i)
    for (const auto& verdict : found[i]) verdicts.emplace(verdict, sets[i]);
  return verdicts;
}
/// A verdict on several sets has read evidence of each. What is about none of `sets` was not looked at by now, so it is
/// read here.
Result<std::vector<Disappeared>> without_other_sets(ObjectReader& store, const std::vector<SetDigest>& sets,
                                                    std::vector<Disappeared> gone) {
  auto asked = [&](const SetDigest& set) { return std::find(sets.begin(), sets.end(), set) != sets.end(); };
  std::vector<char> there(gone.size());
  TRY_DO(parallel_for(gone.size(), k_evidence_requests, [&](std::size_t i) -> Result<void> {
    std::string_view name(gone[i].key);
    if (!name.starts_with(k_evidence_below) || !name.ends_with(k_json)) return {};
    name.remove_prefix(k_evidence_below.size());
    name.remove_suffix(k_json.size());
    auto digest = EvidenceDigest::parse(name);
    if (!digest) return {};
    auto record = load_evidence(store, *digest);
    if (!record && !is_junk(record.error()) && !is_gone(record.error())) return fail(std::move(record).error());
    there[i] = record && !asked(record->set) && std::none_of(record->sets.begin(), record->sets.end(), asked);
    return {};
  }));
  std::vector<Disappeared> lost;
  for (std::size_t i = 0; i < gone.size(); ++i)
    if (!there[i]) lost.push_back(std::move(gone[i]));
  return lost;
}
} // namespace

Result<void> mark_judged(ObjectStore& store, const VerdictDigest& verdict, const std::vector<SetDigest>& sets) {
  auto marked = each_once(sets);
  return parallel_for(marked.size(), k_requests, [&](std::size_t i) -> Result<void> {
    TRY_DO(store.put(marks_of(marked[i]) + verdict.hex(), content::Rope::literal(""), {}));
    return {};
  });
}

Result<std::vector<Disappeared>> find_disappeared(ObjectReader& store, const std::vector<SetDigest>& sets,
                                                  const std::vector<std::string>& present) {
  TRY(auto verdicts, verdicts_on(store, each_once(sets)));
  std::vector<std::pair<VerdictDigest, SetDigest>> list(verdicts.begin(), verdicts.end());
  std::vector<std::vector<std::string>> read(list.size());
  TRY_DO(parallel_for(list.size(), k_requests, [&](std::size_t i) -> Result<void> {
    auto verdict = load_verdict(store, list[i].first);
    bool lost = !verdict && (is_gone(verdict.error()) || is_junk(verdict.error()));
    if (!verdict && !lost) return fail(std::move(verdict).error());
    if (verdict) read[i] = read_by(*verdict);
    return {};
  }));
  std::map<std::string, Disappeared> gone;
  for (std::size_t i = 0; i < list.size(); ++i)
    for (const auto& key : read[i])
      if (!std::binary_search(present.begin(), present.end(), key))
        gone.try_emplace(key, Disappeared{key, list[i].first, list[i].second});
  std::vector<Disappeared> found;
  for (auto& [key, one] : gone) found.push_back(std::move(one));
  return without_other_sets(store, sets, std::move(found));
}

Result<void> refuse_disappeared(ObjectReader& store, const std::vector<SetDigest>& sets,
                                const std::vector<std::string>& present) {
  TRY(auto gone, find_disappeared(store, sets, present));
  if (gone.empty()) return {};
  std::vector<std::string> named;
  for (const auto& one : gone)
    named.push_back(
        fmt::format("{}, which verdict {} on set:{} has read", one.key, one.verdict.short_hex(), one.set.short_hex()));
  named = text::first_lines(std::move(named), k_named);
  return fail(
      Error::of(ErrorKind::held, "O029", "a record that an earlier verdict on these sets was made with is gone")
          .with_details(std::move(named))
          .with_hint(
              "nothing was changed; restore the records from a copy of the store (`quarry index rebuild channel:NAME` "
              "makes the marks of evidence again), or build and test new packages"));
}

} // namespace quarry::registry
