#include "artifact/flat_plan.hpp"

#include "artifact/exploded.hpp"
#include "artifact/fetch_state.hpp"
#include "artifact/manifest.hpp"
#include "sys/beneath_entries.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include "tar/paths.hpp"
#include <fmt/core.h>

namespace quarry::artifact {

using sys::EntryType;

namespace {
using Found = sys::BeneathEntries::Found;

constexpr std::string_view k_not_flat_hint = "fetch them without `--flatten`, or leave one out with `--exclude`";

std::string below_base(const std::vector<std::string>& bases, const std::string& path) {
  const auto* base = base_of(bases, path);
  return base && path.size() > base->size() ? path.substr(base->size() + 1) : std::string();
}

/// Calls `visit` with each directory that leads to `path`, the outermost first, until it fails.
template <class Visit> Result<void> each_parent(const std::string& path, Visit visit) {
  for (auto slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1))
    TRY_DO(visit(path.substr(0, slash)));
  return {};
}

/// Every artifact by itself is sound, so what its paths and links do together is not an attack.
Result<void> in_one_tree(const std::string& output, Result<void> checked) {
  if (checked) return checked;
  return fail(ErrorKind::already_exists, "A050",
              fmt::format("the artifacts cannot be merged in {}: {}", output, checked.error().message),
              std::string(k_not_flat_hint));
}

// ---- the staged artifacts among each other

struct MergeInputs {
  const std::string& output;
  const std::vector<Fetched>& artifacts;
  std::string name_of(std::size_t index) const { return artifacts[index].name.text(); }
};

Unexpected contended(const MergeInputs& inputs, const std::string& path, std::size_t first, std::size_t second) {
  auto who = first == second
                 ? fmt::format("{} brings {} from two base directories", inputs.name_of(first), path)
                 : fmt::format("{} and {} both own {}", inputs.name_of(first), inputs.name_of(second), path);
  return fail(ErrorKind::already_exists, "A015", std::move(who), std::string(k_not_flat_hint));
}

Result<void> add_directory(const MergeInputs& inputs, const std::string& path, std::size_t index, Incoming& incoming) {
  if (auto leaf = incoming.leaves.find(path); leaf != incoming.leaves.end())
    return contended(inputs, path, leaf->second, index);
  incoming.directories.try_emplace(path, index);
  return {};
}

Result<void> add_leaf(const MergeInputs& inputs, const sys::TreeEntry& entry, std::size_t index, Incoming& incoming,
                      tar::Paths& tree) {
  auto [at, first] = incoming.leaves.try_emplace(entry.path, index);
  if (!first) return contended(inputs, entry.path, at->second, index);
  if (auto directory = incoming.directories.find(entry.path); directory != incoming.directories.end())
    return contended(inputs, entry.path, directory->second, index);
  return in_one_tree(inputs.output, tree.add(entry.path, tar_type(entry.type), entry.link));
}

Result<void> add_staged(const MergeInputs& inputs, const std::string& staged, std::size_t index, Incoming& incoming,
                        tar::Paths& tree) {
  const auto& fetched = inputs.artifacts[index];
  auto& owner = incoming.owners[fetched.name.text()];
  owner = {true, fetched.digest, fetched.verified, fetched.files, fetched.bytes, {}};
  std::vector<std::string> bases;
  if (!fetched.name.whole_sdk()) {
    TRY(bases, read_manifest(staged));
  }
  TRY(auto entries, sys::list_tree(staged));
  for (auto& entry : entries) {
    auto to = fetched.name.whole_sdk() ? entry.path : below_base(bases, entry.path);
    if (to.empty()) continue; // the manifest, the bases themselves and what leads to them
    auto from = path::join(staged, entry.path);
    TRY_DO(each_parent(to, [&](const std::string& parent) { return add_directory(inputs, parent, index, incoming); }));
    entry.path = to;
    if (entry.type == EntryType::directory) {
      TRY_DO(add_directory(inputs, to, index, incoming));
    } else {
      TRY_DO(add_leaf(inputs, entry, index, incoming, tree));
      incoming.moves.push_back({std::move(from), to});
    }
    owner.entries.push_back(std::move(entry));
  }
  return {};
}

// ---- artifacts of earlier fetches

/// An artifact of an earlier fetch that this one does not replace keeps its paths, also when its merge was killed. Adds
/// its leaves to those that are kept.
Result<void> check_against(const MergeInputs& inputs, const std::string& name, const Listing& entries, MergePlan& plan,
                           tar::Paths& tree) {
  const auto& incoming = plan.incoming;
  auto taken = [&](const std::string& path, std::size_t index, const std::string& where) -> Result<void> {
    auto both = fmt::format("{} and {} both own {}", name, inputs.name_of(index), where);
    if (path != where) both += fmt::format(", which {} needs as a directory for {}", name, path);
    return fail(ErrorKind::already_exists, "A015", std::move(both), "choose an empty output directory");
  };
  std::string parents_of; // whose parents were looked at last
  for (const auto& entry : entries) {
    const auto& path = entry.path;
    if (auto parent = path::dirname(path); parent != parents_of) {
      TRY_DO(each_parent(path, [&](const std::string& above) -> Result<void> {
        auto leaf = incoming.leaves.find(above);
        return leaf == incoming.leaves.end() ? Result<void>() : taken(path, leaf->second, above);
      }));
      parents_of = std::move(parent);
    }
    if (auto leaf = incoming.leaves.find(path); leaf != incoming.leaves.end()) return taken(path, leaf->second, path);
    // States of older versions may name a path twice.
    if (entry.type == EntryType::directory || !plan.kept.insert(path).second) continue;
    if (auto inside = incoming.directories.find(path); inside != incoming.directories.end())
      return taken(path, inside->second, path);
    TRY_DO(in_one_tree(inputs.output, tree.add(path, tar_type(entry.type), entry.link)));
  }
  return {};
}

// ---- the disk

/// An older version had a directory where a file or link comes: allowed if it holds nothing but what goes anyway.
/// Returns the directories that go.
Result<std::vector<std::string>> check_emptied(const std::string& output, const std::string& path,
                                               const MadeByFetches& ours) {
  bool claimed = ours.leaves.contains(path); // by a merge that was killed before it got this far
  if (!claimed && !ours.directories.contains(path)) return made_by_others(output, path);
  TRY(auto entries, sys::list_tree(path::join(output, path)));
  std::vector<std::string> emptied{path};
  for (const auto& entry : entries) {
    auto full = path::join(path, entry.path);
    bool directory = entry.type == EntryType::directory;
    bool goes = directory ? claimed || ours.directories.contains(full) : ours.leaves.contains(full);
    if (!goes) return made_by_others(output, full);
    if (directory) emptied.push_back(full);
  }
  return emptied;
}

/// Compares what comes with what is there. Returns the directories that make room for a file or link.
Result<std::vector<std::string>> check_against_disk(const std::string& output, const Incoming& incoming,
                                                    const MadeByFetches& ours) {
  std::vector<std::string> emptied;
  TRY(auto disk, sys::BeneathEntries::open(output));
  for (const auto& [path, index] : incoming.directories) {
    if (path == k_fetch_directory) return made_by_others(output, path);
    TRY(auto look, disk.look(path));
    bool in_the_way = look.found == Found::present && look.entry.type != EntryType::directory;
    if (in_the_way && !ours.leaves.contains(path)) return made_by_others(output, path);
  }
  for (const auto& [path, index] : incoming.leaves) {
    if (path == k_fetch_directory) return made_by_others(output, path);
    TRY(auto look, disk.look(path));
    if (look.found != Found::present) continue; // a parent that blocks the way was judged above
    if (look.entry.type == EntryType::directory) {
      TRY(auto more, check_emptied(output, path, ours));
      emptied.insert(emptied.end(), more.begin(), more.end());
    } else if (!ours.leaves.contains(path)) {
      return made_by_others(output, path);
    }
  }
  return emptied;
}
} // namespace

