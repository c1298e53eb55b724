#include "base/one_line.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/delivery.hpp"
#include "cli/facts.hpp"
#include "cli/fed_report.hpp"
#include "cli/moves.hpp"
#include "cli/next_command.hpp"
#include "cli/records.hpp"
#include "cli/shared_flags.hpp"
#include "cli/unfinished.hpp"
#include "cli/verdict.hpp"
#include "gate/collect.hpp"
#include "pages/projection.hpp"
#include "promote/guard.hpp"
#include "promote/plan.hpp"
#include "promote/signed_moves.hpp"
#include "publish/verify_channel.hpp"
#include "registry/empty_extras.hpp"
#include "sys/clock.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

/// The newest of a channel. Each set costs two reads, three listings, and a read for each of its results and verdicts,
/// and is held against the results of all: a thousand would take minutes in a bucket. What is left out is said.
constexpr std::size_t k_sets_judged = 200;
constexpr std::size_t k_reasons_shown = 10;  // of one channel; --json has all
constexpr std::size_t k_moves_verified = 64; // the newest: a read each, one after the other; `channel verify` reads all

/// A cell that the channel shows already, and that the gate would hold now.
struct TroubledCell {
  bool failing = false; ///< else it is untested, or its result is too old
  const gate::CellVerdict* cell = nullptr;
};

struct ChannelStatus {
  registry::ChannelRecord record;
  registry::LedgerRecord last;
  std::vector<registry::SealedSet> judged; ///< of the sets that it shows, oldest first
  std::size_t sets = 0, waived = 0;
  std::uint64_t pages_generation = 0;
  std::vector<registry::EmptyExtra> empty_extras;
  std::vector<registry::Disappeared> disappeared; ///< what its verdicts were made with and is gone
  Findings lost;         ///< files of the judged sets that installers would not find: P020, P021, P022
  Findings moves;        ///< without a signature that was demanded, or not by the policy that the moves bound
  bool altered = false;  ///< the record and the ledger contradict each other: `moves` says how
  gate::Verdict verdict; ///< of the sets that the channel shows, by today's evidence
  Findings notes;
  /// Failures first, and of each kind those of the newest sets first: an old set whose results are too old by now must
  /// not hide a failure of today.
  std::vector<TroubledCell> troubled() const {
    std::map<registry::SetDigest, std::size_t> age;
    for (std::size_t i = 0; i < judged.size(); ++i) age[judged[i].digest] = judged.size() - i;
    std::vector<TroubledCell> found;
    for (const auto& cell : verdict.cells)
      if (cell.verdict == gate::Decision::held) found.push_back({!cell.failed.empty(), &cell});
    std::ranges::stable_sort(found, {}, [&](const TroubledCell& one) {
      return std::pair(!one.failing, age.contains(one.cell->set) ? age.at(one.cell->set) : 0);
    });
    return found;
  }
};

/// The sets of the view, or the newest of very many.
Result<std::vector<registry::SealedSet>> sets_to_judge(store::ObjectReader& store, const registry::ViewRecord& view) {
  auto count = std::min(view.sets.size(), k_sets_judged);
  return registry::load_all_sealed(store, {view.sets.end() - static_cast<std::ptrdiff_t>(count), view.sets.end()});
}

/// A protected channel is judged by its own policy, and `--policy` is for the others.
Result<gate::Policy> policy_of_status(Context& context, const Arguments& arguments, store::ObjectReader& store,
                                      const std::string& channel) {
  TRY(auto bound, promote::policy_of(store, channel));
  if (bound) return std::move(*bound);
  return load_policy(context, arguments.get("--policy"));
}

/// What is wrong with the newest moves. A ledger that cannot be read is told, too: it must not hide the rest.
Result<void> add_bad_moves(store::ObjectReader& store, ChannelStatus& status) {
  auto verified = promote::verify_moves(store, status.record, k_moves_verified);
  if (verified) {
    status.moves = std::move(verified->findings);
    return {};
  }
  const auto& error = verified.error();
  if (error.kind != ErrorKind::corrupt && error.kind != ErrorKind::not_found) return fail(std::move(verified).error());
  status.altered = true;
  status.moves = {{error.code, Severity::error, registry::ledger_key(status.record.ledger), error.message, error.hint}};
  return {};
}

