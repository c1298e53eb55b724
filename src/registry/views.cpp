#include "registry/registry.hpp"

#include <algorithm>

namespace quarry::registry {

namespace {
std::string digest_of(const std::string& bytes) { return sha256(bytes).hex(); }
} // namespace

Result<View> extend_view(const View& base, const std::vector<SealedSet>& sets) {
  // The base goes first, as one more set, so that a file that is in both keeps the record it has.
  std::vector<SealedSet> all(1);
  all.front().set.files = files_of(base);
  all.insert(all.end(), sets.begin(), sets.end());
  TRY(auto files, union_of(all));
  std::map<std::string, ShardRecord> shards;
  for (auto& file : files) { // sorted by filename, so each shard is too
    auto& shard = shards[file.project];
    shard.project = file.project;
    shard.files.push_back(std::move(file));
  }
  View view;
  view.record.sets = base.record.sets;
  for (const auto& sealed : sets)
    if (std::find(view.record.sets.begin(), view.record.sets.end(), sealed.digest) == view.record.sets.end())
      view.record.sets.push_back(sealed.digest);
  for (auto& [project, shard] : shards) {
    view.record.shards[project] = digest_of(to_json(shard));
    view.shards.push_back(std::move(shard));
  }
  view.digest = digest_of(to_json(view.record));
  return view;
}

Result<View> make_view(const std::vector<SealedSet>& sets) { return extend_view({}, sets); }

Result<void> put_view(ObjectStore& store, const View& view) {
  for (const auto& shard : view.shards) TRY_DO(put_shard(store, shard));
  TRY_DO(put_view(store, view.record));
  return {};
}

Result<View> load_whole_view(ObjectStore& store, const std::string& digest) {
  View view;
  view.digest = digest;
  TRY(view.record, load_view(store, digest));
  for (const auto& [project, shard_digest] : view.record.shards) {
    TRY(auto shard, load_shard(store, shard_digest), "while reading the view " + digest);
    if (shard.project != project)
      return fail(ErrorKind::corrupt, "R012",
                  "the view " + digest + " names the shard of " + shard.project + " as that of " + project);
    view.shards.push_back(std::move(shard));
  }
  return view;
}

std::vector<FileRecord> files_of(const View& view) {
  std::vector<FileRecord> files;
  for (const auto& shard : view.shards) files.insert(files.end(), shard.files.begin(), shard.files.end());
  std::sort(files.begin(), files.end(),
            [](const FileRecord& a, const FileRecord& b) { return a.filename < b.filename; });
  return files;
}

} // namespace quarry::registry
