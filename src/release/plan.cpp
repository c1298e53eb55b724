#include "release/plan.hpp"

#include "base/codes.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "promote/difference.hpp"
#include "release/stored_plan.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <nlohmann/json.hpp>

namespace quarry::release {

using registry::SealedSet;
using store::ObjectReader;
using store::ObjectStore;

namespace {

constexpr std::string_view k_family = "{family}", k_platform = "{platform}";
constexpr int k_rounds_max = 8; // of planning again because results came in before the first channel moved

std::string family_of(const SealedSet& sealed) {
  auto group = text::lower(sealed.set.origin.group);
  return group.starts_with("gfx") ? group : std::string();
}

Unexpected no_channel(const std::string& pattern, const std::string& why) {
  return fail(ErrorKind::invalid_argument, "O020", fmt::format("{} names no channel for these sets: {}", pattern, why),
              "publish with `--artifact-group FAMILY` and `--platform P`, or name one channel");
}

/// The values that a place of the pattern takes for one set.
std::vector<std::string> values_of(const std::string& own, const std::vector<std::string>& all) {
  return own.empty() ? all : std::vector{own};
}

std::vector<std::string> families_of(const std::vector<SealedSet>& sets) {
  std::vector<std::string> families;
  for (const auto& sealed : sets)
    if (auto family = family_of(sealed); !family.empty()) families.push_back(family);
  std::sort(families.begin(), families.end());
  families.erase(std::unique(families.begin(), families.end()), families.end());
  return families;
}

} // namespace

bool is_pattern(const std::string& channel) { return channel.find('{') != channel.npos; }

bool Plan::moves() const {
  return std::any_of(parts.begin(), parts.end(), [](const Part& part) { return part.plan && part.plan->moves(); });
}

Result<std::vector<ChannelSets>> by_channel(const std::vector<SealedSet>& sets, const std::string& pattern) {
  if (sets.empty()) return no_channel(pattern, "there are no sets");
  bool by_family = pattern.find(k_family) != pattern.npos, by_platform = pattern.find(k_platform) != pattern.npos;
  auto families = families_of(sets);
  if (by_family && families.empty()) return no_channel(pattern, "none has a family");
  std::map<std::string, std::vector<SealedSet>> found;
  for (const auto& sealed : sets) {
    if (by_platform && sealed.set.origin.platform.empty()) return no_channel(pattern, "one has no platform");
    for (const auto& family : by_family ? values_of(family_of(sealed), families) : std::vector<std::string>{""}) {
      auto channel = text::replace_all(pattern, std::string(k_family), family);
      channel = text::replace_all(channel, std::string(k_platform), std::string(sealed.set.origin.platform.text()));
      if (auto good = registry::check_channel_name(channel); !good) return no_channel(pattern, good.error().message);
      found[channel].push_back(sealed);
    }
  }
  std::vector<ChannelSets> channels;
  for (auto& [channel, its_sets] : found) channels.push_back({channel, std::move(its_sets)});
  return channels;
}

namespace {

/// What is asked of each channel.
Result<std::vector<Part>> parts_of(const Request& request) {
  TRY(auto channels, by_channel(request.source.resolved.sets, request.pattern));
  auto proofs = std::make_shared<gate::Proofs>();
  std::vector<Part> parts;
  for (auto& [channel, sets] : channels) {
    Part part;
    TRY(part.request.policy, request.policy_of(channel));
    auto here = [&, &its_sets = sets](const SealedSet& one) {
      return std::any_of(its_sets.begin(), its_sets.end(), [&](const SealedSet& s) { return s.digest == one.digest; });
    };
    for (const auto& sealed : request.source.resolved.sets)
      if (!here(sealed)) part.request.elsewhere.push_back(sealed);
    part.request.source.source = request.source.resolved.source;
    part.request.source.sets = std::move(sets);
    part.request.channel = channel;
    part.request.ready_cells_only = request.ready_cells_only;
    part.request.now_us = request.now_us;
    part.request.workers = request.workers;
    part.request.distribution = request.distribution;
    part.request.base_index = request.base_index;
    part.request.base_index_name = request.base_index_name;
    part.request.pin_from = request.pin_from;
    part.request.proofs = proofs; // every channel asks about the sets of the others
    part.request.expectations = request.source.expectations;
    parts.push_back(std::move(part));
  }
  return parts;
}

Result<void> plan_part(ObjectReader& store, const Request& request, Part& part) {
  TRY(part.plan, promote::plan_promotion(store, part.request), "in channel " + part.request.channel);
  promote::Options options;
  if (request.along) options.along = [&](promote::Plan& plan) { return request.along(part.request, plan); };
  TRY_DO(promote::take_along(options, *part.plan), "in channel " + part.request.channel);
  part.digest = part.plan->digest;
  return {};
}

StoredPlan stored_of(const Request& request, const std::vector<Part>& parts) {
  StoredPlan stored;
  stored.source = request.source.resolved.source;
  stored.pattern = request.pattern;
  stored.flags = request.flags;
  auto has_own_policy = [](const Part& part) {
    return part.plan && part.plan->expected && !part.plan->expected->record.guard.policy.empty();
  };
  if (std::all_of(parts.begin(), parts.end(), has_own_policy)) stored.flags.erase("--policy");
  for (const auto& part : parts) {
    auto generation = part.plan && part.plan->expected ? part.plan->expected->record.generation : 0;
    bool moves = part.plan && part.plan->moves();
    stored.channels.push_back({part.request.channel, part.digest, promote::digest_of(part.request), generation, moves});
  }
  return stored;
}

} // namespace

Result<Plan> plan_all(ObjectReader& store, const Request& request) {
  Plan planned;
  TRY(planned.parts, parts_of(request));
  for (auto& part : planned.parts) {
    TRY_DO(plan_part(store, request, part));
    // With `--cells ready` a channel that has nothing ready stays, and the others move.
    if (!request.ready_cells_only && part.plan->held) planned.held = true;
  }
  bool all = std::all_of(planned.parts.begin(), planned.parts.end(), [](const Part& p) { return p.plan->held; });
  planned.held = planned.held || all;
  planned.document = to_json(stored_of(request, planned.parts));
  planned.digest = registry::PlanDigest(sha256(planned.document));
  return planned;
}

namespace {

/// O002 with what decides these parts now: whoever reviewed the plan finds there what has changed since.
Result<void> not_as_reviewed(ObjectReader& store, Error error, const std::vector<const Part*>& parts) {
  constexpr std::size_t k_lines = 60;
  auto lines = std::move(error.details);
  for (const auto* part : parts) {
    if (!part->plan) continue; // an earlier run has moved this channel
    TRY(auto facts, promote::facts_now(store, *part->plan));
    lines.insert(lines.end(), facts.begin(), facts.end());
  }
  error.details = text::first_lines(std::move(lines), k_lines);
  return fail(std::move(error));
}

/// The plan that `--execute` names, as an earlier run stored it, with each channel that has moved; nullopt if no run
/// has begun it.
Result<std::optional<Plan>> begun(ObjectStore& store, const Request& request, const promote::Options& options) {
  TRY(auto stored, find_plan(store, *options.execute));
  if (!stored) return std::optional<Plan>();
  if (stored->plan.source != request.source.resolved.source || stored->plan.pattern != request.pattern)
    return fail(ErrorKind::precondition_failed, "O002",
                fmt::format("this plan is for another request: {} to {}", stored->plan.source, stored->plan.pattern),
                "nothing was changed: look at `--dry-run` of this request, then execute its digest");
  Plan planned;
  planned.digest = stored->digest;
  planned.document = to_json(stored->plan);
  TRY(planned.parts, parts_of(request));
  for (auto& part : planned.parts) {
    const auto* known = channel_of(stored->plan, part.request.channel);
    if (!known || known->request != promote::digest_of(part.request)) {
      auto error =
          Error::of(ErrorKind::precondition_failed, "O002",
                    fmt::format("the plan was reviewed for another request of channel {}", part.request.channel))
              .with_hint("nothing was changed: look at `--dry-run` again, then execute its digest");
      if (known) error.details = promote::request_difference(part.request, known->request);
      return fail(std::move(error));
    }
    part.digest = known->plan;
    if (known->moves) {
      TRY(part.receipt, promote::executed_before(store, part.request, registry::ReviewedPlan(known->plan), options));
    }
    if (part.receipt) continue;
    TRY_DO(plan_part(store, request, part));
    if (part.digest != known->plan)
      TRY_DO(not_as_reviewed(store,
                             Error::of(ErrorKind::precondition_failed, "O002",
                                       fmt::format("channel {} would not get what was reviewed", part.request.channel))
                                 .with_detail("reviewed  " + known->plan.hex())
                                 .with_detail("now       " + part.digest.hex())
                                 .with_hint("look at `--dry-run` again, then execute its digest"),
                             {&part}));
  }
  return std::optional(std::move(planned));
}

/// Whether the plan that was reviewed is this one without `--to-store`.
bool reviewed_without_store(const Request& request, const Plan& planned, const registry::ReviewedPlan& reviewed) {
  if (request.distribution.empty()) return false;
  auto parts = planned.parts;
  for (auto& part : parts) {
    part.request.distribution.clear();
    part.plan->distribution.clear();
    part.plan->request = promote::digest_of(part.request);
    part.digest = promote::digest_of(*part.plan);
  }
  return reviewed.names(registry::PlanDigest(sha256(to_json(stored_of(request, parts)))));
}

Result<void> check_reviewed(ObjectReader& store, const Request& request, const Plan& planned,
                            const registry::ReviewedPlan& reviewed) {
  if (reviewed.names(planned.digest)) return {};
  std::vector<const Part*> parts;
  for (const auto& part : planned.parts) parts.push_back(&part);
  auto error = Error::of(ErrorKind::precondition_failed, "O002",
                         "the plan that was reviewed is not the plan that would be executed now")
                   .with_detail("reviewed  " + reviewed.digits())
                   .with_detail("now       " + planned.digest.hex())
                   .with_hint("nothing was changed: look at `--dry-run` again, then execute its digest");
  if (reviewed_without_store(request, planned, reviewed))
    error.details.push_back(promote::added_store(request.distribution));
  return not_as_reviewed(store, std::move(error), parts);
}

/// Whether the channel has moved by this part; a run may die, or lose the reply, after its swap. A ledger that cannot
/// be read now tells nothing.
bool has_moved(ObjectReader& store, const Part& part) {
  if (part.receipt) return part.receipt->moved || part.receipt->completed;
  auto generation = part.plan->expected ? part.plan->expected->record.generation : 0;
  auto moved = moved_since(store, {part.request.channel, part.digest, {}, generation, true});
  return moved && *moved;
}

/// Names the channels that have moved and those that have not.
Error half_moved(ObjectReader& store, const Plan& planned, Error error) {
  std::vector<std::string> moved, waiting;
  for (const auto& part : planned.parts) {
    if (has_moved(store, part))
      moved.push_back(part.request.channel);
    else if (!part.receipt && part.plan->moves())
      waiting.push_back(part.request.channel);
  }
  if (moved.empty()) return error;
  auto told = Error::of(ErrorKind::precondition_failed, "O019",
                        waiting.empty() ? fmt::format("{} moved, and what follows a move failed: {}",
                                                      text::join(moved, ", "), error.message)
                                        : fmt::format("{} moved and {} did not: {}", text::join(moved, ", "),
                                                      text::join(waiting, ", "), error.message));
  told.details = std::move(error.details);
  told.hint = fmt::format("run the same command with `--execute {}`: it completes the release", planned.digest.hex());
  return told;
}

Result<void> execute(ObjectStore& store, Plan& planned, const Options& options) {
  if (options.before_writing) TRY_DO(options.before_writing(planned));
  for (const auto& part : planned.parts)
    if (!part.receipt && part.plan && !part.plan->held)
      TRY_DO(promote::check_signatures(store, *part.plan, options.each));
  if (planned.moves()) TRY_DO(put_plan(store, planned.document));
  for (auto& part : planned.parts) {
    if (part.receipt) continue;
    auto receipt = promote::execute_plan(store, *part.plan, options.each);
    if (!receipt) return fail(half_moved(store, planned, std::move(receipt).error()));
    part.receipt = std::move(*receipt);
  }
  return {};
}

/// One round; another one is worth it while no channel has moved.
Result<Plan> one_round(ObjectStore& store, const Request& request, const Options& options) {
  std::optional<Plan> planned;
  bool execute_reviewed = options.each.execute && !options.each.dry_run;
  if (execute_reviewed) {
    TRY(planned, begun(store, request, options.each));
  }
  if (!planned) {
    TRY(planned, plan_all(store, request));
    if (execute_reviewed) TRY_DO(check_reviewed(store, request, *planned, *options.each.execute));
  }
  if (planned->held || options.each.dry_run) return std::move(*planned);
  TRY_DO(execute(store, *planned, options));
  return std::move(*planned);
}

} // namespace

Result<Plan> promote_all(ObjectStore& store, const Request& request, const Options& options) {
  for (int round = 1;; ++round) {
    auto now = request;
    if (options.each.clock_us) now.now_us = options.each.clock_us();
    auto done = one_round(store, now, options);
    if (done || round == k_rounds_max) return done;
    const auto& error = done.error();
    bool overtaken = error.is(codes::verdict_out_of_date) || error.is(codes::overtaken);
    bool bound_anew = !request.policy_named && error.is(codes::another_policy);
    if (!bound_anew && (options.each.execute || !overtaken)) return done;
  }
}

} // namespace quarry::release
