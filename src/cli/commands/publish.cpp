#include "publish/publish.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/dry_run.hpp"
#include "cli/facts.hpp"
#include "cli/identity.hpp"
#include "cli/job_files.hpp"
#include "cli/next_command.hpp"
#include "cli/plan_text.hpp"
#include "cli/prover.hpp"
#include "cli/publish_rules.hpp"
#include "cli/records.hpp"
#include "cli/reviewed.hpp"
#include "cli/shared_flags.hpp"
#include "cli/sizes.hpp"
#include "cli/table.hpp"
#include "cli/version.hpp"
#include "pages/install_words.hpp"
#include "publish/derivation.hpp"
#include "publish/outputs.hpp"
#include "publish/refuse.hpp"
#include "publish/resolve.hpp"
#include "publish/verify.hpp"
#include "sys/file.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

using ProverPointer = std::shared_ptr<const wheel::Prover>;

// A wheel that this user has packed and read back on this machine is not inflated again. Null: every one is.
publish::Describe describe_with(const ProverPointer& prover) {
  return [prover](const std::string& path, unsigned workers) -> Result<index::Described> {
    if (prover)
      if (auto proven = index::describe_proven(path, *prover)) return std::move(*proven);
    return index::describe(path, workers);
  };
}

// ---- publish

run::PackageForm publish_form_of(const std::string& layout) {
  if (layout == "feb") return run::PackageForm::feb;
  return layout == "aug" ? run::PackageForm::aug : run::PackageForm::quarry;
}

Result<publish::Target> target_of(const Arguments& arguments) {
  TRY(auto layout, run::Layout::create({arguments.get("--external-repo"), arguments.get("--run-id"),
                                        Platform::read(arguments.get("--platform"))}));
  TRY_DO(publish::refuse_area_without_platform(arguments.get("--area"), layout.platform()));
  publish::Target target{.layout = std::move(layout)};
  target.area = arguments.get("--area");
  target.group = arguments.get("--artifact-group");
  target.form = publish_form_of(arguments.get("--layout"));
  target.channel = arguments.get("--channel");
  target.commit = arguments.get("--commit");
  target.repository = arguments.get("--repository");
  target.tool = fmt::format("quarry {}", program_version());
  return target;
}

std::string receipt_text(const publish::Plan& plan, const publish::Receipt& receipt) {
  auto text = fact("sealed", "set:{}  {}{}", receipt.set.short_hex(), units::things(receipt.files, "file"),
                   receipt.newly_sealed ? "" : "  (already sealed)");
  if (!receipt.channel.empty())
    text += receipt.channel_moved
                ? fact("channel", "{}@{}", receipt.channel, receipt.generation)
                : fact("channel", "unchanged: the set is in {}@{}", receipt.channel, receipt.generation);
  text += fmt::format("written     {}\n\n", units::things(receipt.writes, "object"));
  return text + pages::install_line(plan.set, publish::widest(receipt)) + "\n";
}

Json publish_plan_json(const publish::Plan& plan) {
  return {{"plan", plan.digest},
          {"set", plan.set_digest},
          {"directory", plan.directory},
          {"files", files_json(plan.set.files)},
          {"notes", findings_json(plan.notes)}};
}

Findings all_notes(const publish::Plan& plan, const publish::Receipt& receipt) {
  auto notes = plan.notes;
  notes.insert(notes.end(), receipt.notes.begin(), receipt.notes.end());
  return notes;
}

Json publish_receipt_json(const publish::Plan& plan, const publish::Receipt& receipt) {
  auto document = publish_plan_json(plan);
  document["dry_run"] = false;
  document["writes"] = receipt.writes;
  document["find_links_url"] = receipt.find_links_url;
  document["index_url"] = url_json(receipt.directory_at.index_url);
  document["merged_index_url"] = url_json(receipt.directory_at.merged_url);
  document["run_merged_index_url"] = url_json(receipt.run_index_url);
  document["group_merged_index_url"] = url_json(receipt.group_index_url);
  document["notes"] = findings_json(all_notes(plan, receipt));
  document["channel"] = nullptr;
  if (!receipt.channel.empty())
    document["channel"] = {{"name", receipt.channel},
                           {"generation", receipt.generation},
                           {"view", receipt.view},
                           {"index_url", url_json(receipt.channel_at.index_url)},
                           {"find_links_urls", receipt.channel_at.find_links},
                           {"merged_index_url", url_json(receipt.channel_at.merged_url)}};
  return document;
}

Result<void> tell_github_of_publish(Context& context, const publish::Plan& plan, const publish::Receipt& receipt) {
  TRY_DO(append_for_job("GITHUB_OUTPUT", context.variable("GITHUB_OUTPUT"), publish::github_outputs(receipt)));
  return append_summary(context, publish::step_summary(plan, receipt));
}

