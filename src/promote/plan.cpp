#include "promote/plan.hpp"

#include "base/json.hpp"
#include "gate/collect.hpp"
#include "publish/verify.hpp"
#include "sys/path.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <nlohmann/json.hpp>

namespace quarry::promote {

using registry::FileRecord;
using registry::SealedSet;
using registry::View;
using store::ObjectStore;

std::uint64_t Plan::generation() const {
  auto now = expected ? expected->record.generation : 0;
  return moves() ? now + 1 : now;
}

namespace {

constexpr unsigned k_looks = 8; // at once: a server answers them in a millisecond each

/// A file that a channel is about to show, and who names it.
struct Wanted {
  const FileRecord* file = nullptr;
  std::string named_by; ///< "set:1f2e…", "the view of generation 3"
};

Result<void> check_present(const ObjectStore& store, const Wanted& wanted,
                           const std::map<std::string, std::uint64_t>& sizes) {
  const auto& file = *wanted.file;
  auto found = sizes.find(file.key);
  bool whole = found != sizes.end() && found->second == file.size &&
               (!file.metadata_sha256 || sizes.contains(file.key + ".metadata"));
  if (whole) return {};
  bool cut = found != sizes.end() && found->second != file.size;
  return fail(ErrorKind::corrupt, "O003",
              fmt::format("{} holds no complete {}, which {} names", store.describe(), file.key, wanted.named_by),
              cut ? "restore the file from a copy, or take another source; `quarry set verify` lists all that is wrong"
                  : "publish the run again, or take another source; `quarry set verify` lists all that is missing");
}

/// A page must never name what is not there. Bytes were proven when the set was sealed; what can have happened since is
/// removal.
Result<void> check_presence(ObjectStore& store, const std::vector<Wanted>& files) {
  std::map<std::string, std::vector<const Wanted*>> by_directory;
  for (const auto& wanted : files) by_directory[path::dirname(wanted.file->key) + "/"].push_back(&wanted);
  std::vector<std::string> directories;
  for (const auto& [directory, in_it] : by_directory) directories.push_back(directory);
  return parallel_for(directories.size(), k_looks, [&](std::size_t i) -> Result<void> {
    TRY(auto listed, store.children(directories[i]));
    std::map<std::string, std::uint64_t> sizes;
    for (const auto& object : listed.objects) sizes[object.key] = object.size;
    for (const auto* wanted : by_directory.at(directories[i])) TRY_DO(check_present(store, *wanted, sizes));
    return {};
  });
}

std::vector<Wanted> files_of(const std::vector<SealedSet>& sets) {
  std::vector<Wanted> files;
  for (const auto& sealed : sets)
    for (const auto& file : sealed.set.files) files.push_back({&file, "set:" + sealed.digest.short_hex()});
  return files;
}

/// What was tested is what is released: the bytes, not only their names. Object storage keeps the digest that it
/// checked when it took the bytes; where it does not, they are read.
Result<void> check_bytes(ObjectStore& store, const std::vector<SealedSet>& sets, unsigned workers) {
  TRY(auto found, publish::verify_sets(store, sets, {std::max(workers, k_looks), {}, true}));
  if (found.empty()) return {};
  return fail(ErrorKind::corrupt, "O003", fmt::format("{} {}", found.front().place, found.front().message),
              found.front().fix + "; `quarry set verify` lists all that is wrong");
}

Result<void> judge(ObjectStore& store, const Request& request, Plan& plan) {
  TRY(auto input, gate::collect(store, request.channel, plan.sets, request.now_us));
  plan.verdict = gate::judge(request.policy, input);
  plan.notes = std::move(input.notes);
  plan.subjects = std::move(input.subjects);
  return {};
}

Json to_json(const registry::Cell& cell) {
  return {{"platform", cell.platform}, {"family", cell.family}, {"python", cell.python}, {"framework", cell.framework}};
}

/// The decision without its prose: reasons say how long ago, which changes by the minute.
registry::VerdictDigest digest_of(const gate::Verdict& verdict) {
  auto cells = Json::array();
  for (const auto& cell : verdict.cells)
    cells.push_back({{"cell", to_json(cell.cell)},
                     {"set", cell.set},
                     {"verdict", gate::to_string(cell.verdict)},
                     {"waived", cell.waived},
                     {"evidence", cell.evidence},
                     {"files", cell.files}});
  Json json{{"schema", "quarry.verdict/1"},
            {"verdict", gate::to_string(verdict.verdict)},
            {"policy", verdict.policy_digest},
            {"cells", cells}};
  return registry::VerdictDigest(sha256(json.dump()));
}

registry::PlanDigest digest_of(const Plan& plan) {
  auto sets = Json::array();
  for (const auto& sealed : plan.sets) sets.push_back(sealed.digest);
  Json json{{"schema", "quarry.promote-plan/1"},
            {"action", plan.action},
            {"channel", plan.channel},
            {"from", plan.expected ? sha256(registry::to_json(plan.expected->record)).hex() : ""},
            {"sets", sets},
            {"to_view", plan.view.digest},
            {"verdict", plan.verdict_digest}};
  if (!plan.distribution.empty()) json["distribution"] = plan.distribution;
  return registry::PlanDigest(sha256(json.dump()));
}

/// The part of a set that may move, as a set of its own.
SealedSet part_of(const SealedSet& whole, const std::vector<std::string>& filenames) {
  SealedSet part;
  part.set = whole.set;
  part.set.subset_of = whole.set.subset_of.empty() ? whole.digest : whole.set.subset_of;
  std::erase_if(part.set.files, [&](const FileRecord& file) {
    return !std::binary_search(filenames.begin(), filenames.end(), file.filename);
  });
  part.digest = registry::digest_of(part.set);
  return part;
}

void choose_ready(Plan& plan) {
  std::vector<SealedSet> chosen;
  for (const auto& sealed : plan.sets) {
    auto asked = sealed.set.subset_of.empty() ? sealed.digest : sealed.set.subset_of;
    for (const auto& movable : gate::movable(plan.verdict)) {
      if (movable.set != asked || movable.files.empty()) continue;
      auto part = part_of(sealed, movable.files);
      // A set with files that no cell installs still moves whole when nothing of it is held.
      bool whole = movable.whole || part.set.files.size() == sealed.set.files.size();
      if (!whole) plan.derived.push_back(part.set);
      if (whole)
        chosen.push_back(sealed);
      else
        chosen.push_back(std::move(part));
    }
  }
  plan.sets = std::move(chosen);
}

/// What the channel shows of the projects that the source brings.
Result<View> view_of(ObjectStore& store, const std::optional<registry::Channel>& channel,
                     const std::vector<SealedSet>& source) {
  if (!channel) return View{};
  return registry::load_view_for(store, channel->record.view, source);
}

} // namespace

Result<Plan> plan_promotion(ObjectStore& store, const Request& request) {
  Plan plan;
  plan.action = registry::Action::promote;
  plan.channel = request.channel;
  plan.source = request.source.source;
  plan.distribution = request.distribution;
  TRY(plan.expected, registry::read_channel(store, request.channel));
  TRY(auto base, view_of(store, plan.expected, request.source.sets), "while reading channel " + request.channel);
  plan.sets = gate::lacking(base, request.source.sets);
  TRY_DO(registry::check_extension(base, plan.sets),
         "in channel " + request.channel); // a conflict is one whatever the gate says
  TRY_DO(check_presence(store, files_of(plan.sets)));
  TRY_DO(judge(store, request, plan));
  plan.verdict_digest = digest_of(plan.verdict);
  bool holds = plan.verdict.verdict == gate::Decision::held;
  if (holds && request.ready_cells_only) {
    choose_ready(plan);
    plan.sets = gate::lacking(base, plan.sets); // what is ready may be there since an earlier partial promotion
  }
  plan.held = holds && (!request.ready_cells_only || plan.sets.empty());
  TRY(plan.view, registry::extend_view(base, plan.sets));
  if (!plan.held) TRY_DO(check_bytes(store, plan.sets, request.workers));
  plan.digest = digest_of(plan);
  return plan;
}

namespace {

Result<registry::ViewDigest> view_before(ObjectStore& store, const registry::ChannelRecord& now) {
  if (now.previous.empty())
    return fail(ErrorKind::not_found, "O001",
                fmt::format("channel {} has only its first view: there is nothing to go back to", now.name),
                fmt::format("`quarry channel log {}` shows its moves", now.name));
  TRY(auto last, registry::load_ledger(store, now.ledger), "while reading the last move");
  if (last.action == registry::Action::rollback)
    return fail(ErrorKind::precondition_failed, "O007",
                fmt::format("the last move of channel {} was itself a rollback, at {} to {}@{}", now.name, last.when,
                            now.name, now.generation),
                fmt::format("nothing was changed; `quarry channel log {}` shows the moves, and `--to GENERATION` goes "
                            "to any of them",
                            now.name));
  return now.previous;
}

Result<registry::ViewDigest> view_of_generation(ObjectStore& store, const registry::ChannelRecord& now,
                                                std::uint64_t wanted) {
  TRY(auto moves, registry::ledger_chain(store, now));
  auto at =
      std::find_if(moves.begin(), moves.end(), [&](const auto& move) { return move.record.generation == wanted; });
  if (at != moves.end()) return at->record.to_view;
  return fail(ErrorKind::not_found, "O001", fmt::format("channel {} has no generation {}", now.name, wanted),
              fmt::format("`quarry channel log {}` shows its moves", now.name));
}

} // namespace

namespace {

bool is_lost(const Error& error) { return error.kind == ErrorKind::not_found || error.kind == ErrorKind::corrupt; }

/// The view that the channel shows now. A lost view counts as empty: losing it is a reason to go back.
Result<registry::ViewRecord> shown_now(ObjectStore& store, const registry::ChannelRecord& now) {
  auto view = registry::load_view(store, now.view);
  if (!view && is_lost(view.error())) return registry::ViewRecord{};
  return view;
}

/// The files of one project that `back` shows and `shown` does not.
Result<std::vector<FileRecord>> files_back(ObjectStore& store, const registry::ViewRecord& back,
                                           const registry::ViewRecord& shown, const std::string& project) {
  TRY(auto shard, registry::load_shard_of(store, back, project), "while reading the view to go back to");
  auto now = registry::load_shard_of(store, shown, project);
  if (!now && !is_lost(now.error())) return fail(std::move(now).error());
  std::vector<FileRecord> files;
  for (auto& file : shard->files) {
    auto same = [&](const FileRecord& f) { return f.key == file.key && f.sha256 == file.sha256; };
    bool stays = now && *now && std::any_of((*now)->files.begin(), (*now)->files.end(), same);
    if (!stays) files.push_back(std::move(file));
  }
  return files;
}

Result<void> check_what_comes_back(ObjectStore& store, const registry::ViewRecord& back,
                                   const registry::ViewRecord& shown) {
  std::vector<std::string> projects;
  for (const auto& [project, shard] : back.shards) {
    auto now = shown.shards.find(project);
    if (now == shown.shards.end() || now->second != shard) projects.push_back(project);
  }
  std::vector<std::vector<FileRecord>> files(projects.size());
  TRY_DO(parallel_for(projects.size(), k_looks, [&](std::size_t i) -> Result<void> {
    TRY(files[i], files_back(store, back, shown, projects[i]));
    return {};
  }));
  std::vector<Wanted> wanted;
  for (const auto& of_project : files)
    for (const auto& file : of_project) wanted.push_back({&file, "the view to go back to"});
  return check_presence(store, wanted);
}

} // namespace

Result<Plan> plan_rollback(ObjectStore& store, const std::string& channel, std::optional<std::uint64_t> to) {
  Plan plan;
  plan.action = registry::Action::rollback;
  plan.channel = channel;
  TRY(plan.expected, registry::require_channel(store, channel));
  const auto& now = plan.expected->record;
  plan.source = fmt::format("channel:{}@{}", channel, now.generation);
  TRY(auto view, to ? view_of_generation(store, now, *to) : view_before(store, now));
  plan.view.digest = view;
  TRY(plan.view.record, registry::load_view(store, view), "while reading the view to go back to");
  TRY(auto shown, shown_now(store, now));
  std::vector<registry::SetDigest> back;
  for (const auto& digest : plan.view.record.sets)
    if (std::find(shown.sets.begin(), shown.sets.end(), digest) == shown.sets.end()) back.push_back(digest);
  TRY(plan.sets, registry::load_all_sealed(store, back), "while reading what comes back");
  TRY_DO(check_what_comes_back(store, plan.view.record, shown));
  plan.digest = digest_of(plan);
  return plan;
}

} // namespace quarry::promote
