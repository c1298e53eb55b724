#include "cli/commands.hpp"
#include "cli/families.hpp"
#include "cli/next_command.hpp"
#include "cli/records.hpp"
#include "cli/suggest.hpp"
#include "cli/verdict.hpp"

#include "base/text.hpp"
#include "cli/shared_flags.hpp"
#include "gate/collect.hpp"
#include "gate/gate.hpp"
#include "sys/clock.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

// gate

Result<int> run_gate(Context& context, const Arguments& arguments) {
  auto from = arguments.get("--from"), to = arguments.get("--to");
  TRY(auto store, open_store(context, arguments.get("--store")));
  TRY(auto policy, policy_for(context, arguments, *store, to));
  TRY(auto source, resolve_sets(*store, from));
  TRY(auto input, gate::collect_new(*store, to, source, context.clock.now_us()));
  context.out.findings(input.notes);
  auto verdict = gate::judge(policy, input);
  auto name = source.generation ? fmt::format("{}@{}", source.source, source.generation) : source.source;
  context.out.data(verdict_text(verdict, input.subjects, {name, to, context.out.data_look()}));
  context.out.data(held_text(context, arguments, {policy, verdict, input.subjects}));
  auto document = verdict_json(verdict);
  document["schema"] = "quarry.gate/1";
  document["source"] = name;
  document["channel"] = to;
  document["notes"] = findings_json(input.notes);
  context.out.document(document);
  if (!verdict.would_hold && !verdict.cells.empty())
    context.out.note("next: " + NextCommand(context, "promote").flags_of(arguments).text());
  return verdict.verdict == gate::Decision::ready ? 0 : 10;
}

Command gate_command() {
  return {
      .path = {"gate"},
      .summary = "judge whether sets may move to a channel",
      .description =
          "Lays a policy over the sets of `--from` that the channel does not have, and over all evidence and "
          "waivers in the store. A cell is ready when every required suite has passed, lately enough, on exactly "
          "the files of that cell; silence holds. Nothing is changed.\n\nA policy is a TOML file "
          "(docs/formats/policy.md), or the name of one inside the program: default, demo, incumbent-feb.",
      .operands = {},
      .flags = {{"--to", "CHANNEL", "where the sets are to go", {}, {}, {}, true},
                {"--from", "LOCATOR", "the sets: run:ID, set:DIGEST or channel:NAME", {}, {}, {}, true},
                {"--policy", "FILE", "a policy file, or the name of a shipped one", {}, "default"},
                store_flag()},
      .examples = {{"quarry gate --to stable --from channel:staging --policy default", "what would be held, and why"}},
      .exit_codes = {{0, "every cell is ready, or the policy only reports"}, {10, "held"}},
      .schema = "quarry.gate/1",
      .run = run_gate};
}

// waive

Unexpected cannot_waive(std::string message, std::string hint) {
  return fail(ErrorKind::invalid_argument, "G006", std::move(message), std::move(hint));
}

/// An age ("14d"), a day or a time.
Result<std::int64_t> expiry(const std::string& text, std::int64_t now_us) {
  if (auto age = gate::parse_age(text)) return now_us + *age;
  auto until = gate::parse_until(text);
  if (until) return until;
  until.error().hint = "write it as an age such as 7d or 12h, as 2026-12-15, or as 2026-12-15T18:00:00Z";
  return until;
}

/// A name that nothing has is a mistake or early: the waiver counts for nothing until it exists. Best effort: what
/// cannot be looked up is not mentioned.
Findings unknown_names(const Context& context, store::ObjectStore& store, const registry::WaiverRecord& waiver) {
  Findings found;
  auto channels = registry::list_channels(store);
  if (channels && std::find(channels->begin(), channels->end(), waiver.channel) == channels->end())
    found.push_back({"G008", Severity::warning, "--to",
                     fmt::format("there is no channel {} in {} yet", waiver.channel, store.describe()),
                     channels->empty() ? "" : did_you_mean(waiver.channel, *channels)});
  const auto& family = waiver.cell.family;
  auto families = load_families(context, "");
  if (!family.empty() && families && families->targets_of(family).empty())
    found.push_back({"G008", Severity::warning, "--family",
                     fmt::format("the families table has neither a family nor a target {}", family),
                     "`quarry matrix targets` lists them"});
  return found;
}

Result<void> check_waiver(Context& context, const Arguments& arguments, store::ObjectStore& store,
                          const registry::WaiverRecord& waiver) {
  auto now_us = context.clock.now_us();
  if (text::trim(waiver.reason).empty() || text::trim(waiver.approver).empty())
    return cannot_waive("a waiver needs a reason and an approver", "give --reason and --approver");
  if (waiver.expires.us() <= now_us)
    return cannot_waive(fmt::format("the waiver would have ended already: {}", waiver.expires),
                        "give --expires a day to come, or an age such as 7d");
  TRY(auto policy, policy_for(context, arguments, store, waiver.channel));
  if (std::find(policy.approvers.begin(), policy.approvers.end(), waiver.approver) == policy.approvers.end())
    return cannot_waive(
        fmt::format("{} is not an approver of policy {}", waiver.approver, policy.name),
        policy.approvers.empty()
            ? fmt::format("policy {} has no approvers; `--policy FILE` names another one", policy.name)
            : fmt::format("ask one of: {}; `--policy FILE` names another policy", text::join(policy.approvers, ", ")));
  if (waiver.expires.us() - now_us > policy.waiver_max_age_us)
    return cannot_waive(fmt::format("policy {} does not allow waivers until {}", policy.name, waiver.expires),
                        fmt::format("the latest end is {}", sys::rfc3339(now_us + policy.waiver_max_age_us)));
  return {};
}

