#include "cli/release_moves.hpp"
#include "cli/on_move.hpp"

#include "base/redact.hpp"
#include "base/units.hpp"
#include "cli/delivery.hpp"
#include "cli/dry_run.hpp"
#include "cli/moves.hpp"
#include "cli/next_command.hpp"
#include "cli/records.hpp"
#include "cli/verdict.hpp"
#include "sys/clock.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

/// What the plan records of the command line, so that `status` can print the command that completes it. A file may have
/// another name or place by then, so only that there was one is said; URLs lose what may be a credential.
std::map<std::string, std::vector<std::string>> flags_to_record(const Arguments& arguments, const Destination& to) {
  std::map<std::string, std::vector<std::string>> flags;
  auto policy = arguments.get("--policy");
  bool is_word = policy.find_first_of("/.") == policy.npos; // as gate::find_policy() reads it
  flags["--policy"] = {is_word ? policy : k_some_file};
  if (arguments.has("--expect")) flags["--expect"] = {k_some_file};
  if (arguments.get("--cells") == "ready") flags["--cells"] = {"ready"};
  if (arguments.has("--base-index"))
    flags["--base-index"] = {redact::without_credentials(arguments.get("--base-index"))};
  if (arguments.has("--pin")) flags["--pin"] = {};
  if (!to.store) return flags;
  flags["--to-store"] = {to.locator};
  flags["--prefix"] = {to.prefix};
  if (arguments.has("--replace")) flags["--replace"] = arguments.list("--replace");
  return flags;
}

/// What the command line asks for, with the stores that it names.
struct Asked {
  std::unique_ptr<store::ObjectStore> store;
  Destination to;
  std::unique_ptr<BaseIndex> base;
  release::Request request;
  std::vector<release::CopyVerdict> copied = {}; ///< on what is copied and does not move, of each channel
  std::map<std::string, std::vector<registry::SealedSet>> looked_at = {}; ///< what goes along, by channel
};

Result<Asked> asked_of(Context& context, const Arguments& arguments) {
  Asked asked;
  TRY(asked.store, open_store(context, arguments.get("--store")));
  TRY(asked.to, promotion_destination(context, arguments, *asked.store));
  auto& request = asked.request;
  TRY(request.source, source_of(arguments, *asked.store));
  request.pattern = arguments.get("--to");
  request.policy_of = [&context, &arguments, &store = *asked.store](const std::string& channel) {
    return policy_for(context, arguments, store, channel);
  };
  request.policy_named = arguments.has("--policy");
  request.ready_cells_only = arguments.get("--cells") == "ready";
  TRY(asked.base, dependencies_of(context, arguments));
  if (asked.base) {
    request.base_index = &asked.base->candidates();
    request.base_index_name = asked.base->name();
  }
  request.now_us = context.clock.now_us();
  request.workers = context.jobs;
  if (asked.to.store) request.distribution = asked.to.locator + " " + asked.to.prefix;
  request.flags = flags_to_record(arguments, asked.to);
  return asked;
}

const promote::Plan& plan_of(const release::Part& part) {
  static const promote::Plan k_done; // an earlier run has executed it: the channel shows its sets
  return part.plan ? *part.plan : k_done;
}

Result<std::vector<registry::SealedSet>> sets_to_deliver(const Asked& asked, const release::Part& part) {
  return release::promoted_sets(*asked.store, {part.request, plan_of(part)});
}

/// The sets of all channels, each once: the copies are made after the last channel has moved.
Result<std::vector<registry::SealedSet>> all_sets_to_deliver(const Asked& asked, const release::Plan& done) {
  std::vector<registry::SealedSet> all;
  for (const auto& part : done.parts) {
    if (part.plan && part.plan->held) continue; // its channel may show sets that nobody has judged for the copy
    TRY(auto sets, sets_to_deliver(asked, part));
    for (auto& sealed : sets) {
      auto same = [&](const registry::SealedSet& known) { return known.digest == sealed.digest; };
      if (std::none_of(all.begin(), all.end(), same)) all.push_back(std::move(sealed));
    }
  }
  return all;
}

