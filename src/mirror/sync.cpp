#include "mirror/sync.hpp"

#include "base/codes.hpp"
#include "base/json.hpp"
#include "registry/registry.hpp"
#include "sys/path.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <mutex>
#include <nlohmann/json.hpp>

namespace quarry::mirror {

using registry::FileRecord;
using store::ObjectReader;
using store::ObjectStore;

namespace {

Unexpected changed_upstream(const FileRecord& known, const index::PageFile& file) {
  auto error = Error::of(ErrorKind::already_exists, "U010",
                         fmt::format("the index has other bytes for {} than those that are mirrored", known.filename))
                   .with_detail("mirrored  sha256 " + known.sha256.hex())
                   .with_detail("index     sha256 " + file.sha256()->hex())
                   .with_hint("nothing was changed; one of them is not what its name says: ask who runs the index");
  return fail(std::move(error));
}

std::string key_of(const std::string& filename) { return path::join(path::join(k_directory, "dist"), filename); }

Result<std::vector<registry::SealedSet>> sets_here(ObjectReader& store) {
  TRY(auto sets, registry::sealed_sets_below(store, std::string(k_directory)));
  std::erase_if(sets, [](const auto& sealed) { return sealed.set.directory != k_directory; });
  return sets;
}

/// Records where a file came from. An existing record is kept: the first sync that fetched the file wrote it.
Result<void> record_origin(ObjectStore& store, const index::PageFile& file, const SyncOptions& options) {
  Json record{{"schema", "quarry.mirrored/1"},
              {"filename", file.filename},
              {"sha256", file.sha256()->hex()},
              {"url", without_query(file.url)},
              {"index", options.index},
              {"fetched", options.now},
              {"who", options.who},
              {"tool", options.tool}};
  if (!file.upload_time.empty()) record["upload_time"] = file.upload_time;
  TRY(auto bytes, json::canonical(record));
  store::PutOptions put;
  put.precondition = store::Precondition::if_absent();
  put.content_type = "application/json";
  auto key = path::join(path::join(k_directory, "provenance"), file.filename + ".json");
  auto written = store.put(key, content::Rope::literal(std::move(bytes)), put);
  if (written || written.error().is(codes::object_exists)) return {};
  return fail(std::move(written).error());
}

/// The index's upload time, so that installers that select by date select the same files; `now` if it gives none.
std::string upload_time_of(const index::PageFile& file, const sys::Timestamp& now) {
  auto time = sys::parse_rfc3339(file.upload_time);
  return time ? sys::rfc3339(*time) : now.text();
}

bool same_files(const registry::SetRecord& a, const registry::SetRecord& b) {
  return std::equal(
      a.files.begin(), a.files.end(), b.files.begin(), b.files.end(),
      [](const FileRecord& x, const FileRecord& y) { return x.filename == y.filename && x.sha256 == y.sha256; });
}

/// What is missing, in the plan's order, each in a temporary file.
Result<std::vector<Downloaded>> fetch_missing(Upstream& upstream, const SyncPlan& plan, const SyncOptions& options) {
  std::vector<Downloaded> fetched(plan.missing.size());
  std::mutex mutex; // of on_progress
  TRY_DO(parallel_for(plan.missing.size(), options.transfers, [&](std::size_t i) -> Result<void> {
    auto count = [&](std::uint64_t) {
      std::lock_guard lock(mutex);
      if (options.on_progress) options.on_progress(upstream.bytes_fetched());
    };
    TRY(fetched[i], upstream.download(plan.missing[i], count), "while mirroring " + plan.missing[i].filename);
    return {};
  }));
  return fetched;
}

publish::PlannedFile new_file(const index::PageFile& page, Downloaded downloaded, const sys::Timestamp& now) {
  auto& file = downloaded.described.file;
  file.key = key_of(file.filename);
  file.upload_time = upload_time_of(page, now);
  if (page.yanked) file.yanked = page.yank_reason.empty() ? "yanked" : page.yank_reason;
  return {std::move(downloaded.path), std::move(file), std::move(downloaded.described.sidecar), false};
}

Result<publish::PlannedFile> known_file(ObjectReader& store, const FileRecord& record) {
  publish::PlannedFile file{{}, record, {}, true};
  TRY(auto sidecar, store.get(record.key + ".metadata", dist::k_metadata_bytes_max));
  if (!sidecar || !record.metadata_sha256 || sha256(*sidecar) != *record.metadata_sha256)
    return fail(ErrorKind::corrupt, "R011", fmt::format("{}.metadata is missing or altered", record.key),
                "`quarry index rebuild python-deps` makes it again from the wheel");
  file.sidecar = std::move(*sidecar);
  return file;
}

/// The files that are mirrored already and those that were fetched, by name.
Result<std::vector<publish::PlannedFile>> all_files(ObjectReader& store, const std::map<std::string, FileRecord>& known,
                                                    const SyncPlan& plan, std::vector<Downloaded> fetched,
                                                    const sys::Timestamp& now) {
  std::vector<publish::PlannedFile> files;
  for (const auto& [filename, _] : plan.files)
    if (auto record = known.find(filename); record != known.end()) {
      TRY(auto file, known_file(store, record->second));
      files.push_back(std::move(file));
    }
  for (std::size_t i = 0; i < plan.missing.size(); ++i)
    files.push_back(new_file(plan.missing[i], std::move(fetched[i]), now));
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.file.filename < b.file.filename; });
  return files;
}

