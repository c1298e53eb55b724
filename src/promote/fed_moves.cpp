#include "promote/fed_moves.hpp"

#include "base/text.hpp"
#include "gate/signers.hpp"
#include "promote/bound.hpp"
#include "publish/shown.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace quarry::promote {

using registry::Action;
using registry::DistributionView;
using registry::Feeder;
using registry::ShownSet;
using store::ObjectReader;

namespace {

Result<gate::Policy> policy_of_feeder(ObjectReader& store, const std::string& directory, const Feeder& feeder) {
  auto policy = stored_policy(store, feeder.policy);
  if (policy) return policy;
  auto error = std::move(policy).error();
  if (registry::is_gone(error))
    error.hint = fmt::format("nothing was changed; an earlier version fed distribution {0}: run `quarry promote "
                             "--to-store` for channel {1} again, which brings the policy along; or roll channel {1} "
                             "back together with it: `quarry rollback {1} --to-store`",
                             directory, feeder.channel);
  return fail(std::move(error).with_context(
      fmt::format("which protects channel {} and says who may move distribution {}", feeder.channel, directory)));
}

bool adds_sets(const Action& action) { return action == Action::promote || action == Action::read("adopt"); }

bool is_among(const ShownSet& one, const std::vector<ShownSet>& sets) {
  return std::ranges::find(sets, one.set, &ShownSet::set) != sets.end();
}

/// The sets that were added since protected channels feed the distribution without a break.
std::vector<ShownSet> let_in_by(const std::vector<DistributionView>& moves) {
  std::vector<ShownSet> let_in;
  for (std::size_t i = 0; i < moves.size() && !moves[i].fed_by.empty(); ++i) {
    if (!adds_sets(moves[i].move.action)) continue;
    const auto before = i + 1 < moves.size() ? moves[i + 1].shown.sets : std::vector<ShownSet>();
    for (const auto& one : moves[i].shown.sets)
      if (!is_among(one, before) && !is_among(one, let_in)) let_in.push_back(one);
  }
  return let_in;
}

} // namespace

std::string_view right_there(const Action& action) {
  if (action == Action::read("adopt")) return Action(Action::promote).text();
  return action == Action::acknowledge ? std::string_view("protect") : action.text();
}

Result<void> check_signer_there(ObjectReader& store, const registry::DistributionRecord& now, const Action& action,
                                const std::optional<Ed25519PrivateKey>& key) {
  const auto& directory = now.directory;
  const auto right = right_there(action);
  for (const auto& feeder : now.fed_by) {
    TRY(auto policy, policy_of_feeder(store, directory, feeder));
    if (!gate::wants_signed_moves(policy)) continue;
    auto defect = gate::defect_of_key(policy, right, key ? std::optional(key->public_key()) : std::nullopt);
    if (defect.empty()) continue;
    auto next =
        gate::has_signer(policy, right)
            ? fmt::format("sign it: --sign KEY, with the key of a [[signer]] that policy {} names for it", policy.name)
            : fmt::format(
                  "policy {} has no key that counts for it: bind a policy that has one: `quarry channel protect "
                  "{} --policy FILE --reason TEXT --sign KEY`, then promote to {} again",
                  policy.name, feeder.channel, directory);
    return fail(ErrorKind::held, "O041",
                fmt::format("distribution {} takes only signed moves, as channel {} does that feeds it, and this {} {}",
                            directory, feeder.channel, action.text(), defect),
                "nothing was changed; " + next);
  }
  return {};
}

bool wants_signed_moves_there(ObjectReader& store, const registry::DistributionRecord& now) {
  return std::ranges::any_of(now.fed_by, [&](const Feeder& feeder) {
    auto policy = stored_policy(store, feeder.policy);
    return policy && gate::wants_signed_moves(*policy);
  });
}

std::vector<std::string> with_another_policy_by_now(ObjectReader& source, const registry::DistributionRecord& now) {
  std::vector<std::string> channels;
  for (const auto& feeder : now.fed_by) {
    auto channel = registry::read_channel(source, feeder.channel);
    if (!channel || !*channel) continue;
    const auto& policy = (*channel)->record.guard.policy;
    if (!policy.empty() && policy != feeder.policy) channels.push_back(feeder.channel);
  }
  return channels;
}

Result<void> check_undo_there(ObjectReader& store, const std::string& directory) {
  TRY(auto plan, plan_distribution_rollback(store, directory, std::nullopt));
  for (const auto& feeder : plan.expected.record.fed_by) {
    TRY(auto policy, policy_of_feeder(store, directory, feeder));
    if (!gate::wants_signed_moves(policy) || gate::has_signer(policy, "rollback")) continue;
    return fail(ErrorKind::held, "O041", fmt::format("policy {} has no key that counts for a rollback", policy.name));
  }
  return {};
}

Result<void> refuse_not_let_in(ObjectReader& store, const DistributionPlan& plan,
                               const std::vector<DistributionView>& moves) {
  const auto& now = plan.expected.record;
  if (now.fed_by.empty() || plan.returns.empty()) return {};
  TRY(auto sets, registry::sealed_of(store, {let_in_by(moves)}));
  std::set<Sha256> let_in;
  for (const auto& sealed : sets)
    for (const auto& file : sealed.set.files) let_in.insert(file.sha256);
  for (const auto& file : plan.returns)
    if (!let_in.contains(file.sha256))
      return fail(ErrorKind::held, "O018",
                  fmt::format("that state of distribution {} shows {}, which came before channel {} fed it, and no "
                              "promotion has added it since",
                              now.directory, file.filename, now.fed_by.front().channel),
                  fmt::format("nothing was changed; let the file in with `quarry channel unblock {} {} --reason "
                              "TEXT{}`, then promote its set to channel {} with `--to-store`; or go back to a state "
                              "that shows only what was promoted since",
                              text::shell_word(publish::address_of(store, now.directory)),
                              text::shell_word(file.filename),
                              wants_signed_moves_there(store, now) ? " --sign KEY" : "", now.fed_by.front().channel));
  return {};
}

} // namespace quarry::promote
