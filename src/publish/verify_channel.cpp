#include "publish/verify_channel.hpp"

#include "index/read_page.hpp"
#include "pages/channel_pages.hpp"
#include "pages/page_writer.hpp"
#include "pages/projection.hpp"
#include "registry/sidecars.hpp"
#include "sys/path.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <map>
#include <set>

namespace quarry::publish {

using registry::FileRecord;
using store::ObjectReader;
using store::ObjectStore;

namespace {

constexpr unsigned k_looks_at_once = 8;
constexpr int k_rounds_max = 3;

/// What one object must be.
struct Claimed {
  std::string key;
  std::optional<std::uint64_t> size; ///< unknown of METADATA beside a wheel
};

Finding missing_or_cut(const Claimed& claimed, const std::optional<std::uint64_t>& found) {
  bool sidecar = !claimed.size;
  auto code = sidecar ? "P022" : found ? "P021" : "P020";
  auto message = found ? fmt::format("has {} bytes, sealed were {}", *found, *claimed.size) : "is missing";
  return {code, Severity::error, claimed.key, std::move(message),
          sidecar ? registry::rebuild_hint(claimed.key)
                  : std::string("restore the file from a copy, or roll the channel back")};
}

Result<Findings> check_sizes(ObjectReader& store, const std::vector<FileRecord>& files) {
  std::map<std::string, std::vector<Claimed>> by_directory;
  for (const auto& file : files) {
    auto& in_it = by_directory[std::string(path::dirname(file.key))];
    in_it.push_back({file.key, file.size});
    if (file.metadata_sha256) in_it.push_back({file.key + ".metadata", std::nullopt});
  }
  std::vector<std::string> directories;
  for (const auto& [directory, in_it] : by_directory) directories.push_back(directory);
  std::vector<Findings> found(directories.size());
  TRY_DO(parallel_for(directories.size(), k_looks_at_once, [&](std::size_t i) -> Result<void> {
    TRY(auto listed, store.children(directories[i] + "/"));
    std::map<std::string, std::uint64_t> sizes;
    for (const auto& object : listed.objects) sizes[object.key] = object.size;
    for (const auto& claimed : by_directory.at(directories[i])) {
      auto there = sizes.find(claimed.key);
      auto size = there == sizes.end() ? std::nullopt : std::optional(there->second);
      if (!size || (claimed.size && *claimed.size != *size)) found[i].push_back(missing_or_cut(claimed, size));
    }
    return {};
  }));
  Findings all;
  for (auto& some : found) std::move(some.begin(), some.end(), std::back_inserter(all));
  return all;
}

Finding page_defect(const std::string& channel, const std::string& key, std::string message) {
  return {"P094", Severity::error, key, std::move(message),
          fmt::format("`quarry index repair channel:{}` writes it again", channel)};
}

using Promises = std::set<std::pair<std::string, std::string>>; // file name, sha256

Promises promises_of(const std::vector<FileRecord>& files) {
  Promises promises;
  for (const auto& file : files) promises.emplace(file.filename, file.sha256.hex());
  return promises;
}

Result<std::optional<std::string>> defect_of_page(ObjectReader& store, const std::string& key, const Promises& wanted) {
  TRY(auto bytes, store.get(key, index::k_page_bytes_max));
  if (!bytes) return std::optional<std::string>("is missing");
  auto page = index::read_page({*bytes, key});
  if (!page) return std::optional<std::string>("cannot be read: " + page.error().message);
  Promises shown;
  for (const auto& file : page->files) {
    auto digest = file.sha256();
    if (!file.filename.ends_with('/')) // a link to the index itself, for people
      shown.emplace(file.filename, digest ? digest->hex() : std::string());
  }
  for (const auto& project : page->projects) shown.emplace(project, "");
  if (shown == wanted) return std::optional<std::string>();
  for (const auto& [name, digest] : wanted)
    if (!shown.contains({name, digest})) return std::optional<std::string>("does not show " + name + " of the view");
  for (const auto& [name, digest] : shown)
    if (!wanted.contains({name, digest})) return std::optional<std::string>("shows " + name + ", which the view lacks");
  return std::optional<std::string>();
}

/// A page of the channel, and what it must link to.
struct ClaimedPage {
  std::string key;
  Promises promises;
};

/// The page for people lists every file, and in a large channel every project.
Promises promises_of_overview(const Promises& projects, const std::vector<FileRecord>& files) {
  return files.size() > pages::k_listed_files_max ? projects : promises_of(files);
}

std::vector<ClaimedPage> pages_of(const std::string& channel, const registry::View& view) {
  auto directory = registry::channel_directory(channel);
  Promises projects; // without a digest
  for (const auto& shard : view.shards) projects.emplace(shard.project, "");
  std::vector<ClaimedPage> pages{{directory + "/index.html", promises_of_overview(projects, registry::files_of(view))},
                                 {directory + "/simple/index.html", projects},
                                 {directory + "/simple-json/index.html", projects}};
  for (const auto& shard : view.shards)
    for (const auto* tree : {"/simple/", "/simple-json/"})
      pages.push_back({directory + tree + shard.project + "/index.html", promises_of(shard.files)});
  return pages;
}

/// The keys that installers ask a bucket for: copies of the HTML pages.
std::vector<ClaimedPage> copies_of(const std::vector<ClaimedPage>& pages) {
  std::vector<ClaimedPage> copies;
  for (const auto& page : pages)
    if (page.key.find("/simple-json/") == std::string::npos)
      copies.push_back({pages::slash_key_of(page.key), page.promises});
  return copies;
}

/// Pages of projects that the view lacks: installers would install files that no sealed set has.
Result<Findings> check_stale(ObjectReader& store, const std::string& channel, const std::vector<ClaimedPage>& pages) {
  std::set<std::string> current;
  for (const auto& page : pages) current.insert(page.key);
  TRY(auto stale, pages::stale_pages(store, registry::channel_directory(channel),
                                     [&](const std::string& key) { return current.contains(key); }));
  Findings found;
  for (const auto& key : stale) found.push_back(page_defect(channel, key, "is of a project that the view lacks"));
  return found;
}

Result<Findings> check_pages(ObjectStore& store, const registry::ChannelRecord& channel,
                             std::vector<ClaimedPage> pages) {
  TRY(auto found, check_stale(store, channel.name, pages));
  TRY(bool slash_keys, store.slash_keys());
  if (slash_keys) {
    auto copies = copies_of(pages);
    std::move(copies.begin(), copies.end(), std::back_inserter(pages));
  }
  std::vector<std::optional<std::string>> defects(pages.size());
  TRY_DO(parallel_for(pages.size(), k_looks_at_once, [&](std::size_t i) -> Result<void> {
    TRY(defects[i], defect_of_page(store, pages[i].key, pages[i].promises));
    return {};
  }));
  for (std::size_t i = 0; i < pages.size(); ++i)
    if (defects[i]) found.push_back(page_defect(channel.name, pages[i].key, std::move(*defects[i])));
  TRY(auto shown, pages::projected_generation(store, channel.name));
  if (shown < channel.generation)
    found.push_back(page_defect(
        channel.name, registry::channel_directory(channel.name) + "/pages.json",
        fmt::format("says that the pages show generation {}, and the channel is at {}", shown, channel.generation)));
  return found;
}

/// What is compared: the channel, and which generation its pages say that they show. The writer of a move first swaps
/// the channel, then writes the pages, and their state last.
struct Moment {
  registry::ChannelRecord record;
  std::uint64_t pages = 0;
  bool operator==(const Moment& other) const {
    return record.generation == other.record.generation && pages == other.pages;
  }
};

Result<Moment> moment_of(ObjectReader& store, const std::string& name) {
  TRY(auto channel, registry::require_channel(store, name));
  TRY(auto pages, pages::projected_generation(store, name));
  return Moment{std::move(channel.record), pages};
}

Finding lost_record(const std::string& channel, std::string place, const Error& error) {
  return {error.code, Severity::error, std::move(place), error.message,
          fmt::format("{}; or go back to an earlier view: `quarry rollback {} --reason TEXT`", error.hint, channel)};
}

/// The sets that the view shows must be there as they were sealed: a lock, a gate and a release read them.
Result<Findings> check_sets(ObjectReader& store, const std::string& channel,
                            const std::vector<registry::SetDigest>& sets) {
  std::vector<std::optional<Error>> errors(sets.size());
  TRY_DO(parallel_for(sets.size(), k_looks_at_once, [&](std::size_t i) -> Result<void> {
    auto sealed = registry::load_sealed(store, sets[i]);
    if (sealed) return {};
    if (!registry::is_lost(sealed.error())) return fail(std::move(sealed).error());
    errors[i] = std::move(sealed).error();
    return {};
  }));
  Findings found;
  for (std::size_t i = 0; i < sets.size(); ++i)
    if (errors[i]) found.push_back(lost_record(channel, "set:" + sets[i].short_hex(), *errors[i]));
  return found;
}

Result<VerifiedChannel> look(ObjectStore& store, const registry::ChannelRecord& record, bool deep,
                             const VerifyOptions& options) {
  VerifiedChannel verified;
  verified.record = record;
  auto whole = registry::load_whole_view(store, record.view);
  if (!whole && registry::is_lost(whole.error())) {
    verified.findings.push_back(lost_record(record.name, registry::view_key(record.view), whole.error()));
    return verified;
  }
  TRY(auto view, std::move(whole), "while reading channel " + record.name);
  auto files = registry::files_of(view);
  verified.files = files.size();
  for (const auto& file : files) verified.bytes += file.size;
  auto pages = pages_of(record.name, view);
  verified.pages = pages.size();
  TRY(verified.findings, check_pages(store, record, std::move(pages)));
  TRY(auto of_sets, check_sets(store, record.name, view.record.sets));
  std::move(of_sets.begin(), of_sets.end(), std::back_inserter(verified.findings));
  Findings of_files;
  if (deep) {
    registry::SealedSet all;
    all.set.files = std::move(files);
    TRY(of_files, verify_sets(store, {all}, options));
  } else {
    TRY(of_files, check_sizes(store, files));
  }
  std::move(of_files.begin(), of_files.end(), std::back_inserter(verified.findings));
  std::stable_sort(verified.findings.begin(), verified.findings.end(),
                   [](const Finding& a, const Finding& b) { return a.place < b.place; });
  return verified;
}

} // namespace

Result<Findings> look_for_files(ObjectReader& store, const std::vector<registry::SealedSet>& sets) {
  std::map<std::string, const FileRecord*> named; // several sets may have one file
  for (const auto& sealed : sets)
    for (const auto& file : sealed.set.files) named.try_emplace(file.key, &file);
  std::vector<FileRecord> files;
  for (const auto& [key, file] : named) files.push_back(*file);
  return check_sizes(store, files);
}

Result<VerifiedChannel> verify_channel(ObjectStore& store, const std::string& name, Depth depth,
                                       const VerifyOptions& options) {
  const bool deep = depth == Depth::bytes;
  TRY(auto before, moment_of(store, name));
  for (int round = 1;; ++round) {
    TRY(auto verified, look(store, before.record, deep, options));
    if (verified.findings.empty()) return verified;
    TRY(auto after, moment_of(store, name)); // what was compared may have been replaced meanwhile
    if (after == before) return verified;
    if (round == k_rounds_max)
      return fail(ErrorKind::precondition_failed, "P010",
                  fmt::format("channel {} kept moving while it was compared with its pages", name),
                  "run the same command again when nobody publishes into the channel");
    before = std::move(after);
  }
}

} // namespace quarry::publish
