#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/facts.hpp"
#include "cli/next_command.hpp"
#include "cli/records.hpp"
#include "cli/reviewed.hpp"
#include "cli/shared_flags.hpp"
#include "retain/apply.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

using retain::Leaving;

constexpr std::uint64_t k_rules_file_bytes_max = 1u << 20; // a page of rules
constexpr std::size_t k_lines_shown = 20;                  // of one list; --json has all

Result<retain::Rules> retention_rules(const Context& context, const Arguments& arguments) {
  auto named = arguments.get("--rules");
  bool is_word = named.find_first_of("/.") == named.npos;
  auto shipped = is_word ? context.resources.read("data/retention/" + named + ".toml") : std::nullopt;
  if (shipped) return retain::parse_rules({std::string(*shipped), "data/retention/" + named + ".toml"});
  TRY(auto text, sys::read_file(named, k_rules_file_bytes_max), "while reading the rules of retention");
  return retain::parse_rules({std::move(text), named});
}

std::uint64_t bytes_in(const std::vector<Leaving>& list) {
  std::uint64_t sum = 0;
  for (const auto& each : list) sum += each.bytes;
  return sum;
}

constexpr std::string_view k_indent = "            "; ///< the width of the words in front of each line

std::string list_text(std::string_view word, const std::vector<Leaving>& list) {
  std::vector<std::string> lines;
  for (const auto& one : list)
    lines.push_back(fmt::format("{:<11} set:{}  {}  {}  {} ({})", word, one.set.short_hex(), short_time(one.sealed),
                                one.directory, units::bytes(one.bytes), one.rule));
  return first_rows(std::move(lines), k_lines_shown, k_indent);
}

std::string spared_text(const std::vector<retain::Spared>& spared) {
  std::vector<std::string> lines;
  for (const auto& one : spared)
    lines.push_back(fmt::format("{:<11} set:{}  {}", "keep", one.set.short_hex(), one.why));
  return first_rows(std::move(lines), k_lines_shown, k_indent);
}

Json list_json(const std::vector<Leaving>& list) {
  auto rows = Json::array();
  for (const auto& each : list)
    rows.push_back({{"set", each.set},
                    {"directory", each.directory},
                    {"rule", each.rule},
                    {"sealed", each.sealed},
                    {"files", each.files},
                    {"bytes", each.bytes}});
  return rows;
}

Json spared_json(const std::vector<retain::Spared>& spared) {
  auto rows = Json::array();
  for (const auto& each : spared) rows.push_back({{"set", each.set}, {"why", each.why}});
  return rows;
}

void show_plan(Context& context, const retain::Plan& plan, const Arguments& arguments) {
  context.out.findings(plan.notes);
  context.out.data(list_text("tombstone", plan.tombstone) + list_text("purge", plan.purge) +
                   list_text("restore", plan.restore) + spared_text(plan.spared));
  context.out.data(fmt::format("{} to tombstone ({}), {} to purge ({}), {} kept though old, {} not old enough\n",
                               units::things(plan.tombstone.size(), "set"), units::bytes(bytes_in(plan.tombstone)),
                               units::things(plan.purge.size(), "set"), units::bytes(bytes_in(plan.purge)),
                               plan.spared.size(), plan.staying));
  context.out.data("plan        " + plan.digest.hex() + "\n");
  if (!plan.empty())
    context.out.note("next: " + NextCommand(context, "retain apply")
                                    .set("--execute", plan.digest.hex())
                                    .set("--rules", arguments.get("--rules"))
                                    .set("--store", arguments.get("--store"))
                                    .text());
  context.out.document({{"rules", plan.rules},
                        {"plan", plan.digest},
                        {"tombstone", list_json(plan.tombstone)},
                        {"purge", list_json(plan.purge)},
                        {"restore", list_json(plan.restore)},
                        {"kept", spared_json(plan.spared)},
                        {"not_old_enough", plan.staying},
                        {"notes", findings_json(plan.notes)}});
}

