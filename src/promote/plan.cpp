#include "promote/plan.hpp"

#include "base/json.hpp"
#include "gate/collect.hpp"
#include "publish/verify.hpp"
#include "sys/path.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

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
  plan.notes.insert(plan.notes.end(), input.notes.begin(), input.notes.end());
  plan.subjects = std::move(input.subjects);
  plan.judged_by = std::move(input.keys);
  return {};
}

Json to_json(const registry::Cell& cell) {
  return {{"platform", cell.platform}, {"family", cell.family}, {"python", cell.python}, {"framework", cell.framework}};
}

/// The decision without its prose: reasons say how long ago, which changes by the minute.
std::string document_of(const gate::Verdict& verdict) {
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
  return json.dump();
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
  if (!plan.policy.empty()) json["policy"] = plan.policy;
  if (plan.guard)
    for (const auto& file : plan.guard->blocked) json["blocked"].push_back(file.sha256.hex());
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

} // namespace

std::string digest_of(const Request& request) {
  Json json{{"schema", "quarry.promote-request/1"},
            {"source", request.source.source},
            {"channel", request.channel},
            {"policy", request.policy.digest},
            {"cells", request.ready_cells_only ? "ready" : "all"},
            {"distribution", request.distribution}};
  return sha256(json.dump()).hex();
}

