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

/// The last move that changed what is shown.
std::optional<std::uint64_t> last_change(const std::vector<DistributionView>& moves) {
  for (std::size_t i = 0; i < moves.size(); ++i)
    if (i + 1 == moves.size() || moves[i].shown.sets != moves[i + 1].shown.sets) return moves[i].generation;
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

std::set<Sha256> yanked_there(const registry::Shown& shown, const std::vector<DistributionView>& moves) {
  std::set<Sha256> out;
  for (const auto& file : shown.blocked) {
    auto by = std::ranges::find(moves, file.generation, &DistributionView::generation);
    if (by == moves.end() || by->move.action != Action::rollback) out.insert(file.sha256);
  }
  return out;
}

Result<void> refuse_yanked_there(const registry::DistributionRecord& now, const std::vector<DistributionView>& moves,
                                 const std::vector<FileRecord>& returns, const std::string& address) {
  auto out = yanked_there(now.shown, moves);
  auto last = last_change(moves);
  for (const auto& file : blocked_among(now.shown.blocked, returns))
    if (out.contains(file.sha256) && file.generation != last)
      return yanked("distribution " + now.directory, address, file);
  return {};
}

Result<void> refuse_yanked(store::ObjectReader& store, const registry::ChannelRecord& now,
                           const registry::LedgerRecord& last, const std::vector<FileRecord>& returns) {
  auto blocked = blocked_among(now.guard.blocked, returns);
  if (blocked.empty()) return {};
  TRY(auto change, registry::last_change_of_view(store, last));
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
