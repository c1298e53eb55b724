#include "publish/publish.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/job_files.hpp"
#include "cli/records.hpp"
#include "cli/version.hpp"
#include "publish/outputs.hpp"
#include "publish/resolve.hpp"
#include "publish/verify.hpp"
#include "sys/file.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

const Flag k_store{"--store",      "LOCATOR", "the store: file:PATH, s3://BUCKET/PREFIX, https://… to read", {}, {},
                   "QUARRY_STORE", true};

publish::Describe describe() {
  return [](const std::string& path) { return index::describe(path); };
}

// ---- publish

run::PackageForm form_of(const std::string& layout) {
  if (layout == "feb") return run::PackageForm::feb;
  return layout == "aug" ? run::PackageForm::aug : run::PackageForm::quarry;
}

Result<publish::Target> target_of(const Arguments& arguments) {
  TRY(auto layout,
      run::Layout::create({arguments.get("--external-repo"), arguments.get("--run-id"), arguments.get("--platform")}));
  publish::Target target{.layout = std::move(layout)};
  target.area = arguments.get("--area");
  target.group = arguments.get("--artifact-group");
  target.form = form_of(arguments.get("--layout"));
  target.channel = arguments.get("--channel");
  target.commit = arguments.get("--commit");
  target.repository = arguments.get("--repository");
  target.tool = fmt::format("quarry {}", program_version());
  return target;
}

std::string plan_text(const publish::Plan& plan) {
  auto text = fmt::format("planning    {}  {} to store below {}\n", units::things(plan.files.size(), "file"),
                          units::bytes(plan.bytes_to_write()), plan.directory);
  std::size_t width = 0;
  for (const auto& file : plan.files) width = std::max(width, file.file.filename.size());
  for (const auto& file : plan.files)
    text += fmt::format("  {:<8}  {:<{}}  {:>9}\n", file.present ? "there" : "new", file.file.filename, width,
                        units::bytes(file.file.size));
  return text;
}

std::string receipt_text(const publish::Plan& plan, const publish::Receipt& receipt) {
  auto text = fmt::format("sealed      set:{}  {}{}\n", receipt.set.substr(0, 12), units::things(receipt.files, "file"),
                          receipt.newly_sealed ? "" : "  (it was already)");
  if (!receipt.channel.empty())
    text += fmt::format("channel     {}@{}{}\n", receipt.channel, receipt.generation,
                        receipt.channel_moved ? "" : "  (the set was in already)");
  text += fmt::format("written     {}\n\n", units::things(receipt.writes, "object"));
  return text +
         publish::install_line(plan.set, receipt.channel.empty() ? publish::url_to_install_from(receipt)
                                                                 : publish::channel_url_to_install_from(receipt)) +
         "\n";
}

Json plan_json(const publish::Plan& plan) {
  return {{"schema", "quarry.publish/1"},
          {"plan", plan.digest},
          {"set", plan.set_digest},
          {"directory", plan.directory},
          {"files", files_json(plan.set.files)},
          {"notes", findings_json(plan.notes)}};
}

Json url_json(const std::string& url) { return url.empty() ? Json(nullptr) : Json(url); }

Findings all_notes(const publish::Plan& plan, const publish::Receipt& receipt) {
  auto notes = plan.notes;
  notes.insert(notes.end(), receipt.notes.begin(), receipt.notes.end());
  return notes;
}

Json receipt_json(const publish::Plan& plan, const publish::Receipt& receipt) {
  auto document = plan_json(plan);
  document["dry_run"] = false;
  document["writes"] = receipt.writes;
  document["find_links_url"] = receipt.find_links_url;
  document["index_url"] = receipt.index_url;
  document["merged_index_url"] = url_json(receipt.merged_url);
  document["notes"] = findings_json(all_notes(plan, receipt));
  document["channel"] = nullptr;
  if (!receipt.channel.empty())
    document["channel"] = {{"name", receipt.channel},
                           {"generation", receipt.generation},
                           {"view", receipt.view},
                           {"index_url", receipt.channel_index_url},
                           {"merged_index_url", url_json(receipt.channel_merged_url)}};
  return document;
}

Result<void> tell_github(Context& context, const publish::Plan& plan, const publish::Receipt& receipt) {
  TRY_DO(append_for_job("GITHUB_OUTPUT", context.variable("GITHUB_OUTPUT"), publish::github_outputs(receipt)));
  return append_for_job("GITHUB_STEP_SUMMARY", context.variable("GITHUB_STEP_SUMMARY"),
                        publish::step_summary(plan, receipt));
}

