#include "promote/unreached.hpp"

#include "base/text.hpp"
#include "promote/bound.hpp"
#include "promote/fed_moves.hpp"
#include "promote/signed_moves.hpp"
#include "publish/shown.hpp"
#include "registry/distribution_views.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::promote {

using registry::DistributionRecord;
using registry::DistributionViewDigest;
using registry::Feeder;
using store::ObjectReader;

namespace {

/// Whether a policy of these feeders lets somebody sign this move who has signed it. A policy that is not stored
/// proves nothing.
Result<bool> is_signed(ObjectReader& store, const Unreached& one, const std::vector<Feeder>& feeders) {
  for (const auto& feeder : feeders) {
    auto policy = stored_policy(store, feeder.policy);
    if (!policy && registry::is_transport_error(policy.error())) return fail(std::move(policy).error());
    if (!policy) continue;
    TRY(auto by, signer_of(store, *policy, right_there(one.record.move.action), {"move", *one.digest.sha256()}));
    if (by.defect.empty() && !by.name.empty()) return true;
  }
  return false;
}

} // namespace

Result<std::vector<Unreached>> unreached_moves(ObjectReader& store, const DistributionRecord& now,
                                               const std::vector<DistributionViewDigest>& reached) {
  TRY(auto found, registry::other_distribution_views(store, now.directory, reached));
  if (found.empty()) return found;
  TRY(auto present, registry::read_distribution(store, now.directory));
  if (present && present->record.view != now.view)
    std::erase_if(found, [&](const Unreached& one) { return one.record.generation > now.generation; });
  return found;
}

Result<Findings> findings_of(ObjectReader& store, const DistributionRecord& now,
                             const std::vector<Unreached>& unreached, const std::vector<Feeder>& lawful) {
  Findings findings;
  for (const auto& one : unreached) {
    TRY(bool by_then, is_signed(store, one, one.record.fed_by));
    bool has_signature = by_then;
    if (!has_signature) {
      TRY(has_signature, is_signed(store, one, lawful));
    }
    if (!has_signature && one.record.generation <= now.generation + 1) continue;
    auto address = text::shell_word(publish::address_of(store, now.directory));
    findings.push_back(
        {"O044", Severity::error, registry::distribution_view_key(now.directory, one.digest),
         fmt::format(
             "{} of {}@{}{} does not belong to the moves that led to generation {}: somebody put the pointer back, or "
             "the run was killed or overtaken before the move counted",
             one.record.move.action.text(), now.directory, one.record.generation,
             has_signature ? ", which is signed," : "", now.generation),
         fmt::format("look at `quarry channel log {0}`; if a run was killed, the same command with the same key "
                     "completes it; if the pointer was put back, restore its newest version, or "
                     "make that move again; then `quarry channel acknowledge {0} {1} --reason TEXT --sign KEY` "
                     "answers for it",
                     address, one.record.generation)});
  }
  return findings;
}

} // namespace quarry::promote
