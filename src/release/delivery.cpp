#include "release/delivery.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "gate/collect.hpp"
#include "gate/signers.hpp"
#include "promote/signed_moves.hpp"
#include "publish/distribute.hpp"
#include "publish/move.hpp"
#include "publish/reachable.hpp"
#include "registry/evidence_marks.hpp"
#include "registry/judged.hpp"
#include "registry/waived.hpp"
#include "signature/stored.hpp"
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

Result<CopyVerdict> judge_delivery(ObjectReader& store, const Moved& moved, const Destination& to,
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
  if (unjudged.empty()) return CopyVerdict();
  TRY(auto planned, publish::plan_distribution(unjudged, to.prefix));
  TRY(auto lacking, publish::not_there_yet(*to.store, planned));
  std::erase_if(unjudged, [&](const registry::SealedSet& sealed) { return !is_in(lacking, sealed.digest); });
  if (unjudged.empty()) return CopyVerdict();
  TRY(auto input, gate::collect(store, request.channel, unjudged, request.now_us));
  TRY(auto now, registry::read_channel(store, request.channel));
  if (now) input.after = now->record.ledger, input.bound = now->record.guard.policy;
  input.present = gate::others(sets, unjudged);
  for (const auto& sealed : request.elsewhere) input.present.push_back({sealed.digest, sealed.set});
  input.expectations = request.expectations;
  TRY_DO(gate::load_for_policy(store, request.policy, input, gate::Derivations::proven, request.proofs.get()));
  auto verdict = gate::judge(request.policy, input);
  CopyVerdict judged_now{
      {}, promote::verdict_document(verdict, promote::judged_in(input)), {}, input.asked, input.keys};
  for (const auto& subject : input.subjects) judged_now.sets.push_back(subject.digest);
  auto& notes = judged_now.notes;
  notes = std::move(input.notes);
  notes.insert(notes.end(), verdict.notes.begin(), verdict.notes.end());
  std::erase_if(notes, [&](const Finding& note) {
    return std::any_of(moved.plan.notes.begin(), moved.plan.notes.end(), [&](const Finding& known) {
      return known.place == note.place && known.message == note.message;
    });
  });
  if (verdict.verdict == gate::Decision::ready) return judged_now;
  std::vector<std::string> cells;
  for (const auto& cell : verdict.cells)
    if (cell.verdict == gate::Decision::held)
      cells.push_back(fmt::format("{}  {}: {}", cell.set.empty() ? "expected" : "set:" + cell.set.short_hex(),
                                  registry::words_of(cell.cell), cell.reasons.front()));
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

namespace {
/// The time at which the verdict was stored; of one that was there before, the store's own.
Result<std::int64_t> present_of(store::ObjectStore& store, const registry::VerdictDigest& verdict, bool was_there) {
  if (was_there) return publish::time_of(store);
  TRY(auto written, store.head(registry::verdict_key(verdict)));
  return written ? written->modified_us : 0;
}

Result<void> check_copy_signed(store::ObjectStore& store, const registry::Channel& now, const Moved& moved,
                               const registry::VerdictDigest& verdict, const promote::Options& options) {
  const auto& policy = moved.request.policy;
  bool may_sign = options.key && gate::wants_signed_verdicts(policy) &&
                  gate::defect_of_key(policy, "verdicts", options.key->public_key()).empty();
  if (may_sign) TRY_DO(signature::sign(store, {"verdict", *verdict.sha256()}, *options.key));
  auto signed_by = promote::check_verdict_signed(store, now.record, verdict);
  if (!signed_by && signed_by.error().kind == ErrorKind::held)
    signed_by.error().hint =
        "nothing was copied; run the same command with --sign and the key of somebody who may sign "
        "verdicts, then with that of somebody who may sign `promote`";
  TRY_DO(std::move(signed_by));
  return promote::check_signer(store, now, {now.record.name, registry::Action::promote}, options.key);
}
} // namespace

Result<void> accept_copies(store::ObjectStore& store, const Moved& moved, const CopyVerdict& judged,
                           const promote::Options& options) {
  if (judged.document.empty()) return {};
  auto digest = registry::VerdictDigest(sha256(judged.document));
  TRY(auto before, store.head(registry::verdict_key(digest)));
  TRY_DO(registry::put_verdict(store, judged.document));
  if (options.clock_us) {
    TRY(auto theirs, present_of(store, digest, before.has_value()));
    TRY_DO(publish::refuse_wrong_clock(store, {options.clock_us(), theirs}));
  }
  TRY(auto now, registry::require_channel(store, moved.request.channel));
  if (!now.record.guard.policy.empty()) TRY_DO(check_copy_signed(store, now, moved, digest, options));
  TRY_DO(registry::mark_judged(store, digest, judged.sets));
  return still_judged(store, judged);
}

namespace {
Result<void> nothing_new(ObjectReader& store, const std::vector<registry::SetDigest>& asked,
                         const std::vector<std::string>& records) {
  TRY(auto keys, registry::evidence_and_waiver_keys(store, asked, records));
  if (keys == records) return {};
  return fail(ErrorKind::precondition_failed, "O016", "another job recorded a result while the sets were copied",
              "what people install was not changed; run the same command again");
}
} // namespace

Result<void> still_judged(ObjectReader& store, const CopyVerdict& judged) {
  return judged.document.empty() ? Result<void>() : nothing_new(store, judged.asked, judged.records);
}

Result<void> still_judged(ObjectReader& store, const promote::Plan& plan) {
  bool moved = plan.action == registry::Action::promote && plan.moves();
  return moved ? nothing_new(store, plan.judgement.asked, plan.judgement.records) : Result<void>();
}

} // namespace quarry::release
