#include "promote/feeder_proofs.hpp"

#include "registry/bound.hpp"
#include <algorithm>

namespace quarry::promote {

using registry::Action;
using registry::Feeder;

const Feeder* feeder_in(const std::vector<Feeder>& feeders, const std::string& channel) {
  auto at = std::ranges::find(feeders, channel, &Feeder::channel);
  return at == feeders.end() ? nullptr : &*at;
}

bool has_policy(const std::vector<Feeder>& feeders, const registry::PolicyDigest& policy) {
  return std::ranges::find(feeders, policy, &Feeder::policy) != feeders.end();
}

Result<bool> FeederProofs::prove(const std::vector<Feeder>& before, const std::vector<Feeder>& now) {
  if (!source_) return false;
  if (now.empty()) return before.size() == 1 ? is_open(before.front()) : Result<bool>(false);
  for (const auto& one : now) {
    const auto* own = feeder_in(before, one.channel);
    if (own ? *own == one : has_policy(before, one.policy)) continue;
    TRY(bool bound, is_bound(one, own));
    if (!bound) return false;
  }
  return true;
}

Result<const FeederProofs::Chain*> FeederProofs::chain_of(const std::string& channel) {
  auto [known, is_new] = chains_.try_emplace(channel);
  if (!is_new) return &known->second;
  auto now = registry::read_channel(*source_, channel);
  if (!now && !registry::is_lost(now.error())) return fail(std::move(now).error());
  if (!now || !*now) return &known->second;
  auto chain = registry::ledger_chain(*source_, (*now)->record);
  if (!chain && !registry::is_lost(chain.error())) return fail(std::move(chain).error());
  if (chain) known->second = std::move(*chain);
  return &known->second;
}

Result<bool> FeederProofs::is_bound(const Feeder& now, const Feeder* before) {
  TRY(const auto* chain, chain_of(now.channel));
  auto at = std::ranges::find(*chain, now.move, &Chain::value_type::digest);
  if (at == chain->end()) return false;
  bool follows =
      !before || std::ranges::find(at + 1, chain->end(), before->move, &Chain::value_type::digest) != chain->end();
  if (!follows) return false;
  TRY(auto policy, registry::bound_after(*source_, at->record));
  return policy == now.policy;
}

/// A channel that is protected again proves nothing: nobody knows whether the directory was opened in the meantime or
/// afterwards.
Result<bool> FeederProofs::is_open(const Feeder& feeder) {
  TRY(const auto* chain, chain_of(feeder.channel));
  auto at = std::ranges::find(*chain, feeder.move, &Chain::value_type::digest);
  if (at == chain->end()) return false;
  bool lifted = std::any_of(chain->begin(), at, [](const auto& one) { return one.record.action == Action::unprotect; });
  if (!lifted) return false;
  TRY(auto policy, registry::bound_after(*source_, chain->front().record));
  return policy.empty();
}

} // namespace quarry::promote