namespace {

/// A protected channel brings its own law: whoever moves it cannot bring another.
Result<void> check_policy(const registry::ChannelRecord& channel, const gate::Policy& policy) {
  const auto& bound = channel.guard.policy;
  if (bound.empty() || bound.hex() == policy.digest) return {};
  return fail(Error::of(ErrorKind::held, "O012",
                        fmt::format("channel {} is protected by another policy than {}", channel.name, policy.name))
                  .with_details({"the channel's  " + bound.hex(), "this one       " + policy.digest})
                  .with_hint(fmt::format("omit --policy: the channel's own is used; to bind another one: `quarry "
                                         "channel protect {} --policy FILE --reason TEXT`",
                                         channel.name)));
}

/// Leaves out the sets that bring a file which the channel blocks.
Result<void> leave_out_blocked(const registry::ChannelRecord& channel, Plan& plan) {
  std::optional<Error> first;
  std::vector<SealedSet> good;
  for (auto& sealed : plan.sets) {
    auto free = registry::refuse_blocked(channel, {sealed});
    if (free) {
      good.push_back(std::move(sealed));
      continue;
    }
    if (!first) first = free.error();
    plan.notes.push_back({free.error().code, Severity::warning, "set:" + sealed.digest.short_hex(),
                          "is left out: " + free.error().message, free.error().hint});
  }
  if (first && good.empty()) return fail(std::move(*first));
  plan.sets = std::move(good);
  return {};
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
  plan.request = digest_of(request);
  if (auto policy = registry::PolicyDigest::parse(request.policy.digest)) plan.policy = *policy;
  TRY(plan.expected, registry::read_channel(store, request.channel));
  if (plan.expected) TRY_DO(check_policy(plan.expected->record, request.policy));
  TRY(auto base, view_of(store, plan.expected, request.source.sets), "while reading channel " + request.channel);
  plan.sets = gate::lacking(base, request.source.sets);
  if (plan.expected) TRY_DO(leave_out_blocked(plan.expected->record, plan));
  TRY_DO(registry::check_extension(base, plan.sets),
         "in channel " + request.channel); // a conflict is one whatever the gate says
  TRY_DO(check_presence(store, files_of(plan.sets)));
  TRY_DO(judge(store, request, plan));
  plan.verdict_document = document_of(plan.verdict);
  plan.verdict_digest = registry::VerdictDigest(sha256(plan.verdict_document));
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

/// The last move that changed what is shown. Protecting and unblocking are moves, too, and show the same view.
Result<registry::LedgerRecord> last_change_of_view(ObjectStore& store, const registry::ChannelRecord& now) {
  TRY(auto last, registry::load_ledger(store, now.ledger), "while reading the last move");
  while (last.from_view == last.to_view && !last.previous.empty()) {
    TRY(last, registry::load_ledger(store, last.previous), "while reading the moves before");
  }
  return last;
}

Result<registry::ViewDigest> view_before(ObjectStore& store, const registry::ChannelRecord& now) {
  if (now.previous.empty())
    return fail(ErrorKind::not_found, "O001",
                fmt::format("channel {} has only its first view: there is nothing to go back to", now.name),
                fmt::format("`quarry channel log {}` shows its moves", now.name));
  TRY(auto last, last_change_of_view(store, now));
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

/// What a rollback changes of one project.
struct Difference {
  std::vector<FileRecord> comes_back, leaves;
};

bool has(const std::vector<FileRecord>& files, const FileRecord& wanted, bool there) {
  return std::any_of(files.begin(), files.end(),
                     [&](const FileRecord& f) { return f.sha256 == wanted.sha256 && (!there || f.key == wanted.key); });
}

/// A shard of the view that is shown may be lost: then nothing is known to be shown.
Result<Difference> difference_of(ObjectStore& store, const registry::ViewRecord& back,
                                 const registry::ViewRecord& shown, const std::string& project) {
  TRY(auto then, registry::load_shard_of(store, back, project), "while reading the view to go back to");
  auto now = registry::load_shard_of(store, shown, project);
  if (!now && !is_lost(now.error())) return fail(std::move(now).error());
  auto old_files = then ? then->files : std::vector<FileRecord>();
  auto new_files = now && *now ? (*now)->files : std::vector<FileRecord>();
  Difference difference;
  for (const auto& file : old_files)
    if (!has(new_files, file, true)) difference.comes_back.push_back(file);
  for (const auto& file : new_files)
    if (!has(old_files, file, false)) difference.leaves.push_back(file);
  return difference;
}

Result<Difference> difference_of(ObjectStore& store, const registry::ViewRecord& back,
                                 const registry::ViewRecord& shown) {
  std::set<std::string> projects;
  for (const auto& [project, shard] : back.shards)
    if (auto now = shown.shards.find(project); now == shown.shards.end() || now->second != shard)
      projects.insert(project);
  for (const auto& [project, shard] : shown.shards)
    if (!back.shards.contains(project)) projects.insert(project);
  std::vector<std::string> changed(projects.begin(), projects.end());
  std::vector<Difference> each(changed.size());
  TRY_DO(parallel_for(changed.size(), k_looks, [&](std::size_t i) -> Result<void> {
    TRY(each[i], difference_of(store, back, shown, changed[i]));
    return {};
  }));
  Difference all;
  for (auto& one : each) {
    std::move(one.comes_back.begin(), one.comes_back.end(), std::back_inserter(all.comes_back));
    std::move(one.leaves.begin(), one.leaves.end(), std::back_inserter(all.leaves));
  }
  return all;
}

/// Whether the channel has shown this view since it is protected. Also returns the view that it showed when it became
/// so.
struct Protected {
  bool shown = false;
  registry::ViewDigest first;
};
Result<Protected> shown_while_protected(ObjectStore& store, const registry::ChannelRecord& now,
                                        const registry::ViewDigest& view) {
  Protected found;
  bool met = false; // on the way back, and counts once the move that protected the channel is met behind it
  for (auto digest = now.ledger; !digest.empty();) {
    TRY(auto entry, registry::load_ledger(store, digest), "while reading the moves of channel " + now.name);
    if (entry.action == registry::Action::unprotect) break;
    met = met || entry.to_view == view;
    if (entry.action == registry::Action::protect) {
      found.first = entry.to_view;
      found.shown = met;
      if (met) break;
    }
    digest = entry.previous;
  }
  return found;
}

/// A view from before a channel was protected may show files that no policy has let in. What the channel showed when it
/// was protected counts as let in.
Result<void> refuse_unjudged(ObjectStore& store, const registry::ChannelRecord& now, const registry::ViewDigest& view,
                             const std::vector<FileRecord>& comes_back) {
  if (now.guard.policy.empty() || comes_back.empty()) return {};
  TRY(auto found, shown_while_protected(store, now, view));
  if (found.shown) return {};
  std::set<Sha256> let_in;
  if (!found.first.empty()) {
    TRY(auto first, registry::load_whole_view(store, found.first), "which the channel showed when it was protected");
    for (const auto& file : registry::files_of(first)) let_in.insert(file.sha256);
  }
  for (const auto& file : comes_back)
    if (!let_in.contains(file.sha256))
      return fail(ErrorKind::held, "O018",
                  fmt::format("that view is from before channel {} was protected, and shows {}, which no verdict has "
                              "let in",
                              now.name, file.filename),
                  fmt::format("nothing was changed; promote its set, or go back to a view that `quarry channel log {}` "
                              "lists after `protect`",
                              now.name));
  return {};
}

/// What leaves stays out until somebody unblocks it; what is asked for by the number of a generation may come back.
void guard_what_left(const Difference& difference, Plan& plan) {
  const auto& now = plan.expected->record;
  std::map<Sha256, registry::BlockedFile> blocked;
  for (const auto& file : now.guard.blocked) blocked.emplace(file.sha256, file);
  for (const auto& file : difference.comes_back) plan.unblocks += blocked.erase(file.sha256);
  for (const auto& file : difference.leaves)
    plan.blocks +=
        blocked.try_emplace(file.sha256, registry::BlockedFile{file.sha256, file.filename, "", now.generation + 1, {}})
            .second;
  registry::Guard guard{now.guard.policy, {}};
  for (auto& [digest, file] : blocked) guard.blocked.push_back(std::move(file));
  plan.guard = std::move(guard);
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
  TRY(auto difference, difference_of(store, plan.view.record, shown));
  std::vector<Wanted> wanted;
  for (const auto& file : difference.comes_back) wanted.push_back({&file, "the view to go back to"});
  TRY_DO(check_presence(store, wanted));
  TRY_DO(refuse_unjudged(store, now, view, difference.comes_back));
  guard_what_left(difference, plan);
  plan.digest = digest_of(plan);
  return plan;
}

} // namespace quarry::promote
