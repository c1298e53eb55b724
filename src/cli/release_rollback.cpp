#include "base/units.hpp"
#include "cli/delivery.hpp"
#include "cli/moves.hpp"
#include "cli/next_command.hpp"
#include "cli/on_move.hpp"
#include "cli/records.hpp"
#include "cli/release_moves.hpp"
#include "cli/shared_flags.hpp"
#include "release/rollback.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

Json document_of(const release::ReleaseRollback& done, const release::ChannelPattern& pattern, bool dry_run) {
  auto channels = Json::array(), distributions = Json::array();
  for (const auto& part : done.parts) {
    Json one{{"channel", part.channel}, {"moved", false}, {"plan", part.digest}};
    if (part.carried && part.carried->channel) one = receipt_json(*part.carried->channel, "quarry.rollback/1", dry_run);
    channels.push_back(std::move(one));
    if (part.carried)
      for (const auto& carried : part.carried->distributions) distributions.push_back(carried_json(carried));
  }
  Json document{{"plan", done.digest},   {"channel", pattern.text},
                {"source", done.source}, {"moved", !dry_run && done.moves()},
                {"dry_run", dry_run},    {"channels", std::move(channels)}};
  if (!pattern.to.store) return document;
  document["distribution_store"] = pattern.to.locator;
  document["distributions"] = std::move(distributions);
  return document;
}

std::string text_of(const release::RolledBack& part, bool dry_run) {
  if (!part.carried) return fmt::format("done before  {} was rolled back\n", part.channel);
  const auto& channel = part.carried->channel;
  auto text = !channel                           ? fmt::format("done before  {} was rolled back\n", part.channel)
              : dry_run && channel->plan.moves() ? promote_plan_text(channel->plan)
                                                 : moved_text(*channel);
  for (const auto& one : part.carried->distributions) text += carried_text(one, dry_run);
  return text;
}

} // namespace

Result<int> rollback_of_release(Context& context, const Arguments& arguments, const promote::Options& options) {
  if (options.to_generation)
    return fail(ErrorKind::invalid_argument, "C006", "--to is the generation of one channel",
                "omit it, or roll back one channel after the other");
  release::ChannelPattern pattern{arguments.operands.at(0), {}};
  TRY(auto at, store_named(arguments));
  TRY(auto store, open_store(context, at));
  if (arguments.has("--to-store")) // must exist: a rollback only changes what lies there
    TRY_DO(open_store(context, arguments.get("--to-store")));
  TRY(pattern.to, destination_of(context, arguments, pattern.text));
  TRY(auto done, release::rollback_release(*store, pattern, options));
  auto document = document_of(done, pattern, options.dry_run);
  context.out.document(document);
  std::string text = fmt::format("release     {}\n", done.source);
  for (const auto& part : done.parts) {
    if (part.carried && part.carried->channel) context.out.findings(part.carried->channel->notes);
    if (part.carried)
      for (const auto& one : part.carried->distributions) context.out.findings(one.notes);
    text += text_of(part, options.dry_run);
  }
  context.out.data(text);
  if (!done.moves()) return 0;
  if (!options.dry_run) return tell_what_moved(context, arguments, *store, {"rollback", document});
  auto again = NextCommand(context, "rollback").operand(pattern.text).flags_of(arguments);
  again.drop("--dry-run").set("--execute", done.digest.hex());
  again.signed_if(std::ranges::any_of(done.parts, [&](const release::RolledBack& part) {
    return part.carried && part.carried->channel && wants_signature(*store, part.carried->channel->plan);
  }));
  context.out.data(fmt::format("plan        {}\nnext: {}\n", done.digest, again.text()));
  return 0;
}

} // namespace quarry::cli
