#include "artifact/case_rule.hpp"
#include "artifact/fetch.hpp"
#include "artifact/fetch_state.hpp"
#include "base/codes.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/artifacts.hpp"
#include "cli/records.hpp"
#include "cli/table.hpp"
#include "run/locator.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {
using artifact::Fetched;

constexpr int k_partial_exit = 8; // docs/exit-codes.md

std::string fetch_state_text(const Fetched& fetched) {
  if (fetched.state == Fetched::State::failed) return "failed";
  return fetched.state == Fetched::State::kept ? "kept" : "fetched";
}

std::string trust_text(const Fetched& fetched) {
  if (fetched.state == Fetched::State::failed) return fetched.error->code;
  if (fetched.exploded) return "unverified: exploded directory has no checksum";
  if (!fetched.verified) return "unverified: no checksum file";
  bool now = fetched.state == Fetched::State::fetched || fetched.rehashed;
  return now ? "verified" : "sizes and times unchanged since it was verified";
}

/// How sure this command is of the bytes: null where it failed.
Json checked_json(const Fetched& fetched) {
  if (fetched.state == Fetched::State::failed) return nullptr;
  return fetched.state == Fetched::State::fetched || fetched.rehashed ? "content" : "size-and-time";
}

Json fetched_json(const Fetched& fetched) {
  auto entry = name_json(fetched.name);
  entry.update({{"source", fetched.source},
                {"state", fetch_state_text(fetched)},
                {"verified", fetched.verified},
                {"checked", checked_json(fetched)},
                {"sha256", digest_json(fetched.digest)},
                {"archive_size", fetched.archive_bytes},
                {"files", fetched.files},
                {"size", fetched.bytes}});
  if (fetched.error) entry["error"] = error_json(*fetched.error);
  return entry;
}

/// What an earlier fetch into this directory completed from the same bytes. Only for the exploded form, whose record is
/// small; for the other forms the files would have to be read.
bool is_kept(const artifact::SourceItem& item, const std::string& output, artifact::FetchForm form) {
  if (form != artifact::FetchForm::exploded || item.exploded || !item.checksum) return false;
  auto state = artifact::read_fetch_state(output, item.name);
  return state && state->digest == item.checksum && artifact::still_complete(output, item.name, *state);
}

void print_fetch_plan(Context& context, const artifact::Source& source, const std::vector<artifact::SourceItem>& items,
                      const std::function<bool(const artifact::SourceItem&)>& kept) {
  TableRows rows;
  std::uint64_t bytes = 0, count = 0;
  Json list = Json::array();
  for (const auto& item : items) {
    bool stays = kept(item);
    rows.push_back({stays ? "kept" : "would fetch", item.file, item.exploded ? "directory" : units::bytes(item.size)});
    if (!stays) bytes += item.size, ++count;
    auto entry = name_json(item.name);
    entry.update({{"source", item.file},
                  {"state", stays ? "kept" : "planned"},
                  {"archive_size", item.size},
                  {"sha256", digest_json(item.checksum)}});
    list.push_back(std::move(entry));
  }
  context.out.data(
      table({k_text, k_name, k_number}, rows, context.out.data_look()) +
      fmt::format("{}  {}  from {}\n", units::things(count, "artifact"), units::bytes(bytes), source.description));
  context.out.document({{"source", source.description},
                        {"dry_run", true},
                        {"artifacts", list},
                        {"findings", findings_json(source.findings)}});
}

void print_fetch_report(Context& context, const artifact::FetchReport& report, const std::string& output,
                        double seconds) {
  TableRows rows;
  std::uint64_t bytes = 0, archive_bytes = 0;
  for (const auto& fetched : report.artifacts) {
    bool failed = fetched.state == Fetched::State::failed;
    rows.push_back({{fetch_state_text(fetched), failed ? Tone::bad : Tone::plain},
                    fetched.source,
                    failed ? "" : units::bytes(fetched.bytes),
                    {trust_text(fetched), failed             ? Tone::bad
                                          : fetched.verified ? Tone::good
                                                             : Tone::doubtful}});
    if (failed) continue;
    bytes += fetched.bytes;
    archive_bytes += fetched.archive_bytes;
  }
  context.out.data(table({k_text, k_name, k_number, k_text}, rows, context.out.data_look()));
  if (report.failures() == 0)
    context.out.data(fmt::format("{} in {}  {} from {}  {}\n", units::things(report.artifacts.size(), "artifact"),
                                 output, units::bytes(bytes), units::bytes(archive_bytes), units::seconds(seconds)));
}

Result<artifact::FetchOptions> fetch_options(const Context& context, const Arguments& arguments) {
  artifact::FetchOptions options;
  options.jobs = context.jobs;
  options.allow_unverified = arguments.has("--allow-unverified");
  TRY(options.max_ratio, max_ratio(arguments));
  bool flat = arguments.has("--flatten"), archives = arguments.has("--no-extract");
  if (flat && archives)
    return fail(ErrorKind::invalid_argument, "A032", "--flatten and --no-extract contradict each other",
                "use only one of them");
  options.form = flat       ? artifact::FetchForm::flat
                 : archives ? artifact::FetchForm::archives
                            : artifact::FetchForm::exploded;
  return options;
}

