#include "artifact/upload.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/artifacts.hpp"
#include "cli/delegate.hpp"
#include "cli/job_files.hpp"
#include "cli/records.hpp"
#include "cli/table.hpp"
#include "index/listing.hpp"
#include "sys/file.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

using artifact::Uploaded;
using OutputKind = artifact::OutputFile::Kind;

std::string_view upload_state_text(Uploaded::State state) {
  switch (state) {
  case Uploaded::State::written: return "written";
  case Uploaded::State::there: return "there";
  case Uploaded::State::replaced: return "replaced";
  case Uploaded::State::left_out: break;
  }
  return "left out";
}

std::string_view kind_text(OutputKind kind) {
  switch (kind) {
  case OutputKind::archive: return "artifact";
  case OutputKind::tarball: return "tarball";
  case OutputKind::manifest: return "manifest";
  case OutputKind::log: break;
  }
  return "log";
}

/// URLs of what people look at; empty where there is none.
struct Links {
  std::string logs, times, artifacts, manifest;
};

Result<artifact::OutputsRequest> upload_request_of(const Context& context, const Arguments& arguments) {
  TRY(auto layout, run::Layout::create({arguments.get("--external-repo"), arguments.get("--run-id"),
                                        Platform::read(arguments.get("--platform"))}));
  artifact::OutputsRequest request{arguments.operands.at(0), std::move(layout), arguments.get("--artifact-group")};
  if (arguments.has("--stage") && !arguments.has("--no-artifacts"))
    return fail(ErrorKind::invalid_argument, "A047", "--stage has no effect on artifacts",
                "add --no-artifacts; the archives of a stage are a group: --artifact-group");
  request.build_failed = arguments.has("--build-failed");
  request.artifacts = !arguments.has("--no-artifacts");
  request.logs = !arguments.has("--no-logs");
  request.manifests = request.logs && !arguments.has("--no-manifests");
  request.stage = arguments.get("--stage");
  request.ninja_logs = arguments.has("--ninja-logs");
  request.ccache_logs = arguments.has("--ccache-logs");
  request.jobs = context.jobs;
  return request;
}

std::string page_of(const std::string& title, const std::vector<artifact::Listed>& entries) {
  std::vector<index::Listed> listed;
  for (const auto& entry : entries) listed.push_back({entry.name, false, entry.size});
  return index::listing_page(title, std::move(listed), index::Parent::none);
}

/// The packages of a build go their own way: verified, sealed, with pages.
Result<Json> publish_packages(Context& context, const Arguments& arguments, bool dry_run) {
  auto directory = arguments.get("--packages");
  if (directory.empty()) return Json(nullptr);
  Words words{"publish",    directory,
              "--store",    arguments.get("--store"),
              "--run-id",   arguments.get("--run-id"),
              "--platform", arguments.get("--platform"),
              "--layout",   arguments.get("--layout")};
  for (const auto* flag : {"--artifact-group", "--external-repo", "--public-url"})
    if (!arguments.get(flag).empty()) words.insert(words.end(), {flag, arguments.get(flag)});
  if (dry_run) words.push_back("--dry-run");
  context.out.note("quarry " + shell_text(words));
  return ask_words(context, words);
}

/// What would be published; null: nothing. If the build failed, its logs matter: packages that it did not finish are
/// reported and left out.
Result<Json> plan_packages(Context& context, const Arguments& arguments, Findings& findings) {
  auto planned = publish_packages(context, arguments, true);
  if (planned || !arguments.has("--build-failed")) return planned;
  const auto& error = planned.error();
  findings.push_back({error.code, Severity::warning, arguments.get("--packages"),
                      error.message + "; the packages of the failed build are left out", error.hint});
  return Json(nullptr);
}

void add_output(std::string& text, std::string_view name, const std::string& value) {
  if (!value.empty()) text += fmt::format("{}={}\n", name, value);
}

Result<void> tell_github_of_upload(Context& context, const Links& links, const Json& packages) {
  std::string outputs, summary;
  add_output(outputs, "build_logs_url", links.logs);
  add_output(outputs, "artifacts_url", links.artifacts);
  add_output(outputs, "manifest_url", links.manifest);
  if (packages.is_object() && packages.contains("index_url")) {
    add_output(outputs, "package_find_links_url", packages["find_links_url"].get<std::string>());
    if (packages["index_url"].is_string()) // null: nothing answers under it
      add_output(outputs, "package_index_url", packages["index_url"].get<std::string>());
    if (packages["set"].is_string()) // null: a dry run of a set that is not sealed yet
      add_output(outputs, "package_set", packages["set"].get<std::string>());
  }
  for (const auto& [name, url] : {std::pair{"Build Logs", links.logs},
                                  {"Build Observability", links.times},
                                  {"Artifacts", links.artifacts},
                                  {"TheRock Manifest", links.manifest}})
    if (!url.empty()) summary += fmt::format("[{}]({})\n\n", name, url);
  TRY_DO(append_for_job("GITHUB_OUTPUT", context.variable("GITHUB_OUTPUT"), outputs));
  return append_summary(context, summary);
}

