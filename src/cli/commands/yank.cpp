#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/facts.hpp"
#include "cli/guard.hpp"
#include "cli/keys.hpp"
#include "cli/moves.hpp"
#include "cli/next_command.hpp"
#include "cli/on_move.hpp"
#include "cli/places.hpp"
#include "cli/records.hpp"
#include "cli/shared_flags.hpp"
#include "promote/fed_moves.hpp"
#include "promote/still_listed.hpp"
#include "promote/withdraw.hpp"
#include "promote/withdraw_from.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

constexpr std::size_t k_leaving_shown = 10;

std::string leaving_text(const std::vector<registry::BlockedFile>& leaving) {
  std::vector<std::string> files;
  for (const auto& file : leaving) files.push_back(fmt::format("  {}  {}", file.sha256.short_hex(), file.filename));
  return first_rows(std::move(files), k_leaving_shown);
}

std::string yanked_text(const std::string& place, const std::vector<registry::BlockedFile>& files, bool dry_run) {
  return fmt::format("{}  {}  {} out\n{}", dry_run ? "would yank" : "yanked", place,
                     units::things(files.size(), "file"), leaving_text(files));
}

/// Only what a yank takes out is held back from later rollbacks (O063).
std::string nothing_text(const std::string& place) {
  return fmt::format("nothing to do  {} shows nothing of it any more; what a rollback took out, `rollback --to` may "
                     "bring back\n",
                     place);
}

// ---- from a distribution by its name

/// Whether the error is an answer; else nobody knows, as with a network that fails.
bool says_no(const Error& error) {
  return error.kind == ErrorKind::held || error.kind == ErrorKind::not_found ||
         error.kind == ErrorKind::precondition_failed;
}

/// The command that takes the yank back, if it will be taken; else why not.
std::string undo_there(const Context& context, const Arguments& arguments, const DistributionPlace& at) {
  auto possible = promote::check_undo_there(*at.store, at.directory);
  if (!possible)
    return fmt::format("{}: {}",
                       says_no(possible.error()) ? "it cannot be undone by a rollback"
                                                 : "whether a rollback can undo it is not known",
                       possible.error().message);
  auto undo = NextCommand(context, "rollback").operand(arguments.get("--channel"));
  if (arguments.has("--store")) undo.set("--store", arguments.get("--store"));
  return "undo: " + undo.signed_if(arguments.has("--sign")).text();
}

Result<int> yank_there(Context& context, const Arguments& arguments, const promote::Author& author) {
  auto name = arguments.get("--channel");
  TRY(auto at, distribution_of(context, arguments, name));
  TRY_DO(refuse_to_sign(arguments, *at.store, at.directory));
  TRY(auto plan, promote::plan_distribution_withdrawal(*at.store, at.directory, arguments.operands));
  for (auto& file : plan.gone) file.reason = author.why;
  TRY(auto broken, promote::broken_by(*at.store, {plan.stay, plan.projects, "distribution " + at.directory}));
  context.out.findings(broken);
  bool dry = arguments.has("--dry-run"), moves = plan.plan.moves(), moved = moves && !dry;
  if (!dry) {
    TRY(auto done, promote::withdraw_from_distribution(*at.store, plan, author));
    context.out.findings(done.notes);
  }
  auto place = fmt::format("{}@{}", at.directory, plan.plan.generation());
  context.out.data(moves ? yanked_text(place, plan.gone, dry) : nothing_text(place));
  if (moved) context.out.note(undo_there(context, arguments, at));
  Json document{{"schema", "quarry.yank-distribution/1"},
                {"store", at.store->describe()},
                {"directory", at.directory},
                {"generation", plan.plan.generation()},
                {"blocked", blocked_json(plan.gone)},
                {"broken", findings_json(broken)},
                {"moved", moved},
                {"dry_run", dry}};
  context.out.document(document);
  return moved ? tell_what_moved(context, arguments, *at.store, {"yank", document}) : Result<int>(0);
}

// ---- from a channel

/// Nothing is deleted: whoever names another channel, or the run, still gets the files.
std::string places_text(const std::vector<promote::StillListed>& places) {
  std::string text;
  for (const auto& place : places) {
    auto files = units::things(place.files.size(), "file");
    text += place.channel.empty() ? fact("still in", "{}: {}, on the pages of their run", place.directory, files)
                                  : fact("still in", "channel {}@{}: {}", place.channel, place.generation, files);
  }
  return text;
}

Json places_json(const std::vector<promote::StillListed>& places) {
  auto all = Json::array();
  for (const auto& place : places) {
    Json row{{"channel", nullptr}, {"generation", nullptr}, {"directory", place.directory}, {"files", place.files}};
    if (!place.channel.empty()) row["channel"] = place.channel, row["generation"] = place.generation;
    all.push_back(std::move(row));
  }
  return all;
}

