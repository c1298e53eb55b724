#include "registry/evidence_marks.hpp"

#include "base/codes.hpp"
#include "base/json.hpp"
#include "registry/keys.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <set>

namespace quarry::registry {

namespace {

constexpr std::string_view k_about = "evidence/attempts/";
constexpr std::string_view k_marked = "evidence/attempts/marked.json";
constexpr const char* k_marked_schema = "quarry.evidence-marked/1";
constexpr std::uint64_t k_marked_bytes_max = 1u << 12;

std::vector<SetDigest> named_sets(const EvidenceRecord& record) {
  auto sets = record.sets;
  if (!record.set.empty()) sets.push_back(record.set);
  std::sort(sets.begin(), sets.end());
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  return sets;
}

Result<void> say_that_all_is_marked(ObjectStore& store) {
  store::PutOptions options;
  options.content_type = "application/json";
  TRY_DO(
      store.put(std::string(k_marked), content::Rope::literal(json::text(Json{{"schema", k_marked_schema}})), options));
  return {};
}

std::vector<std::string> marks_of(const EvidenceDigest& digest, const EvidenceRecord& record) {
  std::vector<std::string> keys;
  for (const auto& set : named_sets(record)) keys.push_back(about_directory(set) + digest.hex());
  return keys;
}

/// The earlier of the times counts: a record does not become newer by being copied or marked once more.
void add_time(StoredTimes& times, const EvidenceDigest& digest, std::int64_t modified_us) {
  if (modified_us == 0) return;
  auto [known, is_new] = times.emplace(digest, modified_us);
  if (!is_new) known->second = std::min(known->second, modified_us);
}

Result<void> write_marks(ObjectStore& store, const std::vector<std::string>& keys) {
  store::PutOptions options;
  options.precondition = store::Precondition::if_absent(); // the time of a mark says when the store got the result
  for (const auto& key : keys) {
    auto put = store.put(key, content::Rope::literal(""), options);
    if (!put && !put.error().is(codes::object_exists)) return fail(std::move(put).error());
  }
  return {};
}

} // namespace

std::string about_directory(const SetDigest& set) { return fmt::format("{}{}/", k_about, set.hex()); }

Result<About> list_about(ObjectReader& store, const std::vector<SetDigest>& sets) {
  std::vector<About> found(sets.size());
  TRY_DO(parallel_for(sets.size(), k_evidence_requests, [&](std::size_t i) -> Result<void> {
    auto directory = about_directory(sets[i]);
    TRY(auto listed, store.children(directory));
    for (const auto& object : listed.objects) {
      std::string_view name(object.key);
      name.remove_prefix(directory.size());
      bool attempt = name.ends_with(k_json);
      if (attempt) name.remove_suffix(k_json.size());
      auto digest = EvidenceDigest::parse(name); // lower case only: the same digits in upper case are another object
      if (digest && attempt) found[i].attempts[*digest->sha256()].push_back(object.key);
      if (!digest || attempt) continue;
      found[i].evidence.push_back(*digest);
      add_time(found[i].since, *digest, object.modified_us);
    }
    return {};
  }));
  About all;
  for (auto& one : found) {
    for (const auto& [digest, modified_us] : one.since) add_time(all.since, digest, modified_us);
    all.evidence.insert(all.evidence.end(), one.evidence.begin(), one.evidence.end());
    for (auto& [digest, keys] : one.attempts) std::ranges::move(keys, std::back_inserter(all.attempts[digest]));
  }
  std::sort(all.evidence.begin(), all.evidence.end());
  all.evidence.erase(std::unique(all.evidence.begin(), all.evidence.end()), all.evidence.end());
  return all;
}

Result<bool> all_evidence_is_marked(ObjectReader& store) {
  auto bytes = store.get(std::string(k_marked), k_marked_bytes_max);
  if (!bytes && bytes.error().is(codes::too_large)) return false; // junk says nothing
  if (!bytes) return fail(std::move(bytes).error());
  auto object = json::parse({bytes->value_or(""), "whether evidence is marked"});
  return object && object->is_object() && json::string_or(*object, "schema", "") == k_marked_schema;
}

namespace {
struct Names {
  About about;
  bool all = false; ///< the evidence is that of the whole store
};

Result<Names> names_about(ObjectReader& store, const std::vector<SetDigest>& sets) {
  TRY(bool marked, all_evidence_is_marked(store));
  Names names;
  TRY(names.about, list_about(store, sets));
  names.all = !marked;
  if (names.all) {
    TRY(auto listed, evidence_with_times(store));
    names.about.evidence.clear();
    for (const auto& [digest, modified_us] : listed) {
      names.about.evidence.push_back(digest);
      add_time(names.about.since, digest, modified_us);
    }
  }
  return names;
}

/// The keys of the records that are there. Those of `judged` were; any other mark may be waiting for its record.
Result<std::vector<std::string>> keys_there(ObjectReader& store, const Names& names,
                                            const std::vector<std::string>& judged) {
  std::vector<std::string> keys;
  for (const auto& digest : names.about.evidence) {
    auto key = evidence_key(digest);
    bool there = names.all || std::binary_search(judged.begin(), judged.end(), key);
    if (!there) {
      TRY(auto found, store.head(key));
      there = found.has_value();
    }
    if (there) keys.push_back(std::move(key));
  }
  return keys;
}
} // namespace

Result<Recorded> recorded_about(ObjectReader& store, const std::vector<SetDigest>& sets, Findings& skipped) {
  TRY(auto names, names_about(store, sets));
  Recorded found;
  found.all = names.all;
  found.since = std::move(names.about.since);
  Findings junk;
  TRY(found.evidence, read_evidence(store, names.about.evidence, junk));
  // Not the names of marks: a mark may be there before its record, and the second look must find the record.
  for (const auto& stored : found.evidence) found.keys.push_back(evidence_key(stored.digest));
  for (auto& finding : junk) {
    found.keys.push_back(finding.place);
    skipped.push_back(std::move(finding));
  }
  std::sort(found.keys.begin(), found.keys.end());
  TRY(found.attempts, read_attempts(store, names.about.attempts, skipped));
  return found;
}

Result<std::vector<std::string>> evidence_and_waiver_keys(ObjectReader& store, const std::vector<SetDigest>& sets,
                                                          const std::vector<std::string>& judged) {
  TRY(auto names, names_about(store, sets));
  TRY(auto keys, keys_there(store, names, judged));
  TRY(auto more, waiver_keys(store));
  keys.insert(keys.end(), more.begin(), more.end());
  std::sort(keys.begin(), keys.end());
  return keys;
}

Result<void> mark_evidence(ObjectStore& store, const EvidenceDigest& digest, const EvidenceRecord& record) {
  TRY(bool marked, all_evidence_is_marked(store));
  if (!marked) {
    TRY(auto known, evidence_digests(store));
    if (known.empty()) TRY_DO(say_that_all_is_marked(store));
  }
  return write_marks(store, marks_of(digest, record));
}

Result<std::uint64_t> mark_all_evidence(ObjectStore& store) {
  std::set<std::string> present;
  TRY(auto marks, store.list(std::string(k_about)));
  for (auto& object : marks) present.insert(std::move(object.key));
  TRY(auto known, evidence_digests(store));
  if (known.empty()) return std::uint64_t{0};
  std::vector<char> lacked(known.size());
  // Each record is read: only it says of which sets it needs a mark. One of several may be missing.
  TRY_DO(parallel_for(known.size(), k_evidence_requests, [&](std::size_t i) -> Result<void> {
    auto record = load_evidence(store, known[i]);
    if (!record) {
      if (is_junk(record.error()) || is_gone(record.error())) return {};
      return fail(std::move(record).error());
    }
    auto missing = marks_of(known[i], *record);
    std::erase_if(missing, [&](const std::string& key) { return present.contains(key); });
    lacked[i] = missing.empty() ? 0 : 1;
    return write_marks(store, missing);
  }));
  TRY(bool marked, all_evidence_is_marked(store));
  if (!marked) TRY_DO(say_that_all_is_marked(store));
  return static_cast<std::uint64_t>(std::count(lacked.begin(), lacked.end(), 1));
}

} // namespace quarry::registry
