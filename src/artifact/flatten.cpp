#include "artifact/flatten.hpp"

#include "artifact/exploded.hpp"
#include "artifact/fetch_state.hpp"
#include "artifact/flat_state.hpp"
#include "artifact/manifest.hpp"
#include "sys/beneath_entries.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include "tar/paths.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <set>
#include <unordered_set>

namespace quarry::artifact {

using sys::EntryType;
using Found = sys::BeneathEntries::Found;

namespace {
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

struct Move {
  std::string from, to; // to: relative to the output directory
};

class Merge {
public:
  Merge(const std::string& output, FetchReport& report)
      : output_(output), report_(report), state_(read_flat_state(output)) {
    ours_ = state_.passing;
    for (const auto& [name, owner] : state_.owners)
      for (const auto& entry : owner.entries)
        (entry.type == EntryType::directory ? our_directories_ : ours_).insert(entry.path);
    for (const auto& path : ours_)
      for (auto above = path::dirname(path); above != "."; above = path::dirname(above))
        if (!our_directories_.insert(above).second) break; // its own parents are recorded, or were inserted with it
  }

  /// Decides everything, and changes nothing.
  Result<void> plan(const std::vector<std::string>& staged) {
    for (std::size_t i = 0; i < staged.size(); ++i) TRY_DO(plan_one(staged[i], i));
    for (const auto& [name, owner] : state_.owners)
      if (!fresh_.contains(name)) TRY_DO(check_against(name, owner.entries));
    TRY_DO(in_one_tree(paths_.check_links()));
    return check_against_disk();
  }

  Result<void> execute() {
    FlatState during = state_;
    for (const auto& [name, owner] : fresh_) {
      during.owners[name] = owner;
      during.owners[name].complete = false;
      during.owners[name].digest.reset();
    }
    during.passing = ours_;
    for (const auto& [name, owner] : during.owners)
      for (const auto& entry : owner.entries)
        if (entry.type != EntryType::directory) during.passing.erase(entry.path);
    TRY_DO(write_flat_state(output_, during));
    TRY_DO(change_disk(during.passing));
    for (auto& [name, owner] : fresh_) during.owners[name] = std::move(owner);
    during.passing.clear();
    return write_flat_state(output_, during);
  }

private:
  Result<void> plan_one(const std::string& staged, std::size_t index) {
    const auto& fetched = report_.artifacts[index];
    auto& owner = fresh_[fetched.name.text()];
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
      TRY_DO(each_parent(to, [&](const std::string& parent) { return add_directory(parent, index); }));
      entry.path = to;
      if (entry.type == EntryType::directory)
        TRY_DO(add_directory(to, index));
      else
        TRY_DO(add_leaf(entry, std::move(from), index));
      owner.entries.push_back(std::move(entry));
    }
    return {};
  }

  Result<void> add_leaf(const sys::TreeEntry& entry, std::string from, std::size_t index) {
    auto [at, first] = leaves_.try_emplace(entry.path, index);
    if (!first) return contended(entry.path, at->second, index);
    if (auto directory = directories_.find(entry.path); directory != directories_.end())
      return contended(entry.path, directory->second, index);
    TRY_DO(in_one_tree(paths_.add(entry.path, tar_type(entry.type), entry.link)));
    moves_.push_back({std::move(from), entry.path});
    return {};
  }

  Result<void> add_directory(const std::string& path, std::size_t index) {
    if (auto leaf = leaves_.find(path); leaf != leaves_.end()) return contended(path, leaf->second, index);
    directories_.try_emplace(path, index);
    return {};
  }

  /// Every artifact by itself is sound, so what its paths and links do together is not an attack.
  Result<void> in_one_tree(Result<void> checked) const {
    if (checked) return checked;
    return fail(ErrorKind::already_exists, "A050",
                fmt::format("the artifacts cannot be merged in {}: {}", output_, checked.error().message),
                std::string(k_not_flat_hint));
  }

  Unexpected contended(const std::string& path, std::size_t first, std::size_t second) const {
    auto owner = [&](std::size_t index) { return report_.artifacts[index].name.text(); };
    auto who = first == second ? fmt::format("{} brings {} from two base directories", owner(first), path)
                               : fmt::format("{} and {} both own {}", owner(first), owner(second), path);
    return fail(ErrorKind::already_exists, "A015", std::move(who), std::string(k_not_flat_hint));
  }

