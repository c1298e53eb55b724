#include "publish/publish.hpp"

#include "base/codes.hpp"
#include "pages/merged.hpp"
#include "pages/projection.hpp"
#include "publish/content_type.hpp"
#include "publish/marks.hpp"
#include "publish/verify.hpp"
#include "registry/derivations.hpp"
#include "run/layout.hpp"
#include "store/put_once.hpp"
#include "sys/path.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <mutex>
#include <set>

namespace quarry::publish {

using store::ObjectReader;
using store::ObjectStore;

namespace {

/// Adds up the bytes of files that are stored side by side.
class Meter {
public:
  explicit Meter(const std::function<void(std::uint64_t)>& sink) : sink_(sink) {}
  std::function<void(std::uint64_t)> of_one_file() {
    return [this, before = std::uint64_t{0}](std::uint64_t now) mutable {
      std::lock_guard lock(mutex_);
      total_ += now - before;
      before = now;
      if (sink_) sink_(total_);
    };
  }

private:
  const std::function<void(std::uint64_t)>& sink_;
  std::mutex mutex_;
  std::uint64_t total_ = 0;
};

/// In place of what was looked at, and of nothing else. A lost reply is looked up.
Result<void> replace_object(ObjectStore& store, const std::string& key, const std::string& etag,
                            const store::Once& once) {
  store::PutOptions options{store::Precondition::if_match(etag), once.content_type, once.cache_control,
                            once.on_progress, once.sha256};
  auto put = store.put(key, once.content, options);
  if (put) return {};
  bool look = put.error().kind == ErrorKind::outcome_unknown || put.error().is(codes::overtaken);
  if (look) {
    TRY(auto there, store.digest(key));
    if (there == once.sha256) return {};
  }
  return fail(std::move(put).error().with_context("while replacing what an interrupted publish left"));
}

// The store has what the proof names, so nothing is sent, and nothing has compared the file with its proof.
Result<void> check_digest(const PlannedFile& file, const content::Rope& content) {
  TRY(auto found, content::sha256_of(content));
  if (found == file.file.sha256) return {};
  return fail(ErrorKind::corrupt, "R008", fmt::format("{} changed after it was packed", file.path),
              "build it again, or publish it under another version");
}

Result<void> store_file(ObjectStore& store, const PlannedFile& file, Meter& meter) {
  if (file.present && file.hashed) return {};
  TRY(auto content, content::Rope::file(file.path));
  if (file.present) return check_digest(file, content);
  if (file.replaces)
    return replace_object(store, file.file.key, *file.replaces,
                          {std::move(content), file.file.sha256, content_type_of(file.file.filename),
                           std::string(k_immutable), meter.of_one_file()});
  TRY_DO(store::put_once(store, file.file.key,
                         {std::move(content), file.file.sha256, content_type_of(file.file.filename),
                          std::string(k_immutable), meter.of_one_file()}));
  return {};
}

// After its wheel and before any page: pip takes a page's word for it and fails when it is missing.
Result<void> store_sidecar(ObjectStore& store, const PlannedFile& file) {
  if (!file.file.metadata_sha256) return {};
  if (sha256(file.sidecar) != *file.file.metadata_sha256)
    return fail(ErrorKind::internal, "P011", fmt::format("the sidecar of {} is not its METADATA", file.file.filename));
  auto key = file.file.key + ".metadata";
  std::string etag;
  TRY(auto present, store.get(key, dist::k_metadata_bytes_max, &etag));
  if (present && *present == file.sidecar) return {};
  store::Once once{content::Rope::literal(file.sidecar), *file.file.metadata_sha256, std::string(k_sidecar_type),
                   std::string(k_immutable)};
  // That of another wheel: this one has replaced it, now or in a run that was killed before it came here.
  if (present && !file.sealed) return replace_object(store, key, etag, once);
  TRY_DO(store::put_once(store, key, once));
  return {};
}

Result<void> store_content(ObjectStore& store, const Plan& plan, const ExecuteOptions& options) {
  Meter meter(options.on_progress);
  return parallel_for(plan.files.size(), options.transfers, [&](std::size_t i) -> Result<void> {
    TRY_DO(store_file(store, plan.files[i], meter));
    return store_sidecar(store, plan.files[i]);
  });
}

/// Two publishes of one directory at once: the other has sealed the bytes that this one replaced.
Result<void> check_replaced(ObjectReader& store, const Plan& plan) {
  bool replaced =
      std::any_of(plan.files.begin(), plan.files.end(), [](const auto& f) { return f.replaces.has_value(); });
  if (!replaced) return {};
  TRY(auto sets, registry::sealed_sets_below(store, plan.directory));
  for (const auto& sealed : sets)
    for (const auto& theirs : sealed.set.files)
      for (const auto& ours : plan.files)
        if (ours.replaces && ours.file.key == theirs.key && ours.file.sha256 != theirs.sha256)
          return fail(ErrorKind::already_exists, "P082",
                      fmt::format("set:{} was sealed with other bytes of {} while this job replaced them",
                                  sealed.digest.short_hex(), theirs.key),
                      fmt::format("publish the files of set:{} again under another version: "
                                  "`quarry set verify set:{}` lists what they were",
                                  sealed.digest.short_hex(), sealed.digest.short_hex()));
  return {};
}

Result<bool> store_record(ObjectStore& store, const Plan& plan, const ExecuteOptions& options) {
  TRY(auto digest, registry::put_set(store, plan.set));
  if (digest != plan.set_digest) return fail(ErrorKind::internal, "P011", "the set changed after it was planned");
  if (!options.derivation.empty()) TRY_DO(registry::put_derivation(store, digest, options.derivation));
  TRY_DO(refresh_marked(store, {{registry::set_key(digest), [&] { return registry::to_json(plan.set); }}}));
  TRY_DO(still_as_read(store, plan)); // of an adoption: another tool may write there
  return registry::seal(store, digest, plan.set, options.now);
}

std::vector<std::string> projects_of(const registry::SetRecord& set) {
  std::set<std::string> projects;
  for (const auto& file : set.files) projects.insert(file.project);
  return {projects.begin(), projects.end()};
}

Result<void> move_pointer(ObjectStore& store, const Plan& plan, const ExecuteOptions& options, Receipt& receipt) {
  TRY(auto sealed, registry::load_sealed(store, plan.set_digest, plan.set));
  Reason reason{registry::Action::publish, plan.digest, {}, options.who, options.now, options.why};
  reason.identity = options.identity;
  TRY(auto added, add_sets(store, plan.channel, {sealed}, reason));
  receipt.channel = plan.channel;
  receipt.generation = added.channel.record.generation;
  receipt.view = added.channel.record.view;
  receipt.channel_moved = added.moved;
  TRY_DO(pages::project_channel(store, plan.channel, pages::Extent::changed, added.views, std::move(added.channel)));
  TRY(auto merged, pages::merge_channel(store, plan.channel));
  TRY(receipt.channel_at,
      pages::addresses_of(store, options.public_url, registry::channel_directory(plan.channel), projects_of(plan.set)));
  std::move(merged.notes.begin(), merged.notes.end(), std::back_inserter(receipt.notes));
  return {};
}

Result<void> merge(ObjectStore& store, const Plan& plan, const ExecuteOptions& options, Receipt& receipt) {
  TRY(auto merged, pages::merge_directory(store, plan.directory));
  TRY(receipt.directory_at, pages::addresses_of(store, options.public_url, plan.directory));
  receipt.notes = std::move(merged.notes);
  // Also where this directory has none: the index of the run was made while the base index had sets, and stays.
  TRY(auto whole, pages::merge_run_of(store, plan.directory));
  std::ranges::move(whole.notes, std::back_inserter(receipt.notes));
  if (!merged.exists && !whole.exists) return {};
  if (whole.exists) {
    auto of_run = pages::merged_directory(run::run_of(plan.directory));
    TRY(auto at, pages::addresses_of(store, options.public_url, of_run));
    receipt.run_index_url = at.index_url;
  }
  TRY(auto groups, pages::merge_groups_of(store, plan.directory));
  std::ranges::move(groups.notes, std::back_inserter(receipt.notes));
  auto own = pages::group_index_directory({run::run_of(plan.directory), run::group_of(plan.directory)});
  if (std::ranges::find(groups.directories, own) != groups.directories.end()) {
    TRY(auto at, pages::addresses_of(store, options.public_url, own));
    receipt.group_index_url = at.index_url;
  }
  return {};
}

} // namespace

std::uint64_t writes_between(const store::Counters& before, const store::Counters& after) {
  return (after.puts - before.puts) + (after.removes - before.removes);
}

Result<Receipt> execute(ObjectStore& store, const Plan& plan, const ExecuteOptions& options) {
  if (!plan.channel.empty())
    TRY_DO(registry::require_swappable(store, "channel " + plan.channel)); // before gigabytes are sent
  auto before = store.counters();
  Receipt receipt;
  receipt.set = plan.set_digest;
  receipt.directory = plan.directory;
  receipt.files = plan.files.size();
  receipt.find_links_url = options.public_url.of(store, plan.directory + "/index.html");
  TRY_DO(store_content(store, plan, options));
  TRY_DO(check_replaced(store, plan));
  TRY(receipt.newly_sealed, store_record(store, plan, options));
  TRY(auto projected, pages::project_directory(store, plan.directory));
  TRY_DO(merge(store, plan, options, receipt));
  std::ranges::move(pages::foreign_notes(projected), std::back_inserter(receipt.notes));
  if (!plan.channel.empty()) TRY_DO(move_pointer(store, plan, options, receipt));
  receipt.writes = writes_between(before, store.counters());
  return receipt;
}

} // namespace quarry::publish