/// A set of exactly these files that is sealed already is taken whole: syncing twice changes nothing.
Result<publish::Plan> publish_plan(ObjectReader& store, std::vector<publish::PlannedFile> files,
                                   const SyncOptions& options) {
  publish::Plan plan;
  plan.directory = k_directory;
  plan.files = std::move(files);
  for (const auto& file : plan.files) {
    TRY_DO(store::check_key(file.file.key + ".metadata"));
    plan.set.files.push_back(file.file);
  }
  plan.set.directory = k_directory;
  plan.set.origin.repository = options.index;
  plan.set.origin.tool = options.tool;
  TRY(auto sets, sets_here(store));
  for (const auto& sealed : sets)
    if (same_files(sealed.set, plan.set)) plan.set = sealed.set;
  plan.set_digest = registry::digest_of(plan.set);
  return plan;
}

} // namespace

std::uint64_t SyncPlan::bytes_missing() const {
  std::uint64_t bytes = 0;
  for (const auto& file : missing) bytes += file.size.value_or(0);
  return bytes;
}

Result<std::map<std::string, FileRecord>> mirrored_files(ObjectReader& store) {
  TRY(auto sets, sets_here(store));
  TRY(auto files, registry::union_of(sets));
  std::map<std::string, FileRecord> known;
  for (auto& file : files) known.emplace(file.filename, std::move(file));
  return known;
}

KnownMetadata metadata_from(ObjectReader& store, std::map<std::string, FileRecord> known) {
  return [&store, known = std::move(known)](const index::PageFile& file) -> Result<std::optional<std::string>> {
    auto record = known.find(file.filename);
    if (record == known.end() || record->second.sha256 != file.sha256() || !record->second.metadata_sha256)
      return std::optional<std::string>();
    TRY(auto text, store.get(record->second.key + ".metadata", dist::k_metadata_bytes_max));
    if (text && sha256(*text) != *record->second.metadata_sha256) text.reset(); // the index has it, too
    return text;
  };
}

Result<SyncPlan> plan_sync(Upstream& upstream, const std::map<std::string, FileRecord>& known,
                           const std::vector<Asked>& asked, const std::vector<Target>& targets, const Guard& guard) {
  SyncPlan plan;
  for (const auto& target : targets) {
    TRY(auto resolution, resolve(upstream, asked, target, guard), "while resolving for Python " + target.name());
    for (const auto& [_, choice] : resolution.choices)
      for (const auto& file : choice.files) {
        TRY_DO(require_provable(file));
        plan.files.emplace(file.filename, file);
      }
    plan.targets.push_back({target, std::move(resolution)});
  }
  for (const auto& [filename, file] : plan.files) {
    auto mirrored = known.find(filename);
    if (mirrored == known.end())
      plan.missing.push_back(file);
    else if (mirrored->second.sha256 != *file.sha256())
      return changed_upstream(mirrored->second, file);
  }
  return plan;
}

Result<SyncReceipt> execute_sync(ObjectStore& store, Upstream& upstream, const std::map<std::string, FileRecord>& known,
                                 const SyncPlan& plan, const SyncOptions& options) {
  auto before = store.counters();
  TRY(auto fetched, fetch_missing(upstream, plan, options));
  SyncReceipt receipt;
  receipt.files_fetched = plan.missing.size();
  receipt.bytes_fetched = upstream.bytes_fetched();
  for (const auto& file : plan.missing)
    TRY_DO(record_origin(store, file, options), "while recording where it came from");
  TRY(auto files, all_files(store, known, plan, std::move(fetched), options.now));
  TRY(auto publication, publish_plan(store, std::move(files), options));
  TRY(receipt.published,
      publish::execute(store, publication, {options.now, options.who, {}, options.transfers, {}, options.public_url}));
  TRY(receipt.merged, pages::merge_all(store));
  receipt.writes = publish::writes_between(before, store.counters());
  return receipt;
}

} // namespace quarry::mirror