  /// An artifact of an earlier fetch that this one does not replace keeps its paths, also when its merge was killed.
  Result<void> check_against(const std::string& name, const Listing& entries) {
    auto taken = [&](const std::string& path, std::size_t index, const std::string& where) -> Result<void> {
      auto both = fmt::format("{} and {} both own {}", name, report_.artifacts[index].name.text(), where);
      if (path != where) both += fmt::format(", which {} needs as a directory for {}", name, path);
      return fail(ErrorKind::already_exists, "A015", std::move(both), "choose an empty output directory");
    };
    std::string parents_of; // whose parents were looked at last
    for (const auto& entry : entries) {
      const auto& path = entry.path;
      if (auto parent = path::dirname(path); parent != parents_of) {
        TRY_DO(each_parent(path, [&](const std::string& above) -> Result<void> {
          auto leaf = leaves_.find(above);
          return leaf == leaves_.end() ? Result<void>() : taken(path, leaf->second, above);
        }));
        parents_of = std::move(parent);
      }
      if (auto leaf = leaves_.find(path); leaf != leaves_.end()) return taken(path, leaf->second, path);
      // States of older versions may name a path twice.
      if (entry.type == EntryType::directory || !others_.insert(path).second) continue;
      if (auto inside = directories_.find(path); inside != directories_.end()) return taken(path, inside->second, path);
      TRY_DO(in_one_tree(paths_.add(path, tar_type(entry.type), entry.link)));
    }
    return {};
  }

  Unexpected foreign(const std::string& path) const {
    return fail(ErrorKind::already_exists, "A016",
                fmt::format("{} already exists and was not made by a fetch", path::join(output_, path)),
                "remove it or choose an empty output directory");
  }

  Result<void> check_against_disk() {
    TRY(auto disk, sys::BeneathEntries::open(output_));
    for (const auto& [path, index] : directories_) {
      if (path == k_fetch_directory) return foreign(path);
      TRY(auto look, disk.look(path));
      bool in_the_way = look.found == Found::present && look.entry.type != EntryType::directory;
      if (in_the_way && !ours_.contains(path)) return foreign(path);
    }
    for (const auto& [path, index] : leaves_) {
      if (path == k_fetch_directory) return foreign(path);
      TRY(auto look, disk.look(path));
      if (look.found != Found::present) continue; // a parent that blocks the way was judged above
      if (look.entry.type == EntryType::directory)
        TRY_DO(check_emptied(path));
      else if (!ours_.contains(path))
        return foreign(path);
    }
    return {};
  }

  /// An older version had a directory where a file or link comes: allowed if it holds nothing but what goes anyway.
  Result<void> check_emptied(const std::string& path) {
    bool claimed = ours_.contains(path); // by a merge that was killed before it got this far
    if (!claimed && !our_directories_.contains(path)) return foreign(path);
    TRY(auto entries, sys::list_tree(path::join(output_, path)));
    emptied_.push_back(path);
    for (const auto& entry : entries) {
      auto full = path::join(path, entry.path);
      bool directory = entry.type == EntryType::directory;
      bool goes = directory ? claimed || our_directories_.contains(full) : ours_.contains(full);
      if (!goes) return foreign(full);
      if (directory) emptied_.push_back(full);
    }
    return {};
  }

  Result<void> change_disk(const std::set<std::string>& passing) {
    TRY(auto disk, sys::BeneathEntries::open(output_));
    for (const auto& path : passing) {
      TRY(bool gone, disk.remove(path), "while removing what an older version had");
      if (!gone && !below_a_leaf(path)) leave(path);
    }
    std::sort(emptied_.begin(), emptied_.end(), std::greater<>()); // a directory comes after what lies in it
    for (const auto& path : emptied_) {
      TRY(bool gone, disk.remove_directory(path));
      if (!gone) return foreign(path);
    }
    TRY(auto into, sys::BeneathEntries::open(output_)); // anew: no removed directory is held open
    for (const auto& [path, index] : directories_) {
      auto made = into.root().make_directories(path);
      if (made) continue;
      if (made.error().kind == ErrorKind::corrupt) return foreign(path); // somebody put a link there just now
      return made;
    }
    for (const auto& move : moves_) {
      TRY(bool moved, into.replace(move.from, move.to), "while merging into " + output_);
      if (!moved) return foreign(path::dirname(move.to));
    }
    return {};
  }

  /// A killed merge may have put a file or link where an older version had the directory of `path`.
  bool below_a_leaf(const std::string& path) const {
    for (auto above = path::dirname(path); above != "."; above = path::dirname(above))
      if (leaves_.contains(above) || others_.contains(above)) return true;
    return false;
  }

  void leave(const std::string& path) const {
    report_.findings.push_back({"A052", Severity::warning, path::join(output_, path),
                                "an older version had this file; it is left as it is, because it is a directory now or "
                                "is reached through a link that no fetch made",
                                "remove it if it is not wanted"});
  }

  const std::string& output_;
  FetchReport& report_;
  FlatState state_;
  std::set<std::string> ours_, our_directories_; // paths that a fetch made
  std::map<std::string, FlatState::Owner> fresh_;
  std::map<std::string, std::size_t> leaves_, directories_;         // who brings what
  std::unordered_set<std::string> others_;                          // leaves of artifacts that are not replaced
  tar::Paths paths_{tar::Limits{.case_rule = tar::CaseRule::note}}; // each was judged by itself
  std::vector<Move> moves_;
  std::vector<std::string> emptied_; // directories that make room for a file or link
};

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
  Merge merge(output_directory, report);
  TRY_DO(merge.plan(staged));
  return merge.execute();
}

} // namespace quarry::artifact
