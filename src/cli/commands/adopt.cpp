// set adopt: packages that another tool published, sealed or taken over as they are.
#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/facts.hpp"
#include "cli/history.hpp"
#include "cli/keys.hpp"
#include "cli/moves.hpp"
#include "cli/places.hpp"
#include "cli/plan_text.hpp"
#include "cli/records.hpp"
#include "cli/version.hpp"
#include "promote/fed_moves.hpp"
#include "publish/adoption.hpp"
#include "publish/distribute.hpp"
#include "publish/history.hpp"
#include "publish/publish.hpp"
#include "publish/resolve.hpp"
#include "publish/seal_again.hpp"
#include "publish/verify.hpp"
#include "run/locator.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

constexpr std::size_t k_taken_shown = 10;

/// The store and the directory in it.
struct AdoptPlace {
  std::shared_ptr<store::ObjectStore> store;
  std::string directory;
};

struct Adopted {
  Json sets = Json::array();
  Json histories = Json::array();
  std::uint64_t writes = 0;
  Json without_move = Json::array();
  publish::Completion completion;
};

/// What is taken over into a directory that protected channels feed stands on the pages next to what they judged: so it
/// is a move that their policies let somebody sign.
Result<void> check_key(const AdoptPlace& place, const Adopted& done) {
  TRY(auto now, registry::read_distribution(*place.store, place.directory));
  if (now && !now->record.fed_by.empty())
    return promote::check_signer_there(*place.store, now->record, registry::Action::read("adopt"), done.completion.key);
  if (!done.completion.key) return {};
  return fail(ErrorKind::invalid_argument, "C006", fmt::format("no protected channel feeds {}", place.directory),
              "leave --sign out: a key signs only what a policy asks for");
}

std::string without_move_text(const publish::StoredHistory& one) {
  const auto& [digest, record] = one;
  std::vector<std::string> files;
  for (const auto& file : record.files) files.push_back("  " + file.filename);
  return fact("no move", "{} taken over at {}{}, record {}", units::things(files.size(), "file"), record.time,
              record.who.empty() ? "" : " by " + record.who, digest.hex()) +
         first_rows(std::move(files), k_taken_shown);
}

/// Records of earlier runs without a move: this run writes it. With a key only those that --complete names, because
/// whoever can write to the store can put a record there.
Result<void> check_without_move(Context& context, const Arguments& arguments, const AdoptPlace& place, Adopted& done) {
  auto& [key, confirmed, may] = done.completion;
  TRY(auto records, publish::without_move(*place.store, place.directory));
  for (const auto& one : records) {
    context.out.data(without_move_text(one));
    done.without_move.push_back({{"record", one.digest.hex()},
                                 {"files", one.record.files.size()},
                                 {"who", one.record.who},
                                 {"time", one.record.time}});
  }
  for (const auto& word : arguments.list("--complete")) {
    auto digest = registry::HistoryDigest::parse(word);
    if (!digest || std::ranges::find(records, *digest, &publish::StoredHistory::digest) == records.end())
      return fail(ErrorKind::not_found, "P127",
                  fmt::format("{} has no record {} without a move", place.directory, word),
                  "nothing was changed; `quarry set adopt --dry-run` lists them");
    confirmed.insert(*digest);
  }
  if (!key) return {};
  for (const auto& one : records)
    if (!confirmed.contains(one.digest))
      return fail(
          ErrorKind::held, "P127",
          fmt::format("a record in {} has no move, and this run would sign one for it: {}", place.directory,
                      one.digest.hex()),
          fmt::format("nothing was changed; if its files belong there, add --complete {}; else remove {}{}.json",
                      one.digest.hex(), registry::history_prefix(place.directory), one.digest.hex()));
  return {};
}

