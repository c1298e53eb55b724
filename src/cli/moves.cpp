#include "cli/moves.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/facts.hpp"
#include "cli/identity.hpp"
#include "cli/keys.hpp"
#include "cli/records.hpp"
#include "cli/reviewed.hpp"
#include "gate/signers.hpp"
#include "sys/clock.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

Result<promote::Options> promote_options_of(Context& context, const Arguments& arguments) {
  TRY_DO(check_execute(context, arguments));
  TRY_DO(check_line("--reason", arguments.get("--reason")));
  promote::Options options{who(context),
                           sys::Timestamp::from_us(context.clock.now_us()),
                           arguments.get("--reason"),
                           {},
                           arguments.has("--dry-run"),
                           {}};
  if (auto digits = arguments.find("--execute")) {
    TRY(options.execute, registry::ReviewedPlan::parse(*digits));
  }
  TRY(options.public_url, public_url_of(arguments));
  TRY(options.key, signing_key(arguments));
  options.identity = identity_of(context);
  options.clock_us = [&clock = context.clock] { return clock.now_us(); };
  return options;
}

Result<promote::Author> author_of(Context& context, const Arguments& arguments) {
  TRY_DO(check_line("--reason", arguments.get("--reason")));
  if (text::trim(arguments.get("--reason")).empty())
    return fail(ErrorKind::invalid_argument, "O015", "the reason is empty",
                "say why: whoever looks at the channel in a year has only the ledger");
  TRY(auto key, signing_key(arguments));
  return promote::Author{who(context), sys::Timestamp::from_us(context.clock.now_us()), arguments.get("--reason"),
                         std::move(key), identity_of(context)};
}

Result<std::unique_ptr<BaseIndex>> dependencies_of(const Context& context, const Arguments& arguments) {
  if (arguments.get("--cells") == "ready")
    return open_base_index(context, arguments.get("--base-index"), arguments.get("--store"));
  if (arguments.has("--base-index"))
    return fail(ErrorKind::invalid_argument, "C006", "--base-index is asked only where a part of the sets moves",
                "add `--cells ready`, or omit --base-index");
  return std::unique_ptr<BaseIndex>();
}

std::function<bool()> asks_ready_moves(const Context& context, const Arguments& arguments, store::ObjectReader& store,
                                       promote::Request request) {
  return [&context, &store, place = arguments.get("--store"), request = std::move(request)]() mutable {
    auto base = open_base_index(context, "", place); // as the command that is suggested, which names none
    if (!base) return false;
    request.ready_cells_only = request.decide_only = true;
    request.base_index = *base ? &(*base)->candidates() : nullptr;
    auto plan = promote::plan_promotion(store, request);
    return plan && !plan->held && !plan->sets.empty();
  };
}

Json receipt_json(const promote::Receipt& receipt, const char* schema, bool dry_run) {
  auto sets = Json::array();
  for (const auto& sealed : receipt.plan.sets) sets.push_back(sealed.digest);
  return {{"schema", schema},
          {"plan", receipt.digest},
          {"channel", receipt.plan.channel},
          {"generation", receipt.generation},
          {"view", receipt.view},
          {"writes", receipt.writes},
          {"moved", receipt.moved},
          {"held", receipt.held},
          {"dry_run", dry_run},
          {"sets", sets},
          {"policy", receipt.plan.judgement.policy.empty() ? Json(nullptr) : Json(receipt.plan.judgement.policy)},
          {"blocked", receipt.plan.guard.blocks},
          {"unblocked", receipt.plan.guard.unblocked.size()},
          {"index_url", url_json(receipt.at.index_url)},
          {"find_links_urls", receipt.at.find_links},
          {"notes", findings_json(receipt.notes)},
          {"merged_index_url", url_json(receipt.at.merged_url)}};
}

namespace {
/// Somebody took these files out for a reason: who brings them back with others must see that.
std::string unblocked_text(const promote::Plan& plan) {
  constexpr std::size_t k_named = 20;
  std::vector<std::string> lines;
  for (const auto& file : plan.guard.unblocked)
    lines.push_back(fmt::format("    {}, taken out by generation {}{}{}", file.filename, file.generation,
                                file.reason.empty() ? "" : ": ", file.reason));
  return text::join(text::first_lines(std::move(lines), k_named), "\n") + "\n";
}
} // namespace

std::string moved_text(const promote::Receipt& receipt) {
  const auto& plan = receipt.plan;
  auto place = fmt::format("{}@{}", plan.channel, receipt.generation);
  if (receipt.completed)
    return fmt::format("done before  {}  view {}  {} written to complete it\n", place, receipt.view.short_hex(),
                       units::things(receipt.writes, "object"));
  if (!receipt.moved && plan.action == registry::Action::rollback)
    return fmt::format("nothing to do  {} shows that view already\n", place);
  if (receipt.held) return fact("held", "{} stays as it is", place);
  if (!receipt.moved) return fmt::format("nothing to do  {} has all of it\n", place);
  auto blocked = plan.guard.blocks ? fact("blocked", "{}: `quarry channel unblock {}` lets them come back",
                                          units::things(plan.guard.blocks, "file"), plan.channel)
                                   : std::string();
  if (!plan.guard.unblocked.empty())
    blocked += fact("unblocked", "{}, shown again:", units::things(plan.guard.unblocked.size(), "file")) +
               unblocked_text(plan);
  return fmt::format("moved       {}  view {}  {} written\n{}{}", place, receipt.view.short_hex(),
                     units::things(receipt.writes, "object"), blocked, addresses_text(receipt.at));
}

