#include "promote/planning.hpp"
#include "promote/promote.hpp"
#include "promote/yanked.hpp"
#include "registry/bound.hpp"

#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <map>
#include <set>

namespace quarry::promote {

using registry::FileRecord;
using store::ObjectReader;

namespace {

Result<registry::ViewDigest> view_before(ObjectReader& store, const registry::ChannelRecord& now,
                                         registry::LedgerRecord last_move) {
  // What the record says of it may have been edited: it could name a view that no gate has judged.
  TRY(auto last, registry::last_change_of_view(store, std::move(last_move)));
  if (last.from_view.empty())
    return fail(
        ErrorKind::not_found, "O001",
        fmt::format("no move says what channel {} showed before this view: there is nothing to go back to", now.name),
        "`--to 0` takes everything out of it");
  if (last.action == registry::Action::rollback)
    return fail(ErrorKind::precondition_failed, "O007",
                fmt::format("the last move of channel {} that changed its view was itself a rollback, at {} to {}@{}",
                            now.name, last.when, now.name, last.generation),
                fmt::format("nothing was changed; `quarry channel log {}` shows the moves, and `--to GENERATION` goes "
                            "to any of them",
                            now.name));
  return last.from_view;
}

Result<registry::ViewDigest> view_of_generation(ObjectReader& store, const registry::ChannelRecord& now,
                                                std::uint64_t wanted) {
  TRY(auto moves, registry::ledger_chain(store, now));
  TRY_DO(registry::refuse_pruned(now, moves, wanted));
  auto at =
      std::find_if(moves.begin(), moves.end(), [&](const auto& move) { return move.record.generation == wanted; });
  if (at != moves.end()) return at->record.to_view;
  return fail(ErrorKind::not_found, "O001", fmt::format("channel {} has no generation {}", now.name, wanted),
              fmt::format("`quarry channel log {}` shows its moves", now.name));
}

/// The view of generation `to`, or without it the one before the last move. Generation 0 is the state before the first
/// move: a view of nothing, which need not be stored.
Result<registry::View> view_to_show(ObjectReader& store, const registry::ChannelRecord& now,
                                    registry::LedgerRecord last_move, std::optional<std::uint64_t> to) {
  if (to == 0u) return registry::make_view({});
  registry::View view;
  TRY(view.digest, to ? view_of_generation(store, now, *to) : view_before(store, now, std::move(last_move)));
  TRY(view.record, registry::load_view(store, view.digest), "while reading the view to go back to");
  return view;
}

/// The view that the channel shows now. A lost view counts as empty: losing it is a reason to go back.
Result<registry::ViewRecord> shown_now(ObjectReader& store, const registry::ChannelRecord& now) {
  auto view = registry::load_view(store, now.view);
  if (!view && is_lost(view.error())) return registry::ViewRecord{};
  return view;
}

/// What a rollback changes of one project.
struct Difference {
  std::vector<FileRecord> comes_back, leaves;
  std::vector<registry::ShardRecord> then = {},
                                     now = {}; ///< at most one of each; of all: those of the changed projects
};

bool has(const std::vector<FileRecord>& files, const FileRecord& wanted, bool there) {
  return std::any_of(files.begin(), files.end(),
                     [&](const FileRecord& f) { return f.sha256 == wanted.sha256 && (!there || f.key == wanted.key); });
}

/// A shard of the view that is shown may be lost: then nothing is known to be shown.
Result<Difference> difference_of(ObjectReader& store, const registry::ViewRecord& back,
                                 const registry::ViewRecord& shown, const std::string& project) {
  TRY(auto then, registry::load_shard_of(store, back, project), "while reading the view to go back to");
  auto now = registry::load_shard_of(store, shown, project);
  if (!now && !is_lost(now.error())) return fail(std::move(now).error());
  Difference difference;
  if (then) difference.then.push_back(std::move(*then));
  if (now && *now) difference.now.push_back(std::move(**now));
  const auto nothing = std::vector<FileRecord>();
  const auto& old_files = difference.then.empty() ? nothing : difference.then.front().files;
  const auto& new_files = difference.now.empty() ? nothing : difference.now.front().files;
  for (const auto& file : old_files)
    if (!has(new_files, file, true)) difference.comes_back.push_back(file);
  for (const auto& file : new_files)
    if (!has(old_files, file, false)) difference.leaves.push_back(file);
  return difference;
}

Result<Difference> difference_of(ObjectReader& store, const registry::ViewRecord& back,
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
    std::move(one.then.begin(), one.then.end(), std::back_inserter(all.then));
    std::move(one.now.begin(), one.now.end(), std::back_inserter(all.now));
  }
  return all;
}

/// Whether the channel has shown this view since it is protected. Also returns the view that it showed when it became
/// so.
struct Protected {
  bool shown = false;
  registry::ViewDigest first;
};
Result<Protected> shown_while_protected(ObjectReader& store, const registry::ChannelRecord& now,
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
Result<void> refuse_unjudged(ObjectReader& store, const registry::ChannelRecord& now, const registry::ViewDigest& view,
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
  for (const auto& file : difference.comes_back)
    if (auto back = blocked.extract(file.sha256)) plan.guard.unblocked.push_back(std::move(back.mapped()));
  for (const auto& file : difference.leaves)
    plan.guard.blocks +=
        blocked.try_emplace(file.sha256, registry::BlockedFile{file.sha256, file.filename, "", now.generation + 1, {}})
            .second;
  registry::Guard guard{now.guard.policy, {}, now.guard.keeps_from};
  for (auto& [digest, file] : blocked) guard.blocked.push_back(std::move(file));
  plan.guard.after = std::move(guard);
}

} // namespace

Result<std::optional<registry::LedgerRecord>> last_rollback(ObjectReader& store, const std::string& channel) {
  TRY(auto now, registry::require_channel(store, channel));
  TRY(auto last, registry::last_move(store, now.record), "while reading the last move");
  TRY(last, registry::last_change_of_view(store, std::move(last)));
  if (last.action != registry::Action::rollback) return std::optional<registry::LedgerRecord>();
  return std::optional(std::move(last));
}

Result<Plan> plan_rollback(ObjectReader& store, const std::string& channel, std::optional<std::uint64_t> to) {
  TRY(auto now, registry::require_channel(store, channel));
  TRY(auto last, registry::last_move(store, now.record), "while reading the last move");
  return plan_rollback(store, {std::move(now), std::move(last)}, to);
}

Result<Plan> plan_rollback(ObjectReader& store, LastMove state, std::optional<std::uint64_t> to) {
  Plan plan;
  plan.action = registry::Action::rollback;
  plan.channel = state.channel.record.name;
  plan.expected = std::move(state.channel);
  plan.last = state.move;
  const auto& now = plan.expected->record;
  plan.source = fmt::format("channel:{}@{}", now.name, now.generation);
  TRY(plan.view, view_to_show(store, now, std::move(state.move), to));
  TRY(auto shown, shown_now(store, now));
  // A channel may show thousands of sets: comparing each with all others took most of the time of such a rollback.
  std::set<registry::SetDigest> still_shown(shown.sets.begin(), shown.sets.end());
  std::vector<registry::SetDigest> back;
  for (const auto& digest : plan.view.record.sets)
    if (!still_shown.contains(digest)) back.push_back(digest);
  TRY(plan.sets, registry::load_all_sealed(store, back), "while reading what comes back");
  TRY(auto difference, difference_of(store, plan.view.record, shown));
  std::vector<Wanted> wanted;
  for (const auto& file : difference.comes_back) wanted.push_back({&file, "the view to go back to"});
  TRY_DO(check_presence(store, wanted));
  TRY_DO(refuse_unjudged(store, now, plan.view.digest, difference.comes_back));
  TRY_DO(refuse_yanked(store, plan, difference.comes_back));
  guard_what_left(difference, plan);
  pages::KnownViews known;
  known.add({plan.view.digest, plan.view.record, std::move(difference.then)});
  known.add({now.view, std::move(shown), std::move(difference.now)});
  plan.known = std::make_shared<const pages::KnownViews>(std::move(known));
  plan.digest = digest_of(plan);
  return plan;
}

} // namespace quarry::promote
