#include "derive/prove.hpp"

#include "derive/sealed_bytes.hpp"
#include "dist/version_change.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::derive {

using registry::DerivationRecord;
using registry::FileRecord;

namespace {

Unexpected not_derived(const std::string& why) {
  return fail(ErrorKind::corrupt, "O102", why, "make the release again from the candidate, and publish that");
}

const FileRecord* file_of(const registry::SetRecord& set, const std::string& filename, const Sha256& digest) {
  auto found = std::find_if(set.files.begin(), set.files.end(),
                            [&](const FileRecord& f) { return f.filename == filename && f.sha256 == digest; });
  return found == set.files.end() ? nullptr : &*found;
}

/// A file of the set and what the record says it was made of.
struct Pair {
  const FileRecord *made, *candidate;
};

Result<std::vector<Pair>> pairs_of(const registry::SetRecord& made, const registry::SealedSet& candidate,
                                   const DerivationRecord& record) {
  std::vector<Pair> pairs;
  for (const auto& file : made.files) {
    auto named = std::find_if(record.files.begin(), record.files.end(),
                              [&](const auto& f) { return f.filename == file.filename && f.sha256 == file.sha256; });
    if (named == record.files.end()) return not_derived(fmt::format("the record does not name {}", file.filename));
    const auto* old = file_of(candidate.set, named->candidate, named->candidate_sha256);
    if (!old)
      return not_derived(fmt::format("set:{} does not hold {}, of which {} is said to be made",
                                     candidate.digest.short_hex(), named->candidate, file.filename));
    if (old->sha256 == file.sha256 && old->filename != file.filename)
      return not_derived(fmt::format("{} has the bytes of {}", file.filename, old->filename));
    pairs.push_back({&file, old});
  }
  return pairs;
}

Result<void> prove_pair(store::ObjectReader& store, const Pair& pair, const dist::VersionChange& change) {
  TRY(auto candidate, sealed_bytes(store, *pair.candidate));
  if (pair.made->sha256 == pair.candidate->sha256) return {};
  TRY(auto made, sealed_bytes(store, *pair.made));
  return prove_package({std::move(made), std::move(candidate)}, change);
}

} // namespace

Result<registry::SealedSet> check_derivation(store::ObjectReader& store, const registry::SetRecord& made,
                                             const DerivationRecord& record) {
  TRY(auto candidate, registry::load_sealed(store, record.candidate), "while reading the candidate");
  TRY_DO(pairs_of(made, candidate, record));
  return candidate;
}

Result<registry::SealedSet> prove_derivation(store::ObjectReader& store, const registry::SetRecord& made,
                                             const DerivationRecord& record, unsigned workers) {
  TRY(auto candidate, registry::load_sealed(store, record.candidate), "while reading the candidate");
  TRY(auto change, dist::VersionChange::create({record.candidate_version, record.version}));
  TRY(auto pairs, pairs_of(made, candidate, record));
  TRY_DO(parallel_for(pairs.size(), workers, [&](std::size_t i) { return prove_pair(store, pairs[i], change); }));
  return candidate;
}

} // namespace quarry::derive
