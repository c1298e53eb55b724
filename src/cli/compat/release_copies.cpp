#include "cli/compat/release_copies.hpp"

#include "store/put_once.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <atomic>
#include <fmt/core.h>

namespace quarry::cli::compat {

namespace {

/// Pages of deb and rpm repositories: they name the packages, so they are copied last.
bool is_repository_page(const std::string& key) {
  return key.find("/dists/") != key.npos || key.find("/repodata/") != key.npos;
}

Result<Sha256> digest_at(store::ObjectStore& store, const std::string& key, std::uint64_t size) {
  TRY(auto info, store.head(key));
  if (info)
    if (auto recorded = store::recorded_at(*info, size)) return *recorded;
  TRY(auto read, store::digest_of(store, key));
  if (read) return *read;
  return fail(ErrorKind::not_found, "R001", fmt::format("{} has no {}", store.describe(), key),
              "another job removed it: list the run again");
}

Result<store::Once> once_of(store::ObjectStore& source, const ReleaseCopy& copy) {
  store::Once once;
  TRY(once.sha256, digest_at(source, copy.from, copy.size));
  TRY(auto info, source.head(copy.from));
  if (info) once.content_type = info->content_type;
  once.size = copy.size;
  return once;
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
    if (copies.size() == before)
      return fail(
          ErrorKind::not_found, "C048", fmt::format("{} has nothing to publish below {}", source.describe(), below),
          rule.from == "tarballs" ? "`quarry artifact tarball` makes a run's tarballs, `quarry run upload` sends them"
                                  : "publish without native packages with --skip-native-packages");
  }
  std::stable_partition(copies.begin(), copies.end(), [](const auto& copy) { return !is_repository_page(copy.to); });
  return copies;
}

Result<void> check_copies(store::ObjectStore& source, store::ObjectStore& target,
                          const std::vector<ReleaseCopy>& copies, unsigned workers) {
  return parallel_for(copies.size(), std::max(4u, workers), [&](std::size_t i) -> Result<void> {
    const auto& copy = copies[i];
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
