#include "promote/acknowledge.hpp"

#include "gate/signers.hpp"
#include "pages/projection.hpp"
#include "promote/signed_moves.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::promote {

namespace {

Unexpected nothing_to_acknowledge(const ToAcknowledge& move, const Findings& wrong) {
  auto error = Error::of(ErrorKind::not_found, "O052",
                         fmt::format("nothing is wrong with the move that made {}@{}", move.channel, move.generation))
                   .with_hint(fmt::format("nothing was changed; `quarry channel verify {}` lists the moves that lack a "
                                          "signature",
                                          move.channel));
  for (const auto& finding : wrong) error.details.push_back(finding.message);
  return fail(std::move(error));
}

/// A forged policy may name its author's keys; the one that it replaced does not.
Result<void> check_lawful(store::ObjectReader& store, const VerifiedMoves& moves, const Author& author) {
  auto held = [](const std::string& message) {
    return fail(ErrorKind::held, "O041", message,
                "nothing was changed; bind a policy that names who may sign `protect`, signed by the policy before it");
  };
  if (moves.lawful.empty()) return held("no policy that was bound lawfully says who may acknowledge a move");
  TRY(auto policy, stored_policy(store, moves.lawful));
  auto defect =
      gate::defect_of_key(policy, "protect", author.key ? std::optional(author.key->public_key()) : std::nullopt);
  if (defect.empty()) return {};
  return held(fmt::format("an acknowledgement is signed by who may sign `protect`, and this one {}", defect));
}

} // namespace

Result<Acknowledged> acknowledge(store::ObjectStore& store, const ToAcknowledge& move, const Author& author) {
  TRY(auto now, registry::require_channel(store, move.channel));
  TRY(auto chain, registry::ledger_chain(store, now.record));
  TRY(auto moves, verify_moves(store, now.record));
  auto at = std::find_if(chain.begin(), chain.end(),
                         [&](const auto& one) { return one.record.generation == move.generation; });
  if (at == chain.end()) return nothing_to_acknowledge(move, moves.findings);
  Acknowledged done;
  for (const auto& finding : moves.findings)
    if (finding.place == registry::ledger_key(at->digest)) done.findings.push_back(finding);
  if (done.findings.empty()) return nothing_to_acknowledge(move, moves.findings);
  TRY_DO(check_lawful(store, moves, author));
  TRY_DO(check_signer(store, now, {move.channel, registry::Action::acknowledge}, author.key));
  publish::Reason reason;
  reason.action = registry::Action::acknowledge;
  reason.who = author.who;
  reason.identity = author.identity;
  reason.when = author.when;
  reason.why = author.why;
  reason.key = author.key;
  reason.acknowledges = at->digest;
  registry::View view{now.record.view, {}, {}};
  TRY(view.record, registry::load_view(store, view.digest), "while reading channel " + move.channel);
  TRY(auto moved, publish::move_channel(store, move.channel, now, view, reason));
  TRY_DO(pages::project_channel(store, move.channel, pages::Extent::changed, {}, moved));
  done.channel = std::move(moved.record);
  return done;
}

} // namespace quarry::promote