Result<void> check_part(Context& context, Asked& asked, const release::Part& part, const promote::Options& options) {
  TRY(auto sets, sets_to_deliver(asked, part));
  TRY(auto judged, release::judge_delivery(*asked.store, {part.request, plan_of(part)}, asked.to, sets));
  context.out.findings(judged.notes);
  if (!options.dry_run) TRY_DO(release::accept_copies(*asked.store, {part.request, plan_of(part)}, judged, options));
  asked.copied.push_back(std::move(judged));
  TRY_DO(check_delivery(context, {*asked.store, asked.to, sets}, options));
  if (!options.dry_run && plan_of(part).moves())
    TRY_DO(release::check_writable({*asked.store, asked.to, sets}, options.key.has_value()));
  asked.looked_at[part.request.channel] = std::move(sets);
  if (asked.looked_at.size() == 1) return {};
  std::vector<registry::SealedSet> all; // of this channel and those before it: they may go to one place
  for (const auto& [channel, its_sets] : asked.looked_at) all.insert(all.end(), its_sets.begin(), its_sets.end());
  return release::check_together(asked.to, all);
}

/// All that is copied along, before the first channel moves: also of one that an earlier run has moved.
Result<void> check_parts(Context& context, Asked& asked, const release::Plan& planned,
                         const promote::Options& options) {
  for (const auto& part : planned.parts)
    if (!plan_of(part).held) TRY_DO(check_part(context, asked, part, options));
  return asked.to.let_go_elsewhere ? release::check_replaced(asked.to) : Result<void>();
}

promote::Receipt receipt_of_part(const release::Part& part) {
  if (part.receipt) return *part.receipt;
  promote::Receipt receipt;
  receipt.plan = *part.plan;
  receipt.digest = part.digest;
  receipt.generation = part.plan->generation();
  receipt.view = part.plan->view.digest;
  receipt.held = part.plan->held;
  receipt.notes = part.plan->notes;
  return receipt;
}

/// With `--cells ready`: nothing moves, and in one channel that is because nothing of it is ready.
bool stays_held(const release::Plan& done) {
  return !done.moves() &&
         std::ranges::any_of(done.parts, [](const release::Part& part) { return part.plan && part.plan->held; });
}

Json document_of(const release::Plan& done, const Asked& asked, bool dry_run) {
  auto channels = Json::array();
  std::uint64_t writes = 0;
  for (const auto& part : done.parts) {
    auto receipt = receipt_of_part(part);
    writes += receipt.writes;
    auto json = receipt_json(receipt, "quarry.promote/1", dry_run);
    if (part.plan) json["gate"] = verdict_json(part.plan->judgement.verdict);
    channels.push_back(std::move(json));
  }
  return {{"plan", done.digest},
          {"source", asked.request.source.resolved.source},
          {"channel", asked.request.pattern},
          {"held", done.held || stays_held(done)},
          {"dry_run", dry_run},
          {"writes", writes},
          {"channels", std::move(channels)},
          {"distribution", nullptr}};
}

/// The verdict of each channel that was planned now.
void print_verdicts(Context& context, const release::Plan& done) {
  for (const auto& part : done.parts) {
    if (!part.plan) continue;
    const auto& plan = *part.plan;
    context.out.findings(plan.notes);
    context.out.data(verdict_text(plan.judgement.verdict, plan.judgement.subjects,
                                  {plan.source, plan.channel, context.out.data_look()}));
  }
}

void print_held(Context& context, const Arguments& arguments, const Asked& asked, const release::Plan& done) {
  context.out.data("held: nothing was moved, in no channel\n");
  std::vector<Held> channels;
  for (const auto& part : done.parts) {
    if (!part.plan) continue;
    const auto& plan = *part.plan;
    auto of_channel = arguments; // what helps is for this channel
    of_channel.values["--to"] = {plan.channel};
    channels.push_back({part.request.policy, plan.judgement.verdict, plan.judgement.subjects,
                        asks_ready_moves(context, arguments, *asked.store, part.request), true});
    if (!plan.held) continue;
    auto text = held_text(context, of_channel, channels.back());
    if (!text.empty()) context.out.data(fmt::format("channel {}:\n{}", plan.channel, text));
  }
  context.out.data(ready_text(context, arguments, channels)); // these channels move together
}

bool moves_now(const release::Plan& done) {
  return std::ranges::any_of(done.parts, [](const release::Part& part) { return receipt_of_part(part).moved; });
}

