#include "promote/shown_by_moves.hpp"

#include <algorithm>
#include <optional>

namespace quarry::promote {

using registry::Action;
using registry::DistributionView;
using registry::Shown;
using registry::ShownSet;

namespace {

bool shows(const Shown& shown, const registry::SetDigest& set) {
  return std::ranges::find(shown.sets, set, &ShownSet::set) != shown.sets.end();
}

} // namespace

Result<std::string> ShownByMoves::defect_of(const DistributionView& move) {
  const auto& action = move.move.action;
  const auto& now = move.shown;
  if (action == Action::promote || action == Action::read("adopt")) {
    bool keeps = std::ranges::all_of(before_.sets, [&](const ShownSet& one) { return shows(now, one.set); });
    return std::string(keeps && now.blocked == before_.blocked ? "" : "takes something out, or lets something back in");
  }
  if (action == Action::acknowledge) {
    bool same = now.sets == before_.sets && now.blocked == before_.blocked; // a waiver may be known as revoked since
    return std::string(same ? "" : "changes what is shown or blocked");
  }
  if (action == Action::unblock) return std::string(now.sets == before_.sets ? "" : "changes which sets are shown");
  if (action == Action::rollback) {
    if (!whole_) return std::string();
    bool known = std::ranges::all_of(now.sets, [&](const ShownSet& one) { return ever_.contains(one.set); });
    return std::string(known ? "" : "shows a set that no earlier move showed");
  }
  if (action != Action::read("yank")) return std::string();
  TRY(bool parts, shows_parts(now));
  return std::string(parts ? "" : "shows something that was not shown before it");
}

void ShownByMoves::note(const DistributionView& move) {
  for (const auto& one : move.shown.sets) ever_.insert(one.set);
  before_ = move.shown;
}

void ShownByMoves::begin_after(const DistributionView& move) {
  note(move);
  whole_ = false;
}

Result<ShownByMoves::Files> ShownByMoves::files_before() {
  Files files;
  for (const auto& one : before_.sets) {
    auto whole = registry::load_set(store_, one.set);
    if (!whole && !registry::is_lost(whole.error())) return fail(std::move(whole).error());
    if (!whole) continue;
    for (const auto& file : whole->files) files.emplace(file.filename, file.sha256);
  }
  return files;
}

Result<bool> ShownByMoves::shows_parts(const Shown& now) {
  std::optional<Files> files;
  for (const auto& one : now.sets) {
    if (shows(before_, one.set)) continue;
    auto part = registry::load_set(store_, one.set);
    if (!part && registry::is_lost(part.error())) continue;
    if (!part) return fail(std::move(part).error());
    if (!files) {
      TRY(files, files_before());
    }
    for (const auto& file : part->files)
      if (!files->contains({file.filename, file.sha256})) return false;
  }
  return true;
}

} // namespace quarry::promote