/// Judges again what the channel shows: a failure that came in since, a result that is too old by now.
Result<ChannelStatus> status_of(Context& context, const Arguments& arguments, store::ObjectReader& store,
                                const std::string& name) {
  ChannelStatus status;
  TRY(auto channel, registry::require_channel(store, name));
  status.record = std::move(channel.record);
  TRY(status.last, registry::load_ledger(store, status.record.ledger), "while reading channel " + name);
  TRY(auto view, registry::load_view(store, status.record.view), "while reading channel " + name);
  TRY(auto sets, sets_to_judge(store, view));
  TRY_DO(add_bad_moves(store, status));
  TRY(status.pages_generation, pages::projected_generation(store, name));
  TRY(auto policy, policy_of_status(context, arguments, store, name));
  policy.expectation = {}; // what a release must bring was asked when it came
  TRY(auto input, gate::collect(store, name, sets, context.clock.now_us()));
  TRY_DO(gate::load_for_policy(store, policy, input, gate::Derivations::believed));
  TRY(status.disappeared, gate::find_disappeared(store, input));
  TRY(status.lost, publish::look_for_files(store, sets));
  status.verdict = gate::judge(policy, input);
  status.notes = std::move(input.notes);
  status.notes.insert(status.notes.end(), status.verdict.notes.begin(), status.verdict.notes.end());
  status.sets = view.sets.size();
  status.empty_extras = registry::empty_extras_of(view);
  status.judged = std::move(sets);
  for (const auto& cell : status.verdict.cells) status.waived += cell.waived;
  return status;
}

std::string status_text(const ChannelStatus& status) {
  const auto& record = status.record;
  auto ready = std::count_if(status.verdict.cells.begin(), status.verdict.cells.end(),
                             [](const auto& cell) { return cell.verdict == gate::Decision::ready; });
  auto text =
      fmt::format("{}@{}   {}, {} of {} cells ready{}   {} by {} at {}\n", record.name, record.generation,
                  record.guard.policy.empty() ? "not protected"
                                              : "protected by " + status.verdict.policy + openly_text(status.verdict),
                  ready, status.verdict.cells.size(), status.waived ? fmt::format(" ({} waived)", status.waived) : "",
                  status.last.action, status.last.who.empty() ? "-" : text::one_line(status.last.who),
                  short_time(status.last.when.text()));
  std::vector<std::string> lines;
  for (const auto& [failing, cell] : status.troubled()) {
    // A cell may be held although no suite is missing: its files left, or no [[require]] covers it.
    const auto* state = failing ? "FAILS   " : cell->untested.empty() ? "HELD    " : "UNTESTED";
    lines.push_back(fmt::format("  {}  {} of set:{}: {}", state, cell_text(cell->cell, "any"), cell->set.short_hex(),
                                text::one_line(cell->reasons.front())));
  }
  text += first_rows(std::move(lines), k_reasons_shown);
  if (!record.guard.blocked.empty())
    text += fmt::format("  blocks {}\n", units::things(record.guard.blocked.size(), "file"));
  for (const auto& one : status.moves)
    text += fmt::format("  {:<8}  {}\n", status.altered ? "ALTERED" : "UNSIGNED", text::one_line(one.message));
  std::vector<std::string> lost;
  for (const auto& one : status.lost)
    lost.push_back(fmt::format("  LOST      {} {} [{}]", one.place, text::one_line(one.message), one.code));
  text += first_rows(std::move(lost), k_reasons_shown);
  for (const auto& one : status.disappeared)
    text += fmt::format("  GONE      {}, which verdict {} on set:{} was made with\n", one.key, one.verdict.short_hex(),
                        one.set.short_hex());
  for (const auto& one : status.empty_extras)
    text += fmt::format("  empty extra {}: {} is held back\n", registry::name_of(one), text::one_line(one.lacks));
  if (status.judged.size() < status.sets)
    text += fmt::format("  the newest {} of {} sets were judged\n", status.judged.size(), status.sets);
  return text;
}

/// What to type for the first thing that is wrong; empty if nothing is.
std::string help_for(const Context& context, const Arguments& arguments, const ChannelStatus& status) {
  const auto& name = status.record.name;
  if (status.pages_generation < status.record.generation)
    return NextCommand(context, "index repair")
        .operand("channel:" + name)
        .set("--store", arguments.get("--store"))
        .text();
  if (!status.moves.empty() || !status.lost.empty())
    return NextCommand(context, "channel verify").operand(name).set("--store", arguments.get("--store")).text();
  for (const auto& [failing, cell] : status.troubled())
    if (failing)
      return NextCommand(context, "evidence log")
          .operand(cell->failed.front().short_hex())
          .set("--store", arguments.get("--store"))
          .text();
  return {};
}