/// The copies, after the last channel has moved. If that fails, people must know which channels have moved, and so must
/// `--on-move`.
Result<Delivery> copy_all(Context& context, const Arguments& arguments, Asked& asked, const release::Plan& done,
                          const promote::Options& options) {
  TRY(auto sets, all_sets_to_deliver(asked, done));
  asked.to.before_showing = [&]() -> Result<void> {
    for (const auto& part : done.parts)
      if (part.plan && !part.plan->held) TRY_DO(release::still_judged(*asked.store, *part.plan));
    for (const auto& judged : asked.copied) TRY_DO(release::still_judged(*asked.store, judged));
    return {};
  };
  auto delivery = deliver(context, *asked.store, asked.to, sets, options);
  if (delivery || options.dry_run) return delivery;
  std::vector<std::string> moved;
  for (const auto& part : done.parts) {
    auto receipt = receipt_of_part(part);
    if (!receipt.moved && !receipt.completed) continue;
    context.out.data(moved_text(receipt));
    moved.push_back("channel " + part.request.channel);
  }
  if (moves_now(done)) {
    context.out.note(undo_note(context, arguments, asked.request.pattern));
    tell_before_error(context, arguments, *asked.store, {"promote", document_of(done, asked, false)});
  }
  return fail(
      not_copied(std::move(delivery).error(), moved, asked.to, NextCommand(context, "promote").flags_of(arguments)));
}

std::string plan_text_of(const release::Plan& done, NextCommand again) {
  std::string text;
  for (const auto& part : done.parts)
    text += part.plan->moves() ? promote_plan_text(*part.plan) : moved_text(receipt_of_part(part));
  again.drop("--dry-run").set("--execute", done.digest.hex());
  return text + fmt::format("plan        {}\nnext: {}\n", done.digest, again.text());
}

} // namespace

Result<int> promote_release(Context& context, const Arguments& arguments) {
  TRY(auto each, promote_options_of(context, arguments));
  TRY(auto asked, asked_of(context, arguments));
  TRY(auto channels, release::by_channel(asked.request.source.resolved.sets, asked.request.pattern));
  for (const auto& [channel, sets] : channels) {
    TRY(bool is_protected, release::is_protected(*asked.store, channel));
    asked.to.hash_bytes = asked.to.hash_bytes || is_protected;
    for (const auto& sealed : sets)
      for (const auto& digest : {sealed.digest, sealed.set.subset_of}) // a part of a part names the whole set
        if (!digest.empty()) asked.to.channels[digest].push_back(channel);
  }
  TRY(asked.request.pin_from,
      rules_to_pin(context, arguments, {arguments.get("--store"), each.dry_run}, *asked.store, channels));
  release::Options options{each, {}};
  asked.to.let_go_elsewhere = channels.size() > 1;
  if (asked.to.store && !each.dry_run) // of all channels: the first of them to arrive decides who else may
    TRY_DO(release::check_feeders({*asked.store, asked.to, asked.request.source.resolved.sets}));
  if (asked.to.store)
    asked.request.along = [&](const promote::Request& request, promote::Plan& plan) -> Result<void> {
      TRY(auto sets, release::promoted_sets(*asked.store, {request, plan}));
      auto own = asked.to; // what this channel takes along
      own.found = std::make_shared<publish::Histories>();
      auto looked = check_delivery(context, {*asked.store, own, sets}, each);
      if (!looked && !(each.dry_run && could_not_look(looked.error()))) return looked;
      plan.distribution += release::described(*own.found);
      return {};
    };
  if (asked.to.store)
    options.before_writing = [&](const release::Plan& planned) { return check_parts(context, asked, planned, each); };
  TRY(auto done, release::promote_all(*asked.store, asked.request, options));
  auto document = document_of(done, asked, each.dry_run);
  print_verdicts(context, done);
  if (done.held) {
    context.out.document(document);
    print_held(context, arguments, asked, done);
    return traits(ErrorKind::held).exit_code;
  }
  std::optional<Delivery> delivery;
  if (asked.to.store) {
    if (each.dry_run) TRY_DO(options.before_writing(done));
    TRY(delivery, copy_all(context, arguments, asked, done, each));
    context.out.findings(delivery->receipt.notes);
    document["distribution"] = delivery_json(asked.to, *delivery);
  }
  context.out.document(document);
  if (each.dry_run) {
    auto is_signed = [&](const release::Part& part) { return wants_signature(*asked.store, *part.plan); };
    bool any = std::ranges::any_of(done.parts, is_signed);
    context.out.data(plan_text_of(done, NextCommand(context, "promote").flags_of(arguments).signed_if(any)));
  } else
    for (const auto& part : done.parts) context.out.data(moved_text(receipt_of_part(part)));
  if (delivery) context.out.data(delivery_text(asked.to, *delivery, each.dry_run));
  if (!moves_now(done)) return stays_held(done) ? traits(ErrorKind::held).exit_code : 0;
  context.out.note(undo_note(context, arguments, asked.request.pattern));
  return tell_what_moved(context, arguments, *asked.store, {"promote", document});
}

} // namespace quarry::cli
