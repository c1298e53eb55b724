#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/facts.hpp"
#include "cli/guard.hpp"
#include "cli/keys.hpp"
#include "cli/moves.hpp"
#include "cli/on_move.hpp"
#include "cli/records.hpp"
#include "cli/shared_flags.hpp"
#include "promote/withdraw.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

constexpr std::size_t k_leaving_shown = 10;

std::string leaving_text(const promote::Withdrawal& plan) {
  std::vector<std::string> files;
  for (const auto& file : plan.blocked)
    files.push_back(fmt::format("  {}  {}", file.sha256.short_hex(), file.filename));
  return first_rows(std::move(files), k_leaving_shown);
}

Result<int> run_yank(Context& context, const Arguments& arguments) {
  auto name = arguments.get("--channel");
  TRY(auto author, author_of(context, arguments));
  TRY(auto store, open_store(context, arguments.get("--store")));
  TRY(auto plan, promote::plan_withdrawal(*store, name, arguments.operands));
  for (auto& file : plan.blocked) file.reason = author.why;
  TRY(auto broken, promote::broken_by(*store, plan));
  context.out.findings(broken);
  bool dry = arguments.has("--dry-run"), moves = plan.moves(), moved = moves && !dry;
  auto generation = plan.expected.record.generation + (moves ? 1 : 0);
  if (!dry) {
    TRY(auto done, promote::withdraw(*store, plan, author));
    generation = done.channel.generation;
    context.out.findings(done.notes);
  }
  if (!moves)
    context.out.data(fmt::format("nothing to do  {}@{} shows nothing of it any more\n", name, generation));
  else
    context.out.data(fmt::format("{}  {}@{}  {} out\n{}", dry ? "would yank" : "yanked", name, generation,
                                 units::things(plan.blocked.size(), "file"), leaving_text(plan)));
  if (moved) context.out.note(undo_note(context, arguments, name));
  Json document{{"channel", name},
                {"generation", generation},
                {"view", plan.view.digest},
                {"blocked", blocked_json(plan.blocked)},
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
      .summary = "take a set or files out of a channel",
      .description =
          "The channel moves to a view without them, and blocks them: publishing and promoting do not bring them "
          "back, under whatever set, until `quarry channel unblock`. Installers do not see them any more, also "
          "those that ask for this very version: a file that is only marked as yanked is still installed under "
          "`==`, and the ROCm packages require each other so. Nothing is deleted.\n\n"
          "A set leaves with those of its files that are in no set that stays. A file leaves every set.",
      .operands = {{.name = "SET-OR-FILE", .help = "set:DIGEST, the name of a file, or its sha256", .repeats = true}},
      .flags = {{.name = "--channel", .value = "NAME", .help = "the channel", .required = true},
                {.name = "--reason", .value = "TEXT", .help = "why, for the ledger", .required = true},
                {.name = "--dry-run", .value = "", .help = "show what would leave, change nothing", .letter = 'n'},
                sign_flag(),
                on_move_flag(),
                store_flag()},
      .examples = {{"quarry yank set:0e66efc9cb8b --channel nightly --reason \"wrong compiler\"",
                    "one night's packages, and not those that came after"}},
      .exit_codes = {{1, "done, and a command of --on-move failed"},
                     {3, "the channel does not exist, or neither shows nor blocks the set or the file"},
                     {7, "the channel was moved meanwhile, or other sets keep all the files"},
                     {10, "the channel's policy wants the move signed"}},
      .schema = "quarry.yank/1",
      .run = run_yank};
}

} // namespace quarry::cli