/// The records of a channel do not say where `promote --to-store` copied its packages.
std::string elsewhere_note(const Context& context, const Arguments& arguments) {
  NextCommand yank(context, "yank");
  for (const auto& word : arguments.operands) yank.operand(word);
  yank.set("--channel", "s3://BUCKET/DIRECTORY").set("--reason", arguments.get("--reason"));
  yank.signed_if(arguments.has("--sign"));
  return fmt::format("what `promote --to-store` copied to a distribution is still listed there; to take it out, name "
                     "each distribution: {}",
                     yank.text());
}

Result<int> run_yank(Context& context, const Arguments& arguments) {
  auto name = arguments.get("--channel");
  TRY(auto author, author_of(context, arguments));
  if (is_distribution(name)) return yank_there(context, arguments, author);
  TRY(auto at, store_named(arguments));
  TRY(auto store, open_store(context, at));
  TRY(auto plan, promote::plan_withdrawal(*store, name, arguments.operands));
  for (auto& file : plan.blocked) file.reason = author.why;
  TRY(auto broken, promote::broken_by(*store, plan));
  auto elsewhere = promote::still_listed(*store, plan); // what cannot be read must not keep the files in the channel
  context.out.findings(broken);
  context.out.findings(elsewhere.unread);
  bool dry = arguments.has("--dry-run"), moves = plan.moves(), moved = moves && !dry;
  auto generation = plan.expected.record.generation + (moves ? 1 : 0);
  if (!dry) {
    TRY(auto done, promote::withdraw(*store, plan, author));
    generation = done.channel.generation;
    context.out.findings(done.notes);
  }
  if (!moves)
    context.out.data(nothing_text(fmt::format("{}@{}", name, generation)));
  else
    context.out.data(yanked_text(fmt::format("{}@{}", name, generation), plan.blocked, dry) +
                     places_text(elsewhere.places));
  if (moved) context.out.note(undo_note(context, arguments, name));
  context.out.note(elsewhere_note(context, arguments));
  Json document{{"channel", name},
                {"generation", generation},
                {"view", plan.view.digest},
                {"blocked", blocked_json(plan.blocked)},
                {"still_in", places_json(elsewhere.places)},
                {"broken", findings_json(broken)},
                {"moved", moved},
                {"dry_run", dry}};
  context.out.document(document);
  return moved ? tell_what_moved(context, arguments, *store, {"yank", document}) : Result<int>(0);
}

} // namespace

Command yank_command() {
  return {
      .path = {"yank"},
      .summary = "take a set or files out of a channel or a distribution",
      .description =
          "The channel moves to a view without them, and blocks them: publishing and promoting do not bring them "
          "back, under whatever set, until `quarry channel unblock`. A rollback takes the yank itself back, as long as "
          "no other move has changed what is shown; a later one brings nothing of it back (O063). Installers do not "
          "see them any more, also "
          "those that ask for this very version: a file that is only marked as yanked is still installed under "
          "`==`, and the ROCm packages require each other so. Nothing is deleted.\n\n"
          "A set leaves with those of its files that are in no set that stays. A file leaves every set.\n\n"
          "It says which other channels of the store and which runs still list the files.\n\n"
          "Copies that `promote --to-store` made stay where they are. `--channel s3://BUCKET/v2/gfx94X-dcgpu` takes "
          "files out of a distribution in the same way; a set is named there by its digest in either store.",
      .operands = {{.name = "SET-OR-FILE", .help = "set:DIGEST, the name of a file, or its sha256", .repeats = true}},
      .flags = {{.name = "--channel",
                 .value = "NAME",
                 .help = "the channel; or a distribution, s3://BUCKET/v2/gfx94X-dcgpu",
                 .required = true},
                {.name = "--reason", .value = "TEXT", .help = "why, for the ledger", .required = true},
                {.name = "--dry-run", .value = "", .help = "show what would leave, change nothing", .letter = 'n'},
                sign_flag(),
                on_move_flag(),
                store_of_channel_flag()},
      .examples = {{"quarry yank set:0e66efc9cb8b --channel nightly --reason \"wrong compiler\" --store file:store",
                    "one night's packages, and not those that came after"},
                   {"quarry yank set:0e66efc9cb8b --channel s3://dist/v2/gfx94X-dcgpu --reason \"wrong compiler\"",
                    "and out of what people install from"}},
      .exit_codes = {{1, "done, and a command of --on-move failed"},
                     {3, "the channel or distribution does not exist, or neither shows nor blocks the set or the file"},
                     {7, "it was moved meanwhile, or other sets keep all the files"},
                     {10, "the policy of the channel, or of one that feeds the distribution, wants the move signed"}},
      .schema = "quarry.yank/1",
      .run = run_yank};
}

} // namespace quarry::cli
