#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/facts.hpp"
#include "cli/guard.hpp"
#include "cli/keys.hpp"
#include "cli/moves.hpp"
#include "cli/next_command.hpp"
#include "cli/places.hpp"
#include "cli/records.hpp"
#include "cli/shared_flags.hpp"
#include "cli/verdict.hpp"
#include "promote/demands.hpp"
#include "promote/distributions.hpp"
#include "promote/guard.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

const Operand k_channel{"CHANNEL", "the channel"};
const Flag k_why{.name = "--reason", .value = "TEXT", .help = "why, for the ledger", .required = true};

Json document_of(const publish::Guarded& guarded, const char* schema) {
  const auto& channel = guarded.channel;
  return {{"schema", schema},
          {"channel", channel.name},
          {"generation", channel.generation},
          {"moved", guarded.moved},
          {"policy", policy_json(channel.guard)},
          {"blocked", blocked_json(channel.guard.blocked)}};
}

std::string place_of(const publish::Guarded& guarded) {
  return fmt::format("{}@{}", guarded.channel.name, guarded.channel.generation);
}

// ---- channel protect

std::vector<std::string> short_digests(std::vector<std::string> digests) {
  constexpr std::size_t k_shown = 12; // digits, as elsewhere
  for (auto& digest : digests) digest.resize(std::min(digest.size(), k_shown));
  return digests;
}

Result<int> run_protect(Context& context, const Arguments& arguments) {
  TRY(auto author, author_of(context, arguments));
  TRY(auto policy, load_policy(context, arguments.get("--policy")));
  TRY_DO(promote::check_demands(policy, arguments.list("--demand")));
  TRY_DO(promote::check_openness(policy));
  TRY(auto store, open_store(context, arguments.get("--store")));
  TRY(auto guarded, promote::protect(*store, arguments.operands.at(0), policy, author,
                                     {{}, arguments.has("--trust-shown"), arguments.list("--trust")}));
  context.out.data(fmt::format("{}   {}  by policy {} ({})\n", guarded.moved ? "protected" : "unchanged",
                               place_of(guarded), policy.name, guarded.channel.guard.policy.short_hex()));
  for (const auto& rule : policy.suites)
    if (!rule.digests.empty())
      context.out.note(fmt::format("suite       {}  counts by its definition {}", rule.name,
                                   text::join(short_digests(rule.digests), ", ")));
  auto shown = registry::load_view(*store, guarded.channel.view);
  if (guarded.moved && (!shown || !shown->sets.empty()))
    context.out.note(
        "what it showed already stays: " +
        NextCommand(context, "status").operand(guarded.channel.name).set("--store", arguments.get("--store")).text() +
        " names what was never tested");
  if (guarded.put_back)
    context.out.note(
        fmt::format("somebody had edited the record of {}: it shows what its last move left again, view {}",
                    guarded.channel.name, guarded.channel.view.short_hex()));
  context.out.document(document_of(guarded, "quarry.channel-protect/1"));
  return 0;
}

} // namespace

