#include "registry/registry.hpp"

#include "base/code_rooms.hpp"
#include "base/codes.hpp"
#include "registry/evidence_marks.hpp"
#include "registry/keys.hpp"
#include "registry/record_text.hpp"
#include "registry/revocations.hpp"
#include "store/put_once.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::registry {

namespace {

constexpr std::string_view k_sets = "sets/", k_views = "views/", k_shards = "views/shards/", k_ledger = "ledger/",
                           k_evidence = "evidence/", k_waivers = "waivers/", k_policies = "policies/",
                           k_verdicts = "verdicts/", k_releases = "releases/";

constexpr std::size_t k_digest_digits_min = 8; // 32 bits: enough among the sets of a store, short enough to type

template <class R> std::string key_of(std::string_view prefix, const DigestOf<R>& digest) {
  return fmt::format("{}{}{}", prefix, digest.hex(), k_json);
}

/// What load_record() and the parsers say of bytes, never what the store says of itself.
constexpr std::string_view k_junk[] = {codes::too_large, codes::record_altered, codes::record_invalid,
                                       codes::not_json,  codes::wrong_field,    codes::other_schema};

bool is_hex(const std::string& text) { return text.find_first_not_of("0123456789abcdef") == std::string::npos; }

/// What writes a record again that is gone; nothing does where this is empty.
std::string way_back(std::string_view key) {
  if (key.starts_with(k_policies))
    return "bind the policy again: `quarry channel protect NAME --policy FILE --reason TEXT`";
  return key.starts_with(k_sets) ? "publish the files again" : "";
}

/// Nobody types the digests of views, shards, ledger entries and policies: other records name them.
std::string absent_hint(std::string_view key) {
  bool inner = key.starts_with(k_views) || key.starts_with(k_ledger) || key.starts_with(k_policies);
  if (!inner) return "check the digest and `--store`";
  auto back = way_back(key);
  return "restore it from a copy of the store" + (back.empty() ? back : ", or " + back);
}

Unexpected altered(const std::string& key, const Sha256& expected, const Sha256& found) {
  auto back = way_back(key);
  return fail(
      Error::of(ErrorKind::corrupt, "R011", fmt::format("the record {} was altered", key))
          .with_detail("expected  sha256 " + expected.hex())
          .with_detail("found     sha256 " + found.hex())
          .with_hint("do not use it; restore it from a copy" + (back.empty() ? back : ", or remove it and " + back)));
}

Unexpected unreadable(std::string_view prefix, std::size_t size) {
  return fail(ErrorKind::resource_exhausted, "R007",
              fmt::format("a record below {} would have {} bytes, more than the {} that are read at once", prefix, size,
                          k_record_bytes_max),
              "make it smaller: a set of fewer files, evidence with shorter messages of its tests");
}

template <class R> Result<DigestOf<R>> put_record(ObjectStore& store, std::string_view prefix, const R& record) {
  auto bytes = to_json(record);
  if (bytes.size() > k_record_bytes_max) return unreadable(prefix, bytes.size());
  auto digest = sha256(bytes);
  DigestOf<R> name(digest);
  auto key = key_of(prefix, name);
  // Reading first: a record that exists costs one read and no write. That is the case when a command is run again.
  TRY(auto present, store.get(key, k_record_bytes_max));
  if (present && *present == bytes) return name;
  if (present) return altered(key, digest, sha256(*present));
  TRY_DO(store::put_once(
      store, key,
      {content::Rope::literal(std::move(bytes)), digest, "application/json", "public, max-age=31536000, immutable"}));
  return name;
}

template <class R, class Parse>
Result<R> load_record(ObjectReader& store, std::string_view prefix, const DigestOf<R>& digest, Parse parse) {
  if (digest.empty())
    return fail(ErrorKind::not_found, "R010", fmt::format("{} holds no record without a digest", store.describe()));
  auto key = key_of(prefix, digest);
  TRY(auto bytes, store.get(key, k_record_bytes_max));
  if (!bytes)
    return fail(ErrorKind::not_found, "R010", fmt::format("{} holds no record {}", store.describe(), key),
                absent_hint(key));
  auto found = sha256(*bytes);
  if (found != *digest.sha256()) return altered(key, *digest.sha256(), found);
  return parse({*bytes, key});
}

/// "evidence/{digest}.json" -> the digest; nullopt for any other key.
template <class R> std::optional<DigestOf<R>> digest_in(const std::string& key, std::string_view prefix) {
  std::string_view name(key);
  name.remove_prefix(prefix.size());
  if (!name.ends_with(k_json)) return std::nullopt;
  return DigestOf<R>::parse(name.substr(0, name.size() - k_json.size()));
}

/// The digests in the names below `prefix`, whatever the objects hold; not the logs below evidence/.
template <class R> Result<std::vector<DigestOf<R>>> digests_below(ObjectReader& store, std::string_view prefix) {
  TRY(auto listed, store.children(std::string(prefix)));
  std::vector<DigestOf<R>> digests;
  for (const auto& object : listed.objects)
    if (auto digest = digest_in<R>(object.key, prefix)) digests.push_back(*digest);
  return digests;
}

/// The records of these names. One that is gone is left out, junk is told, too.
template <class R, class Load>
Result<std::vector<Stored<R>>> read_records(ObjectReader& store, std::string_view prefix,
                                            const std::vector<DigestOf<R>>& digests, Load load, Findings& skipped) {
  std::vector<std::optional<R>> records(digests.size());
  std::vector<std::string> defects(digests.size());
  TRY_DO(parallel_for(digests.size(), k_evidence_requests, [&](std::size_t i) -> Result<void> {
    auto record = load(store, digests[i]);
    if (record) {
      records[i] = std::move(*record);
      return {};
    }
    auto& error = record.error();
    // A transient failure may hide a valid record, so it is an error. Junk stays junk, so it is skipped.
    bool junk = is_junk(error);
    if (!junk && !is_gone(error)) return fail(std::move(error));
    if (junk) defects[i] = error.message;
    return {};
  }));
  std::vector<Stored<R>> found;
  for (std::size_t i = 0; i < digests.size(); ++i) {
    if (records[i]) found.push_back({digests[i], std::move(*records[i])});
    if (!defects[i].empty())
      skipped.push_back({"R021", Severity::warning, key_of(prefix, digests[i]), "it counts for nothing: " + defects[i],
                         "find out who wrote it; restore it from a copy, or remove it"});
  }
  return found;
}

/// How to find the digest that was wanted.
std::string list_hint(std::string_view prefix) {
  if (prefix == k_evidence) return "`quarry evidence list` shows the digests";
  if (prefix == k_waivers) return "`quarry waiver list` shows the digests";
  if (prefix == k_releases) return "`quarry release list` shows the digests";
  return prefix == k_sets ? "`quarry publish` prints the digest of its set" : "";
}

} // namespace