Result<int> run_plan(Context& context, const Arguments& arguments) {
  TRY(auto rules, retention_rules(context, arguments));
  TRY(auto store, open_store(context, arguments.get("--store")));
  auto now_us = context.clock.now_us();
  TRY(auto inventory, retain::look(*store, now_us));
  TRY(auto plan, retain::plan_retention(*store, inventory, rules, now_us));
  show_plan(context, plan, arguments);
  return 0;
}

/// The plan that a killed run had begun, as far as it is not done; else the one that is made now, if it is the reviewed
/// one.
Result<retain::Plan> plan_to_apply(store::ObjectReader& store, const Arguments& arguments, retain::Plan now) {
  auto asked = registry::PlanDigest::parse(arguments.get("--execute"));
  if (asked && *asked != now.digest) {
    TRY(bool begun, retain::was_begun(store, *asked));
    if (begun) return retain::rest_of(store, *asked, now);
  }
  TRY_DO(check_reviewed(arguments, now.digest));
  return now;
}

Result<int> run_apply(Context& context, const Arguments& arguments) {
  TRY_DO(check_execute(context, arguments));
  if (arguments.has("--dry-run")) return run_plan(context, arguments);
  TRY_DO(check_line("--reason", arguments.get("--reason")));
  TRY(auto rules, retention_rules(context, arguments));
  TRY(auto store, open_store(context, arguments.get("--store")));
  TRY(auto now_us, retain::time_for_retention(*store));
  TRY(auto inventory, retain::look(*store, now_us));
  TRY(auto now, retain::plan_retention(*store, inventory, rules, now_us));
  TRY(auto plan, plan_to_apply(*store, arguments, std::move(now)));
  TRY(auto applied, retain::apply(*store, inventory, plan, {who(context), arguments.get("--reason")}));
  std::ranges::move(plan.notes, std::back_inserter(applied.notes));
  context.out.findings(applied.notes);
  context.out.data(list_text("tombstoned", applied.tombstoned) + list_text("purged", applied.purged) +
                   list_text("restored", applied.restored) + spared_text(applied.spared));
  context.out.data(fmt::format("{} tombstoned, {} purged: {} removed\n",
                               units::things(applied.tombstoned.size(), "set"),
                               units::things(applied.purged.size(), "set"), units::bytes(applied.bytes)));
  if (!applied.tombstoned.empty())
    context.out.note(
        "undo: " +
        NextCommand(context, "retain undo").operand(plan.digest.hex()).set("--store", arguments.get("--store")).text());
  context.out.document({{"plan", applied.plan},
                        {"tombstoned", list_json(applied.tombstoned)},
                        {"purged", list_json(applied.purged)},
                        {"restored", list_json(applied.restored)},
                        {"kept", spared_json(applied.spared)},
                        {"bytes_removed", applied.bytes},
                        {"notes", findings_json(applied.notes)}});
  return std::ranges::any_of(applied.notes, [](const Finding& f) { return f.severity == Severity::error; }) ? 1 : 0;
}

Result<retain::Undo> asked_to_undo(store::ObjectReader& store, const std::vector<std::string>& words) {
  retain::Undo undo;
  constexpr std::string_view k_set = "set:";
  for (const auto& word : words) {
    if (word.starts_with(k_set)) {
      TRY(auto set, registry::complete_set_digest(store, word.substr(k_set.size())));
      undo.sets.push_back(set);
      continue;
    }
    auto plan = registry::PlanDigest::parse(word);
    if (!plan || undo.plan)
      return fail(ErrorKind::invalid_argument, "O204",
                  undo.plan ? "one plan is undone at a time"
                            : fmt::format("`{}` is neither the digest of a plan nor set:DIGEST", word),
                  "`quarry retain apply` printed the digest of its plan");
    undo.plan = *plan;
  }
  return undo;
}

