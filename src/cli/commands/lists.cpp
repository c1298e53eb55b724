// What a store holds: its channels, its sealed sets, its runs.
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/records.hpp"
#include "cli/shared_flags.hpp"
#include "cli/table.hpp"
#include "dist/family.hpp"
#include "run/layout.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

/// "2026-11-22T15:00:00Z".
std::string to_the_second(const std::string& time) { return time.empty() ? "" : time.substr(0, 19) + "Z"; }

Json null_if_empty(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

/// A line of headings and the rows; nothing without rows, but a note that says so.
void print_rows(Context& context, const std::vector<Column>& columns, std::vector<Cell> headings, TableRows rows,
                const std::string& nothing) {
  if (rows.empty()) return context.out.note(nothing);
  rows.insert(rows.begin(), std::move(headings));
  context.out.data(table(columns, rows, context.out.data_look()));
}

// ---- channel list

struct ListedChannel {
  registry::ChannelRecord record;
  registry::ViewRecord view;
  registry::LedgerRecord move;
};

/// nullopt: removed since it was listed.
Result<std::optional<ListedChannel>> look_at_channel(store::ObjectReader& store, const std::string& name) {
  TRY(auto channel, registry::read_channel(store, name), "while reading channel " + name);
  if (!channel) return std::optional<ListedChannel>();
  ListedChannel listed{std::move(channel->record), {}, {}};
  TRY(listed.view, registry::load_view(store, listed.record.view), "while reading channel " + name);
  TRY(listed.move, registry::load_ledger(store, listed.record.ledger), "while reading channel " + name);
  return std::optional(std::move(listed));
}

int exit_code_of(const Findings& notes) { return has_errors(notes) ? traits(ErrorKind::corrupt).exit_code : 0; }

Result<int> list_channels_of(Context& context, const Arguments& arguments) {
  TRY(auto store, open_store(context, arguments.get("--store")));
  TRY(auto names, registry::list_channels(*store));
  TableRows rows;
  Findings notes;
  auto list = Json::array();
  for (const auto& name : names) {
    auto looked = look_at_channel(*store, name);
    if (!looked && registry::is_lost(looked.error())) {
      notes.push_back(unreadable_channel(name, looked.error()));
      continue;
    }
    TRY(auto listed, std::move(looked));
    if (!listed) continue;
    const auto& [record, view, move] = *listed;
    rows.push_back({name, std::to_string(record.generation), std::to_string(view.sets.size()),
                    std::to_string(view.shards.size()), to_the_second(move.when.text()),
                    std::string(move.action.text()), move.who});
    list.push_back({{"name", name},
                    {"generation", record.generation},
                    {"view", record.view},
                    {"previous", null_if_empty(record.previous.hex())},
                    {"sets", view.sets},
                    {"projects", view.shards.size()},
                    {"moved", move.when},
                    {"action", move.action},
                    {"who", move.who}});
  }
  print_rows(context, {k_name, k_number, k_number, k_number, k_text, k_text, k_text},
             {"channel", "generation", "sets", "projects", "moved", "action", "who"}, std::move(rows),
             store->describe() + (notes.empty() ? " has no channels" : " has no channel that can be read"));
  context.out.findings(notes);
  context.out.document({{"channels", list}, {"notes", findings_json(notes)}});
  return exit_code_of(notes);
}

Command channel_list_command() {
  return {.path = {"channel", "list"},
          .summary = "list the channels of a store",
          .description = "One line for each channel: its generation, how many sets and projects it shows, and its last "
                         "move. `quarry channel show NAME` lists the files, `quarry channel log NAME` all moves.",
          .operands = {},
          .flags = {store_flag()},
          .examples = {{"quarry channel list", "the channels of the store in QUARRY_STORE"},
                       {"quarry channel list --store s3://bucket/prefix", "those of a bucket"}},
          .exit_codes = {{3, "the store does not exist"}, {6, "a record was altered or lost; the others are listed"}},
          .schema = "quarry.channel-list/1",
          .run = list_channels_of};
}

// ---- set list

/// "rocm 7.2.0" of a set that has it, else its first project; with several versions, the first.
std::string main_package(const registry::SetRecord& set) {
  const registry::FileRecord* found = nullptr;
  for (const auto& file : set.files)
    if (!found || (file.project == dist::k_sdk_project && found->project != dist::k_sdk_project)) found = &file;
  return found ? found->project + " " + found->version : "";
}

/// What the channel shows; nothing if it does not exist. Its last move is not read: it may be lost.
Result<registry::ViewRecord> view_of_channel(store::ObjectReader& store, const std::string& name) {
  TRY(auto channel, registry::read_channel(store, name), "while reading channel " + name);
  if (!channel) return registry::ViewRecord();
  TRY(auto view, registry::load_view(store, channel->record.view), "while reading channel " + name);
  return view;
}

/// Set digest -> names of the channels that show it. Channels that cannot be read are in `notes`.
Result<std::map<registry::SetDigest, std::vector<std::string>>> channels_of_sets(store::ObjectReader& store,
                                                                                 Findings& notes) {
  std::map<registry::SetDigest, std::vector<std::string>> channels;
  TRY(auto names, registry::list_channels(store));
  for (const auto& name : names) {
    auto looked = view_of_channel(store, name);
    if (!looked && registry::is_lost(looked.error())) {
      notes.push_back(unreadable_channel(name, looked.error()));
      continue;
    }
    TRY(auto view, std::move(looked));
    for (const auto& set : view.sets) channels[set].push_back(name);
  }
  return channels;
}

struct ListedSet {
  registry::SealedSet sealed;
  std::uint64_t bytes = 0;
};

/// The sealed sets, newest first; altered ones are in `notes`. A record without a seal belongs to a publish that has
/// not finished.
Result<std::vector<ListedSet>> sealed_sets(store::ObjectReader& store, Findings& notes) {
  constexpr std::string_view k_sets = "sets/", k_suffix = ".json";
  TRY(auto objects, store.list(std::string(k_sets)));
  std::vector<ListedSet> sets;
  for (const auto& object : objects) {
    auto name = object.key.substr(k_sets.size());
    if (!name.ends_with(k_suffix)) continue;
    auto digest = registry::SetDigest::parse(std::string_view(name).substr(0, name.size() - k_suffix.size()));
    if (!digest) continue;
    auto sealed = registry::load_sealed(store, *digest);
    if (!sealed && sealed.error().kind == ErrorKind::not_found) continue;
    if (!sealed && registry::is_lost(sealed.error())) {
      notes.push_back({sealed.error().code, Severity::error, object.key, sealed.error().message, sealed.error().hint});
      continue;
    }
    if (!sealed) return fail(std::move(sealed).error());
    std::uint64_t bytes = 0;
    for (const auto& file : sealed->set.files) bytes += file.size;
    sets.push_back({std::move(*sealed), bytes});
  }
  std::stable_sort(sets.begin(), sets.end(),
                   [](const ListedSet& a, const ListedSet& b) { return a.sealed.seal.time > b.sealed.seal.time; });
  return sets;
}

Result<int> list_sets(Context& context, const Arguments& arguments) {
  TRY(auto store, open_store(context, arguments.get("--store")));
  Findings notes;
  TRY(auto sets, sealed_sets(*store, notes));
  TRY(auto channels, channels_of_sets(*store, notes));
  auto wanted = arguments.get("--channel");
  TableRows rows;
  auto list = Json::array();
  for (const auto& [sealed, bytes] : sets) {
    auto in = channels[sealed.digest];
    if (!wanted.empty() && std::find(in.begin(), in.end(), wanted) == in.end()) continue;
    rows.push_back({"set:" + sealed.digest.short_hex(), to_the_second(sealed.seal.time.text()),
                    main_package(sealed.set), std::to_string(sealed.set.files.size()), units::bytes(bytes),
                    sealed.set.directory, text::join(in, ", ")});
    list.push_back({{"set", sealed.digest},
                    {"sealed", sealed.seal.time},
                    {"directory", sealed.set.directory},
                    {"package", main_package(sealed.set)},
                    {"files", sealed.set.files.size()},
                    {"size", bytes},
                    {"run_id", sealed.set.origin.run_id},
                    {"platform", sealed.set.origin.platform},
                    {"channels", in}});
  }
  print_rows(context, {k_text, k_text, k_name, k_number, k_number, k_name, k_text},
             {"set", "sealed", "package", "files", "size", "directory", "channels"}, std::move(rows),
             store->describe() +
                 (wanted.empty() ? " has no sealed sets"
                                 : " has no sets in channel " + wanted + (notes.empty() ? "" : " that can be read")));
  context.out.findings(notes);
  context.out.document({{"sets", list}, {"notes", findings_json(notes)}});
  return exit_code_of(notes);
}

Command set_list_command() {
  return {
      .path = {"set", "list"},
      .summary = "list the published sets of a store, newest first",
      .description = "One line for each sealed set: when it was sealed, its main package, its files, its directory "
                     "and the channels that show it. A publish that has not finished has no seal and is not "
                     "listed. The cost is one read for each set and one for its seal.",
      .operands = {},
      .flags = {store_flag(), {.name = "--channel", .value = "NAME", .help = "only the sets that this channel shows"}},
      .examples = {{"quarry set list", "what is published in the store in QUARRY_STORE"},
                   {"quarry set list --channel stable", "what stable consists of"}},
      .exit_codes = {{3, "the store does not exist"}, {6, "a record was altered or lost; the others are listed"}},
      .schema = "quarry.set-list/1",
      .run = list_sets};
}

// ---- run list

struct ListedRun {
  std::uint64_t objects = 0, bytes = 0;
  std::int64_t newest_us = 0;
  bool packages = false, artifacts = false, logs = false;
};

/// "42-linux/" or "owner-repo/42-linux/" of a key; empty for keys of channels, sets and other records.
std::string run_of(std::string_view key) {
  auto first = key.find('/');
  if (first == key.npos) return {};
  if (run::Layout::parse(key.substr(0, first))) return std::string(key.substr(0, first + 1));
  auto second = key.find('/', first + 1);
  if (second == key.npos || !run::Layout::parse(key.substr(0, second))) return {};
  return std::string(key.substr(0, second + 1));
}

void count_object(ListedRun& run, std::string_view below, const store::ObjectInfo& object) {
  ++run.objects;
  run.bytes += object.size;
  run.newest_us = std::max(run.newest_us, object.modified_us);
  auto directory = below.substr(0, below.find('/'));
  if (directory == below)
    run.artifacts |= below.find(".tar.") != below.npos && !below.ends_with(".sha256sum");
  else
    run.logs |= directory == "logs",
        run.packages |= directory == "python" || directory == "pytorch" || directory == "jax";
}

Result<int> list_runs(Context& context, const Arguments& arguments) {
  TRY(auto store, open_store(context, arguments.get("--store")));
  TRY(auto objects, store->list(""));
  std::map<std::string, ListedRun> runs;
  for (const auto& object : objects)
    if (auto prefix = run_of(object.key); !prefix.empty())
      count_object(runs[prefix], std::string_view(object.key).substr(prefix.size()), object);
  std::vector<std::pair<std::string, ListedRun>> sorted(runs.begin(), runs.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.newest_us > b.second.newest_us; });
  TableRows rows;
  auto list = Json::array();
  for (const auto& [prefix, run] : sorted) {
    auto newest = run.newest_us == 0 ? std::string() : sys::rfc3339(run.newest_us);
    std::vector<std::string> kinds;
    if (run.packages) kinds.push_back("packages");
    if (run.artifacts) kinds.push_back("artifacts");
    if (run.logs) kinds.push_back("logs");
    auto name = "run:" + prefix.substr(0, prefix.size() - 1);
    rows.push_back(
        {name, to_the_second(newest), std::to_string(run.objects), units::bytes(run.bytes), text::join(kinds, ", ")});
    list.push_back({{"run", name},
                    {"prefix", prefix},
                    {"objects", run.objects},
                    {"size", run.bytes},
                    {"newest", null_if_empty(newest)},
                    {"kinds", kinds}});
  }
  print_rows(context, {k_name, k_text, k_number, k_number, k_text}, {"run", "last written", "objects", "size", "holds"},
             std::move(rows), store->describe() + " has no runs");
  context.out.document({{"runs", list}});
  return 0;
}

Command run_list_command() {
  return {.path = {"run", "list"},
          .summary = "list the runs of a store, newest first",
          .description =
              "One line for each run with outputs in the store: when it was last written, how much it holds, "
              "and whether that is packages, artifacts or logs. The whole store is listed: on object "
              "storage, one request for each 1000 objects.",
          .operands = {},
          .flags = {store_flag()},
          .examples = {{"quarry run list", "the runs in the store in QUARRY_STORE"}},
          .exit_codes = {{3, "the store does not exist"}},
          .schema = "quarry.run-list/1",
          .run = list_runs};
}

} // namespace

std::vector<Command> list_commands() { return {channel_list_command(), set_list_command(), run_list_command()}; }

} // namespace quarry::cli
