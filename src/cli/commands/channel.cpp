#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/distributions.hpp"
#include "cli/facts.hpp"
#include "cli/guard.hpp"
#include "cli/places.hpp"
#include "cli/records.hpp"
#include "cli/shared_flags.hpp"
#include "cli/waivers.hpp"
#include "pages/merged.hpp"
#include "pages/projection.hpp"
#include "publish/garbage.hpp"
#include "publish/resolve.hpp"
#include "publish/upkeep.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {
std::vector<std::string> projects_of(const registry::ViewRecord& view) {
  std::vector<std::string> projects;
  for (const auto& [project, shard] : view.shards) projects.push_back(project);
  return projects;
}

// ---- channel show

Result<int> run_channel_show(Context& context, const Arguments& arguments) {
  const auto& name = arguments.operands.at(0);
  if (is_distribution(name)) return show_distribution(context, arguments);
  TRY_DO(refuse_channels_of_channel(arguments));
  TRY(auto public_url, public_url_of(arguments));
  TRY(auto at_store, store_named(arguments));
  TRY(auto store, open_store(context, at_store));
  TRY(auto channel, registry::require_channel(*store, name));
  TRY(auto view, registry::load_whole_view(*store, channel.record.view), "while reading channel " + name);
  TRY(auto shown, pages::projected_generation(*store, name));
  TRY(auto merged, pages::merged_channel_shown(*store, name, view.record));
  auto files = registry::files_of(view);
  const auto& record = channel.record;
  context.out.data(fmt::format("{}@{}   {} in {}, from {}\n", name, record.generation,
                               units::things(files.size(), "file"), units::things(view.shards.size(), "project"),
                               units::things(view.record.sets.size(), "set")));
  context.out.data(fact("view", "{}{}", record.view.short_hex(),
                        record.previous.empty() ? "" : "   before that " + record.previous.short_hex()));
  context.out.data(guard_text(record.guard));
  auto waived = Json::array();
  for (const auto& one : registry::waived_of(view.record)) {
    context.out.data(
        fact("waived", "{}  {} of set:{}", one.waiver.short_hex(), registry::sentence_of(one), one.set.short_hex()));
    waived.push_back(waived_json(one));
  }
  TRY(auto at, pages::addresses_of(*store, public_url, registry::channel_directory(name), projects_of(view.record)));
  context.out.data(addresses_text(at));
  context.out.data(files_text(files, context.out.data_look()));
  if (merged.exists && !merged.current)
    context.out.warn(fmt::format("its merged index shows another view: `quarry index repair channel:{}`", name));
  if (shown < record.generation)
    context.out.warn(fmt::format("its pages still show generation {}: `quarry index repair channel:{}`", shown, name));
  context.out.document({{"name", name},
                        {"generation", record.generation},
                        {"view", record.view},
                        {"previous", record.previous.empty() ? Json(nullptr) : Json(record.previous)},
                        {"ledger", record.ledger},
                        {"policy", policy_json(record.guard)},
                        {"blocked", blocked_json(record.guard.blocked)},
                        {"waived", waived},
                        {"index_url", url_json(at.index_url)},
                        {"find_links_urls", at.find_links},
                        {"merged_index_url", url_json(at.merged_url)},
                        {"merged_current", merged.exists ? Json(merged.current) : Json(nullptr)},
                        {"pages_generation", shown},
                        {"sets", view.record.sets},
                        {"files", files_json(files)}});
  return 0;
}

Command channel_show_command() {
  return {.path = {"channel", "show"},
          .summary = "show what a channel or a distribution offers and where it came from",
          .description =
              "The generation, the view that it points to, the waivers without which promotions would not have brought "
              "it there, and every file that pip and uv see under its URL. A distribution also says which "
              "protected channels feed it, how many files of another tool were taken over, and its newest moves. Which "
              "waivers were revoked since its sets were copied, the store of the channels knows: name it with "
              "`--channels`.",
          .operands = {{"NAME", "the channel (`quarry channel list` names them), or a distribution: "
                                "s3://BUCKET/v2/gfx94X-dcgpu"}},
          .flags = {store_of_channel_flag(), channels_flag(), public_url_flag()},
          .examples = {{"quarry channel show stable --store file:store", "what people install from stable"},
                       {"quarry channel show s3://dist/v2/gfx94X-dcgpu", "what they install from a distribution"}},
          .exit_codes = {{3, "the channel or the distribution does not exist"}, {6, "a record was altered"}},
          .schema = "quarry.channel-show/1",
          .run = run_channel_show};
}