std::string next_step(const Arguments& arguments, const publish::Plan& plan) {
  auto from = plan.channel.empty()
                  ? fmt::format("run:{}{}-{}",
                                arguments.get("--external-repo").empty() ? "" : arguments.get("--external-repo") + "/",
                                arguments.get("--run-id"), arguments.get("--platform"))
                  : "channel:" + plan.channel;
  return fmt::format("next: quarry venv install .venv --from {} --packages {} --store {}", text::shell_word(from),
                     publish::requirement_of(plan.set), text::shell_word(arguments.get("--store")));
}

Result<publish::Plan> plan_of(Context& context, const Arguments& arguments, store::ObjectStore& store) {
  TRY(auto target, target_of(arguments));
  auto progress = context.out.progress("verifying", 0);
  TRY(auto collected, publish::collect({arguments.operands.at(0), describe(), context.jobs,
                                        [&](std::uint64_t bytes) { progress->update(bytes); },
                                        arguments.get("--platform"), arguments.has("--several-versions")}));
  progress->finish();
  return publish::make_plan(store, target, std::move(collected), sys::rfc3339(context.clock.now_us()));
}

Result<int> run_publish(Context& context, const Arguments& arguments) {
  TRY(auto public_url, public_url_of(arguments));
  TRY(auto store, open_store(context, arguments.get("--store")));
  TRY(auto plan, plan_of(context, arguments, *store));
  context.out.findings(plan.notes);
  context.out.data(plan_text(plan));
  if (arguments.has("--dry-run")) {
    context.out.data(fmt::format("plan        {}\n", plan.digest));
    auto document = plan_json(plan);
    document["dry_run"] = true;
    if (!plan.sealed) document["set"] = nullptr; // its record will hold the time of publication
    document["writes"] = 0;
    context.out.document(document);
    return 0;
  }
  auto progress = context.out.progress("storing", plan.bytes_to_write());
  publish::ExecuteOptions options{sys::rfc3339(context.clock.now_us()),
                                  who(context),
                                  {},
                                  4,
                                  [&](std::uint64_t bytes) { progress->update(bytes); },
                                  std::move(public_url)};
  TRY(auto receipt, publish::execute(*store, plan, options));
  progress->finish();
  context.out.findings(receipt.notes);
  TRY_DO(tell_github(context, plan, receipt));
  context.out.data(receipt_text(plan, receipt));
  context.out.document(receipt_json(plan, receipt));
  context.out.note(next_step(arguments, plan));
  return 0;
}

Command publish_command() {
  return {.path = {"publish"},
          .summary = "publish packages as a sealed set that people can install",
          .description =
              "Verifies every package in `DIR` (or in `DIR/dist`), stores the files and the metadata of each wheel, "
              "writes the set's record and its seal, then the pages "
              "of the index; with `--channel`, the set joins the channel and its pages follow. Nobody ever sees a page "
              "that names what is not there.\n\n"
              "A published name never gets other bytes: that is a conflict, found before anything is written. Running "
              "it again completes what was interrupted; when all is "
              "there it writes nothing. Several jobs may publish into one directory or channel at the same time.\n\n"
              "Where the store has a base index (`quarry mirror sync`), the pages of both together are written below "
              "`merged/`: one index URL that needs no other, in which each project has one owner.\n\n"
              "In a GitHub job it writes the step outputs `package_find_links_url`, `package_index_url`, "
              "`package_set` and, with a base index, `package_merged_index_url`, and a step summary with the line to "
              "install.",
          .operands = {{"DIR", "holds wheels and source distributions, directly or in dist/"}},
          .flags = {k_store,
                    public_url_flag(),
                    {.name = "--run-id",
                     .value = "ID",
                     .help = "the CI run that built them",
                     .environment = "GITHUB_RUN_ID",
                     .required = true},
                    {.name = "--platform",
                     .value = "P",
                     .help = "the platform of that run",
                     .choices = {"linux", "windows"},
                     .required = true},
                    {.name = "--artifact-group", .value = "G", .help = "group of the run, such as gfx94X-dcgpu"},
                    {.name = "--channel", .value = "NAME", .help = "add the set to this channel"},
                    {.name = "--area",
                     .value = "AREA",
                     .help = "directory of the run",
                     .choices = {"python", "pytorch", "jax"},
                     .fallback = "python"},
                    {.name = "--layout",
                     .value = "FORM",
                     .help = "flat forms of today's scripts",
                     .choices = {"quarry", "feb", "aug"},
                     .fallback = "quarry"},
                    {.name = "--external-repo", .value = "OWNER-REPO", .help = "prefix of a run of another repository"},
                    {.name = "--repository",
                     .value = "O/R",
                     .help = "recorded as the origin",
                     .environment = "GITHUB_REPOSITORY"},
                    {.name = "--commit", .value = "SHA", .help = "recorded as the origin", .environment = "GITHUB_SHA"},
                    {.name = "--several-versions", .value = "", .help = "allow several versions of one project"},
                    {.name = "--dry-run", .value = "", .help = "verify and plan, write nothing", .letter = 'n'}},
          .examples = {{"quarry publish out --store file:store --run-id 42 --platform linux --artifact-group "
                        "gfx94X-dcgpu --channel staging",
                        "publish what `sdk build` made"}},
          .exit_codes = {{1, "a package has findings: `quarry wheel verify` lists them"},
                         {3, "the directory holds no package"},
                         {6, "a package's container or RECORD is broken or ambiguous"},
                         {7, "a name is published with other bytes, or is a project of the base index"},
                         {8, "run it again"}},
          .schema = "quarry.publish/1",
          .run = run_publish};
}