Result<int> run_fetch(Context& context, const Arguments& arguments) {
  TRY(auto options, fetch_options(context, arguments));
  TRY(auto from, run::parse_locator(arguments.get("--from")));
  if (from.kind == run::LocatorKind::path) TRY_DO(refuse_same_directory(from.path, arguments.get("--output-dir")));
  TRY(auto source, artifact_source(context, arguments.get("--from"), arguments));
  TRY(options.at_once, archives_at_once(source, arguments));
  options.remote = source.remote;
  TRY(auto items, selected_artifacts(context, source, arguments, arguments.operands));
  TRY_DO(require_complete(source, items, arguments));
  context.out.findings(source.findings);
  bool any_exploded = std::any_of(items.begin(), items.end(), [](const auto& item) { return item.exploded; });
  std::uint64_t total = 0;
  for (const auto& item : items) total += item.size;
  if (arguments.has("--dry-run")) {
    print_fetch_plan(context, source, items, [&](const artifact::SourceItem& item) {
      return is_kept(item, arguments.get("--output-dir"), options.form);
    });
    return 0;
  }
  auto output = arguments.get("--output-dir");
  Meter meter(context, "fetching", any_exploded ? 0 : total);
  options.on_bytes = [&](std::uint64_t bytes) { meter.add(bytes); };
  TRY(auto report, artifact::fetch(items, output, options));
  auto seconds = meter.finish();
  context.out.findings(report.findings);
  auto findings = source.findings;
  findings.insert(findings.end(), report.findings.begin(), report.findings.end());
  print_fetch_report(context, report, output, seconds);
  Json list = Json::array();
  Findings notes;
  for (const auto& fetched : report.artifacts) {
    list.push_back(fetched_json(fetched));
    artifact::note_case_pairs(fetched.case_pairs, fetched.source, notes);
  }
  context.out.findings(notes);
  std::copy(notes.begin(), notes.end(), std::back_inserter(source.findings));
  context.out.document({{"source", source.description},
                        {"output_dir", output},
                        {"artifacts", list},
                        {"failed", report.failures()},
                        {"findings", findings_json(findings)}});
  if (report.failures() > 0) {
    auto error = artifact::failure_of(report, output);
    if (error.is(codes::checksum_differs))
      error.hint = fmt::format("fetch it again with the same command; if it persists, the upload of {} is damaged: "
                               "`quarry artifact verify {}`",
                               arguments.get("--from"), arguments.get("--from"));
    if (!report.partial()) return fail(std::move(error));
    context.out.warn(render(error) + "what is complete stays: run the same command again for the rest\n");
    return k_partial_exit;
  }
  bool packages = std::none_of(items.begin(), items.end(), [](const auto& item) { return item.name.whole_sdk(); });
  if (options.form == artifact::FetchForm::exploded && packages && !context.step_of_another)
    context.out.note(fmt::format("next: quarry sdk build --artifact-dir {} --dest-dir out --version VERSION",
                                 text::shell_word(output)));
  return 0;
}

} // namespace

Command artifact_fetch_command() {
  return {
      .path = {"artifact", "fetch"},
      .summary = "verified, extracted artifacts in a directory",
      .description =
          "Each archive is read once: decompressed, hashed and unpacked in the same pass into a hidden place, and "
          "appears in the output directory only when its checksum, "
          "its manifest and every name and link in it are proven. One that fails does not stop the others.\n\n"
          "Run it again after an interruption: what is complete is kept, the rest is done again. A connection that is "
          "cut "
          "goes on where it ended; an archive that is replaced meanwhile is an error, bytes of two are never mixed.\n\n"
          "A place on a web server has no listing: its `index.html` lists what is there, or `index-GROUP.html` for "
          "`--artifact-group GROUP`.\n\n"
          "Expressions are POSIX extended ones and are searched for anywhere in the artifact's name.",
      .operands = {{.name = "REGEX",
                    .help = "only artifacts whose name matches one of these; default: all",
                    .required = false,
                    .repeats = true}},
      .flags = joined(
          {{{.name = "--from", .value = "LOCATOR", .help = std::string(k_artifact_locator_help), .required = true},
            {.name = "--output-dir", .value = "DIR", .help = "where the artifacts go", .required = true},
            {.name = "--no-extract", .value = "", .help = "keep the archives as they are, with their checksum files"},
            {.name = "--flatten",
             .value = "",
             .help = "merge all base directories into DIR; two owners of one path are refused"},
            {.name = "--dry-run", .value = "", .help = "show what would be done, and do nothing", .letter = 'n'}},
           artifact_source_flags(),
           artifact_selection_flags(),
           artifact_trust_flags(),
           {allow_partial_flag()}}),
      .examples = {{"quarry artifact fetch --from run:42 --store file:store --output-dir artifacts",
                    "everything of run 42"},
                   {"quarry artifact fetch --from s3://therock-ci-artifacts/19680190301-linux --output-dir artifacts "
                    "--artifact-group gfx94X-dcgpu",
                    "of a run in a bucket, one family and what is generic"},
                   {"quarry artifact fetch blas rand --from archives --output-dir a --artifact-group gfx103X-dgpu",
                    "two libraries of one family"}},
      .exit_codes = {{3, "nothing there that fits, or not all that is announced"},
                     {5, "the store cannot be reached, or is too busy"},
                     {6, "an archive is damaged, hostile or has no checksum file"},
                     {7, "a directory or file of that name was not made by a fetch"},
                     {8, "some artifacts are complete, others could not be read: run it again"},
                     {12, "the disk is full or not writable"}},
      .schema = "quarry.artifact-fetch/1",
      .run = run_fetch};
}

} // namespace quarry::cli
