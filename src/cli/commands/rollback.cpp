#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/delivery.hpp"
#include "cli/keys.hpp"
#include "cli/moves.hpp"
#include "cli/next_command.hpp"
#include "cli/on_move.hpp"
#include "cli/places.hpp"
#include "cli/records.hpp"
#include "cli/release_moves.hpp"
#include "cli/shared_flags.hpp"
#include "promote/fed_moves.hpp"
#include "release/carry.hpp"
#include "sys/memory.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

Result<std::optional<std::uint64_t>> generation_of(const Arguments& arguments) {
  auto text = arguments.get("--to");
  if (text.empty()) return std::optional<std::uint64_t>();
  auto number = text::parse_u64(text.substr(text.rfind('@') + 1)); // `stable@3`, as `channel log` prints it, too
  if (number) return number;
  return fail(ErrorKind::invalid_argument, "C006", fmt::format("--to must be a generation, not `{}`", text),
              fmt::format("`quarry channel log {}` shows them", arguments.operands.at(0)));
}

// ---- of a distribution by its name

Result<int> rollback_by_name(Context& context, const Arguments& arguments, const promote::Options& options) {
  const auto& named = arguments.operands.at(0);
  if (arguments.has("--to-store"))
    return fail(ErrorKind::invalid_argument, "O008",
                fmt::format("{} is a distribution: --to-store is for channels", named), "omit --to-store");
  TRY(auto place, distribution_of(context, arguments, named));
  TRY_DO(refuse_to_sign(arguments, *place.store, place.directory));
  TRY(auto receipt, promote::rollback_distribution(*place.store, place.directory, options));
  context.out.findings(receipt.notes);
  auto document = carried_json(receipt);
  document["schema"] = "quarry.rollback-distribution/1";
  document["store"] = place.store->describe();
  document["plan"] = receipt.plan.digest;
  document["dry_run"] = options.dry_run;
  context.out.document(document);
  context.out.data(carried_text(receipt, options.dry_run));
  if (receipt.moved) return tell_what_moved(context, arguments, *place.store, {"rollback", document});
  if (!options.dry_run || !receipt.plan.moves()) return 0;
  auto again = NextCommand(context, "rollback").operand(named).flags_of(arguments);
  again.drop("--dry-run").set("--execute", receipt.plan.digest.hex());
  again.signed_if(promote::wants_signed_moves_there(*place.store, receipt.plan.expected.record));
  context.out.data(fmt::format("plan        {}\nnext: {}\n", receipt.plan.digest, again.text()));
  return 0;
}

// ---- of a channel with what it feeds

Result<int> rollback_along(Context& context, const Arguments& arguments, const promote::Options& options) {
  const auto& channel = arguments.operands.at(0);
  TRY(auto at, store_named(arguments));
  TRY(auto store, open_store(context, at));
  TRY_DO(open_store(context, arguments.get("--to-store"))); // must exist: a rollback only changes what lies there
  TRY(auto to, destination_of(context, arguments, channel));
  TRY(auto done, release::rollback_with(*store, channel, to, options));
  Json document{{"channel", channel}, {"moved", false}, {"dry_run", options.dry_run}};
  if (done.channel) {
    context.out.findings(done.channel->notes);
    document = receipt_json(*done.channel, "quarry.rollback/1", options.dry_run);
  }
  document["distribution_store"] = to.locator;
  document["distributions"] = Json::array();
  for (const auto& one : done.distributions) {
    context.out.findings(one.notes);
    document["distributions"].push_back(carried_json(one));
  }
  context.out.document(document);
  auto again = NextCommand(context, "rollback").operand(channel).flags_of(arguments);
  again.signed_if(options.dry_run && done.channel && wants_signature(*store, done.channel->plan));
  if (!done.channel) context.out.data(fmt::format("done before  {} was rolled back\n", channel));
  for (const auto& one : done.distributions)
    if (options.dry_run) context.out.data(carried_text(one, true));
  if (done.channel)
    context.out.data(options.dry_run ? promote_dry_run_text(*done.channel, again) : moved_text(*done.channel));
  for (const auto& one : done.distributions)
    if (!options.dry_run) context.out.data(carried_text(one, false));
  if (done.distributions.empty())
    context.out.note(
        fmt::format("nothing of what leaves or comes back was copied to {} below {}", to.locator, to.prefix));
  bool moved = (done.channel && done.channel->moved) ||
               std::ranges::any_of(done.distributions, &promote::DistributionReceipt::moved);
  return moved ? tell_what_moved(context, arguments, *store, {"rollback", document}) : Result<int>(0);
}