Result<AdoptPlace> place_to_adopt(Context& context, const Arguments& arguments) {
  using Kind = run::LocatorKind;
  const auto& text = arguments.operands.at(0);
  TRY(auto locator, run::parse_locator(text));
  TRY_DO(run::require_kind(locator, {Kind::run, Kind::path, Kind::s3}, "adopt packages from"));
  AdoptPlace place;
  auto named = arguments.find("--store");
  if (locator.kind == Kind::s3 && (!named || !text.starts_with(*named + "/"))) {
    TRY(auto parts, place_in_bucket(context, text));
    TRY(place.store, open_store(context, parts.store));
    place.directory = parts.key;
    if (!place.directory.empty()) return place;
    return fail(ErrorKind::invalid_argument, "P012", fmt::format("{} is a whole bucket, not a directory in it", text),
                "name the directory that holds the packages, such as s3://BUCKET/v2/gfx94X-dcgpu");
  }
  if (!named)
    return fail(ErrorKind::invalid_argument, "C004", fmt::format("{} is in a store, and no store was named", text),
                "add --store LOCATOR, or set QUARRY_STORE");
  TRY(place.store, open_store(context, *named));
  if (locator.kind == Kind::run) {
    TRY(place.directory, run_prefix(*place.store, locator));
  } else {
    TRY(place.directory, publish::key_of_path(*place.store, locator.kind == Kind::path ? locator.path : text));
  }
  return place;
}

publish::AdoptOptions adopt_options(Context& context, const Arguments& arguments, Progress& progress) {
  publish::AdoptOptions options{index::describe, sys::Timestamp::from_us(context.clock.now_us()),
                                fmt::format("quarry {}", program_version()), context.jobs,
                                [&](std::uint64_t bytes) { progress.update(bytes); }};
  options.temporary = temporary_of(context);
  options.keep_notes = !arguments.has("--dry-run");
  options.let_go = arguments.list("--replace");
  options.on_start = [&](std::uint64_t files, std::uint64_t bytes) {
    context.out.note(fmt::format("reads {}, {}, to the last byte", units::things(files, "file"), units::bytes(bytes)));
  };
  return options;
}

void show_plan(Context& context, const publish::Plan& plan, Adopted& done) {
  context.out.findings(plan.notes);
  context.out.data(plan_text(plan, context.out.data_look()));
  done.sets.push_back({{"set", plan.set_digest}, {"directory", plan.directory}, {"files", files_json(plan.set.files)}});
}

/// The package directories of a run: sealed, since only sealed sets are tested and promoted.
Result<void> adopt_run(Context& context, const Arguments& arguments, const AdoptPlace& place, Adopted& done) {
  auto progress = context.out.progress("verifying", 0);
  auto options = adopt_options(context, arguments, *progress);
  TRY(auto plans, publish::plan_adoptions(*place.store, place.directory, options));
  progress->finish();
  for (const auto& plan : plans) {
    show_plan(context, plan, done);
    if (arguments.has("--dry-run")) continue;
    TRY(auto receipt, publish::execute(*place.store, plan, {options.now, who(context), {}, 1, {}, {}}));
    TRY_DO(publish::forget_notes(*place.store, plan));
    done.writes += receipt.writes;
    context.out.findings(receipt.notes);
    context.out.data(fact("sealed", "set:{}{}", receipt.set, receipt.newly_sealed ? "" : "  (was sealed before)"));
  }
  return {};
}

/// Sealed sets that a rollback took out, and that nothing blocks any more.
Result<void> show_again(Context& context, const Arguments& arguments, const AdoptPlace& place,
                        const std::vector<registry::SealedSet>& sets, Adopted& done) {
  bool dry_run = arguments.has("--dry-run");
  TRY_DO(publish::refuse_blocked_seals(*place.store, place.directory, sets));
  for (const auto& one : sets)
    done.sets.push_back({{"set", one.digest}, {"directory", place.directory}, {"files", files_json(one.set.files)}});
  if (!dry_run) {
    auto now = sys::Timestamp::from_us(context.clock.now_us());
    publish::Sealing sealing{now, who(context), arguments.get("--reason"), done.completion};
    TRY(auto notes, publish::show_sealed(*place.store, place.directory, sets, sealing));
    context.out.findings(notes);
  }
  for (const auto& one : sets)
    context.out.data(fact(dry_run ? "would show" : "shown", "set:{}  again: its {} sealed before", one.digest,
                          one.set.files.size() == 1 ? "file was" : "files were"));
  return {};
}

