#include "release/delivery.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "gate/collect.hpp"
#include "publish/distribute.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace quarry::release {

using store::ObjectReader;

std::string described(const publish::Histories& found) {
  std::string text;
  for (const auto& [directory, history] : found) {
    std::string files;
    for (const auto& file : history.files) files += fmt::format("{} {} {}\n", file.filename, file.size, file.etag);
    for (const auto& name : history.let_go) files += "without " + name + "\n";
    if (!files.empty()) text += fmt::format("\n{} takes over {}", directory, sha256(files).hex());
  }
  return text;
}

Result<bool> is_protected(store::ObjectStore& store, const std::string& channel) {
  TRY(auto now, registry::read_channel(store, channel));
  return now && !now->record.guard.policy.empty();
}

Result<std::vector<registry::SealedSet>> promoted_sets(ObjectReader& store, const Moved& moved) {
  std::set<registry::SetDigest> asked;
  for (const auto& sealed : moved.request.source.sets) asked.insert(sealed.digest);
  auto is_asked = [&](const registry::SealedSet& s) {
    return asked.contains(s.digest) || asked.contains(s.set.subset_of);
  };
  std::vector<registry::SealedSet> sets = moved.plan.sets;
  TRY(auto now, registry::read_channel(store, moved.request.channel));
  if (!now) return sets;
  TRY(auto view, registry::load_view(store, now->record.view));
  for (const auto& digest : view.sets) {
    auto same = [&](const registry::SealedSet& s) { return s.digest == digest; };
    if (std::any_of(sets.begin(), sets.end(), same)) continue;
    TRY(auto sealed, registry::load_sealed(store, digest));
    if (is_asked(sealed)) sets.push_back(std::move(sealed));
  }
  return sets;
}

Result<Findings> judge_delivery(ObjectReader& store, const Moved& moved, const Destination& to,
                                const std::vector<registry::SealedSet>& sets) {
  const auto& request = moved.request;
  constexpr std::size_t k_shown = 5;
  auto is_in = [](const auto& list, const registry::SetDigest& digest) {
    return std::any_of(list.begin(), list.end(), [&](const auto& one) { return one == digest; });
  };
  std::vector<registry::SetDigest> judged;
  for (const auto& sealed : moved.plan.sets) judged.push_back(sealed.digest);
  std::vector<registry::SealedSet> unjudged;
  for (const auto& sealed : sets)
    if (!is_in(judged, sealed.digest)) unjudged.push_back(sealed);
  if (unjudged.empty()) return Findings();
  TRY(auto planned, publish::plan_distribution(unjudged, to.prefix));
  TRY(auto lacking, publish::not_there_yet(*to.store, planned));
  std::erase_if(unjudged, [&](const registry::SealedSet& sealed) { return !is_in(lacking, sealed.digest); });
  if (unjudged.empty()) return Findings();
  TRY(auto input, gate::collect(store, request.channel, unjudged, request.now_us));
  input.present = gate::others(sets, unjudged);
  for (const auto& sealed : request.elsewhere) input.present.push_back({sealed.digest, sealed.set});
  input.expectations = request.expectations;
  TRY_DO(gate::load_for_policy(store, request.policy, input, gate::Derivations::proven, request.proofs.get()));
  auto verdict = gate::judge(request.policy, input);
  auto notes = std::move(input.notes);
  notes.insert(notes.end(), verdict.notes.begin(), verdict.notes.end());
  std::erase_if(notes, [&](const Finding& note) {
    return std::any_of(moved.plan.notes.begin(), moved.plan.notes.end(), [&](const Finding& known) {
      return known.place == note.place && known.message == note.message;
    });
  });
  if (verdict.verdict == gate::Decision::ready) return notes;
  std::vector<std::string> cells;
  for (const auto& cell : verdict.cells)
    if (cell.verdict == gate::Decision::held)
      cells.push_back(fmt::format("set:{}  {} {}: {}", cell.set.short_hex(), cell.cell.platform, cell.cell.family,
                                  cell.reasons.front()));
  auto count = cells.size();
  cells = text::first_lines(std::move(cells), k_shown);
  for (const auto& note : notes) cells.push_back(fmt::format("{} {}: {}", note.code, note.place, note.message));
  return fail(Error::of(ErrorKind::held, "O017",
                        fmt::format("the gate holds {} of {}, which channel {} shows and {} lacks",
                                    units::things(count, "cell"), units::things(unjudged.size(), "set"),
                                    request.channel, to.locator))
                  .with_details(std::move(cells))
                  .with_hint("nothing was changed; test these sets (`quarry test --from set:DIGEST`), or have the "
                             "missing results waived"));
}

} // namespace quarry::release