std::string next_step(const Context& context, const Arguments& arguments, const publish::Plan& plan) {
  auto external = arguments.get("--external-repo");
  // Other jobs of the run may publish other groups, whose files need not go together with these.
  const auto& group = plan.set.origin.group;
  auto from = plan.channel.empty()
                  ? fmt::format("run:{}{}{}-{}{}", external, external.empty() ? "" : "/", arguments.get("--run-id"),
                                arguments.get("--platform"), group.empty() ? "" : "@" + group)
                  : "channel:" + plan.channel;
  return "next: " + NextCommand(context, "venv install")
                        .operand(".venv")
                        .set("--from", from)
                        .set("--packages", text::replace_all(pages::requirement_of(plan.set), "\"", ""))
                        .set("--store", arguments.get("--store"))
                        .text();
}

Result<publish::Plan> plan_of(Context& context, const Arguments& arguments, store::ObjectReader& store,
                              const ProverPointer& prover) {
  TRY(auto target, target_of(arguments));
  // Before a byte is read: verifying packages takes minutes, and none of these needs them.
  TRY_DO(publish::check_target(target));
  if (!arguments.has("--dry-run")) TRY_DO(check_writable(store, arguments.get("--store")));
  auto progress = context.out.progress("verifying", bytes_of_packages(arguments.operands.at(0)));
  TRY(auto collected,
      publish::collect({arguments.operands.at(0), describe_with(prover), context.jobs,
                        [&](std::uint64_t bytes) { progress->update(bytes); },
                        Platform::read(arguments.get("--platform")), arguments.has("--several-versions")}));
  progress->finish();
  TRY(auto grace, duration_us(arguments, "--replace-unsealed-after"));
  target.several_versions = arguments.has("--several-versions");
  target.replace_unsealed_before_us = context.clock.now_us() - grace;
  auto now = sys::Timestamp::from_us(context.clock.now_us());
  auto plan = arguments.has("--dry-run") ? publish::plan_without_credentials(store, target, std::move(collected), now)
                                         : publish::make_plan(store, target, std::move(collected), now);
  if (plan) TRY_DO(add_findings_of_rules(context, arguments, *plan));
  return plan;
}

Result<int> end_dry_run(Context& context, const Arguments& arguments, store::ObjectReader& store,
                        const publish::Plan& plan, const pages::PublicUrl& public_url) {
  TRY(auto receipt, publish::expected_receipt(store, plan, public_url));
  TRY_DO(tell_github_of_publish(context, plan, receipt));
  NextCommand next(context, "publish");
  next.operand(arguments.operands.at(0)).flags_of(arguments).drop("--dry-run").set("--execute", plan.digest.hex());
  context.out.data(fmt::format("plan        {}\nnext: {}\n", plan.digest, next.text()));
  auto document = publish_receipt_json(plan, receipt);
  document["dry_run"] = true;
  if (!plan.sealed) document["set"] = nullptr; // its record will hold the time of publication
  context.out.document(document);
  return 0;
}

// A proof is about the file as it was packed: only then can another digest mean that the file has changed since.
bool rests_on_proofs(const publish::Plan& plan) {
  return std::any_of(plan.files.begin(), plan.files.end(), [](const auto& file) { return !file.hashed; });
}

struct Storing {
  pages::PublicUrl public_url;
  std::string derivation;
};

Result<publish::Receipt> store_plan(Context& context, store::ObjectStore& store, const publish::Plan& plan,
                                    const Storing& storing) {
  auto progress = context.out.progress("storing", plan.bytes_to_write());
  publish::ExecuteOptions options{sys::Timestamp::from_us(context.clock.now_us()),
                                  who(context),
                                  {},
                                  4,
                                  [&](std::uint64_t bytes) { progress->update(bytes); },
                                  storing.public_url,
                                  storing.derivation,
                                  identity_of(context)};
  TRY(auto receipt, publish::execute(store, plan, options));
  progress->finish();
  return receipt;
}

Result<int> run_publish(Context& context, const Arguments& arguments) {
  TRY_DO(check_execute(context, arguments));
  TRY(auto public_url, public_url_of(arguments));
  TRY(auto store, open_store_to_write(context, arguments.get("--store")));
  bool dry_run = arguments.has("--dry-run");
  auto prover =
      dry_run ? nullptr : prover_of(context); // a dry run reads everything: nothing is stored that would do so
  auto planned = plan_of(context, arguments, *store, prover);
  // A changed file may be refused already here, under the digest that it had: what it is now decides.
  if (!planned && prover && planned.error().kind == ErrorKind::already_exists)
    planned = plan_of(context, arguments, *store, nullptr);
  if (!planned) return fail(std::move(planned).error());
  auto plan = std::move(*planned);
  context.out.findings(plan.notes);
  TRY_DO(check_reviewed(arguments, plan.digest));
  context.out.data(plan_text(plan, context.out.data_look()));
  TRY(auto derivation, publish::read_derivation(arguments.operands.at(0), plan.set));
  if (dry_run) return end_dry_run(context, arguments, *store, plan, public_url);
  Storing storing{public_url, std::move(derivation)};
  auto receipt = store_plan(context, *store, plan, storing);
  if (!receipt && receipt.error().kind == ErrorKind::corrupt && rests_on_proofs(plan)) {
    context.out.note("a package has changed since it was packed: verifying all of them");
    TRY(plan, plan_of(context, arguments, *store, nullptr));
    TRY_DO(check_reviewed(arguments, plan.digest)); // what was reviewed was about the bytes that the proof names
    receipt = store_plan(context, *store, plan, storing);
  }
  if (!receipt) return fail(std::move(receipt).error());
  context.out.findings(receipt->notes);
  TRY_DO(tell_github_of_publish(context, plan, *receipt));
  context.out.data(receipt_text(plan, *receipt));
  context.out.document(publish_receipt_json(plan, *receipt));
  context.out.note(next_step(context, arguments, plan));
  return 0;
}