// ---- channel diff

/// One state of a channel: what it showed at a generation.
struct ShownState {
  std::string name;
  std::uint64_t generation = 0;
  std::map<std::string, registry::FileRecord> files; ///< by file name
};

Unexpected no_generation(const std::string& name, const std::string& said) {
  return fail(ErrorKind::not_found, "O001", fmt::format("channel {} has no generation {}", name, said),
              fmt::format("`quarry channel log {}` shows its moves", name));
}

/// "stable": as it is; "stable@3": as its third move left it.
Result<ShownState> state_at(store::ObjectReader& store, const std::string& text) {
  auto at = text.find('@');
  ShownState state{text.substr(0, at), 0, {}};
  TRY(auto channel, registry::require_channel(store, state.name));
  state.generation = channel.record.generation;
  auto view = channel.record.view;
  if (at != text.npos) {
    auto wanted = text::parse_u64(text.substr(at + 1));
    TRY(auto moves, registry::ledger_chain(store, channel.record));
    if (wanted) TRY_DO(registry::refuse_pruned(channel.record, moves, *wanted));
    auto move = std::find_if(moves.begin(), moves.end(),
                             [&](const auto& one) { return wanted && one.record.generation == *wanted; });
    if (move == moves.end()) return no_generation(state.name, text.substr(at + 1));
    state.generation = *wanted;
    view = move->record.to_view;
  }
  TRY(auto whole, registry::load_whole_view(store, view), "while reading " + text);
  for (auto& file : registry::files_of(whole)) state.files.emplace(file.filename, file);
  return state;
}

std::string diff_lines(const char* sign, const std::vector<registry::FileRecord>& files) {
  std::string text;
  for (const auto& file : files) text += fmt::format("{} {}  {}\n", sign, file.sha256.short_hex(), file.filename);
  return text;
}

Result<int> run_channel_diff(Context& context, const Arguments& arguments) {
  TRY(auto store, open_store(context, arguments.get("--store")));
  TRY(auto before, state_at(*store, arguments.operands.at(0)));
  TRY(auto after, state_at(*store, arguments.operands.at(1)));
  std::vector<registry::FileRecord> added, removed, changed;
  for (const auto& [name, file] : after.files) {
    auto old = before.files.find(name);
    if (old == before.files.end())
      added.push_back(file);
    else if (old->second.sha256 != file.sha256)
      changed.push_back(file);
  }
  for (const auto& [name, file] : before.files)
    if (!after.files.contains(name)) removed.push_back(file);
  auto place = [](const ShownState& state) { return fmt::format("{}@{}", state.name, state.generation); };
  context.out.data(diff_lines("+", added) + diff_lines("-", removed) + diff_lines("~", changed));
  context.out.data(fmt::format("{} -> {}   {} more, {} less, {} with other bytes\n", place(before), place(after),
                               added.size(), removed.size(), changed.size()));
  context.out.document({{"from", {{"channel", before.name}, {"generation", before.generation}}},
                        {"to", {{"channel", after.name}, {"generation", after.generation}}},
                        {"added", files_json(added)},
                        {"removed", files_json(removed)},
                        {"changed", files_json(changed)}});
  return 0;
}

Command channel_diff_command() {
  return {.path = {"channel", "diff"},
          .summary = "compare what two channels show, or one at two times",
          .description = "Lists the files that the second has and the first lacks (+), the other way round (-), and "
                         "those of one name with other bytes (~).",
          .operands = {{"BEFORE", "a channel, or stable@3 for what it showed at generation 3"},
                       {"AFTER", "the same of what it is compared with"}},
          .flags = {store_flag()},
          .examples = {{"quarry channel diff stable@3 stable", "what came since the third move"},
                       {"quarry channel diff stable staging", "what a promotion would bring"}},
          .exit_codes = {{3, "the channel or the generation does not exist"}, {6, "a record was altered"}},
          .schema = "quarry.channel-diff/1",
          .run = run_channel_diff};
}

// ---- index repair, rebuild

