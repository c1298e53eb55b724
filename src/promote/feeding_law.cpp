#include "promote/feeding_law.hpp"

#include "promote/bound.hpp"
#include "promote/fed_moves.hpp"
#include "promote/signed_moves.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::promote {

using registry::Action;
using registry::DistributionViewDigest;
using registry::Feeder;

namespace {

std::string defect_of_new(const std::vector<Feeder>& law, const std::vector<Feeder>& now) {
  if (law.empty()) return {};
  auto is_known = [&](const Feeder& one) {
    return has_policy(law, one.policy) || std::ranges::any_of(law, [&](const Feeder& before) {
             const auto* own = feeder_in(now, before.channel);
             return own && own->policy == one.policy;
           });
  };
  for (const auto& one : now)
    if (!is_known(one)) return fmt::format("lets in channel {} by a policy of its own", one.channel);
  return {};
}

} // namespace

Result<std::vector<const gate::Policy*>> SignersThere::wanting_in(const std::vector<Feeder>& feeders) {
  std::vector<const gate::Policy*> wanting;
  for (const auto& feeder : feeders) {
    auto known = policies_.find(feeder.policy);
    if (known == policies_.end()) {
      TRY(auto policy, stored_policy(store_, feeder.policy), "which protects channel " + feeder.channel);
      known = policies_.emplace(feeder.policy, std::move(policy)).first;
    }
    if (gate::wants_signed_moves(known->second)) wanting.push_back(&known->second);
  }
  return wanting;
}

Result<gate::SignedBy> SignersThere::signer_by(const std::vector<Feeder>& feeders, const Action& action,
                                               const DistributionViewDigest& digest) {
  gate::SignedBy found;
  TRY(auto wanting, wanting_in(feeders));
  bool one_will_do = action == Action::promote;
  if (one_will_do && wanting.size() < feeders.size()) return found; // that of a channel that needs no key
  for (const auto* policy : wanting) {
    TRY(auto by, signer_of(store_, *policy, right_there(action), {"move", *digest.sha256()}));
    bool decides = one_will_do ? by.defect.empty() : !by.defect.empty();
    if (decides) return by;
    found = std::move(by);
  }
  return found;
}

Result<std::string> FeedingLaw::defect_of(const FeedingChange& change, const DistributionViewDigest& digest) {
  const auto& [law, now] = change;
  if (can_look()) {
    TRY(bool proven, proofs_.prove(law, now));
    if (!proven) return std::string("changes who feeds the directory, and the ledgers of the channels do not prove it");
    if (now.empty()) return std::string();
  } else if (now.empty()) {
    TRY(auto wanting, signers_.wanting_in(law));
    return std::string(law.size() == 1 && wanting.empty() ? "" : "opens the directory to every channel");
  }
  for (const auto& before : law) {
    TRY(auto defect, defect_of_change(before, feeder_in(now, before.channel), digest));
    if (!defect.empty()) return defect;
  }
  return defect_of_new(law, now);
}

Result<std::string> FeedingLaw::defect_of_change(const Feeder& before, const Feeder* now,
                                                 const DistributionViewDigest& digest) {
  if (!now) return fmt::format("says that channel {} does not feed the directory any more", before.channel);
  if (*now == before) return std::string();
  TRY(auto by, signers_.signer_by({before}, Action::promote, digest));
  if (!by.defect.empty() && can_look()) {
    TRY(by, signers_.signer_by({*now}, Action::promote, digest));
  }
  return by.defect;
}

} // namespace quarry::promote