Command channel_protect_command() {
  return {
      .path = {"channel", "protect"},
      .summary = "let only what a policy allows into a channel",
      .description =
          "Stores the policy and binds the channel to it, as a move with an entry in the ledger. From then on "
          "`quarry publish --channel` into it is refused, and `quarry promote` judges by this policy and refuses "
          "another one. What the channel shows already stays, and counts as let in. Protecting it again binds another "
          "policy. A channel that does not exist is made, empty.\n\n"
          "So a channel becomes protected only if a promotion by this policy has let in each file that it shows. Other "
          "files, such as those of `publish --channel` or of a promotion by another policy, are named and nothing is "
          "bound, unless `--trust` names them or `--trust-shown` says that all that the channel shows belongs there. "
          "`status` still tells which of them were never tested.\n\n"
          "Where the channel's last move is lost or damaged, nobody knows whether it let in what the channel shows: "
          "only `--trust-shown` helps. The ledger begins anew with this move; what the channel showed before cannot be "
          "gone back to.\n\n"
          "Comments in the policy's file and its name do not count: two files that say the same have one digest. "
          "A program that does not know protection refuses to move the channel.\n\n"
          "A policy without `[expect]`, without a `[[signer]]` of evidence, or with a suite that is only a name "
          "(docs/formats/suite.md), is refused unless it says so openly (`openly = [\"nothing_expected\", "
          "\"unsigned\", \"any_command\"]`), which `gate` and `status` then show. Suites that `data/suites` defines "
          "count by that definition alone.\n\n"
          "`--demand` is for the rules of an organisation, whoever wrote the policy: `expect` (it says which "
          "families a release must bring), `evidence-signers` and `waiver-signers` (results or waivers count only with "
          "a signature).",
      .operands = {k_channel},
      .flags = {{.name = "--policy",
                 .value = "FILE",
                 .help = "a policy file, or the name of a shipped one",
                 .required = true},
                {.name = "--demand",
                 .value = "WHAT",
                 .help = "refuse a policy that lacks it",
                 .choices = promote::k_demands,
                 .repeats = true},
                {.name = "--trust",
                 .value = "SET-OR-FILE",
                 .help = "take this as let in without a verdict: set:DIGEST, a file's name or its sha256",
                 .repeats = true},
                {.name = "--trust-shown",
                 .value = "",
                 .help = "take all that the channel shows as let in, without verdicts or with its last move lost"},
                k_why,
                sign_flag(),
                store_flag()},
      .examples = {{"quarry channel protect stable --policy default --reason \"release channel\" --store file:store",
                    "nothing untested from now on"},
                   {"quarry channel protect nightly --policy default --reason \"people install from it\" --trust-shown",
                    "what was published there before stays, tested or not"}},
      .exit_codes = {{2, "the policy only reports, or is not one"},
                     {3, "the channel shows nothing of what --trust names"},
                     {6, "a file is not what was sealed, or the last move of the channel is lost"},
                     {7, "other writers kept moving the channel"},
                     {10, "the channel shows files without a verdict, or the policy leaves open what it does not say "
                          "openly, lacks what --demand asks for, or wants the move signed"}},
      .schema = "quarry.channel-protect/1",
      .run = run_protect};
}

// ---- channel unprotect

namespace {
Result<int> run_unprotect(Context& context, const Arguments& arguments) {
  TRY(auto author, author_of(context, arguments));
  TRY(auto store, open_store(context, arguments.get("--store")));
  TRY(auto guarded, promote::unprotect(*store, arguments.operands.at(0), author));
  context.out.data(fmt::format("{}  {}\n", guarded.moved ? "unprotected" : "unchanged  ", place_of(guarded)));
  context.out.document(document_of(guarded, "quarry.channel-unprotect/1"));
  return 0;
}
} // namespace

Command channel_unprotect_command() {
  return {.path = {"channel", "unprotect"},
          .summary = "let anybody who may write to the store move a channel",
          .description = "Lifts the protection, as a move with an entry in the ledger. Blocked files stay blocked.",
          .operands = {k_channel},
          .flags = {k_why, sign_flag(), store_flag()},
          .examples = {{"quarry channel unprotect rehearsal --reason \"rehearsal is over\" --store file:store",
                        "everybody may publish into it again"}},
          .exit_codes = {{3, "the channel does not exist"},
                         {7, "other writers kept moving the channel"},
                         {10, "its policy wants the move signed"}},
          .schema = "quarry.channel-unprotect/1",
          .run = run_unprotect};
}

// ---- channel unblock

namespace {
Result<int> unblock_there(Context& context, const Arguments& arguments, const std::vector<std::string>& what) {
  TRY(auto author, author_of(context, arguments));
  TRY(auto place, distribution_of(context, arguments, arguments.operands.at(0)));
  TRY_DO(refuse_to_sign(arguments, *place.store, place.directory));
  promote::Options options{author.who, author.when, author.why, {}, false};
  options.key = author.key;
  TRY(auto done, promote::unblock_distribution(*place.store, place.directory, what, options));
  context.out.data(fmt::format("unblocked   {}@{}  {}\n", place.directory, done.record.generation,
                               units::things(done.files.size(), "file")));
  for (const auto& file : done.files) context.out.data(fmt::format("  {}\n", file.filename));
  context.out.document({{"channel", place.directory},
                        {"generation", done.record.generation},
                        {"moved", true},
                        {"policy", nullptr},
                        {"blocked", blocked_json(done.record.shown.blocked)},
                        {"unblocked", blocked_json(done.files)}});
  return 0;
}

Result<int> run_unblock(Context& context, const Arguments& arguments) {
  TRY(auto author, author_of(context, arguments));
  auto what = arguments.operands;
  what.erase(what.begin());
  if (is_distribution(arguments.operands.at(0))) return unblock_there(context, arguments, what);
  TRY(auto at, store_named(arguments));
  TRY(auto store, open_store(context, at));
  TRY(auto done, promote::unblock(*store, arguments.operands.at(0), what, author));
  context.out.data(fact("unblocked", "{}  {}", place_of(done.guarded), units::things(done.files.size(), "file")));
  for (const auto& file : done.files) context.out.data(fmt::format("  {}\n", file.filename));
  auto document = document_of(done.guarded, "quarry.channel-unblock/1");
  document["unblocked"] = blocked_json(done.files);
  context.out.document(document);
  return 0;
}
} // namespace