// ---- set show, verify, adopt

Json set_json(const registry::SealedSet& sealed) {
  const auto& o = sealed.set.origin;
  return {{"set", sealed.digest},
          {"directory", sealed.set.directory},
          {"sealed", sealed.seal.time},
          {"files", files_json(sealed.set.files)},
          {"origin",
           {{"run_id", o.run_id},
            {"platform", o.platform},
            {"group", o.group},
            {"commit", o.commit},
            {"repository", o.repository},
            {"tool", o.tool}}}};
}

/// What all the locators mean together, each set once.
Result<registry::Resolved> resolve(store::ObjectStore& store, const std::vector<std::string>& locators) {
  registry::Resolved all;
  for (const auto& text : locators) {
    TRY(auto locator, run::parse_locator(text));
    TRY(auto resolved, publish::resolve(store, locator));
    all.source += (all.source.empty() ? "" : " ") + resolved.source;
    for (auto& sealed : resolved.sets) {
      auto same = [&](const registry::SealedSet& known) { return known.digest == sealed.digest; };
      if (std::none_of(all.sets.begin(), all.sets.end(), same)) all.sets.push_back(std::move(sealed));
    }
  }
  TRY(all.files, registry::union_of(all.sets));
  return all;
}

Result<int> run_show(Context& context, const Arguments& arguments) {
  TRY(auto store, open_store(context, arguments.get("--store")));
  TRY(auto resolved, resolve(*store, arguments.operands));
  auto sets = Json::array();
  for (const auto& sealed : resolved.sets) {
    sets.push_back(set_json(sealed));
    const auto& o = sealed.set.origin;
    context.out.data(fmt::format("set:{}\n", sealed.digest));
    context.out.data(fmt::format("sealed      {}  in {}\n", sealed.seal.time, sealed.set.directory));
    context.out.data(
        fmt::format("from        run {} {}{}\n", o.run_id, o.platform, o.commit.empty() ? "" : "  commit " + o.commit));
    context.out.data(files_text(sealed.set.files));
  }
  context.out.document({{"schema", "quarry.set-show/1"},
                        {"source", resolved.source},
                        {"sets", sets},
                        {"files", files_json(resolved.files)}});
  return 0;
}

Result<int> run_verify(Context& context, const Arguments& arguments) {
  TRY(auto store, open_store(context, arguments.get("--store")));
  TRY(auto resolved, resolve(*store, arguments.operands));
  std::uint64_t total = 0;
  for (const auto& file : resolved.files) total += file.size;
  auto progress = context.out.progress("verifying", total);
  TRY(auto found, publish::verify_sets(*store, resolved.sets,
                                       {context.jobs, [&](std::uint64_t bytes) { progress->update(bytes); }}));
  progress->finish();
  context.out.findings(found);
  context.out.data(fmt::format("{}  {}  {}  {}\n", units::things(resolved.sets.size(), "set"),
                               units::things(resolved.files.size(), "file"), units::bytes(total),
                               found.empty() ? "all as sealed" : "NOT as sealed"));
  auto digests = Json::array();
  for (const auto& sealed : resolved.sets) digests.push_back(sealed.digest);
  context.out.document({{"schema", "quarry.set-verify/1"},
                        {"sets", digests},
                        {"files", resolved.files.size()},
                        {"findings", findings_json(found)}});
  return found.empty() ? 0 : 6;
}