std::vector<Flag> publish_flags() {
  std::vector<Flag> flags{
      store_flag(),
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
      {.name = "--repository", .value = "O/R", .help = "recorded as the origin", .environment = "GITHUB_REPOSITORY"},
      {.name = "--commit", .value = "SHA", .help = "recorded as the origin", .environment = "GITHUB_SHA"},
      {.name = "--several-versions", .value = "", .help = "allow several versions of one project"},
      {.name = "--replace-unsealed-after",
       .value = "D",
       .help = "replace other bytes that an interrupted publish left, unsealed, when they are this old",
       .fallback = "24h"},
      {.name = "--dry-run", .value = "", .help = "verify and plan; needs no credentials", .letter = 'n'},
      {.name = "--execute", .value = "DIGEST", .help = "run exactly the plan of this digest"}};
  for (auto& flag : publish_rule_flags()) flags.push_back(std::move(flag));
  return flags;
}

Command publish_command() {
  return {
      .path = {"publish"},
      .summary = "publish packages as a sealed set that people can install",
      .description =
          "Verifies every package in `DIR` (or in `DIR/dist`); one that this user has packed here, and that Quarry has "
          "read back then, is only hashed again, while it is sent. Stores the files and the metadata of each wheel, "
          "writes the set's record and its seal, then the pages "
          "of the index; with `--channel`, the set joins the channel and its pages follow. Nobody ever sees a page "
          "that names what does not exist.\n\n"
          "A published name never gets other bytes: that is a conflict, found before anything is written. Running "
          "it again completes what was interrupted; when all is "
          "there it writes nothing. Several jobs may publish into one directory or channel at the same time.\n\n"
          "`--profile` names a rule profile. `store`, the default, tells what of a set could not be installed together "
          "(`quarry set check`) and publishes it. `release` refuses it, asks for every dependency, and looks into the "
          "wheels as `quarry wheel check` does, with the GPU family of `--amdgpu-family` or `--artifact-group`. "
          "`--against`, "
          "`--budget` and `--claims` ask for what `quarry set check` asks for with them. Rule "
          "profiles have nothing to do with the compression profiles of `sdk build`.\n\n"
          "Where the store has a base index (`quarry mirror sync`), the pages of both together are written below "
          "`merged/`: one index URL that needs no other, in which each project has one owner. As soon as a run has "
          "packages in two directories, such as those of ROCm and of PyTorch, `{run}/merged/` shows them all, and "
          "in a run of several groups `{run}/merged/{group}/` those of one group.\n\n"
          "In a GitHub job it writes the step outputs `package_find_links_url`, `package_index_url`, "
          "`package_set` and, with a base index, `package_merged_index_url`, `run_merged_index_url` and "
          "`group_merged_index_url`, and a step "
          "summary with the line to install.\n\n"
          "A bucket is an index without a web server: each page also has the key that installers ask for, "
          "`…/simple/rocm/`. On a server that keeps no such keys (MinIO) the line to install says `--find-links`, "
          "and the outputs have no `package_index_url`, unless `--public-url` names a web server.",
      .operands = {{"DIR", "holds wheels and source distributions, directly or in dist/"}},
      .flags = publish_flags(),
      .examples = {{"quarry publish out --store file:store --run-id 42 --platform linux --artifact-group "
                    "gfx94X-dcgpu --channel staging",
                    "publish what `sdk build` made"},
                   {"quarry publish out --store file:store --run-id 42 --platform linux --artifact-group "
                    "gfx94X-dcgpu --profile release --base-index https://pypi.org/simple",
                    "refuse what people should not get as a release"},
                   {"quarry publish out --store file:store --run-id 42 --platform linux --profile release --against "
                    "channel:stable --budget 12GB --claims claims.toml",
                    "refuse also what lost files since the last release, grew too large, or is not what was claimed"}},
      .exit_codes = {{1, "a package has findings: `quarry wheel verify` lists them; the rule profile refuses the set"},
                     {3, "the directory holds no package"},
                     {6, "a package's container or RECORD is broken or ambiguous"},
                     {7, "a name has other bytes, is a project of the base index, or the reviewed plan is out of date"},
                     {8, "run it again"}},
      .schema = "quarry.publish/1",
      .run = run_publish};
}

} // namespace

std::vector<Command> publish_commands() { return {publish_command()}; }

} // namespace quarry::cli