Result<void> seal_directory(Context& context, const Arguments& arguments, const AdoptPlace& place, Adopted& done) {
  auto progress = context.out.progress("verifying", 0);
  auto options = adopt_options(context, arguments, *progress);
  TRY(auto plan, publish::plan_sealing(*place.store, place.directory, options));
  progress->finish();
  TRY(auto again, publish::sealed_but_not_shown(*place.store, place.directory));
  if (!plan && !again.empty()) return show_again(context, arguments, place, again, done);
  if (!plan) {
    context.out.data("sealed      nothing: every package here is in a sealed set or given up\n");
    if (arguments.has("--dry-run")) return {};
    TRY(auto notes, publish::complete_adoption(*place.store, place.directory, done.completion));
    context.out.findings(notes);
    return {};
  }
  show_plan(context, *plan, done);
  if (!arguments.has("--dry-run")) {
    TRY(auto notes, publish::seal_in_place(*place.store, *plan,
                                           {options.now, who(context), arguments.get("--reason"), done.completion}));
    context.out.findings(notes);
    context.out.data(fact("sealed", "set:{}", plan->set_digest));
  }
  if (again.empty()) return {};
  auto free = publish::refuse_blocked_seals(*place.store, place.directory, again);
  if (free || free.error().kind != ErrorKind::held) return show_again(context, arguments, place, again, done);
  // What is new is sealed all the same.
  const auto& blocked = free.error();
  context.out.findings({{blocked.code, Severity::warning, place.directory, blocked.message, blocked.hint}});
  return {};
}

Result<void> take_over_directory(Context& context, const Arguments& arguments, const AdoptPlace& place, Adopted& done) {
  bool dry_run = arguments.has("--dry-run");
  auto now = sys::Timestamp::from_us(context.clock.now_us());
  auto transfers = std::max(8u, context.jobs);
  auto progress = context.out.progress("looking", 0);
  publish::HistoryOptions options;
  options.transfers = transfers;
  options.temporary = temporary_of(context);
  options.let_go = arguments.list("--replace");
  options.all = true;
  options.keep_notes = !dry_run;
  options.on_progress = [&](std::uint64_t) { progress->update(place.store->counters().bytes_read); };
  TRY(auto objects, publish::check_place(*place.store, place.directory));
  TRY(auto plan, publish::plan_history(*place.store, {place.directory, std::move(objects)}, options));
  TRY_DO(publish::refuse_unused(options.let_go, plan.used, place.directory));
  progress->finish();
  context.out.findings(plan.notes);
  done.histories.push_back(history_json(plan));
  context.out.data(plan.files.empty() ? "history     nothing: every package here is known already or blocked\n"
                                      : history_text(plan, dry_run));
  if (dry_run) return {};
  publish::HistoryMove move{now, who(context), arguments.get("--reason"), fmt::format("quarry {}", program_version()),
                            transfers};
  TRY(auto taken, publish::take_over(*place.store, plan, move));
  if (!taken.empty()) done.completion.confirmed.insert(taken);
  TRY(auto notes, publish::complete_adoption(*place.store, place.directory, done.completion));
  context.out.findings(notes);
  return {};
}

