#include "artifact/flatten.hpp"

#include "archive/tar_paths.hpp"
#include "artifact/catalogue.hpp"
#include "artifact/fetch_state.hpp"
#include "artifact/manifest.hpp"
#include "base/json.hpp"
#include "sys/beneath.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace quarry::artifact {

using sys::EntryType;

namespace {
constexpr std::string_view k_schema = "quarry.fetch-flat/1";
constexpr std::uint64_t k_state_bytes_max = 1ull << 30; // a million paths of a kilobyte

/// Who owns what in a flat output directory. Written incomplete before the first move, complete after the last.
struct FlatState {
  struct Owner {
    std::string digest; // hex, empty for what came from a directory
    bool verified = false;
    std::uint64_t files = 0, bytes = 0;
    std::vector<std::string> paths;
  };
  bool complete = false;
  std::map<std::string, Owner> owners; // by artifact
};

std::string state_path(const std::string& output) {
  return path::join(path::join(output, k_fetch_directory), "flat.json");
}

FlatState read_state(const std::string& output) {
  auto path = state_path(output);
  auto text = sys::read_file(path, k_state_bytes_max);
  auto object = text ? json::parse(*text, path) : Result<Json>(fail(text.error()));
  if (!object || !json::require_schema(*object, k_schema, path)) return {};
  FlatState state;
  try {
    state.complete = object->at("complete").get<bool>();
    for (const auto& [name, owner] : object->at("artifacts").items())
      state.owners[name] = {owner.at("sha256"), owner.at("verified"), owner.at("files"), owner.at("bytes"),
                            owner.at("paths").get<std::vector<std::string>>()};
  } catch (const Json::exception&) {
    return {}; // not ours after all: then no file counts as ours either
  }
  return state;
}

Result<void> write_state(const std::string& output, const FlatState& state) {
  Json owners = Json::object();
  for (const auto& [name, owner] : state.owners)
    owners[name] = {{"sha256", owner.digest},
                    {"verified", owner.verified},
                    {"files", owner.files},
                    {"bytes", owner.bytes},
                    {"paths", owner.paths}};
  TRY(auto text, json::canonical({{"schema", k_schema}, {"complete", state.complete}, {"artifacts", owners}}));
  return sys::write_file(state_path(output), text);
}

bool is_link(const std::string& path) { return sys::read_link(path).has_value(); }

std::string below_base(const std::vector<std::string>& bases, const std::string& path) {
  const auto* base = base_of(bases, path);
  return base && path.size() > base->size() ? path.substr(base->size() + 1) : std::string();
}

struct Move {
  std::string from, to; // to: relative to the output directory
};

class Merge {
public:
  Merge(const std::string& output, const FetchReport& report)
      : output_(output), report_(report), state_(read_state(output)) {
    for (const auto& [name, owner] : state_.owners) ours_.insert(owner.paths.begin(), owner.paths.end());
  }

  Result<void> plan(const std::vector<std::string>& staged) {
    for (std::size_t i = 0; i < staged.size(); ++i) TRY_DO(plan_one(staged[i], i));
    TRY_DO(check_against_others());
    TRY_DO(paths_.check_links(), "once everything is merged into " + output_);
    return check_against_disk();
  }

  Result<void> execute() {
    auto before = ours_;
    for (auto& [name, owner] : fresh_) state_.owners[name] = owner;
    auto merged = state_;
    // Until all is done, old paths count as ours as well as new ones.
    for (const auto& path : before) state_.owners.begin()->second.paths.push_back(path);
    state_.complete = false;
    TRY_DO(write_state(output_, state_));
    std::set<std::string> wanted;
    for (const auto& [name, owner] : merged.owners) wanted.insert(owner.paths.begin(), owner.paths.end());
    for (const auto& path : before)
      if (!wanted.contains(path)) TRY_DO(sys::remove_file(path::join(output_, path)));
    TRY(auto root, sys::Beneath::open(output_));
    for (const auto& [directory, owner] : directories_) TRY_DO(root.make_directories(directory));
    for (const auto& move : moves_) TRY_DO(sys::rename(move.from, path::join(output_, move.to)));
    merged.complete = true;
    return write_state(output_, merged);
  }

private:
  Result<void> plan_one(const std::string& staged, std::size_t index) {
    const auto& fetched = report_.artifacts[index];
    auto& owner = fresh_[fetched.name.text()];
    owner = {fetched.digest ? fetched.digest->hex() : "", fetched.verified, fetched.files, fetched.bytes, {}};
    std::vector<std::string> bases;
    if (!fetched.name.whole_sdk()) {
      TRY(bases, read_manifest(staged));
    }
    TRY(auto entries, sys::list_tree(staged));
    for (const auto& entry : entries) {
      auto to = fetched.name.whole_sdk() ? entry.path : below_base(bases, entry.path);
      if (to.empty()) continue; // the manifest, the bases themselves and what leads to them
      TRY_DO(add_parents(to, index));
      if (entry.type == EntryType::directory) {
        TRY_DO(add_directory(to, index));
        continue;
      }
      auto [at, first] = leaves_.try_emplace(to, index);
      if (!first || directories_.contains(to)) return contended(to, first ? directories_.at(to) : at->second, index);
      TRY_DO(paths_.add(to, entry.type == EntryType::symlink ? archive::TarType::symlink : archive::TarType::file,
                        entry.link),
             "once everything is merged into " + output_);
      moves_.push_back({path::join(staged, entry.path), to});
      owner.paths.push_back(to);
    }
    return {};
  }

