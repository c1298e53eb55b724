#include "registry/derivations.hpp"

#include "base/codes.hpp"
#include "registry/fields.hpp"
#include "registry/keys.hpp"
#include "store/put_once.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::registry {

namespace {
constexpr const char* k_derivation_schema = "quarry.derivation/1";
constexpr std::string_view k_derivations = "derivations/";
} // namespace

template <class V, Either<DerivedFile> R> void fields(V& v, R& r) {
  v.text("filename", r.filename);
  v.digest("sha256", r.sha256);
  v.text("candidate", r.candidate);
  v.digest("candidate_sha256", r.candidate_sha256);
  v.texts("changed", r.changed);
}

template <class V, Either<DerivationRecord> R> void fields(V& v, R& r) {
  v.digest("candidate", r.candidate);
  v.digest("release", r.release, Need::optional);
  v.text("candidate_version", r.candidate_version);
  v.text("version", r.version);
  v.list("files", r.files);
}

std::string derivation_key(const SetDigest& set) { return fmt::format("{}{}{}", k_derivations, set.hex(), k_json); }

std::string to_json(const DerivationRecord& record) { return write_document(k_derivation_schema, record); }

Result<DerivationRecord> parse_derivation(std::string_view text) {
  constexpr std::string_view what = "a derivation";
  TRY(auto record, read_document<DerivationRecord>(text, Place{what}, k_derivation_schema));
  auto unsorted =
      std::adjacent_find(record.files.begin(), record.files.end(),
                         [](const DerivedFile& a, const DerivedFile& b) { return a.filename >= b.filename; });
  if (!record.files.empty() && unsorted == record.files.end()) return record;
  return fail(ErrorKind::corrupt, "R012",
              fmt::format("{}: {}", what,
                          record.files.empty() ? "it names no file" : "its files are out of order or named twice"));
}

namespace {
/// Whether both records say how the same files were made. Finalised again from a set instead of a release, they differ
/// in the release alone; the first one stays.
bool says_the_same(const std::string& present, const std::string& bytes) {
  if (present == bytes) return true;
  auto theirs = parse_derivation(present), ours = parse_derivation(bytes);
  if (!theirs || !ours) return false;
  theirs->release = ours->release;
  return to_json(*theirs) == to_json(*ours);
}
} // namespace

Result<void> put_derivation(ObjectStore& store, const SetDigest& set, const std::string& bytes) {
  auto key = derivation_key(set);
  if (bytes.size() > k_record_bytes_max)
    return fail(ErrorKind::resource_exhausted, "R007",
                fmt::format("the derivation {} would have {} bytes, more than the {} that are read at once", key,
                            bytes.size(), k_record_bytes_max),
                "publish the packages in several sets");
  TRY(auto present, store.get(key, k_record_bytes_max));
  if (present && says_the_same(*present, bytes)) return {};
  auto written = store::put_once(
      store, key,
      {content::Rope::literal(bytes), sha256(bytes), "application/json", "public, max-age=31536000, immutable"});
  if (written) return {};
  auto error = std::move(written).error();
  if (error.is(codes::object_exists) || error.is(codes::other_bytes)) {
    TRY(present, store.get(key, k_record_bytes_max)); // another job was faster: it may say the same
    if (present && says_the_same(*present, bytes)) return {};
    error.hint = present ? "these packages were published as made of another candidate, and that stays: remove "
                           "derivation.json from the directory, then publish it again"
                         : "somebody removed it at this moment: publish again";
  }
  return fail(std::move(error));
}

Result<std::optional<DerivationRecord>> load_derivation(ObjectReader& store, const SetDigest& set) {
  auto key = derivation_key(set);
  TRY(auto bytes, store.get(key, k_record_bytes_max));
  if (!bytes) return std::optional<DerivationRecord>();
  TRY(auto record, parse_derivation(*bytes), "while reading " + key);
  return std::optional(std::move(record));
}

} // namespace quarry::registry
