#include "artifact/upload_files.hpp"

#include "artifact/checksum.hpp"
#include "artifact/manifest.hpp"
#include "artifact/unpack.hpp"
#include "base/codes.hpp"
#include "store/put_once.hpp"
#include "sys/clock.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <optional>

namespace quarry::artifact {

namespace {

using FileKind = OutputFile::Kind;
using State = Uploaded::State;
constexpr std::string_view k_immutable = "public, max-age=31536000, immutable";
// A distant store answers a small write after 20 to 100 ms whatever its size: with 32 on their way 2,000 take 2 to 6 s.
constexpr std::uint64_t k_small_bytes = 1u << 20;
constexpr unsigned k_small_for_one_large = 8;
constexpr std::size_t k_conflicts_shown = 5;

/// What became of one file.
struct FileOutcome {
  State state = State::written;
  unsigned writes = 0; ///< objects
  std::optional<Finding> finding = {};
};

bool has_size(const Sizes& before, const std::string& key, std::uint64_t size) {
  auto found = before.find(key);
  return found != before.end() && found->second == size;
}

bool is_archive(const OutputFile& file) { return file.kind == FileKind::archive || file.kind == FileKind::tarball; }

/// What the checksum file of an archive says, in whatever spelling; nullopt if it cannot be read as one.
Result<std::optional<Sha256>> said_by(store::ObjectReader& store, const std::string& sidecar, const OutputFile& file) {
  TRY(auto text, store.get(sidecar, k_checksum_bytes_max));
  auto digest = text ? parse_checksum({*text, file.name}) : Result<Sha256>(fail(ErrorKind::not_found, "R001", sidecar));
  return digest ? std::optional(*digest) : std::nullopt;
}

Result<bool> says(store::ObjectReader& store, const std::string& sidecar, const OutputFile& file) {
  TRY(auto digest, said_by(store, sidecar, file));
  return digest == *file.sha256;
}

/// How the archive that the run has differs from this one; empty: it does not, or nobody knows yet.
Result<std::vector<std::string>> difference_of(const UploadPlace& place, const OutputFile& file, const Sizes& before) {
  auto sidecar = file.key + std::string(k_checksum_suffix);
  if (!before.contains(file.key)) return std::vector<std::string>();
  if (before.contains(sidecar)) {
    TRY(auto theirs, said_by(place.store, sidecar, file));
    if (theirs && *theirs != *file.sha256)
      return std::vector{file.name, "  there  sha256 " + theirs->hex(), "  ours   sha256 " + file.sha256->hex()};
  }
  if (has_size(before, file.key, file.content.size())) return std::vector<std::string>();
  return std::vector{file.name, fmt::format("  there  {} bytes", before.at(file.key)),
                     fmt::format("  ours   {} bytes", file.content.size())};
}

/// A mismatch is a warning if the build failed: the archive was still being written when the build ended.
Result<FileOutcome> damaged_archive(const OutputFile& file, const Error& error, bool build_failed) {
  auto damaged = Error::of(ErrorKind::corrupt, "A012", fmt::format("{} does not match its checksum", file.name))
                     .with_details(error.details)
                     .with_hint("pack it again: what is next to it belongs to other bytes");
  if (!build_failed) return fail(std::move(damaged));
  return FileOutcome{State::left_out, 0,
                     Finding{"A043", Severity::warning, file.name, damaged.message, "it is left out"}};
}

/// The checksum file is written after the archive. If the store has it with the same digest, the archive is complete.
Result<FileOutcome> put_archive(store::ObjectStore& store, const OutputFile& file, bool build_failed,
                                const Sizes& before) {
  auto sidecar = file.key + std::string(k_checksum_suffix);
  bool has_checksum = false;
  if (before.contains(sidecar)) {
    TRY(has_checksum, says(store, sidecar, file));
  }
  if (has_checksum && has_size(before, file.key, file.content.size())) return FileOutcome{State::there, 0};
  store::Once once{file.content, *file.sha256, content_type_of(file.name), std::string(k_immutable)};
  once.size = file.content.size();
  auto wrote = file.store ? store::copy_once(*file.store, file.from, store, file.key, once)
                          : store::put_once(store, file.key, once);
  if (!wrote && wrote.error().is(codes::file_changed)) return damaged_archive(file, wrote.error(), build_failed);
  if (!wrote) return fail(std::move(wrote).error());
  FileOutcome outcome{*wrote ? State::written : State::there, *wrote ? 1u : 0u};
  if (has_checksum) return outcome;
  auto line = content::Rope::literal(checksum_line(*file.sha256, file.name));
  TRY(auto digest, content::sha256_of(line));
  TRY(auto wrote_line,
      store::put_once(store, sidecar, {line, digest, content_type_of(sidecar), std::string(k_immutable)}));
  outcome.writes += wrote_line ? 1 : 0;
  return outcome;
}

Result<FileOutcome> put_text(store::ObjectStore& store, const OutputFile& file, const Sizes& before) {
  if (has_size(before, file.key, file.content.size())) {
    TRY(auto ours, content::sha256_of(file.content));
    TRY(auto theirs, store.digest(file.key));
    if (theirs && *theirs == ours) return FileOutcome{State::there, 0};
  }
  store::PutOptions options;
  options.content_type = content_type_of(file.name);
  options.cache_control = k_short;
  TRY_DO(store.put(file.key, file.content, options));
  return FileOutcome{before.contains(file.key) ? State::replaced : State::written, 1};
}

UploadedFiles collected(const Outputs& outputs, std::vector<FileOutcome> outcomes) {
  UploadedFiles all;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    auto& outcome = outcomes[i];
    all.files.push_back({outputs.files[i].key, outputs.files[i].content.size(), outcome.state});
    all.writes += outcome.writes;
    if (outcome.finding) all.findings.push_back(std::move(*outcome.finding));
  }
  return all;
}

} // namespace