/// A directory of a store, by its key.
Result<publish::Repaired> upkeep_directory(const Context& context, store::ObjectStore& store, const std::string& key,
                                           bool rebuild) {
  constexpr std::string_view k_channels = "channels/";
  if (key.starts_with(k_channels)) {
    auto name = key.substr(k_channels.size(), key.find('/', k_channels.size()) - k_channels.size());
    return rebuild ? publish::rebuild_channel(store, name) : publish::repair_channel(store, name);
  }
  if (!rebuild) {
    TRY(auto done, publish::repair_distribution(store, key));
    if (done) return *done;
  }
  TRY(auto resolved, registry::resolve_run(store, key));
  return rebuild ? publish::rebuild_directories(store, resolved.sets, index::describe, temporary_of(context))
                 : publish::repair_directories(store, resolved.sets);
}

Result<publish::Repaired> upkeep(const Context& context, store::ObjectStore& store, const run::Locator& locator,
                                 bool rebuild) {
  if (locator.kind == run::LocatorKind::channel)
    return rebuild ? publish::rebuild_channel(store, locator.channel) : publish::repair_channel(store, locator.channel);
  TRY(auto resolved, publish::resolve(store, locator));
  return rebuild ? publish::rebuild_directories(store, resolved.sets, index::describe, temporary_of(context))
                 : publish::repair_directories(store, resolved.sets);
}

/// The directory of a run, a channel or a distribution, written out. A distribution's pointer says where its store
/// begins.
Result<run::StorePlace> place_of(Context& context, const std::string& text) {
  auto place = run::split_tree(text);
  if (place) return place;
  TRY(auto distribution, written_out_distribution(context, text));
  if (distribution) return std::move(*distribution);
  return place;
}

/// The store and what is meant in it: a place that was written out leads to its store by itself.
Result<publish::Repaired> upkeep_of(Context& context, const Arguments& arguments, bool rebuild) {
  using Kind = run::LocatorKind;
  TRY(auto locator, run::parse_locator(arguments.operands.at(0)));
  if (locator.kind == Kind::http)
    return fail(ErrorKind::invalid_argument, "R030",
                fmt::format("{} is a web server: stores there are read-only", locator.text),
                "name the store behind it, such as s3://bucket/prefix");
  auto said = arguments.find("--store");
  bool whole_place = locator.kind == Kind::s3 || (locator.kind == Kind::path && !said);
  if (whole_place) {
    TRY(auto place, place_of(context, locator.kind == Kind::s3 ? locator.url : locator.path));
    TRY(auto store, open_store(context, place.store));
    return upkeep_directory(context, *store, place.key, rebuild);
  }
  if (!said)
    return fail(ErrorKind::invalid_argument, "I006", "a run, set or channel is in a store",
                "add `--store LOCATOR` or set QUARRY_STORE");
  TRY(auto store, open_store(context, *said));
  if (locator.kind == Kind::path && store::check_key(locator.path)) {
    TRY(auto pointer, store->head(registry::distribution_key(locator.path)));
    if (pointer) return upkeep_directory(context, *store, locator.path, rebuild);
  }
  return upkeep(context, *store, locator, rebuild);
}

Result<int> run_upkeep(Context& context, const Arguments& arguments, bool rebuild) {
  TRY(auto done, upkeep_of(context, arguments, rebuild));
  context.out.findings(done.notes);
  auto writes = done.pages_written + done.pages_removed + done.records_written;
  for (const auto& place : done.places) context.out.data(fact("looked at", "{}", place));
  context.out.data(writes == 0 ? std::string("all pages are as they must be\n")
                               : fact("written", "{} and {}, {} removed", units::things(done.pages_written, "page"),
                                      units::things(done.records_written, "record"),
                                      units::things(done.pages_removed, "page")));
  if (done.evidence_marked != 0)
    context.out.data(fact("marked", "{} of evidence", units::things(done.evidence_marked, "record")));
  context.out.document({{"schema", rebuild ? "quarry.index-rebuild/1" : "quarry.index-repair/1"},
                        {"places", done.places},
                        {"pages_written", done.pages_written},
                        {"pages_removed", done.pages_removed},
                        {"records_written", done.records_written},
                        {"evidence_marked", done.evidence_marked},
                        {"notes", findings_json(done.notes)},
                        {"writes", writes}});
  return 0;
}

const Operand k_place{"LOCATOR",
                      "channel:NAME, run:ID, set:DIGEST in `--store`; or the directory of a channel, a run or a "
                      "distribution: a path, or s3://BUCKET/PREFIX/channels/NAME"};
const Flag k_store_of_place{"--store", "LOCATOR", "the store that a channel, run or set is in", {}, {}, "QUARRY_STORE"};

