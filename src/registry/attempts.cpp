#include "registry/attempts.hpp"

#include "base/codes.hpp"
#include "registry/evidence_marks.hpp"
#include "registry/fields.hpp"
#include "registry/keys.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <optional>

namespace quarry::registry {

namespace {
constexpr const char* k_attempt_schema = "quarry.attempt/1";
constexpr std::uint64_t k_attempt_bytes_max = 1u << 16; // a cell, two names and the digests of some sets
} // namespace

// The cell stands flat among the other fields: its own walk makes an object (record_parts.hpp).
template <class V, Either<AttemptRecord> R> void fields(V& v, R& r) {
  v.word("platform", r.cell.platform);
  v.text("family", r.cell.family, Need::optional);
  v.text("python", r.cell.python, Need::optional);
  v.text("framework", r.cell.framework, Need::optional);
  v.text("backend", r.cell.backend, Need::optional);
  v.text("suite", r.suite);
  v.digests("sets", r.sets);
  v.text("job", r.job);
  v.text("runner", r.runner, Need::optional);
  v.word("state", r.state);
  v.time("time", r.time);
}

std::string to_json(const AttemptRecord& record) { return write_document(k_attempt_schema, record); }

Result<AttemptRecord> parse_attempt(std::string_view text) {
  TRY(auto record, read_document<AttemptRecord>(text, Place{"an attempt"}, k_attempt_schema));
  if (record.sets.empty()) return fail(ErrorKind::corrupt, "R012", "an attempt names no set");
  return record;
}

Result<Sha256> put_attempt(ObjectStore& store, const AttemptRecord& record) {
  auto bytes = to_json(record);
  auto digest = sha256(bytes);
  for (const auto& set : record.sets) {
    store::PutOptions options;
    options.precondition = store::Precondition::if_absent();
    options.content_type = "application/json";
    auto key = about_directory(set) + digest.hex() + std::string(k_json);
    auto put = store.put(key, content::Rope::literal(bytes), options);
    if (!put && !put.error().is(codes::object_exists)) return fail(std::move(put).error());
  }
  return digest;
}

Result<std::vector<AttemptRecord>> list_attempts(ObjectReader& store, const std::vector<SetDigest>& sets,
                                                 Findings& skipped) {
  TRY(auto about, list_about(store, sets));
  return read_attempts(store, about.attempts, skipped);
}

namespace {
struct ReadAttempt {
  std::optional<AttemptRecord> record;
  Findings defects; ///< of the objects that were tried
};

/// The first object under one of these keys whose bytes have this digest.
Result<ReadAttempt> read_attempt(ObjectReader& store, const Sha256& digest, const std::vector<std::string>& keys) {
  ReadAttempt read;
  for (const auto& key : keys) {
    auto bytes = store.get(key, k_attempt_bytes_max);
    bool junk = !bytes && bytes.error().is(codes::too_large); // too long for an attempt
    if (!bytes && !junk) return fail(std::move(bytes).error());
    if (bytes && !*bytes) continue; // it was removed meanwhile
    bool named = bytes && sha256(**bytes) == digest;
    auto record = named ? parse_attempt(**bytes)
                        : Result<AttemptRecord>(fail(ErrorKind::corrupt, "R011", "its bytes do not give its name"));
    if (record) {
      read.record = std::move(*record);
      return read;
    }
    read.defects.push_back({"R021", Severity::warning, key, "it counts for nothing: " + record.error().message,
                            "find out who wrote it; restore it from a copy, or remove it"});
  }
  return read;
}
} // namespace

Result<std::vector<AttemptRecord>> read_attempts(ObjectReader& store, const AttemptKeys& keys, Findings& skipped) {
  std::vector<std::pair<Sha256, std::vector<std::string>>> attempts(keys.begin(), keys.end());
  std::vector<ReadAttempt> read(attempts.size());
  TRY_DO(parallel_for(attempts.size(), k_evidence_requests, [&](std::size_t i) -> Result<void> {
    TRY(read[i], read_attempt(store, attempts[i].first, attempts[i].second));
    return {};
  }));
  std::vector<AttemptRecord> found;
  for (auto& one : read) {
    if (one.record) found.push_back(std::move(*one.record));
    std::ranges::move(one.defects, std::back_inserter(skipped));
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.time < b.time; });
  return found;
}

} // namespace quarry::registry