Command channel_unblock_command() {
  return {.path = {"channel", "unblock"},
          .summary = "let files come back that a rollback took out",
          .description = "A rollback blocks the files that leave the channel. This lets publishing and promoting bring "
                         "them back; it brings nothing back itself. `quarry channel show` lists what is blocked.",
          .operands = {{"CHANNEL", "the channel; or a distribution, s3://BUCKET/v2/gfx94X-dcgpu"},
                       {.name = "SET-OR-FILE", .help = "set:DIGEST, a file's name or its sha256", .repeats = true}},
          .flags = {k_why, sign_flag(), store_of_channel_flag()},
          .examples = {{"quarry channel unblock stable set:1f2e3d4c --reason \"the test machine was broken\" "
                        "--store file:store",
                        "promote it again afterwards"}},
          .exit_codes = {{3, "the channel or distribution does not exist, or blocks none of these files"},
                         {10, "its policy, or that of a channel that feeds the distribution, wants the move signed"}},
          .schema = "quarry.channel-unblock/1",
          .run = run_unblock};
}

// ---- channel prune

namespace {
Result<int> run_prune(Context& context, const Arguments& arguments) {
  TRY(auto author, author_of(context, arguments));
  TRY(auto keep, promote::parse_keep(arguments.get("--keep"), context.clock.now_us()));
  TRY(auto store, open_store(context, arguments.get("--store")));
  bool dry_run = arguments.has("--dry-run");
  TRY(auto pruned, promote::prune(*store, arguments.operands.at(0), keep, author, dry_run));
  auto from = pruned.guarded.channel.guard.keeps_from;
  context.out.data(
      fact(dry_run                ? "would prune"
           : pruned.guarded.moved ? "pruned"
                                  : "unchanged",
           "{}  {} given up, {}", place_of(pruned.guarded), units::things(pruned.views, "view"),
           from == 0 ? "all generations are kept" : fmt::format("generation {} and later are kept", from)));
  if (pruned.views > 0 && !dry_run) context.out.note("`quarry gc` removes their records, in two runs");
  auto document = document_of(pruned.guarded, "quarry.channel-prune/1");
  document["keeps_from"] = from;
  document["views"] = pruned.views;
  document["dry_run"] = dry_run;
  context.out.document(document);
  return 0;
}
} // namespace

Command channel_prune_command() {
  return {
      .path = {"channel", "prune"},
      .summary = "give up what a channel showed long ago",
      .description =
          "Every move of a channel is kept, with what it made the channel show, so that `rollback --to` can go to any "
          "of them: the records of a nightly channel grow for ever, and retention keeps the packages of every view. "
          "This gives up the views before the last N, or before a time, as a move with an entry in the ledger. The "
          "moves stay in the ledger; `rollback --to` and `channel diff` behind them are refused.\n\n"
          "It removes nothing itself: `quarry gc` removes the records in two runs, and `quarry retain` the packages "
          "that nothing else names. Always kept are what the channel shows, what it showed before its last move, and "
          "what it showed when it was protected; packages that a kept lock names stay, too.",
      .operands = {k_channel},
      .flags =
          {{.name = "--keep",
            .value = "N|AGE",
            .help = "how many of the last views (2 or more), or those shown within this time, such as 60d",
            .required = true},
           k_why,
           sign_flag(),
           {.name = "--dry-run", .value = "", .help = "tell what would be given up, change nothing", .letter = 'n'},
           store_flag()},
      .examples = {{"quarry channel prune nightly --keep 60d --reason \"two months are enough\" --store file:store",
                    "what it showed in the last 60 days stays"}},
      .exit_codes = {{3, "the channel does not exist"},
                     {6, "the ledger is broken"},
                     {7, "other writers kept moving it"},
                     {10, "its policy wants the move signed"}},
      .schema = "quarry.channel-prune/1",
      .run = run_prune};
}

} // namespace quarry::cli