Json upload_file_json(const artifact::OutputFile& file, std::string_view state) {
  Json entry{{"kind", kind_text(file.kind)}, {"key", file.key}, {"size", file.content.size()}, {"state", state}};
  entry["sha256"] = digest_json(file.sha256);
  return entry;
}

/// The packages' own notes were heard by nobody else.
void tell_packages(Context& context, const Json& packages) {
  if (!packages.is_object()) return;
  for (const auto& note : packages.value("notes", Json::array()))
    if (note["code"] == "P072") context.out.warn(fmt::format("warning[P072]: {}", note["message"].get<std::string>()));
}

Result<int> print_upload_plan(Context& context, const artifact::Outputs& outputs, const Links& links,
                              const Json& packages) {
  TRY_DO(tell_github_of_upload(context, links, packages));
  tell_packages(context, packages);
  TableRows rows;
  Json list = Json::array();
  for (const auto& file : outputs.files) {
    rows.push_back({"would upload", units::bytes(file.content.size()), file.key});
    list.push_back(upload_file_json(file, "planned"));
  }
  context.out.data(table({k_text, k_number, k_name}, rows, context.out.data_look()));
  context.out.document({{"dry_run", true},
                        {"files", list},
                        {"build_logs_url", links.logs},
                        {"artifacts_url", links.artifacts},
                        {"manifest_url", links.manifest},
                        {"packages", packages},
                        {"findings", findings_json(outputs.findings)}});
  context.out.note("the store was not asked which of these names it has, and with which bytes");
  return 0;
}

void print_upload_report(Context& context, const artifact::Outputs& outputs, const artifact::UploadReport& report,
                         const Links& links, double seconds) {
  TableRows rows;
  std::uint64_t bytes = 0;
  for (const auto& file : report.files) {
    rows.push_back({std::string(upload_state_text(file.state)), units::bytes(file.size), file.key});
    bytes += file.size;
  }
  context.out.data(table({k_text, k_number, k_name}, rows, context.out.data_look()));
  context.out.data(fmt::format("{}  {}  {} written  {}\n", units::things(outputs.files.size(), "file"),
                               units::bytes(bytes), units::things(report.writes, "object"), units::seconds(seconds)));
  for (const auto& [name, url] :
       {std::pair{"logs     ", links.logs}, {"artifacts", links.artifacts}, {"manifest ", links.manifest}})
    if (!url.empty()) context.out.data(fmt::format("{}  {}\n", name, url));
}

Result<int> run_upload(Context& context, const Arguments& arguments) {
  TRY(auto public_url, public_url_of(arguments));
  TRY(auto request, upload_request_of(context, arguments));
  bool dry_run = arguments.has("--dry-run");
  TRY(auto store, open_store_to_write(context, arguments.get("--store")));
  if (!dry_run) TRY_DO(check_writable(*store, arguments.get("--store")));
  TRY(auto outputs, artifact::collect_outputs(request));
  // Packages that cannot be published are found before a run says that it has all.
  TRY(auto planned, plan_packages(context, arguments, outputs.findings),
      "nothing was uploaded: the packages cannot be published");
  context.out.findings(outputs.findings);
  artifact::UploadRequest upload{.layout = request.layout, .group = request.group, .page = page_of};
  upload.stage = request.stage;
  upload.build_failed = request.build_failed;
  upload.february = arguments.get("--layout") == "feb";
  auto url = [&](const std::string& key) { return key.empty() ? key : public_url.of(*store, key); };
  auto links_of = [&](const artifact::OutputPages& pages) {
    return Links{url(pages.logs), url(pages.times), url(pages.artifacts), url(pages.manifest)};
  };
  if (dry_run) return print_upload_plan(context, outputs, links_of(artifact::pages_of(outputs, upload)), planned);
  std::uint64_t total = 0;
  for (const auto& file : outputs.files) total += file.content.size();
  Meter meter(context, "uploading", total);
  upload.on_bytes = [&](std::uint64_t bytes) { meter.add(bytes); };
  TRY(auto report, artifact::upload_outputs(*store, outputs, upload));
  auto seconds = meter.finish();
  context.out.findings(report.findings);
  Json packages;
  if (planned.is_object()) {
    TRY(packages, publish_packages(context, arguments, false));
  }
  auto links = links_of(report.pages);
  TRY_DO(tell_github_of_upload(context, links, packages));
  print_upload_report(context, outputs, report, links, seconds);
  auto findings = outputs.findings;
  findings.insert(findings.end(), report.findings.begin(), report.findings.end());
  Json list = Json::array();
  for (std::size_t i = 0; i < outputs.files.size(); ++i)
    list.push_back(upload_file_json(outputs.files[i], upload_state_text(report.files[i].state)));
  context.out.document({{"dry_run", false},
                        {"prefix", request.layout.prefix()},
                        {"files", list},
                        {"writes", report.writes},
                        {"build_logs_url", links.logs},
                        {"artifacts_url", links.artifacts},
                        {"manifest_url", links.manifest},
                        {"packages", packages},
                        {"findings", findings_json(findings)}});
  return 0;
}

} // namespace