Json status_json(const ChannelStatus& status) {
  auto json = verdict_json(status.verdict);
  auto extras = Json::array(), gone = Json::array();
  for (const auto& one : status.disappeared)
    gone.push_back({{"key", one.key}, {"verdict", one.verdict}, {"set", one.set}});
  for (const auto& one : status.empty_extras)
    extras.push_back({{"project", one.project}, {"version", one.version}, {"extra", one.extra}, {"lacks", one.lacks}});
  auto fails = Json::array(), untested = Json::array();
  for (const auto& [failing, cell] : status.troubled())
    (failing ? fails : untested)
        .push_back({{"cell", cell_text(cell->cell, "any")}, {"set", cell->set}, {"reasons", cell->reasons}});
  return {{"name", status.record.name},
          {"generation", status.record.generation},
          {"protected", !status.record.guard.policy.empty()},
          {"policy", json["policy"]},
          {"action", status.last.action},
          {"who", status.last.who},
          {"when", status.last.when},
          {"sets", status.sets},
          {"sets_judged", status.judged.size()},
          {"cells", json["cells"]},
          {"waived", status.waived},
          {"failing", fails},
          {"untested", untested},
          {"blocked", status.record.guard.blocked.size()},
          {"empty_extras", extras},
          {"disappeared", gone},
          {"lost", findings_json(status.lost)},
          {"altered", status.altered},
          {"unsigned_moves", findings_json(status.moves)},
          {"pages_current", status.pages_generation >= status.record.generation}};
}

/// Adds what `notes` lacks, and returns that: channels and candidate are judged by the same objects.
Findings add_new(Findings& notes, const Findings& more) {
  Findings fresh;
  for (const auto& note : more) {
    auto same = [&](const Finding& f) { return f.place == note.place && f.message == note.message; };
    if (std::any_of(notes.begin(), notes.end(), same)) continue;
    notes.push_back(note);
    fresh.push_back(note);
  }
  return fresh;
}

/// What of `--from` is held for the channel, and what would help. Returns the verdict's JSON.
Result<Json> print_candidate(Context& context, const Arguments& arguments, store::ObjectReader& store,
                             const std::string& channel, Findings& notes) {
  TRY(auto source, source_of(arguments, store));
  TRY(auto policy, policy_of_status(context, arguments, store, channel));
  TRY(auto input, gate::collect_new(store, channel, source.resolved, context.clock.now_us()));
  input.expectations = source.expectations;
  TRY_DO(gate::load_for_policy(store, policy, input));
  auto verdict = gate::judge(policy, input);
  context.out.findings(add_new(notes, input.notes));
  context.out.findings(add_new(notes, verdict.notes));
  context.out.data(verdict_text(verdict, input.subjects, {source.resolved.source, channel, context.out.data_look()}));
  auto of_channel = arguments; // what helps is for this channel
  of_channel.values["--to"] = {channel};
  promote::Request request{source.resolved, channel, policy};
  request.now_us = context.clock.now_us();
  request.expectations = source.expectations;
  context.out.data(
      held_text(context, of_channel,
                {policy, verdict, input.subjects, asks_ready_moves(context, of_channel, store, std::move(request))}));
  return verdict_json(verdict);
}

/// R026: channels of which only the pages are left.
Result<Findings> lost_channels(store::ObjectReader& store, const std::vector<std::string>& names) {
  Findings found;
  for (const auto& name : names) {
    auto whole = registry::refuse_lost(store, name);
    if (whole) continue;
    auto error = std::move(whole).error();
    if (error.kind != ErrorKind::corrupt) return fail(std::move(error));
    found.push_back({error.code, Severity::error, registry::channel_key(name), error.message, error.hint});
  }
  return found;
}

