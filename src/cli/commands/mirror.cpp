#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/dry_run.hpp"
#include "cli/facts.hpp"
#include "cli/records.hpp"
#include "cli/scratch.hpp"
#include "cli/version.hpp"
#include "mirror/sync.hpp"
#include "sdk/recipe.hpp"
#include "sys/file.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

constexpr unsigned k_mirror_transfers = 16; // small records: their latency adds up, not their bytes

/// What the recipes make, and what data/mirror.toml names.
Result<std::vector<mirror::Reserved>> reserved_names(const Context& context) {
  const std::string file = "data/mirror.toml";
  std::vector<mirror::Reserved> reserved;
  if (auto text = context.resources.read(file)) {
    TRY(reserved, mirror::parse_reserved({*text, file}));
  }
  for (const auto& name : context.resources.list("data/recipes/")) {
    auto text = name.ends_with(".toml") ? context.resources.read(name) : std::nullopt;
    if (!text) continue;
    TRY(auto recipe, sdk::parse_recipe({*text, name}));
    for (const auto& package : recipe.packages) {
      auto pattern = text::lower(sdk::for_family({package.dist, "*"}, sdk::NameForm::as_written));
      reserved.push_back({pattern, fmt::format("the recipe {} makes it", recipe.name)});
    }
  }
  return reserved;
}

struct Wanted {
  std::vector<mirror::Asked> asked;
  std::vector<mirror::Target> targets;
  net::Url index;
  std::vector<mirror::Reserved> reserved;
  pages::PublicUrl public_url;
};

Result<Wanted> mirror_wanted_of(const Context& context, const Arguments& arguments) {
  const auto& file = arguments.operands.at(0);
  Wanted wanted;
  TRY(wanted.public_url, public_url_of(arguments));
  TRY(wanted.targets, mirror::parse_targets(arguments.get("--python"), arguments.get("--platform")));
  TRY(wanted.index, net::parse_url(arguments.get("--index-url")), "while reading --index-url");
  TRY(auto text, sys::read_file(file, mirror::k_requirements_bytes_max), "while reading the requirements");
  TRY(wanted.asked, mirror::parse_requirements({text, file}));
  TRY(wanted.reserved, reserved_names(context));
  return wanted;
}

Json mirror_plan_json(const mirror::SyncPlan& plan) {
  auto targets = Json::array();
  for (const auto& one : plan.targets) {
    auto projects = Json::array();
    for (const auto& [project, choice] : one.resolution.choices) {
      auto files = Json::array();
      for (const auto& file : choice.files) files.push_back(file.filename);
      projects.push_back({{"project", project}, {"version", choice.version}, {"files", files}});
    }
    targets.push_back({{"python", one.target.python},
                       {"platform", one.target.platform},
                       {"projects", projects},
                       {"notes", findings_json(one.resolution.notes)}});
  }
  auto files = Json::array();
  for (const auto& [name, file] : plan.files)
    files.push_back({{"filename", name}, {"sha256", file.sha256()->hex()}, {"url", mirror::without_query(file.url)}});
  return {{"targets", targets}, {"files", files}};
}

/// Not every index says sizes; what it does not say is not shown as nothing.
std::string missing_text(const mirror::SyncPlan& plan) {
  auto unsaid = std::count_if(plan.missing.begin(), plan.missing.end(), [](const auto& file) { return !file.size; });
  if (unsaid == 0) return units::bytes(plan.bytes_missing());
  auto known = plan.bytes_missing();
  return (known == 0 ? std::string() : units::bytes(known) + " and ") +
         units::things(static_cast<std::uint64_t>(unsaid), "file") + " of unknown size";
}

std::string mirror_plan_text(const mirror::SyncPlan& plan) {
  std::string text;
  for (const auto& one : plan.targets) {
    text +=
        fmt::format("Python {:<13} {}\n", one.target.name(), units::things(one.resolution.choices.size(), "project"));
    for (const auto& [project, choice] : one.resolution.choices)
      text += fmt::format("  {} {}\n", project, choice.version);
  }
  return text + fact("wanted", "{}, {} of them new ({})", units::things(plan.files.size(), "file"), plan.missing.size(),
                     missing_text(plan));
}

mirror::SyncOptions sync_options(Context& context, const Wanted& wanted, Progress& progress) {
  return {.now = sys::Timestamp::from_us(context.clock.now_us()),
          .who = who(context),
          .tool = fmt::format("quarry {}", program_version()),
          .index = mirror::without_query(wanted.index.text()),
          .public_url = wanted.public_url,
          .on_progress = [&](std::uint64_t bytes) { progress.update(bytes); }};
}

void add_receipt(Json& document, const mirror::SyncReceipt& receipt) {
  document["set"] = receipt.published.set;
  document["writes"] = receipt.writes;
  document["merged"] = receipt.merged.directories;
  document["notes"] = findings_json(receipt.merged.notes);
  document["index_url"] = url_json(receipt.published.directory_at.index_url);
  document["find_links_urls"] = receipt.published.directory_at.find_links;
  document["files_fetched"] = receipt.files_fetched;
  document["bytes_fetched"] = receipt.bytes_fetched;
}