Command repair_command() {
  return {.path = {"index", "repair"},
          .summary = "write the pages of a channel or run again where they are wrong",
          .description = "Pages are projections of records. After an interrupted publish or promotion they may be "
                         "stale; this brings them up to the record, and changes nothing that is right; "
                         "the index that is merged with the base index likewise. "
                         "It never overwrites the page of a newer generation.",
          .operands = {k_place},
          .flags = {k_store_of_place},
          .examples = {{"quarry index repair channel:stable --store file:store", "after a job was killed"}},
          .exit_codes = {{3, "the channel does not exist, or nothing is sealed"}, {6, "a record was altered"}},
          .schema = "quarry.index-repair/1",
          .run = [](Context& c, const Arguments& a) { return run_upkeep(c, a, false); }};
}

Command rebuild_command() {
  return {
      .path = {"index", "rebuild"},
      .summary = "make derived records and pages again from the sealed sets",
      .description =
          "For a channel: the shards of its view, which must come out as the channel names them, then its pages. "
          "For a run: the metadata files of its wheels, read from the wheels, then its pages. "
          "Then it marks evidence of the store that names a set and has no mark below that set, as records of earlier "
          "versions have none: until then every verdict reads all evidence of the store.",
      .operands = {k_place},
      .flags = {k_store_of_place},
      .examples = {{"quarry index rebuild channel:stable --store file:store", "after a shard was lost"}},
      .exit_codes = {{3, "the channel does not exist, or nothing is sealed"}, {6, "a set, view or wheel was altered"}},
      .schema = "quarry.index-rebuild/1",
      .run = [](Context& c, const Arguments& a) { return run_upkeep(c, a, true); }};
}

// ---- gc

Result<int> run_gc(Context& context, const Arguments& arguments) {
  TRY(auto store, open_store(context, arguments.get("--store")));
  TRY(auto grace, duration_us(arguments, "--grace"));
  bool dry_run = arguments.has("--dry-run");
  TRY(auto garbage, publish::collect_garbage(*store, {grace, context.clock.now_us(), dry_run}));
  context.out.findings(garbage.notes);
  for (const auto& key : garbage.keys)
    context.out.data(fmt::format("{}  {}\n", dry_run ? "would remove" : "removed", key));
  for (const auto& key : garbage.marked)
    context.out.data(fmt::format("{}  {}\n", dry_run ? "would mark" : "marked", key));
  context.out.data(fmt::format("{} and {} {}, {} marked\n", units::things(garbage.keys.size(), "record"),
                               units::things(garbage.leftovers, "temporary file"), dry_run ? "would go" : "removed",
                               units::things(garbage.marked.size(), "record")));
  if (!garbage.marked.empty())
    context.out.note(fmt::format("a run in {} removes what is marked, unless a command names it until then",
                                 arguments.get("--grace")));
  context.out.document({{"dry_run", dry_run},
                        {"keys", garbage.keys},
                        {"marked", garbage.marked},
                        {"leftovers", garbage.leftovers},
                        {"notes", findings_json(garbage.notes)}});
  return 0;
}

Command gc_command() {
  return {.path = {"gc"},
          .summary = "remove what killed commands left in a store",
          .description = "Marks views, shards, ledger entries and unsealed set records that no move of any channel "
                         "names. A later run removes those that were marked at least the grace time ago and that "
                         "nothing has named or written since: run it regularly. Unfinished temporaries are removed "
                         "when nothing was added to them within the grace time; with `--grace 0s` that ends uploads "
                         "in progress. Times are those of the store's clock. "
                         "Files, sealed sets, evidence and waivers are never removed.",
          .operands = {},
          .flags = {store_flag(),
                    {.name = "--grace", .value = "D", .help = "between mark and removal", .fallback = "24h"},
                    {.name = "--dry-run", .value = "", .help = "list it, remove nothing", .letter = 'n'}},
          .examples = {{"quarry gc --store file:store --dry-run", "what would go"}},
          .exit_codes = {{3, "the current view of a channel is lost; nothing was removed"},
                         {6, "a ledger or the current view of a channel was altered; nothing was removed"}},
          .schema = "quarry.gc/1",
          .run = run_gc};
}

} // namespace

std::vector<Command> channel_commands() {
  return {channel_show_command(),
          channel_log_command(),
          channel_diff_command(),
          channel_protect_command(),
          channel_unprotect_command(),
          channel_unblock_command(),
          channel_prune_command(),
          channel_acknowledge_command(),
          repair_command(),
          rebuild_command(),
          gc_command()};
}

} // namespace quarry::cli