  Result<void> add_parents(const std::string& to, std::size_t index) {
    for (auto slash = to.find('/'); slash != to.npos; slash = to.find('/', slash + 1))
      TRY_DO(add_directory(to.substr(0, slash), index));
    return {};
  }
  Result<void> add_directory(const std::string& path, std::size_t index) {
    if (auto leaf = leaves_.find(path); leaf != leaves_.end()) return contended(path, leaf->second, index);
    directories_.try_emplace(path, index);
    return {};
  }

  Unexpected contended(const std::string& path, std::size_t first, std::size_t second) const {
    auto owner = [&](std::size_t index) { return report_.artifacts[index].name.text(); };
    auto who = first == second ? fmt::format("{} brings {} from two base directories", owner(first), path)
                               : fmt::format("{} and {} both own {}", owner(first), owner(second), path);
    return fail(ErrorKind::already_exists, "A015", std::move(who),
                "fetch them without `--flatten`, or leave one out with `--exclude`");
  }

  /// Artifacts of earlier fetches that this one does not replace keep their files.
  Result<void> check_against_others() const {
    for (const auto& [name, owner] : state_.owners) {
      if (fresh_.contains(name) || !state_.complete) continue;
      for (const auto& path : owner.paths)
        if (auto leaf = leaves_.find(path); leaf != leaves_.end())
          return fail(ErrorKind::already_exists, "A015",
                      fmt::format("{} and {} both own {}", name, report_.artifacts[leaf->second].name.text(), path),
                      "choose an empty output directory");
    }
    return {};
  }

  Result<void> check_against_disk() const {
    auto foreign = [&](const std::string& path) {
      return fail(ErrorKind::already_exists, "A016",
                  fmt::format("{} is there already and was not made by a fetch", path::join(output_, path)),
                  "remove it or choose an empty output directory");
    };
    for (const auto& [path, owner] : leaves_) {
      auto full = path::join(output_, path);
      if (!ours_.contains(path) && (sys::exists(full) || is_link(full))) return foreign(path);
    }
    for (const auto& [path, owner] : directories_) {
      auto full = path::join(output_, path);
      if (path == k_fetch_directory ||
          (!ours_.contains(path) && (is_link(full) || (sys::exists(full) && !sys::is_directory(full)))))
        return foreign(path);
    }
    return {};
  }

  const std::string& output_;
  const FetchReport& report_;
  FlatState state_;
  std::set<std::string> ours_; // paths that a fetch made
  std::map<std::string, FlatState::Owner> fresh_;
  std::map<std::string, std::size_t> leaves_, directories_; // who brings what
  archive::TarPaths paths_{archive::TarLimits{}};
  std::vector<Move> moves_;
};
} // namespace

bool flat_is_complete(const std::string& output_directory, FetchReport& report) {
  auto state = read_state(output_directory);
  if (!state.complete) return false;
  for (const auto& fetched : report.artifacts) {
    auto owner = state.owners.find(fetched.name.text());
    if (owner == state.owners.end() || !fetched.digest || owner->second.digest != fetched.digest->hex()) return false;
    for (const auto& path : owner->second.paths) {
      auto full = path::join(output_directory, path);
      if (!sys::exists(full) && !is_link(full)) return false;
    }
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
                        const FetchReport& report) {
  Merge merge(output_directory, report);
  TRY_DO(merge.plan(staged));
  return merge.execute();
}

} // namespace quarry::artifact