Result<std::string> prefix_of(store::ObjectStore& store, const std::string& text) {
  using Kind = run::LocatorKind;
  TRY(auto locator, run::parse_locator(text));
  TRY_DO(run::require_kind(locator, {Kind::run, Kind::path}, "adopt packages from"));
  if (locator.kind == Kind::path) return publish::key_of_path(store, locator.path);
  TRY(auto prefix, run_prefix(store, locator));
  return prefix;
}

Result<int> run_adopt(Context& context, const Arguments& arguments) {
  TRY(auto store, open_store(context, arguments.get("--store")));
  TRY(auto prefix, prefix_of(*store, arguments.operands.at(0)));
  auto now = sys::rfc3339(context.clock.now_us());
  auto progress = context.out.progress("verifying", 0);
  publish::AdoptOptions options{describe(), now, fmt::format("quarry {}", program_version()), context.jobs,
                                [&](std::uint64_t bytes) { progress->update(bytes); }};
  TRY(auto plans, publish::plan_adoptions(*store, prefix, options));
  progress->finish();
  auto sets = Json::array();
  std::uint64_t writes = 0;
  for (const auto& plan : plans) {
    context.out.data(plan_text(plan));
    sets.push_back({{"set", plan.set_digest}, {"directory", plan.directory}, {"files", files_json(plan.set.files)}});
    if (arguments.has("--dry-run")) continue;
    TRY(auto receipt, publish::execute(*store, plan, {now, who(context), {}, 1, {}, {}}));
    writes += receipt.writes;
    context.out.findings(receipt.notes);
    context.out.data(
        fmt::format("sealed      set:{}{}\n", receipt.set, receipt.newly_sealed ? "" : "  (it was already)"));
  }
  context.out.document({{"schema", "quarry.set-adopt/1"}, {"sets", sets}, {"writes", writes}});
  return 0;
}

const Operand k_sealed{"LOCATOR", "set:DIGEST, run:ID, channel:NAME, or a directory in the store", true, true};

Command show_command() {
  return {.path = {"set", "show"},
          .summary = "show sealed sets and their files",
          .description = "A set is what was published together; its record names every file with size and sha256. Only "
                         "sealed sets are shown, and only if the record is what its name says.",
          .operands = {k_sealed},
          .flags = {k_store},
          .examples = {{"quarry set show run:42-linux --store file:store", "what this run published"}},
          .exit_codes = {{3, "it is not there, or not sealed yet"}, {6, "a record was altered"}},
          .schema = "quarry.set-show/1",
          .run = run_show};
}

Command verify_command() {
  return {
      .path = {"set", "verify"},
      .summary = "prove that every file of a set is as it was sealed",
      .description =
          "Reads every file and every metadata file of the sets and compares them with their records. Writes nothing.",
      .operands = {k_sealed},
      .flags = {k_store},
      .examples = {{"quarry set verify channel:stable --store file:store", "all that people can install from stable"}},
      .exit_codes = {{3, "it is not there, or not sealed yet"}, {6, "a file or a record is missing or altered"}},
      .schema = "quarry.set-verify/1",
      .run = run_verify};
}

Command adopt_command() {
  return {
      .path = {"set", "adopt"},
      .summary = "seal packages that another tool published",
      .description = "Verifies completely every package that lies below a run or directory of the store, where it "
                     "lies, in today's layouts or in ours; then writes what is missing: metadata "
                     "files, the set's record, its seal, pages. No file is moved or changed.",
      .operands = {{"LOCATOR", "run:ID, or a directory in the store"}},
      .flags = {k_store, {.name = "--dry-run", .value = "", .help = "verify and plan, write nothing", .letter = 'n'}},
      .examples = {{"quarry set adopt run:42-linux --store file:store", "make a run of the scripts promotable"}},
      .exit_codes = {{1, "a package has findings: `quarry wheel verify` lists them"},
                     {3, "there is no package"},
                     {6, "a package's container or RECORD is broken or ambiguous"},
                     {7, "a sealed name has other bytes"}},
      .schema = "quarry.set-adopt/1",
      .run = run_adopt};
}

} // namespace

std::vector<Command> publish_commands() {
  return {publish_command(), show_command(), verify_command(), adopt_command()};
}

} // namespace quarry::cli