Result<int> run_adopt(Context& context, const Arguments& arguments) {
  TRY_DO(check_line("--reason", arguments.get("--reason")));
  Adopted done;
  TRY(done.completion.key, signing_key(arguments));
  TRY(auto place, place_to_adopt(context, arguments));
  constexpr std::string_view k_by_project = "/{project}"; // as `promote --prefix` says it
  if (place.directory.ends_with(k_by_project)) place.directory.resize(place.directory.size() - k_by_project.size());
  auto before = place.store->counters();
  TRY(auto of_run, publish::package_directories(*place.store, place.directory));
  TRY(bool here, publish::holds_packages(*place.store, place.directory));
  bool run = !of_run.empty() || !here;
  if (run && !arguments.get("--reason").empty())
    context.out.note("--reason is not kept: a sealed set of a run has no log of moves");
  if (!run || done.completion.key) TRY_DO(check_key(place, done));
  if (!run) {
    TRY_DO(check_without_move(context, arguments, place, done));
    done.completion.may = [&](const registry::DistributionRecord&) { return check_key(place, done); };
  }
  if (run)
    TRY_DO(adopt_run(context, arguments, place, done));
  else if (arguments.has("--seal"))
    TRY_DO(seal_directory(context, arguments, place, done));
  else
    TRY_DO(take_over_directory(context, arguments, place, done));
  auto after = place.store->counters();
  context.out.document({{"sets", done.sets},
                        {"history", done.histories},
                        {"without_move", done.without_move},
                        {"bytes_read", after.bytes_read - before.bytes_read},
                        {"writes", publish::writes_between(before, after)}});
  return 0;
}

} // namespace

Command adopt_command() {
  return {
      .path = {"set", "adopt"},
      .summary = "take over packages that another tool published",
      .description =
          "The packages of a run, in today's layouts or in ours, are sealed: each is read to its last byte and "
          "verified where it is; then what is missing is written: metadata files, the set's record, its seal, "
          "pages. The set can be tested and promoted.\n\n"
          "The packages of another directory, such as v2/gfx94X-dcgpu of a bucket, or of one with a directory for "
          "each project, such as v5/rocm/core/whl-next, become untested history: each "
          "is looked at by ranges (the end of the archive, its directory, METADATA), and a record says name, size, "
          "ETag, and the sha256 where somebody said it. Our pages list them; no gate counts them. With `--seal` "
          "every byte is read, and they become a sealed set. A set that was sealed there and that a rollback took out "
          "is shown again, once `quarry channel unblock` has let its files in.\n\n"
          "No package is moved or changed; with a seal, a `.metadata` file that is not METADATA of its wheel is "
          "replaced. Where a protected channel feeds the directory, `--sign KEY` signs the move if the channel's "
          "policy wants signed moves. A run that was killed goes on where it was: what was looked at is noted "
          "in the store. If it was killed between its record and its move, the next one writes the move; with `--sign` "
          "only for records that `--complete` names, because whoever can write to the store can put a record "
          "there. The packages are read also with `--dry-run`, which notes nothing.",
      .operands = {{"LOCATOR", "run:ID, a directory in the store, or s3://BUCKET/DIRECTORY"}},
      .flags = {{.name = "--store",
                 .value = "LOCATOR",
                 .help = "the store; not needed with s3://BUCKET/DIRECTORY",
                 .environment = "QUARRY_STORE"},
                {.name = "--seal", .value = "", .help = "outside a run: read every byte and seal"},
                {.name = "--replace",
                 .value = "NAME",
                 .help = "a file or project whose link may be lost, because it cannot be taken over",
                 .repeats = true},
                {.name = "--complete",
                 .value = "RECORD",
                 .help = "with --sign: a record without a move that gets one, by its digest",
                 .repeats = true},
                move_reason_flag(),
                sign_flag(),
                {.name = "--dry-run", .value = "", .help = "look and plan, write nothing", .letter = 'n'}},
      .examples = {{"quarry set adopt run:42-linux", "make a run of the scripts promotable"},
                   {"quarry set adopt s3://dist/v2/gfx94X-dcgpu", "keep what a release bucket holds"}},
      .exit_codes = {{2, "a package has findings: `quarry wheel verify` lists them"},
                     {3, "no package was found, or no record without a move has the digest that --complete gives"},
                     {6, "a package's container or RECORD is broken or ambiguous"},
                     {10, "a policy wants this move signed, a record has no move, or sealed files are blocked"},
                     {7, "a sealed name has other bytes, a page would lose a link, or a file changed meanwhile"}},
      .schema = "quarry.set-adopt/1",
      .run = run_adopt};
}

} // namespace quarry::cli
