#include "promote/yanked.hpp"

#include "base/text.hpp"
#include "registry/bound.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <optional>

namespace quarry::promote {

using registry::Action;
using registry::BlockedFile;
using registry::DistributionView;
using registry::FileRecord;

namespace {

/// Files that come back and are blocked.
std::vector<BlockedFile> blocked_among(const std::vector<BlockedFile>& blocked,
                                       const std::vector<FileRecord>& returns) {
  std::vector<BlockedFile> found;
  for (const auto& file : returns) {
    auto at = std::ranges::lower_bound(blocked, file.sha256, {}, &BlockedFile::sha256);
    if (at != blocked.end() && at->sha256 == file.sha256) found.push_back(*at);
  }
  return found;
}

/// The last move that changed what is shown, if `sets` were shown right before it.
std::optional<std::uint64_t> taken_back_by(const std::vector<DistributionView>& moves,
                                           const std::vector<registry::ShownSet>& sets) {
  for (std::size_t i = 0; i + 1 < moves.size(); ++i)
    if (moves[i].shown.sets != moves[i + 1].shown.sets)
      return moves[i + 1].shown.sets == sets ? std::optional(moves[i].generation) : std::nullopt;
  return std::nullopt;
}

Unexpected yanked(const std::string& place, const std::string& address, const BlockedFile& file) {
  return fail(ErrorKind::held, "O063",
              fmt::format("that state of {} shows {}, which generation {} took out{}", place, file.filename,
                          file.generation, file.reason.empty() ? std::string() : ": " + file.reason),
              fmt::format("nothing was changed; if people may install it again: `quarry channel unblock {} {} --reason "
                          "TEXT`, then roll back; or go back to a state without it",
                          text::shell_word(address), text::shell_word(file.filename)));
}

} // namespace

Result<void> refuse_yanked_there(const DistributionPlan& plan, const std::vector<DistributionView>& moves,
                                 const std::string& address) {
  const auto& now = plan.expected.record;
  auto out = registry::yanked_there(now.shown, moves);
  auto taken_back = taken_back_by(moves, plan.next.sets);
  for (const auto& file : blocked_among(now.shown.blocked, plan.returns))
    if (out.contains(file.sha256) && file.generation != taken_back)
      return yanked("distribution " + now.directory, address, file);
  return {};
}

Result<void> refuse_yanked(store::ObjectReader& store, const Plan& plan, const std::vector<FileRecord>& returns) {
  const auto& now = plan.expected->record;
  auto blocked = blocked_among(now.guard.blocked, returns);
  if (blocked.empty()) return {};
  TRY(auto change, registry::last_change_of_view(store, *plan.last));
  if (change.from_view == plan.view.digest)
    std::erase_if(blocked, [&](const BlockedFile& file) { return file.generation == change.generation; });
  if (blocked.empty()) return {};
  TRY(auto moves, registry::ledger_chain(store, now));
  for (const auto& file : blocked) {
    auto by = std::ranges::find_if(moves, [&](const auto& one) { return one.record.generation == file.generation; });
    if (by == moves.end() || by->record.action != Action::rollback)
      return yanked("channel " + now.name, now.name, file);
  }
  return {};
}

} // namespace quarry::promote