Result<void> check_archives(const UploadPlace& place, const Outputs& outputs, const Sizes& before, unsigned at_once) {
  std::vector<std::vector<std::string>> differences(outputs.files.size()); // each is written by one task
  TRY_DO(parallel_for(outputs.files.size(), std::max(at_once, 1u) * k_small_for_one_large,
                      [&](std::size_t i) -> Result<void> {
                        if (!is_archive(outputs.files[i])) return {};
                        TRY(differences[i], difference_of(place, outputs.files[i], before));
                        return {};
                      }));
  std::erase_if(differences, [](const auto& lines) { return lines.empty(); });
  if (differences.empty()) return {};
  auto run = place.prefix.substr(0, place.prefix.find_last_not_of('/') + 1);
  auto error = Error::of(ErrorKind::already_exists, "R009",
                         fmt::format("run {} has {} already, with other bytes", run,
                                     differences.size() == 1 ? differences[0][0]
                                                             : fmt::format("{} of these archives", differences.size())))
                   .with_hint("nothing was changed, and the run stays as it is: give this build a --run-id of its own, "
                              "or send only what may be replaced: --no-artifacts");
  for (std::size_t i = 0; i < std::min(differences.size(), k_conflicts_shown); ++i)
    error.details.insert(error.details.end(), differences[i].begin(), differences[i].end());
  return fail(std::move(error));
}

Result<UploadedFiles> upload_files(const UploadPlace& place, const Outputs& outputs, const UploadRequest& request,
                                   const Sizes& before) {
  std::vector<FileOutcome> outcomes(outputs.files.size()); // each is written by one task
  auto one = [&](std::size_t i) -> Result<void> {
    TRY_DO(sys::check_interrupted());
    const auto& file = outputs.files[i];
    TRY(outcomes[i],
        is_archive(file) ? put_archive(place.store, file, request.build_failed, before)
                         : put_text(place.store, file, before),
        "while uploading " + file.name);
    if (request.on_bytes) request.on_bytes(file.content.size());
    return {};
  };
  // Large ones fill the line by themselves; of small ones it is the number on their way that counts.
  std::vector<std::size_t> large, small;
  for (std::size_t i = 0; i < outputs.files.size(); ++i)
    (outputs.files[i].content.size() < k_small_bytes ? small : large).push_back(i);
  auto at_once = std::max(request.at_once, 1u);
  TRY_DO(parallel_for(large.size(), at_once, [&](std::size_t i) { return one(large[i]); }));
  TRY_DO(parallel_for(small.size(), at_once * k_small_for_one_large, [&](std::size_t i) { return one(small[i]); }));
  return collected(outputs, std::move(outcomes));
}

} // namespace quarry::artifact