Result<int> run_status(Context& context, const Arguments& arguments) {
  TRY(auto store, open_store(context, arguments.get("--store")));
  auto names = arguments.operands;
  if (arguments.has("--from") && names.empty())
    return fail(ErrorKind::invalid_argument, "O022", "`--from` needs the channel that the sets are for",
                "name it: `quarry status CHANNEL --from LOCATOR`");
  Findings notes;
  int code = 0;
  bool all = names.empty();
  if (all) {
    TRY(auto channels, registry::channel_names(*store));
    names = std::move(channels.names);
    TRY(notes, lost_channels(*store, channels.without_record));
  }
  if (names.empty()) context.out.note(store->describe() + " has no channels");
  auto channels = Json::array();
  std::vector<std::string> help;
  FedReport fed(context, arguments);
  TRY_DO(fed.open());
  for (const auto& name : names) {
    if (arguments.has("--from")) {
      TRY(auto now, registry::read_channel(*store, name));
      if (!now) {
        context.out.note(fmt::format("there is no channel {} yet: its first sets are judged", name));
        continue;
      }
    }
    auto judged = status_of(context, arguments, *store, name);
    if (!judged && all && registry::is_lost(judged.error())) { // the other channels are to be seen
      notes.push_back(unreadable_channel(name, judged.error()));
      fed.some_are_missing();
      code = traits(ErrorKind::corrupt).exit_code;
      continue;
    }
    if (!judged && registry::is_lost(judged.error())) { // else "does not exist" would be said of a damaged channel
      TRY(auto now, registry::read_channel(*store, name));
      if (now) judged.error().kind = ErrorKind::corrupt;
    }
    TRY(auto status, std::move(judged));
    add_new(notes, status.notes);
    context.out.data(status_text(status));
    channels.push_back(status_json(status));
    if (!status.moves.empty() || !status.lost.empty()) code = traits(ErrorKind::corrupt).exit_code;
    TRY_DO(fed.add(*store, name, status.judged));
    if (auto line = help_for(context, arguments, status); !line.empty()) help.push_back(std::move(line));
  }
  TRY(auto distributions, fed.tell(*store));
  if (!distributions.lost.empty() || distributions.altered) code = traits(ErrorKind::corrupt).exit_code;
  notes.insert(notes.end(), distributions.lost.begin(), distributions.lost.end());
  help.insert(help.end(), distributions.help.begin(), distributions.help.end());
  context.out.findings(notes);
  TRY(auto unfinished, tell_unfinished(context, arguments, *store));
  help.insert(help.end(), unfinished.help.begin(), unfinished.help.end());
  Json candidate = nullptr;
  if (arguments.has("--from")) {
    TRY(candidate, print_candidate(context, arguments, *store, names.front(), notes));
  }
  for (const auto& line : help) context.out.note("next: " + line);
  for (const auto& line : unfinished.notes) context.out.note("  " + line);
  context.out.document({{"channels", channels},
                        {"distributions", distributions.rows},
                        {"unfinished", unfinished.rows},
                        {"candidate", candidate},
                        {"notes", findings_json(notes)}});
  return code;
}

Command status_command() {
  return {
      .path = {"status"},
      .summary = "say what is wrong with what channels show, and what is held",
      .description =
          "Judges again the sets that each channel shows, the newest 200 at most, by its policy and by the evidence of "
          "today: a result that "
          "failed since they were promoted (FAILS), one that is missing or too old by now (UNTESTED), what is waived "
          "and what is blocked; files of these sets that are missing or cut off, by a listing of their directories "
          "(LOST); evidence and waivers that a verdict was made with and that somebody removed (GONE); of "
          "the newest 64 moves those without a signature that the policy of then demands, and a channel that is bound "
          "to another policy than its moves bound (UNSIGNED); a channel that is not what its moves left (ALTERED). "
          "Nothing is changed, and installers see what they saw.\n\n"
          "A release that was interrupted between two channels is named with the channels that have not moved yet, and "
          "the command that completes it. "
          "With `--from` also what of these sets is held for the channel, why, and what would help.\n\n"
          "With `--to-store` also each distribution there that these channels feed: sets of a channel that it lacks "
          "(BEHIND), those of them with a file that is blocked there (BLOCKED), copies that it shows and no channel "
          "that feeds it does (STRAY), a policy that is older than its channel's (BEHIND), pages that were not written "
          "after its last move, a pointer that is gone or damaged (LOST), and a waiver that was revoked since a set "
          "was "
          "copied, as long as its pages do not say so (REVOKED): the printed `promote` tells them. Its newest 64 moves "
          "are verified as `channel verify` does (UNSIGNED, ALTERED). A directory that was never filled is named only "
          "with CHANNEL.",
      .operands = {{"CHANNEL", "the channel; without it all of the store", false}},
      .flags = {{.name = "--from",
                 .value = "LOCATOR",
                 .help = "sets that are to go there: run:ID, set:DIGEST, channel:NAME or release:DIGEST",
                 .repeats = true},
                {.name = "--policy",
                 .value = "FILE",
                 .help = "the policy of channels that are not protected",
                 .fallback = "default"},
                expect_flag(),
                {.name = "--to-store",
                 .value = "LOCATOR",
                 .help = "also look at the distributions of the channels in this store"},
                {.name = "--prefix", .value = "DIR", .help = "where CHANNEL's packages lie there, such as v2/{family}"},
                distributions_flag(),
                store_flag()},
      .examples = {{"quarry status --store s3://builds", "every channel"},
                   {"quarry status stable --from channel:staging", "and what holds the next release"},
                   {"quarry status --to-store s3://dist --store s3://builds", "and whether people get what it shows"}},
      .exit_codes = {{3, "the channel does not exist"},
                     {6, "a channel, a distribution or a file was altered or lost, or a move lacks its signature; "
                         "without CHANNEL the others are shown"},
                     {10, "with `--from`: what an earlier verdict on these sets was made with is gone"}},
      .schema = "quarry.status/1",
      .run = run_status};
}

} // namespace

std::vector<Command> status_commands() { return {status_command()}; }

} // namespace quarry::cli
