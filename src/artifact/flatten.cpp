#include "artifact/flatten.hpp"

#include "artifact/flat_plan.hpp"
#include "artifact/flat_state.hpp"
#include "sys/beneath_entries.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <functional>

namespace quarry::artifact {

namespace {
using Found = sys::BeneathEntries::Found;

/// The state while files move: the new owners are incomplete, and what no owner has any more is passing.
FlatState state_during(const MergePlan& plan) {
  auto during = plan.before;
  for (const auto& [name, owner] : plan.incoming.owners) {
    auto& now = during.owners[name] = owner;
    now.complete = false;
    now.digest.reset();
  }
  during.passing = plan.ours.leaves;
  for (const auto& [name, owner] : during.owners)
    for (const auto& entry : owner.entries)
      if (entry.type != sys::EntryType::directory) during.passing.erase(entry.path);
  return during;
}

FlatState state_after(FlatState during, std::map<std::string, FlatState::Owner> owners) {
  for (auto& [name, owner] : owners) during.owners[name] = std::move(owner);
  during.passing.clear();
  return during;
}

/// A killed merge may have put a file or link where an older version had the directory of `path`.
bool below_a_leaf(const MergePlan& plan, const std::string& path) {
  for (auto above = path::dirname(path); above != "."; above = path::dirname(above))
    if (plan.incoming.leaves.contains(above) || plan.kept.contains(above)) return true;
  return false;
}

Finding left_as_it_is(const std::string& output, const std::string& path) {
  return {"A052", Severity::warning, path::join(output, path),
          "an older version had this file; it is left as it is, because it is a directory now or "
          "is reached through a link that no fetch made",
          "remove it if it is not wanted"};
}

/// Removes what an older version had: `passing`, and directories that make room.
Result<void> remove_old(const MergePlan& plan, const std::string& output, const std::set<std::string>& passing,
                        Findings& findings) {
  TRY(auto disk, sys::BeneathEntries::open(output));
  for (const auto& path : passing) {
    TRY(bool gone, disk.remove(path), "while removing what an older version had");
    if (!gone && !below_a_leaf(plan, path)) findings.push_back(left_as_it_is(output, path));
  }
  auto emptied = plan.emptied;
  std::sort(emptied.begin(), emptied.end(), std::greater<>()); // a directory comes after what lies in it
  for (const auto& path : emptied) {
    TRY(bool gone, disk.remove_directory(path));
    if (!gone) return made_by_others(output, path);
  }
  return {};
}

Result<void> move_new(const Incoming& incoming, const std::string& output) {
  TRY(auto into, sys::BeneathEntries::open(output)); // anew: no removed directory is held open
  for (const auto& [path, index] : incoming.directories) {
    auto made = into.root().make_directories(path);
    if (made) continue;
    if (made.error().kind == ErrorKind::corrupt)
      return made_by_others(output, path); // somebody put a link there just now
    return made;
  }
  for (const auto& move : incoming.moves) {
    TRY(bool moved, into.replace(move.from, move.to), "while merging into " + output);
    if (!moved) return made_by_others(output, path::dirname(move.to));
  }
  return {};
}

/// The recorded entries against the disk: one look per entry, no file is read.
bool still_complete(sys::BeneathEntries& disk, const FlatState::Owner& owner) {
  return std::all_of(owner.entries.begin(), owner.entries.end(), [&](const auto& recorded) {
    auto look = disk.look(recorded.path);
    return look && look->found == Found::present && same_entry(recorded, look->entry);
  });
}
} // namespace

bool flat_is_complete(const std::string& output_directory, FetchReport& report) {
  auto state = read_flat_state(output_directory);
  auto disk = sys::BeneathEntries::open(output_directory);
  if (!disk) return false;
  for (const auto& fetched : report.artifacts) {
    auto owner = state.owners.find(fetched.name.text());
    if (owner == state.owners.end() || !owner->second.complete) return false;
    if (!fetched.digest || owner->second.digest != fetched.digest) return false;
    if (!still_complete(*disk, owner->second)) return false;
  }
  for (auto& fetched : report.artifacts) {
    const auto& owner = state.owners.at(fetched.name.text());
    fetched.state = Fetched::State::kept;
    fetched.verified = owner.verified;
    fetched.files = owner.files;
    fetched.bytes = owner.bytes;
  }
  return true;
}

Result<void> merge_flat(const std::vector<std::string>& staged, const std::string& output_directory,
                        FetchReport& report) {
  TRY(auto plan, plan_merge(staged, output_directory, report.artifacts));
  auto during = state_during(plan);
  TRY_DO(write_flat_state(output_directory, during));
  TRY_DO(remove_old(plan, output_directory, during.passing, report.findings));
  TRY_DO(move_new(plan.incoming, output_directory));
  return write_flat_state(output_directory, state_after(std::move(during), std::move(plan.incoming.owners)));
}

} // namespace quarry::artifact