Result<registry::WaiverRecord> make_waiver(const Arguments& arguments, store::ObjectStore& store, std::int64_t now_us) {
  registry::WaiverRecord waiver;
  waiver.channel = arguments.get("--to");
  TRY_DO(registry::check_channel_name(waiver.channel));
  waiver.suite = arguments.find("--suite").value_or("");
  TRY_DO(check_line("--reason", arguments.get("--reason")));
  TRY_DO(check_line("--approver", arguments.get("--approver")));
  waiver.reason = arguments.get("--reason");
  waiver.approver = arguments.get("--approver");
  waiver.cell = {arguments.find("--platform").value_or(""), arguments.find("--family").value_or(""),
                 arguments.find("--python").value_or(""), arguments.find("--framework").value_or("")};
  for (auto digits : arguments.list("--set")) {
    if (digits.starts_with("set:")) digits = digits.substr(4);
    TRY(auto digest, registry::complete_set_digest(store, digits));
    waiver.sets.push_back(digest);
  }
  waiver.created = sys::Timestamp::from_us(now_us);
  TRY(auto expires_us, expiry(arguments.get("--expires"), now_us));
  waiver.expires = sys::Timestamp::from_us(expires_us);
  return waiver;
}

/// A waiver for all that ever moves to a channel must be meant: a flag that was forgotten would give the same.
Result<void> check_scope(const Arguments& arguments) {
  std::vector<std::string> given, known = {"--platform", "--family", "--python", "--framework", "--suite", "--set"};
  for (const auto& flag : known)
    if (!arguments.list(flag).empty()) given.push_back(flag);
  for (const auto& flag : given) // an empty value is a variable that is not set
    if (arguments.get(flag).empty())
      return cannot_waive(fmt::format("{} is empty", flag), "is a variable unset? omit the flag to cover all of them");
  if (arguments.has("--everything") && !given.empty())
    return cannot_waive(fmt::format("--everything and {} exclude each other", given.front()), "use only one of them");
  if (!arguments.has("--everything") && given.empty())
    return cannot_waive(fmt::format("the waiver would cover every suite on every cell of {}", arguments.get("--to")),
                        fmt::format("limit it with {}, or use --everything", text::join(known, ", ")));
  return {};
}

std::string scope_text(const registry::WaiverRecord& waiver) {
  std::vector<std::string> parts;
  for (const auto& part : {waiver.cell.platform, waiver.cell.family, waiver.cell.python, waiver.cell.framework})
    if (!part.empty()) parts.push_back(part);
  return parts.empty() ? "every cell" : text::join(parts, " ");
}

Result<int> run_waive(Context& context, const Arguments& arguments) {
  TRY_DO(check_scope(arguments));
  TRY(auto store, open_store(context, arguments.get("--store")));
  TRY(auto waiver, make_waiver(arguments, *store, context.clock.now_us()));
  TRY_DO(check_waiver(context, arguments, *store, waiver));
  auto unknown = unknown_names(context, *store, waiver);
  context.out.findings(unknown);
  bool dry = arguments.has("--dry-run");
  auto digest = registry::digest_of(waiver);
  if (!dry) {
    TRY(digest, registry::put_waiver(*store, waiver));
  }
  context.out.data(fmt::format("{}  {}  {} on {}, until {}, by {}: {}\n", dry ? "would waive" : "waived",
                               digest.short_hex(), waiver.suite.empty() ? "every suite" : waiver.suite,
                               scope_text(waiver), waiver.expires, waiver.approver, waiver.reason));
  context.out.document({{"schema", "quarry.waive/1"},
                        {"waiver", digest},
                        {"written", !dry},
                        {"channel", waiver.channel},
                        {"expires", waiver.expires},
                        {"notes", findings_json(unknown)}});
  return 0;
}

Command waive_command() {
  return {
      .path = {"waive"},
      .summary = "record an exception to a policy",
      .description =
          "Writes a waiver into the store: for this channel, these cells and suites count as ready until the "
          "waiver expires, although evidence is missing or bad. The policy says who may waive and for how long; the "
          "waiver is checked against it at once, so name with `--policy` the one that will judge.\n\n"
          "Say what is waived: a cell, a suite, a set, or `--everything`.",
      .operands = {},
      .flags = {{"--to", "CHANNEL", "the channel that it is for", {}, {}, {}, true},
                {"--reason", "TEXT", "why the risk is taken", {}, {}, {}, true},
                {"--approver", "NAME", "who takes it; one of the policy's approvers", {}, {}, {}, true},
                {"--expires", "WHEN", "2026-12-15, an RFC 3339 time, or an age such as 7d", {}, {}, {}, true},
                {"--platform", "P", "only on this platform"},
                {"--family", "F", "only for this GPU family"},
                {"--python", "V", "only for this Python, such as 3.12"},
                {"--framework", "NAME", "only for this framework"},
                {"--suite", "NAME", "only for this suite"},
                {"--set", "DIGEST", "only for this set", {}, {}, {}, false, true},
                {"--everything", "", "every suite on every cell of every set"},
                {"--policy", "FILE", "the policy that will judge", {}, "default"},
                {"--dry-run", "", "check and show it, write nothing", {}, {}, {}, false, false, 'n'},
                store_flag()},
      .examples = {{"quarry waive --to stable --family gfx1153 --approver release-owner --expires 14d "
                    "--reason \"no lab machine until December\"",
                    "one family, for two weeks"}},
      .exit_codes = {{2, "the waiver would not count"}},
      .schema = "quarry.waive/1",
      .run = run_waive};
}

} // namespace

std::vector<Command> gate_commands() { return {gate_command(), waive_command()}; }

} // namespace quarry::cli
