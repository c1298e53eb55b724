#include "cli/compat/release_copies.hpp"

#include "artifact/checksum.hpp"
#include "artifact/name.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "store/put_once.hpp"
#include "sys/path.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <atomic>
#include <fmt/core.h>
#include <map>

namespace quarry::cli::compat {

namespace {

constexpr std::size_t k_parts_shown = 12; // a run has about ten

/// Pages of deb and rpm repositories: they name the packages, so they are copied last.
bool is_repository_page(const std::string& key) {
  return key.find("/dists/") != key.npos || key.find("/repodata/") != key.npos;
}

Result<Sha256> digest_at(store::ObjectStore& store, const std::string& key, std::uint64_t size) {
  TRY(auto info, store.head(key));
  if (info)
    if (auto recorded = store::recorded_at(*info, size)) return *recorded;
  TRY(auto read, store.digest(key));
  if (read) return *read;
  return fail(ErrorKind::not_found, "R001", fmt::format("{} has no {}", store.describe(), key),
              "another job removed it: list the run again");
}

/// A file with a checksum file beside it in the run must be what that says: nobody would notice a cut tarball later.
Result<void> check_promised(store::ObjectStore& source, const ReleaseCopy& copy) {
  auto key = copy.from + std::string(artifact::k_checksum_suffix);
  TRY(auto text, source.get(key, artifact::k_checksum_bytes_max));
  if (!text) return {};
  TRY(auto promised, artifact::parse_checksum({*text, path::basename(copy.from)}));
  TRY(auto found, digest_at(source, copy.from, copy.size));
  if (found == promised) return {};
  return fail(Error::of(ErrorKind::corrupt, "A012", fmt::format("{} does not match its checksum", copy.from))
                  .with_detail("promised  sha256 " + promised.hex())
                  .with_detail("there     sha256 " + found.hex())
                  .with_hint("nothing was copied; upload it again, or correct the checksum file"));
}

Result<store::Once> once_of(store::ObjectStore& source, const ReleaseCopy& copy) {
  store::Once once;
  TRY(once.sha256, digest_at(source, copy.from, copy.size));
  TRY(auto info, source.head(copy.from));
  if (info) once.content_type = info->content_type;
  once.size = copy.size;
  return once;
}

/// "logs/ (12 objects), python/ (3)": the first level of the run.
std::string content_text(const std::vector<store::ObjectInfo>& listed, std::size_t prefix) {
  std::map<std::string, std::size_t> counts;
  for (const auto& object : listed) {
    auto slash = object.key.find('/', prefix);
    ++counts[slash == object.key.npos ? object.key.substr(prefix) : object.key.substr(prefix, slash + 1 - prefix)];
  }
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts)
    parts.push_back(name.ends_with('/') ? fmt::format("{} ({})", name, units::things(count, "object")) : name);
  return parts.empty() ? "nothing" : text::first(parts, k_parts_shown);
}

/// Says what the run has instead, because a mistyped run has nothing at all.
Error nothing_to_copy(store::ObjectStore& source, const std::string& run, const CopyRule& rule) {
  auto listed = source.list(run + "/");
  if (!listed) return std::move(listed).error();
  const auto& all = *listed;
  auto error = Error::of(ErrorKind::not_found, "C048",
                         fmt::format("{} has nothing to publish below {}/{}/", source.describe(), run, rule.from))
                   .with_detail(fmt::format("{} has  {}", run, content_text(all, run.size() + 1)));
  if (all.empty())
    error.hint = "correct --run-id or --platform; `quarry run list` lists the runs of the store";
  else if (rule.from == "tarballs")
    error.hint = fmt::format("nothing was copied; make the tarballs with `quarry artifact tarball` and send them with "
                             "`quarry run upload DIR --run-id {} --platform {}`, then run the same command again",
                             run.substr(0, run.rfind('-')), run.substr(run.rfind('-') + 1));
  else
    error.hint = "nothing was copied; wait for the job that makes them, or publish without native packages: "
                 "--skip-native-packages";
  return error;
}

} // namespace

Result<std::vector<ReleaseCopy>> plan_copies(store::ObjectStore& source, const std::string& run,
                                             const std::vector<CopyRule>& rules) {
  std::vector<ReleaseCopy> copies;
  for (const auto& rule : rules) {
    auto below = run + "/" + rule.from + "/";
    TRY(auto listed, source.list(below));
    auto before = copies.size();
    for (const auto& object : listed)
      if (object.key.ends_with(rule.suffix))
        copies.push_back({object.key, rule.to + "/" + object.key.substr(below.size()), object.size});
    if (copies.size() == before) return fail(nothing_to_copy(source, run, rule));
  }
  std::stable_partition(copies.begin(), copies.end(), [](const auto& copy) { return !is_repository_page(copy.to); });
  return copies;
}

Result<void> check_copies(store::ObjectStore& source, store::ObjectStore& target,
                          const std::vector<ReleaseCopy>& copies, unsigned workers) {
  return parallel_for(copies.size(), std::max(4u, workers), [&](std::size_t i) -> Result<void> {
    const auto& copy = copies[i];
    TRY_DO(check_promised(source, copy));
    TRY(auto there, target.head(copy.to));
    if (!there) return {};
    TRY(auto theirs, digest_at(target, copy.to, there->size));
    TRY(auto ours, digest_at(source, copy.from, copy.size));
    if (theirs == ours) return {};
    auto error =
        Error::of(ErrorKind::already_exists, "R009", fmt::format("{} holds another {}", target.describe(), copy.to))
            .with_hint("nothing was copied; a published name never gets other bytes: give the release another version, "
                       "or remove what exists");
    error.details = {"there  sha256 " + theirs.hex(), "ours   sha256 " + ours.hex()};
    return fail(std::move(error));
  });
}

Result<std::uint64_t> copy_all(store::ObjectStore& source, store::ObjectStore& target,
                               const std::vector<ReleaseCopy>& copies, unsigned workers) {
  std::atomic<std::uint64_t> writes = 0;
  auto copy = [&](std::size_t i) -> Result<void> {
    TRY(auto once, once_of(source, copies[i]));
    TRY(bool written, store::copy_once(source, copies[i].from, target, copies[i].to, once),
        "while copying to " + target.describe());
    writes += written ? 1 : 0;
    return {};
  };
  auto pages = std::find_if(copies.begin(), copies.end(), [](const auto& each) { return is_repository_page(each.to); });
  auto files = static_cast<std::size_t>(pages - copies.begin());
  TRY_DO(parallel_for(files, std::max(4u, workers), copy));
  TRY_DO(parallel_for(copies.size() - files, std::max(4u, workers), [&](std::size_t i) { return copy(files + i); }));
  return writes.load();
}

} // namespace quarry::cli::compat