std::string undo_note(const Context& context, const Arguments& arguments, const std::string& channel) {
  NextCommand rollback(context, "rollback");
  rollback.operand(channel).set("--store", arguments.get("--store")).signed_if(arguments.has("--sign"));
  // What was copied to another store comes back with the channel, or its readers keep the bad release.
  const auto& given = arguments.values;
  if (given.contains("--to-store"))
    for (const char* flag : {"--to-store", "--prefix", "--distributions"})
      if (given.contains(flag)) rollback.set(flag, arguments.get(flag));
  return "undo: " + rollback.text();
}

std::string promote_plan_text(const promote::Plan& plan) {
  std::string text;
  for (const auto& sealed : plan.sets)
    text += fmt::format("  set:{}  {}  run {}{}\n", sealed.digest.short_hex(),
                        units::things(sealed.set.files.size(), "file"), sealed.set.origin.run_id,
                        plan.action != registry::Action::promote || sealed.set.subset_of.empty() ? ""
                        : sealed.set.directory.starts_with(registry::k_pinned) ? "  (copied to pinned/)"
                                                                               : "  (the part that is ready)");
  if (plan.guard.blocks) text += fmt::format("  {} will be blocked\n", units::things(plan.guard.blocks, "file"));
  if (!plan.guard.unblocked.empty()) text += "  will no longer be blocked:\n" + unblocked_text(plan);
  auto now = plan.expected ? plan.expected->record.generation : 0;
  return text + fmt::format("{}  {}@{} -> {}@{}  view {}\n", plan.action, plan.channel, now, plan.channel,
                            plan.generation(), plan.view.digest.short_hex());
}

bool wants_signature(store::ObjectReader& store, const promote::Plan& plan) {
  if (!plan.moves() || !plan.expected || plan.expected->record.guard.policy.empty()) return false;
  auto policy = promote::stored_policy(store, plan.expected->record.guard.policy);
  return policy && gate::wants_signed_moves(*policy);
}

/// The end of a dry run: what to type next. A channel that has all of it may still have to be copied (`delivers`).
std::string promote_dry_run_text(const promote::Receipt& receipt, NextCommand command, bool delivers) {
  bool moves = receipt.plan.moves();
  if (!moves && !delivers) return moved_text(receipt);
  command.drop("--dry-run").set("--execute", receipt.digest.hex());
  auto what = moves
                  ? promote_plan_text(receipt.plan)
                  : fmt::format("promote     {}@{} has all of it and stays; a run copies what the other store lacks\n",
                                receipt.plan.channel, receipt.generation);
  return what + fmt::format("plan        {}\nnext: {}\n", receipt.digest, command.text());
}

Json carried_json(const promote::DistributionReceipt& receipt) {
  const auto& plan = receipt.plan;
  return {{"directory", plan.directory()},  {"generation", receipt.generation}, {"moved", receipt.moved},
          {"completed", receipt.completed}, {"sets_left", plan.leave},          {"sets_back", plan.come_back},
          {"blocked", plan.blocks},         {"unblocked", plan.unblocks},       {"still_listed", plan.listed_on},
          {"writes", receipt.writes}};
}

std::string carried_text(const promote::DistributionReceipt& receipt, bool dry_run) {
  const auto& plan = receipt.plan;
  auto place = fmt::format("{}@{}", plan.directory(), receipt.generation);
  if (receipt.completed)
    return fmt::format("done before  {}  {} written to complete it\n", place, units::things(receipt.writes, "object"));
  if (!plan.moves()) return fmt::format("nothing to do  {} shows that already\n", place);
  auto text = fmt::format("{:<11} {}  {} out, {} back, {} blocked\n", dry_run ? "would move" : "moved", place,
                          units::things(plan.leave, "set"), plan.come_back, units::things(plan.blocks, "file"));
  if (plan.listed_on != 0)
    text += fact("history", "{} of the files that leave {} on the pages, as untested history", plan.listed_on,
                 plan.listed_on == 1 ? "stays" : "stay");
  return text;
}

Flag move_dry_run_flag() {
  return {.name = "--dry-run", .value = "", .help = "print the plan and its digest, change nothing", .letter = 'n'};
}
Flag move_execute_flag() {
  return {.name = "--execute", .value = "DIGEST", .help = "run exactly the plan of this digest"};
}
Flag move_reason_flag() { return {.name = "--reason", .value = "TEXT", .help = "why, for the ledger"}; }

} // namespace quarry::cli
