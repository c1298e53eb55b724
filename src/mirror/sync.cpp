#include "mirror/sync.hpp"

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

Result<std::vector<registry::SealedSet>> sets_here(ObjectStore& store) {
  TRY(auto sets, registry::sealed_sets_below(store, std::string(k_directory)));
  std::erase_if(sets, [](const auto& sealed) { return sealed.set.directory != k_directory; });
  return sets;
}

/// Where a file came from, written once: whoever was first tells.
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
  if (written || written.error().kind == ErrorKind::already_exists) return {};
  return fail(std::move(written).error());
}

/// The upload time of the index where it says one, so that installers that choose by date choose as there.
std::string upload_time_of(const index::PageFile& file, const sys::Timestamp& now) {
  auto time = sys::parse_rfc3339(file.upload_time);
  return time ? sys::rfc3339(*time) : now.text();
}

bool same_files(const registry::SetRecord& a, const registry::SetRecord& b) {
  return std::equal(
      a.files.begin(), a.files.end(), b.files.begin(), b.files.end(),
      [](const FileRecord& x, const FileRecord& y) { return x.filename == y.filename && x.sha256 == y.sha256; });
}

class Pump {
public:
  Pump(ObjectStore& store, Upstream& upstream, const std::map<std::string, FileRecord>& known, const SyncPlan& plan,
       const SyncOptions& options)
      : store_(store), upstream_(upstream), known_(known), plan_(plan), options_(options) {}

  Result<SyncReceipt> run() {
    auto before = store_.counters();
    TRY_DO(fetch_missing());
    receipt_.bytes_fetched = upstream_.bytes_fetched();
    for (const auto& file : plan_.missing)
      TRY_DO(record_origin(store_, file, options_), "while recording where it came from");
    TRY(auto plan, publish_plan());
    TRY(receipt_.published,
        publish::execute(store_, plan, {options_.now, options_.who, {}, options_.transfers, {}, options_.public_url}));
    TRY(receipt_.merged, pages::merge_all(store_));
    receipt_.writes = publish::writes_between(before, store_.counters());
    return std::move(receipt_);
  }

private:
  Result<void> fetch_missing() {
    fetched_.resize(plan_.missing.size());
    receipt_.files_fetched = plan_.missing.size();
    return parallel_for(plan_.missing.size(), options_.transfers, [&](std::size_t i) -> Result<void> {
      auto count = [&](std::uint64_t) {
        std::lock_guard lock(mutex_);
        if (options_.on_progress) options_.on_progress(upstream_.bytes_fetched());
      };
      TRY(fetched_[i], upstream_.download(plan_.missing[i], count), "while mirroring " + plan_.missing[i].filename);
      return {};
    });
  }

  publish::PlannedFile new_file(const index::PageFile& page, Downloaded downloaded) const {
    auto& file = downloaded.described.file;
    file.key = key_of(file.filename);
    file.upload_time = upload_time_of(page, options_.now);
    if (page.yanked) file.yanked = page.yank_reason.empty() ? "yanked" : page.yank_reason;
    return {std::move(downloaded.path), std::move(file), std::move(downloaded.described.sidecar), false};
  }

  Result<publish::PlannedFile> known_file(const FileRecord& record) const {
    publish::PlannedFile file{{}, record, {}, true};
    TRY(auto sidecar, store_.get(record.key + ".metadata", dist::k_metadata_bytes_max));
    if (!sidecar || !record.metadata_sha256 || sha256(*sidecar) != *record.metadata_sha256)
      return fail(ErrorKind::corrupt, "R011", fmt::format("{}.metadata is missing or altered", record.key),
                  "`quarry index rebuild` makes it again from the wheel");
    file.sidecar = std::move(*sidecar);
    return file;
  }

  /// A set of exactly these files that is sealed already is taken whole: syncing twice changes nothing.
  Result<publish::Plan> publish_plan() {
    publish::Plan plan;
    plan.directory = k_directory;
    for (const auto& [filename, _] : plan_.files)
      if (auto record = known_.find(filename); record != known_.end()) {
        TRY(auto file, known_file(record->second));
        plan.files.push_back(std::move(file));
      }
    for (std::size_t i = 0; i < plan_.missing.size(); ++i)
      plan.files.push_back(new_file(plan_.missing[i], std::move(fetched_[i])));
    std::sort(plan.files.begin(), plan.files.end(),
              [](const auto& a, const auto& b) { return a.file.filename < b.file.filename; });
    for (const auto& file : plan.files) {
      TRY_DO(store::check_key(file.file.key + ".metadata"));
      plan.set.files.push_back(file.file);
    }
    plan.set.directory = k_directory;
    plan.set.origin.repository = options_.index;
    plan.set.origin.tool = options_.tool;
    TRY(auto sets, sets_here(store_));
    for (const auto& sealed : sets)
      if (same_files(sealed.set, plan.set)) plan.set = sealed.set;
    plan.set_digest = registry::digest_of(plan.set);
    return plan;
  }

  ObjectStore& store_;
  Upstream& upstream_;
  const std::map<std::string, FileRecord>& known_;
  const SyncPlan& plan_;
  const SyncOptions& options_;
  std::vector<Downloaded> fetched_;
  std::mutex mutex_;
  SyncReceipt receipt_;
};

} // namespace

std::uint64_t SyncPlan::bytes_missing() const {
  std::uint64_t bytes = 0;
  for (const auto& file : missing) bytes += file.size.value_or(0);
  return bytes;
}

Result<std::map<std::string, FileRecord>> mirrored_files(ObjectStore& store) {
  TRY(auto sets, sets_here(store));
  TRY(auto files, registry::union_of(sets));
  std::map<std::string, FileRecord> known;
  for (auto& file : files) known.emplace(file.filename, std::move(file));
  return known;
}

KnownMetadata metadata_from(ObjectStore& store, std::map<std::string, FileRecord> known) {
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
  return Pump(store, upstream, known, plan, options).run();
}

} // namespace quarry::mirror