Result<int> run_rollback(Context& context, const Arguments& arguments) {
  sys::keep_freed_memory();
  const auto& channel = arguments.operands.at(0);
  TRY(auto options, promote_options_of(context, arguments));
  TRY(options.to_generation, generation_of(arguments));
  if (is_distribution(channel)) return rollback_by_name(context, arguments, options);
  if (release::is_pattern(channel)) return rollback_of_release(context, arguments, options);
  if (arguments.has("--to-store")) return rollback_along(context, arguments, options);
  TRY_DO(destination_of(context, arguments, channel)); // refuses a prefix without a store
  TRY(auto at, store_named(arguments));
  TRY(auto store, open_store(context, at));
  TRY(auto receipt, promote::rollback(*store, channel, options));
  context.out.findings(receipt.notes);
  auto document = receipt_json(receipt, "quarry.rollback/1", options.dry_run);
  context.out.document(document);
  auto again = NextCommand(context, "rollback").operand(channel).flags_of(arguments);
  again.signed_if(options.dry_run && wants_signature(*store, receipt.plan));
  context.out.data(options.dry_run ? promote_dry_run_text(receipt, again) : moved_text(receipt));
  return receipt.moved ? tell_what_moved(context, arguments, *store, {"rollback", document}) : Result<int>(0);
}

} // namespace

Command rollback_command() {
  return {
      .path = {"rollback"},
      .summary = "put a channel or a distribution back to what it showed before its last move",
      .description =
          "The previous view becomes the current one again, as a new generation: nothing is deleted, the URL stays "
          "the same, and the move is recorded. After a rollback, another one has to say where `--to`: a "
          "command that runs twice must not bring back what it took out. `--to 0` is the state before the first move: "
          "the channel then shows nothing, and a distribution only what other tools published there.\n\n"
          "The files that leave are blocked: publishing and promoting do not bring them back, under "
          "whatever set, until `quarry channel unblock`. A view that is named with `--to` brings back what it "
          "shows. What a `yank` took out is not brought back (O063): only the rollback that takes back this very yank "
          "does that, and only as long as no other move has changed what is shown.\n\n"
          "Copies that `promote --to-store` made stay as they are, unless the same `--to-store` (and `--prefix`) is "
          "given: then what leaves the channel leaves its distributions, too, and what comes back is shown there again "
          "if it was copied there. All of it is one plan, which `--dry-run` shows; the channel moves first. "
          "If the channel was rolled back already, only the distributions follow.\n\n"
          "`quarry rollback 'stable-{family}'` takes back the last release that `promote --to 'stable-{family}'` "
          "moved: "
          "each channel that it moved goes back, and one that it made shows nothing then. It is one plan: every "
          "channel "
          "is looked at before the first one moves. If another move has changed one of them since, nothing moves.\n\n"
          "A distribution alone goes back when it is named itself: `quarry rollback s3://BUCKET/v2/gfx94X-dcgpu`. "
          "Where "
          "protected channels feed it, their policy says who must sign that, and only what they have brought comes "
          "back.\n\n"
          "A rollback that was killed is completed by the same command.",
      .operands = {{"CHANNEL", "the channel, or stable-{family}; or a distribution, s3://BUCKET/v2/gfx94X-dcgpu"}},
      .flags = {{.name = "--to",
                 .value = "GENERATION",
                 .help = "the view of this generation, 0 for nothing (default: the one before the last move)"},
                {.name = "--to-store", .value = "LOCATOR", .help = "take the copies in this store along"},
                {.name = "--prefix", .value = "PREFIX", .help = "where in that store, such as v2/{family}"},
                distributions_flag(),
                move_dry_run_flag(),
                move_execute_flag(),
                move_reason_flag(),
                sign_flag(),
                on_move_flag(),
                store_of_channel_flag(),
                public_url_flag()},
      .examples = {{"quarry rollback stable --reason \"breaks import torch\"", "the release before, again"},
                   {"quarry rollback stable --store s3://builds --to-store s3://dist --reason \"breaks import torch\"",
                    "and what people install from"},
                   {"quarry rollback 'stable-{family}' --store s3://builds --to-store s3://dist",
                    "the last release, in the channel of each family and in what people install from"},
                   {"quarry rollback s3://dist/v2/gfx94X-dcgpu --dry-run", "one distribution, by its name"}},
      .exit_codes = {{1, "moved, and a command of --on-move failed"},
                     {3, "the channel or distribution does not exist, or has no earlier view"},
                     {6, "a record was altered, or a file that would come back is gone"},
                     {7,
                      "it was moved meanwhile, or rolled back already; or a distribution did not follow its channel"},
                     {10,
                      "the policy of the channel, or of one that feeds the distribution, wants the rollback signed; "
                      "or no verdict has let in what would come back, or a yank took it out"}},
      .schema = "quarry.rollback/1",
      .run = run_rollback};
}

} // namespace quarry::cli
