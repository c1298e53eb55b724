#include "registry/registry.hpp"

#include "base/codes.hpp"
#include "base/text.hpp"
#include "dist/family.hpp"
#include "registry/empty_extras.hpp"
#include "registry/keys.hpp"
#include "registry/union.hpp"
#include "registry/waived.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <optional>
#include <set>
#include <string_view>

namespace quarry::registry {

namespace {

constexpr unsigned k_writers = 4; // of shards as text: a shard has a project's files

/// "gfx94X-dcgpu" of `42-linux/python/gfx94X-dcgpu/dist/rocm-7.2.0.tar.gz"; empty if the file is not in a family's
/// group.
std::string group_in(const std::string& key) {
  auto parts = text::split(key, '/');
  auto group =
      std::find_if(parts.begin(), parts.end(), [](const std::string& part) { return part.starts_with("gfx"); });
  return group == parts.end() || group + 1 == parts.end() ? std::string() : *group;
}

/// The package `rocm` names the families that a run has packages of, so the jobs of two families make two of one name.
/// Says so, because the answer is not another version: it is a channel for each family.
std::optional<Error> another_family(std::vector<FileRecord> shown, const std::vector<SealedSet>& sets) {
  for (const auto& sealed : sets) // two that come together are like one that comes later
    for (const auto& file : sealed.set.files)
      if (file.project == dist::k_sdk_project) shown.push_back(file);
  for (const auto& sealed : sets)
    for (const auto& file : sealed.set.files)
      for (const auto& other : shown) {
        bool differs =
            file.project == dist::k_sdk_project && other.filename == file.filename && other.sha256 != file.sha256;
        auto theirs = group_in(other.key), ours = group_in(file.key);
        if (!differs || theirs.empty() || ours.empty() || theirs == ours) continue;
        return Error::of(ErrorKind::already_exists, "R023",
                         fmt::format("{} is there from the packages of {}: that of {} differs, because `rocm` is made "
                                     "for one family",
                                     file.filename, theirs, ours))
            .with_hint(fmt::format("give each family a channel of its own, such as NAME-{}; `quarry release create` "
                                   "and `quarry promote --to 'NAME-{{family}}'` move them together",
                                   text::lower(ours)));
      }
  return std::nullopt;
}

/// The base goes first, so that a file that both have keeps the record of the base.
Result<std::vector<const FileRecord*>> files_of_both(const View& base, const std::vector<SealedSet>& sets) {
  std::vector<FileList> lists;
  for (const auto& shard : base.shards) lists.push_back(&shard.files);
  for (const auto& sealed : sets) lists.push_back(&sealed.set.files);
  auto files = union_of(lists);
  if (!files && files.error().is(codes::two_contents))
    if (auto other = another_family(files_of(base), sets)) return fail(std::move(*other));
  return files;
}

/// The empty extras of the base whose packages these sets do not bring either.
std::vector<EmptyExtra> still_empty(const View& base, const std::vector<SealedSet>& sets) {
  auto extras = empty_extras_of(base.record);
  std::set<std::pair<std::string, std::string>> brought; // project, version: 7.3.0 does not fill an extra of 7.2.0
  if (!extras.empty())
    for (const auto& sealed : sets)
      for (const auto& file : sealed.set.files) brought.emplace(file.project, file.version);
  std::erase_if(extras, [&](const EmptyExtra& extra) { return brought.contains({extra.lacks, extra.version}); });
  return extras;
}
} // namespace

Result<View> extend_view(const View& base, const std::vector<SealedSet>& sets) {
  TRY(auto files, files_of_both(base, sets));
  std::map<std::string, ShardRecord> shards;
  for (const auto* file : files) { // sorted by filename, so each shard is too
    auto& shard = shards[file->project];
    shard.project = file->project;
    shard.files.push_back(*file);
  }
  View view;
  view.record.sets =
      base.record.sets; // other unknown fields of the old view are not copied: they may not apply to the new one
  set_empty_extras(view.record, still_empty(base, sets));
  set_waived(view.record, waived_of(base.record)); // all sets of the base stay
  view.record.shards = base.record.shards;
  std::set<SetDigest> known(base.record.sets.begin(), base.record.sets.end());
  for (const auto& sealed : sets)
    if (known.insert(sealed.digest).second) view.record.sets.push_back(sealed.digest);
  for (auto& [project, shard] : shards) view.shards.push_back(std::move(shard));
  std::vector<ShardDigest> digests(view.shards.size());
  TRY_DO(parallel_for(digests.size(), k_writers, [&](std::size_t i) -> Result<void> {
    digests[i] = digest_of(view.shards[i]);
    return {};
  }));
  for (std::size_t i = 0; i < digests.size(); ++i) view.record.shards[view.shards[i].project] = digests[i];
  view.digest = digest_of(view.record);
  return view;
}

Result<void> check_extension(const View& base, const std::vector<SealedSet>& sets) {
  TRY_DO(files_of_both(base, sets));
  return {};
}

Result<View> make_view(const std::vector<SealedSet>& sets) { return extend_view({}, sets); }

Result<void> put_view(ObjectStore& store, const View& view) {
  TRY_DO(parallel_for(view.shards.size(), k_requests, [&](std::size_t i) -> Result<void> {
    TRY_DO(put_shard(store, view.shards[i]));
    return {};
  }));
  TRY_DO(put_view(store, view.record));
  return {};
}

Result<std::optional<ShardRecord>> load_shard_of(ObjectReader& store, const ViewRecord& view,
                                                 const std::string& project) {
  auto digest = view.shards.find(project);
  if (digest == view.shards.end()) return std::optional<ShardRecord>();
  TRY(auto shard, load_shard(store, digest->second), "while reading what a view shows of " + project);
  if (shard.project != project)
    return fail(ErrorKind::corrupt, "R012",
                "a view names the shard of " + shard.project + " as that of " + project + ": " + digest->second.hex());
  return std::optional(std::move(shard));
}

namespace {
Result<View> load_with_shards(ObjectReader& store, const ViewDigest& digest, ViewRecord record,
                              const std::set<std::string>& projects) {
  View view{digest, std::move(record), {}};
  std::vector<std::string> names(projects.begin(), projects.end());
  std::vector<std::optional<ShardRecord>> shards(names.size());
  TRY_DO(parallel_for(names.size(), k_requests, [&](std::size_t i) -> Result<void> {
    TRY(shards[i], load_shard_of(store, view.record, names[i]), "while reading the view " + digest.hex());
    return {};
  }));
  for (auto& shard : shards)
    if (shard) view.shards.push_back(std::move(*shard));
  return view;
}
} // namespace

Result<View> load_whole_view(ObjectReader& store, const ViewDigest& digest) {
  TRY(auto record, load_view(store, digest));
  std::set<std::string> projects;
  for (const auto& [project, shard] : record.shards) projects.insert(project);
  return load_with_shards(store, digest, std::move(record), projects);
}

Result<View> load_view_for(ObjectReader& store, const ViewDigest& digest, const std::vector<SealedSet>& sets) {
  TRY(auto record, load_view(store, digest));
  std::set<std::string> projects;
  for (const auto& sealed : sets)
    for (const auto& file : sealed.set.files) projects.insert(file.project);
  return load_with_shards(store, digest, std::move(record), projects);
}

std::vector<FileRecord> files_of(const View& view) {
  std::vector<FileRecord> files;
  for (const auto& shard : view.shards) files.insert(files.end(), shard.files.begin(), shard.files.end());
  std::sort(files.begin(), files.end(),
            [](const FileRecord& a, const FileRecord& b) { return a.filename < b.filename; });
  return files;
}

} // namespace quarry::registry