MadeByFetches made_by_fetches(const FlatState& state) {
  MadeByFetches ours;
  ours.leaves = state.passing;
  for (const auto& [name, owner] : state.owners)
    for (const auto& entry : owner.entries)
      (entry.type == EntryType::directory ? ours.directories : ours.leaves).insert(entry.path);
  for (const auto& path : ours.leaves)
    for (auto above = path::dirname(path); above != "."; above = path::dirname(above))
      if (!ours.directories.insert(above).second) break; // its own parents are recorded, or were inserted with it
  return ours;
}

Result<MergePlan> plan_merge(const std::vector<std::string>& staged, const std::string& output,
                             const std::vector<Fetched>& artifacts) {
  MergeInputs inputs{output, artifacts};
  MergePlan plan;
  plan.before = read_flat_state(output);
  plan.ours = made_by_fetches(plan.before);
  tar::Paths tree{tar::Limits{.case_rule = tar::CaseRule::note}}; // each artifact was judged by itself
  for (std::size_t i = 0; i < staged.size(); ++i) TRY_DO(add_staged(inputs, staged[i], i, plan.incoming, tree));
  for (const auto& [name, owner] : plan.before.owners)
    if (!plan.incoming.owners.contains(name)) TRY_DO(check_against(inputs, name, owner.entries, plan, tree));
  TRY_DO(in_one_tree(output, tree.check_links()));
  TRY(plan.emptied, check_against_disk(output, plan.incoming, plan.ours));
  return plan;
}

Unexpected made_by_others(const std::string& output, const std::string& path) {
  return fail(ErrorKind::already_exists, "A016",
              fmt::format("{} already exists and was not made by a fetch", path::join(output, path)),
              "remove it or choose an empty output directory");
}

} // namespace quarry::artifact