void print_receipt(Context& context, const mirror::SyncReceipt& receipt) {
  context.out.data(fmt::format("fetched     {}, {}\nsealed      set:{}{}\n\n{}\n",
                               units::things(receipt.files_fetched, "file"), units::bytes(receipt.bytes_fetched),
                               receipt.published.set.short_hex(),
                               receipt.published.newly_sealed ? "" : "  (was sealed before)",
                               pages::installer_words(receipt.published.directory_at)));
  context.out.findings(receipt.merged.notes);
  if (!receipt.merged.directories.empty())
    context.out.data(fact("merged", "in {} (runs and channels), {} written",
                          units::things(receipt.merged.directories.size(), "place"),
                          units::things(receipt.merged.pages_written, "page")));
}

struct There {
  std::map<std::string, registry::FileRecord> known; ///< mirrored already
  std::map<std::string, std::string> owned;          ///< names that the store publishes itself
};
/// A dry run goes on without them where it may not look, and says so.
Result<There> what_is_there(store::ObjectReader& store, bool dry_run, Findings& notes) {
  There there;
  auto known = mirror::mirrored_files(store);
  if (!known && dry_run && could_not_look(known.error())) {
    notes.push_back(not_looked(store.describe(), known.error(), "what is mirrored or published there already"));
    return there;
  }
  TRY(there.known, std::move(known), "while reading what is mirrored");
  TRY(there.owned, mirror::owned_names(store, k_mirror_transfers), "while reading what the store publishes");
  return there;
}

Result<int> run_sync(Context& context, const Arguments& arguments) {
  TRY(auto wanted, mirror_wanted_of(context, arguments));
  TRY(auto store, open_store_to_write(context, arguments.get("--store")));
  bool dry = arguments.has("--dry-run");
  Findings notes;
  TRY(auto there, what_is_there(*store, dry, notes));
  auto& [known, owned] = there;
  TRY(auto scratch, Scratch::make(context));
  auto settings = net::settings_from(context.environment);
  settings.trace = tracer(context);
  settings.allow_plain_http = context.variable("QUARRY_ALLOW_PLAIN_HTTP") == "1";
  mirror::Upstream upstream(net::make_client(std::move(settings)), context.clock,
                            {wanted.index, scratch.path(), context.jobs}, mirror::metadata_from(*store, known));
  TRY(auto plan, mirror::plan_sync(upstream, known, wanted.asked, wanted.targets,
                                   mirror::make_guard(wanted.reserved, std::move(owned))));
  context.out.findings(notes);
  for (const auto& one : plan.targets) context.out.findings(one.resolution.notes);
  context.out.data(mirror_plan_text(plan));
  auto document = mirror_plan_json(plan);
  document["dry_run"] = dry;
  document["writes"] = 0;
  document["notes"] = findings_json(notes);
  if (!dry) {
    auto progress = context.out.progress("mirroring", plan.bytes_missing());
    auto options = sync_options(context, wanted, *progress);
    TRY(auto receipt, mirror::execute_sync(*store, upstream, known, plan, options));
    progress->finish();
    add_receipt(document, receipt);
    print_receipt(context, receipt);
  }
  context.out.document(document);
  return 0;
}

Command sync_command() {
  return {
      .path = {"mirror", "sync"},
      .summary = "fill the store's base index with dependencies from PyPI",
      .description =
          "Finds the newest versions that the requirements allow for each Python and platform, with all that they "
          "depend on, "
          "and stores their wheels below `python-deps/`, with a page for each project. `setuptools` and `wheel` are "
          "always among them: source distributions are built with them. Every file is proven against the "
          "index before it is stored, its METADATA against the wheel, and where it came from is recorded.\n\n"
          "The merged index of every run and channel (below its `merged/`) gets what is new.\n\n"
          "What already exists is not fetched again: a second run transfers nothing. A name that the store "
          "publishes itself, or that a recipe makes, is refused: it would let a stranger's higher version be "
          "installed.\n\n"
          "Proxies and certificates are taken from the usual variables (`HTTPS_PROXY`, `SSL_CERT_FILE`).",
      .operands = {{"REQUIREMENTS", "a file with one requirement a line"}},
      .flags =
          {{"--store", "LOCATOR", "the store: file:PATH or s3://BUCKET/PREFIX", {}, {}, "QUARRY_STORE", true},
           {.name = "--python", .value = "LIST", .help = "Pythons, such as 3.10,3.12", .required = true},
           {.name = "--platform", .value = "LIST", .help = "linux, windows or both", .fallback = "linux"},
           {.name = "--index-url",
            .value = "URL",
            .help = "the index to take from",
            .fallback = "https://pypi.org/simple/",
            .environment = "PIP_INDEX_URL"},
           public_url_flag(),
           {.name = "--dry-run", .value = "", .help = "resolve and report what is new, write nothing", .letter = 'n'}},
      .examples =
          {{"quarry mirror sync requirements.txt --store file:store --python 3.10,3.12 --platform linux,windows",
            "all that the packages need, for four targets"}},
      .exit_codes = {{1, "nothing fits all that ask for a project"},
                     {2, "a name may not come from another index: say the requirements without it"},
                     {3, "the index has no such project"},
                     {6, "a file is not what the index says"},
                     {7, "a mirrored name has other bytes now"}},
      .schema = "quarry.mirror-sync/1",
      .run = run_sync};
}

} // namespace

std::vector<Command> mirror_commands() { return {sync_command()}; }

} // namespace quarry::cli