Command run_upload_command() {
  return {
      .path = {"run", "upload"},
      .summary = "all outputs of a build into its run's place",
      .description =
          "Takes from the build's directory `DIR`: archives of `artifacts/` (or of `DIR` itself) with their checksums, "
          "`tarballs/`, everything below `logs/`, `manifests/*.json` and therock_manifest.json; with `--packages`, "
          "Python packages as `quarry publish` does, checked before anything is sent. Pages list the logs and what the "
          "run holds.\n\n"
          "First a record announces the archives, last it says that they are complete: a fetch in between is refused. "
          "An archive's name never gets other bytes; logs and manifests are replaced when they differ. Run it again "
          "after an interruption: it completes what is missing, and writes nothing when nothing is missing.\n\n"
          "After a failed build use `--build-failed`: what is missing is reported, archives that were not finished are "
          "left out, and the run stays incomplete; a run that was complete is marked incomplete, with a warning.\n\n"
          "In a GitHub job it writes the step outputs `build_logs_url`, `artifacts_url`, `manifest_url` (and those of "
          "`quarry publish`), and links in the step summary.",
      .operands = {{"DIR", "the build's directory"}},
      .flags =
          {{.name = "--store",
            .value = "LOCATOR",
            .help = "where: file:PATH, s3://BUCKET/PREFIX",
            .environment = "QUARRY_STORE",
            .required = true},
           {.name = "--run-id", .value = "ID", .help = "the CI run", .environment = "GITHUB_RUN_ID", .required = true},
           {.name = "--platform",
            .value = "P",
            .help = "the platform of that run",
            .choices = {"linux", "windows"},
            .required = true},
           {.name = "--artifact-group", .value = "G", .help = "group of logs, manifests and packages"},
           {.name = "--external-repo", .value = "OWNER-REPO", .help = "prefix of a run of another repository"},
           {.name = "--packages", .value = "DIR", .help = "Python packages to publish in the same run"},
           {.name = "--layout",
            .value = "FORM",
            .help = "of packages, as for `publish`; feb also writes index-GROUP.html",
            .choices = {"quarry", "feb", "aug"},
            .fallback = "quarry"},
           public_url_flag(),
           {.name = "--build-failed", .value = "", .help = "the build failed: take what there is"},
           {.name = "--stage",
            .value = "NAME",
            .help = "of a staged build: logs to logs/NAME/, manifests to manifests/; needs --no-artifacts"},
           {.name = "--no-artifacts", .value = "", .help = "logs and manifests only"},
           {.name = "--no-logs", .value = "", .help = "archives and tarballs only"},
           {.name = "--no-manifests", .value = "", .help = "without manifests"},
           {.name = "--ninja-logs", .value = "", .help = "every .ninja_log of DIR as logs/ninja_logs.tar.gz, too"},
           {.name = "--ccache-logs", .value = "", .help = "logs/ccache/ as logs/ccache_logs.tar.zst"},
           {.name = "--dry-run",
            .value = "",
            .help = "show what would be done, write nothing but the job's outputs; needs no credentials",
            .letter = 'n'}},
      .examples =
          {{"quarry run upload build --run-id 42 --platform linux --artifact-group gfx94X-dcgpu --store file:store",
            "after a build"},
           {"quarry run upload build --run-id 42 --platform linux --build-failed --store s3://builds/ci",
            "what a failed build left, for those who look into it"}},
      .exit_codes = {{3, "DIR does not exist, or holds no artifacts"},
                     {6, "an archive is not what its checksum file says"},
                     {7, "an archive of that name exists with other bytes"},
                     {8, "run it again"}},
      .schema = "quarry.run-upload/1",
      .run = run_upload};
}

} // namespace quarry::cli