Result<int> run_undo(Context& context, const Arguments& arguments) {
  TRY_DO(check_line("--reason", arguments.get("--reason")));
  TRY(auto store, open_store(context, arguments.get("--store")));
  TRY(auto asked, asked_to_undo(*store, arguments.operands));
  TRY(auto inventory, retain::look(*store, context.clock.now_us()));
  TRY(auto undone, retain::undo(*store, inventory, asked, {who(context), arguments.get("--reason")}));
  context.out.data(list_text("restored", undone.restored));
  for (const auto& set : undone.earlier)
    context.out.data(fmt::format("set:{} was restored before; its pages are complete\n", set.short_hex()));
  for (const auto& set : undone.gone) context.out.warn(fmt::format("set:{} is gone already", set.short_hex()));
  context.out.data(fmt::format("{} restored\n", units::things(undone.restored.size(), "set")));
  context.out.document({{"restored", list_json(undone.restored)}, {"earlier", undone.earlier}, {"gone", undone.gone}});
  return 0;
}

const Flag k_rules_flag{.name = "--rules",
                        .value = "RULES",
                        .help = "a file of rules, or the name of a shipped one",
                        .fallback = "default"};
const Flag k_reason_flag{.name = "--reason", .value = "TEXT", .help = "why, for the records", .fallback = ""};

Command plan_command() {
  return {
      .path = {"retain", "plan"},
      .summary = "show which packages of runs are old and named by nothing",
      .description =
          "A set leaves when its rule says that it is old, and nothing names it: no channel and no earlier view of "
          "one, no kept lock, no set that was made of it. A set without which a package that stays could not be "
          "installed any more stays, too. What is not the output of a run, such as a distribution, always stays.\n\n"
          "Writes nothing. `quarry retain apply --execute DIGEST` runs exactly this plan.",
      .operands = {},
      .flags = {k_rules_flag, store_flag()},
      .examples = {{"quarry retain plan --store s3://builds", "by the shipped rules"}},
      .exit_codes = {{2, "the rules have an error"}, {3, "the current view of a channel is lost"}},
      .schema = "quarry.retain-plan/1",
      .run = run_plan};
}

Command apply_command() {
  return {.path = {"retain", "apply"},
          .summary = "retire old packages, and remove the files of those that were retired a grace time ago",
          .description =
              "Two phases, as `quarry gc`. A set that leaves is tombstoned: its seal goes, so it is not on the pages, "
              "and cannot be installed, tested or promoted any more; its files stay. A run a grace time later (as the "
              "rules say, a week in the shipped ones) looks again at what names it, and removes the files. Until then "
              "`quarry retain undo` brings it back. Run it regularly.\n\n"
              "Evidence, waivers, verdicts and the records of sets are never removed. Interrupted, the same command "
              "completes the work.",
          .operands = {},
          .flags = {k_rules_flag,
                    {.name = "--execute", .value = "DIGEST", .help = "run exactly the plan that was reviewed"},
                    {.name = "--dry-run", .value = "", .help = "show the plan, remove nothing", .letter = 'n'},
                    k_reason_flag,
                    store_flag()},
          .examples = {{"quarry retain apply --dry-run --store s3://builds", "what would go, and the plan's digest"},
                       {"quarry retain apply --store s3://builds", "each night, from a schedule"}},
          .exit_codes = {{1, "something names files that were removed already"},
                         {2, "the rules have an error"},
                         {3, "the current view of a channel is lost; nothing was removed"},
                         {7, "another plan than the reviewed one, or another command was faster"}},
          .schema = "quarry.retain-apply/1",
          .run = run_apply};
}

Command undo_command() {
  return {.path = {"retain", "undo"},
          .summary = "bring back what retention retired, until its files are removed",
          .description = "Puts the seals back and writes the pages. The age of these sets counts from now on, so that "
                         "the next `quarry retain apply` does not retire them again.",
          .operands = {{.name = "PLAN-OR-SET",
                        .help = "the digest of a plan: all that it tombstoned; or set:DIGEST",
                        .repeats = true}},
          .flags = {k_reason_flag, store_flag()},
          .examples = {{"quarry retain undo set:0e66efc9cb8b --store s3://builds", "one set"}},
          .exit_codes = {{3, "retention retired nothing of that, or its files are gone"},
                         {7, "another command was faster"}},
          .schema = "quarry.retain-undo/1",
          .run = run_undo};
}

} // namespace

std::vector<Command> retain_commands() { return {plan_command(), apply_command(), undo_command()}; }

} // namespace quarry::cli