bool is_transport_error(const Error& error) {
  auto room = codes::room_of(error.code);
  return room == "sys" || room == "net" || room == "s3";
}

bool is_lost(const Error& error) {
  if (is_transport_error(error) || error.is(codes::other_schema)) return false;
  return error.kind == ErrorKind::not_found || error.kind == ErrorKind::corrupt || error.is(codes::too_large);
}

bool is_gone(const Error& error) { return error.kind == ErrorKind::not_found && !is_transport_error(error); }

bool is_junk(const Error& error) { return std::ranges::find(k_junk, error.code) != std::end(k_junk); }

std::string set_key(const SetDigest& digest) { return key_of(k_sets, digest); }
std::string view_key(const ViewDigest& digest) { return key_of(k_views, digest); }
std::string shard_key(const ShardDigest& digest) { return key_of(k_shards, digest); }
std::string ledger_key(const LedgerDigest& digest) { return key_of(k_ledger, digest); }
std::string evidence_key(const EvidenceDigest& digest) { return key_of(k_evidence, digest); }
std::string waiver_key(const WaiverDigest& digest) { return key_of(k_waivers, digest); }
std::string verdict_key(const VerdictDigest& digest) { return key_of(k_verdicts, digest); }
std::string policy_key(const PolicyDigest& digest) { return key_of(k_policies, digest); }

namespace {
template <class R>
Result<DigestOf<R>> complete_digest(ObjectReader& store, const std::string& prefix, const std::string& digits) {
  if (auto whole = DigestOf<R>::parse(digits)) return *whole;
  if (digits.size() < k_digest_digits_min || digits.size() > DigestOf<R>::k_digits || !is_hex(digits))
    return fail(ErrorKind::invalid_argument, "R020",
                fmt::format("`{}` is neither a digest nor its first {} or more digits", digits, k_digest_digits_min),
                list_hint(prefix));
  TRY(auto objects, store.list(prefix + digits));
  if (objects.empty())
    return fail(ErrorKind::not_found, "R010", fmt::format("{} holds no record {}{}…", store.describe(), prefix, digits),
                list_hint(prefix));
  if (objects.size() > 1)
    return fail(ErrorKind::invalid_argument, "R020", fmt::format("{} records begin with {}", objects.size(), digits),
                "give more digits");
  auto found = digest_in<R>(objects.front().key, prefix);
  if (found) return *found;
  return fail(
      ErrorKind::not_found, "R010",
      fmt::format("{} holds no record {}{}…; {} is not one", store.describe(), prefix, digits, objects.front().key),
      list_hint(prefix));
}
} // namespace

Result<SetDigest> complete_set_digest(ObjectReader& store, const std::string& digits) {
  return complete_digest<SetRecord>(store, std::string(k_sets), digits);
}
Result<EvidenceDigest> complete_evidence_digest(ObjectReader& store, const std::string& digits) {
  return complete_digest<EvidenceRecord>(store, std::string(k_evidence), digits);
}
Result<WaiverDigest> complete_waiver_digest(ObjectReader& store, const std::string& digits) {
  return complete_digest<WaiverRecord>(store, std::string(k_waivers), digits);
}
Result<ReleaseDigest> complete_release_digest(ObjectReader& store, const std::string& digits) {
  return complete_digest<ReleaseRecord>(store, std::string(k_releases), digits);
}

Result<SetDigest> put_set(ObjectStore& s, const SetRecord& r) { return put_record(s, k_sets, r); }
Result<SetRecord> load_set(ObjectReader& s, const SetDigest& d) {
  return load_record<SetRecord>(s, k_sets, d, parse_set);
}
Result<ViewDigest> put_view(ObjectStore& s, const ViewRecord& r) { return put_record(s, k_views, r); }
Result<ViewRecord> load_view(ObjectReader& s, const ViewDigest& d) {
  return load_record<ViewRecord>(s, k_views, d, parse_view);
}
Result<ShardDigest> put_shard(ObjectStore& s, const ShardRecord& r) { return put_record(s, k_shards, r); }
Result<ShardRecord> load_shard(ObjectReader& s, const ShardDigest& d) {
  return load_record<ShardRecord>(s, k_shards, d, parse_shard);
}
Result<LedgerDigest> put_ledger(ObjectStore& s, const LedgerRecord& r) { return put_record(s, k_ledger, r); }
Result<LedgerRecord> load_ledger(ObjectReader& s, const LedgerDigest& d) {
  return load_record<LedgerRecord>(s, k_ledger, d, parse_ledger);
}
Result<EvidenceDigest> put_evidence(ObjectStore& s, const EvidenceRecord& r) {
  TRY_DO(mark_evidence(s, digest_of(r), r));
  return put_record(s, k_evidence, r);
}
Result<EvidenceRecord> load_evidence(ObjectReader& s, const EvidenceDigest& d) {
  return load_record<EvidenceRecord>(s, k_evidence, d, parse_evidence);
}
Result<WaiverDigest> put_waiver(ObjectStore& s, const WaiverRecord& r) { return put_record(s, k_waivers, r); }
Result<WaiverRecord> load_waiver(ObjectReader& s, const WaiverDigest& d) {
  return load_record<WaiverRecord>(s, k_waivers, d, parse_waiver);
}
Result<VerdictDigest> put_verdict(ObjectStore& s, const std::string& document) {
  return put_record(s, k_verdicts, VerdictRecord{document});
}
Result<VerdictRecord> load_verdict(ObjectReader& s, const VerdictDigest& d) {
  return load_record<VerdictRecord>(s, k_verdicts, d, parse_verdict_record);
}
Result<PolicyDigest> put_policy(ObjectStore& s, const PolicyRecord& r) { return put_record(s, k_policies, r); }
Result<PolicyRecord> load_policy(ObjectReader& s, const PolicyDigest& d) {
  return load_record<PolicyRecord>(s, k_policies, d, parse_policy_record);
}
Result<ReleaseDigest> put_release(ObjectStore& s, const ReleaseRecord& r) {
  TRY_DO(parse_release({to_json(r), "a release"})); // one that cannot be read would hide which releases have its name
  return put_record(s, k_releases, r);
}
Result<ReleaseRecord> load_release(ObjectReader& s, const ReleaseDigest& d) {
  return load_record<ReleaseRecord>(s, k_releases, d, parse_release);
}

Result<std::vector<EvidenceDigest>> evidence_digests(ObjectReader& s) {
  return digests_below<EvidenceRecord>(s, k_evidence);
}
Result<std::vector<std::pair<EvidenceDigest, std::int64_t>>> evidence_with_times(ObjectReader& s) {
  TRY(auto listed, s.children(std::string(k_evidence)));
  std::vector<std::pair<EvidenceDigest, std::int64_t>> found;
  for (const auto& object : listed.objects)
    if (auto digest = digest_in<EvidenceRecord>(object.key, k_evidence))
      found.emplace_back(*digest, object.modified_us);
  return found;
}
Result<std::vector<Stored<EvidenceRecord>>> list_evidence(ObjectReader& s, Findings& skipped) {
  TRY(auto digests, evidence_digests(s));
  return read_evidence(s, digests, skipped);
}
Result<std::vector<Stored<EvidenceRecord>>> read_evidence(ObjectReader& s, const std::vector<EvidenceDigest>& digests,
                                                          Findings& skipped) {
  return read_records<EvidenceRecord>(s, k_evidence, digests, load_evidence, skipped);
}
Result<std::vector<std::string>> waiver_keys(ObjectReader& s) {
  TRY(auto digests, digests_below<WaiverRecord>(s, k_waivers));
  std::vector<std::string> keys;
  for (const auto& digest : digests) keys.push_back(waiver_key(digest));
  TRY(auto revoked, list_revoked(s));
  for (const auto& waiver : revoked) keys.push_back(revocation_key(waiver));
  return keys;
}
Result<std::vector<Stored<ReleaseRecord>>> list_releases(ObjectReader& s, Findings& skipped) {
  TRY(auto digests, digests_below<ReleaseRecord>(s, k_releases));
  return read_records<ReleaseRecord>(s, k_releases, digests, load_release, skipped);
}
Result<std::vector<Stored<WaiverRecord>>> list_waivers(ObjectReader& s, Findings& skipped) {
  TRY(auto digests, digests_below<WaiverRecord>(s, k_waivers));
  return read_records<WaiverRecord>(s, k_waivers, digests, load_waiver, skipped);
}

} // namespace quarry::registry
