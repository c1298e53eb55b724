#include "artifact/exploded.hpp"
#include "artifact/fetch.hpp"
#include "artifact/pack.hpp"
#include "artifact/selection.hpp"
#include "artifact/verify.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/records.hpp"
#include "run/find_runs.hpp"
#include "store/object_store.hpp"
#include <algorithm>
#include <atomic>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {
using artifact::Fetched;
using artifact::Source;
using artifact::SourceItem;

const Flag k_store{.name = "--store",
                   .value = "LOCATOR",
                   .help = "the store that `run:ID` is looked for in",
                   .environment = "QUARRY_STORE"};
const Flag k_include{.name = "--include",
                     .value = "REGEX",
                     .help = "only artifacts in whose name this is found; any of several",
                     .repeats = true};
const Flag k_exclude{
    .name = "--exclude", .value = "REGEX", .help = "leave out artifacts in whose name this is found", .repeats = true};
const Flag k_group{
    .name = "--artifact-group", .value = "G", .help = "only artifacts of this family, and the generic ones"};
const Flag k_targets{
    .name = "--amdgpu-targets", .value = "A,B", .help = "also those of these GPU targets (and the generic ones)"};
const Flag k_unverified{
    .name = "--allow-unverified", .value = "", .help = "accept archives that have no checksum file"};
const Flag k_max_ratio{.name = "--max-ratio",
                       .value = "N",
                       .help = "refuse archives that unpack to more than 64 MiB + N times their size",
                       .fallback = "60"};
const Flag k_dry_run{.name = "--dry-run", .value = "", .help = "say what would be done, and do nothing", .letter = 'n'};

constexpr std::string_view k_locator_help =
    "a directory, one archive, or `run:[OWNER-REPO/]ID[-PLATFORM]` below `--store`";

Result<Source> open_source(const Context& context, const std::string& text, const Arguments& arguments) {
  TRY(auto locator, run::parse_locator(text));
  TRY_DO(run::require_kind(locator, {run::LocatorKind::path, run::LocatorKind::run}, "take artifacts from"));
  if (locator.kind == run::LocatorKind::path) return artifact::source_of_path(locator.path);
  auto place = arguments.find("--store");
  if (!place)
    return fail(ErrorKind::invalid_argument, "A030", fmt::format("{} needs a store to look in", text),
                "add `--store file:PATH` or set QUARRY_STORE");
  TRY(auto opened, open_store(context, *place));
  std::shared_ptr<store::ObjectStore> store = std::move(opened);
  TRY(auto found, run::find_run(*store, locator));
  return artifact::source_of_run(std::move(store), found);
}

Result<std::vector<SourceItem>> selected(const Source& source, const Arguments& arguments,
                                         std::vector<std::string> include) {
  artifact::SelectionOptions options;
  options.include = std::move(include);
  options.exclude = arguments.list("--exclude");
  options.group = arguments.get("--artifact-group");
  for (const auto& list : arguments.list("--amdgpu-targets"))
    for (auto& target : text::split_any(list, ",; ")) options.targets.push_back(std::move(target));
  return artifact::select(source, options);
}

Result<std::uint64_t> max_ratio(const Arguments& arguments) {
  auto ratio = text::parse_u64(arguments.get("--max-ratio"));
  if (ratio && *ratio > 0 && *ratio <= 1'000'000) return *ratio;
  return fail(ErrorKind::invalid_argument, "A031",
              fmt::format("--max-ratio {} is no number from 1 to 1,000,000", arguments.get("--max-ratio")));
}

Json name_json(const artifact::Name& name) {
  return {{"artifact", name.text()}, {"name", name.name}, {"component", name.component}, {"target", name.target}};
}

Json digest_json(const std::optional<Sha256>& digest) { return digest ? Json(digest->hex()) : Json(nullptr); }

std::string form_of(const SourceItem& item) {
  return item.exploded ? "directory" : std::string(suffix_of(item.compression)).substr(1);
}

/// Columns as wide as their widest cell; the last one is not padded.
std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (widths.size() <= i) widths.push_back(0);
      widths[i] = std::max(widths[i], row[i].size());
    }
  std::string out;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      out += i + 1 == row.size() ? row[i] : fmt::format("{:<{}}  ", row[i], widths[i]);
    out += "\n";
  }
  return out;
}

/// Counts bytes from many threads into one bar.
class Meter {
public:
  Meter(Context& context, std::string label, std::uint64_t total)
      : progress_(context.out.progress(std::move(label), total)), started_(context.clock.steady_ns()),
        clock_(context.clock) {}
  void add(std::uint64_t bytes) { progress_->update(done_ += bytes); }
  double finish() {
    progress_->finish();
    return static_cast<double>(clock_.steady_ns() - started_) / 1e9;
  }

private:
  std::unique_ptr<Progress> progress_;
  std::atomic<std::uint64_t> done_ = 0;
  std::uint64_t started_;
  const sys::Clock& clock_;
};

// list

struct Size {
  std::uint64_t bytes = 0, files = 0;
};

Result<Size> size_of(const SourceItem& item) {
  if (!item.exploded) return Size{item.size, 1};
  Size size;
  TRY(auto entries, sys::list_tree(item.directory));
  for (const auto& entry : entries) {
    if (entry.type == sys::EntryType::directory) continue;
    size.bytes += entry.size;
    ++size.files;
  }
  return size;
}

Result<int> run_list(Context& context, const Arguments& arguments) {
  TRY(auto source, open_source(context, arguments.operands[0], arguments));
  TRY(auto items, selected(source, arguments, arguments.list("--include")));
  Json list = Json::array();
  std::vector<std::vector<std::string>> rows{{"name", "component", "target", "form", "size", "checksum"}};
  std::uint64_t total = 0;
  for (const auto& item : items) {
    TRY(auto size, size_of(item));
    total += size.bytes;
    auto checksum = item.defect     ? item.defect->code
                    : item.checksum ? "sha256 " + item.checksum->short_hex()
                    : item.exploded ? "-"
                                    : "none";
    rows.push_back(
        {item.name.name, item.name.component, item.name.target, form_of(item), units::bytes(size.bytes), checksum});
    auto entry = name_json(item.name);
    entry.update(
        {{"form", form_of(item)}, {"file", item.file}, {"size", size.bytes}, {"sha256", digest_json(item.checksum)}});
    if (item.defect) {
      source.findings.push_back(
          {item.defect->code, Severity::error, item.file, item.defect->message, item.defect->hint});
      entry["defect"] = item.defect->code;
    }
    list.push_back(std::move(entry));
  }
  context.out.data(table(rows) +
                   fmt::format("{} artifacts  {}  {}\n", items.size(), units::bytes(total), source.description));
  context.out.document({{"schema", "quarry.artifact-list/1"},
                        {"source", source.description},
                        {"artifacts", list},
                        {"size", total},
                        {"findings", findings_json(source.findings)}});
  context.out.findings(source.findings);
  return has_errors(source.findings) ? traits(ErrorKind::corrupt).exit_code : 0;
}

Command list_command() {
  return {.path = {"artifact", "list"},
          .summary = "names, components, targets and sizes",
          .description = "Lists the artifacts of a directory or a run. No archive is opened: `quarry artifact verify` "
                         "looks inside. Artifacts that stand there "
                         "twice, have a malformed checksum file or lack their manifest are findings.",
          .operands = {{.name = "LOCATOR", .help = std::string(k_locator_help)}},
          .flags = {k_store, k_include, k_exclude, k_group, k_targets},
          .examples = {{"quarry artifact list run:42 --store file:store", "what run 42 left"}},
          .exit_codes = {{3, "no artifact there, or none for the group"},
                         {6, "an artifact is defective; its finding says how"}},
          .schema = "quarry.artifact-list/1",
          .run = run_list};
}

// verify

Result<int> run_verify(Context& context, const Arguments& arguments) {
  TRY(auto source, open_source(context, arguments.operands[0], arguments));
  TRY(auto items, selected(source, arguments, arguments.list("--include")));
  artifact::VerifyOptions options;
  options.jobs = context.jobs;
  options.allow_unverified = arguments.has("--allow-unverified");
  TRY(options.max_ratio, max_ratio(arguments));
  std::uint64_t total = 0;
  for (const auto& item : items) total += item.size;
  Meter meter(context, "verifying", total);
  options.on_bytes = [&](std::uint64_t bytes) { meter.add(bytes); };
  TRY(auto verdicts, artifact::verify(items, options));
  auto seconds = meter.finish();

  Json list = Json::array();
  std::vector<std::vector<std::string>> rows;
  std::size_t sound = 0;
  for (const auto& verdict : verdicts) {
    std::string state = verdict.error ? "damaged" : verdict.verified ? "sound" : "unverified";
    auto facts = verdict.error ? verdict.error->code
                               : fmt::format("{} files  {}{}", units::count(verdict.files), units::bytes(verdict.bytes),
                                             verdict.exploded   ? "  exploded directory, has no checksum"
                                             : verdict.verified ? ""
                                                                : "  no checksum file");
    rows.push_back({state, verdict.file, facts});
    auto entry = name_json(verdict.name);
    entry.update({{"file", verdict.file},
                  {"state", state},
                  {"sha256", digest_json(verdict.digest)},
                  {"files", verdict.files},
                  {"size", verdict.bytes}});
    if (verdict.error) {
      entry["error"] = {
          {"code", verdict.error->code}, {"message", verdict.error->message}, {"details", verdict.error->details}};
      context.out.warn(render(*verdict.error));
    } else
      ++sound;
    list.push_back(std::move(entry));
  }
  context.out.data(table(rows));
  context.out.data(fmt::format("{} of {} artifacts are sound  {}  {}\n", sound, verdicts.size(), units::bytes(total),
                               units::seconds(seconds)));
  context.out.document({{"schema", "quarry.artifact-verify/1"},
                        {"source", source.description},
                        {"artifacts", list},
                        {"findings", findings_json(source.findings)}});
  context.out.findings(source.findings);
  return artifact::exit_code_of(verdicts);
}

Command verify_command() {
  return {.path = {"artifact", "verify"},
          .summary = "checksums and structure, nothing written",
          .description = "Reads every archive to its last byte: its checksum file, the compression's own checks, every "
                         "tar header, names and links that would lead outside, "
                         "the manifest and what it names. Exploded directories have no checksum: their manifest, names "
                         "and links are checked, and the result says so.",
          .operands = {{.name = "LOCATOR", .help = std::string(k_locator_help)}},
          .flags = {k_store, k_include, k_exclude, k_group, k_targets, k_unverified, k_max_ratio},
          .examples = {{"quarry artifact verify run:42 --store file:store", "is the upload complete and undamaged?"}},
          .exit_codes = {{3, "no artifact there"}, {6, "an artifact is damaged, or has no checksum file"}},
          .schema = "quarry.artifact-verify/1",
          .run = run_verify};
}

// fetch

std::string state_text(const Fetched& fetched) {
  if (fetched.state == Fetched::State::failed) return "failed";
  return fetched.state == Fetched::State::kept ? "kept" : "fetched";
}

std::string trust_text(const Fetched& fetched) {
  if (fetched.state == Fetched::State::failed) return fetched.error->code;
  if (fetched.exploded) return "unverified: exploded directory has no checksum";
  return fetched.verified ? "verified" : "unverified: no checksum file";
}

Json fetched_json(const Fetched& fetched) {
  auto entry = name_json(fetched.name);
  entry.update({{"source", fetched.source},
                {"state", state_text(fetched)},
                {"verified", fetched.verified},
                {"sha256", digest_json(fetched.digest)},
                {"archive_size", fetched.archive_bytes},
                {"files", fetched.files},
                {"size", fetched.bytes}});
  if (fetched.error)
    entry["error"] = {
        {"code", fetched.error->code}, {"message", fetched.error->message}, {"details", fetched.error->details}};
  return entry;
}

void print_plan(Context& context, const Source& source, const std::vector<SourceItem>& items, std::uint64_t total) {
  std::vector<std::vector<std::string>> rows;
  Json list = Json::array();
  for (const auto& item : items) {
    rows.push_back({"would fetch", item.file, item.exploded ? "directory" : units::bytes(item.size)});
    auto entry = name_json(item.name);
    entry.update({{"source", item.file}, {"archive_size", item.size}, {"sha256", digest_json(item.checksum)}});
    list.push_back(std::move(entry));
  }
  context.out.data(table(rows) +
                   fmt::format("{} artifacts  {}  from {}\n", items.size(), units::bytes(total), source.description));
  context.out.document({{"schema", "quarry.artifact-fetch/1"},
                        {"source", source.description},
                        {"dry_run", true},
                        {"artifacts", list},
                        {"findings", findings_json(source.findings)}});
}

void print_report(Context& context, const artifact::FetchReport& report, const std::string& output, double seconds) {
  std::vector<std::vector<std::string>> rows;
  std::uint64_t bytes = 0, archive_bytes = 0;
  for (const auto& fetched : report.artifacts) {
    bool failed = fetched.state == Fetched::State::failed;
    rows.push_back(
        {state_text(fetched), fetched.source, failed ? "" : units::bytes(fetched.bytes), trust_text(fetched)});
    if (failed) continue;
    bytes += fetched.bytes;
    archive_bytes += fetched.archive_bytes;
  }
  context.out.data(table(rows));
  if (report.failures() == 0)
    context.out.data(fmt::format("{} artifacts in {}  {} from {}  {}\n", report.artifacts.size(), output,
                                 units::bytes(bytes), units::bytes(archive_bytes), units::seconds(seconds)));
}

Result<artifact::FetchOptions> fetch_options(const Context& context, const Arguments& arguments) {
  artifact::FetchOptions options;
  options.jobs = context.jobs;
  options.allow_unverified = arguments.has("--allow-unverified");
  TRY(options.max_ratio, max_ratio(arguments));
  bool flat = arguments.has("--flatten"), archives = arguments.has("--no-extract");
  if (flat && archives)
    return fail(ErrorKind::invalid_argument, "A032", "--flatten and --no-extract contradict each other",
                "say one of them");
  options.form = flat       ? artifact::FetchForm::flat
                 : archives ? artifact::FetchForm::archives
                            : artifact::FetchForm::exploded;
  return options;
}

Result<int> run_fetch(Context& context, const Arguments& arguments) {
  TRY(auto options, fetch_options(context, arguments));
  TRY(auto source, open_source(context, arguments.get("--from"), arguments));
  context.out.findings(source.findings);
  TRY(auto items, selected(source, arguments, arguments.operands));
  bool any_exploded = std::any_of(items.begin(), items.end(), [](const auto& item) { return item.exploded; });
  std::uint64_t total = 0;
  for (const auto& item : items) total += item.size;
  if (arguments.has("--dry-run")) {
    print_plan(context, source, items, total);
    return 0;
  }
  auto output = arguments.get("--output-dir");
  Meter meter(context, "fetching", any_exploded ? 0 : total);
  options.on_bytes = [&](std::uint64_t bytes) { meter.add(bytes); };
  TRY(auto report, artifact::fetch(items, output, options));
  auto seconds = meter.finish();
  print_report(context, report, output, seconds);
  Json list = Json::array();
  for (const auto& fetched : report.artifacts) list.push_back(fetched_json(fetched));
  context.out.document({{"schema", "quarry.artifact-fetch/1"},
                        {"source", source.description},
                        {"output_dir", output},
                        {"artifacts", list},
                        {"failed", report.failures()},
                        {"findings", findings_json(source.findings)}});
  if (report.failures() > 0) {
    auto error = artifact::failure_of(report, output);
    if (error.code == "A012")
      error.hint = fmt::format("fetch it again with the same command; if it persists, the upload of {} is damaged: "
                               "`quarry artifact verify {}`",
                               arguments.get("--from"), arguments.get("--from"));
    return fail(std::move(error));
  }
  if (options.form == artifact::FetchForm::exploded)
    context.out.note(fmt::format("next: quarry sdk build --artifact-dir {} --dest-dir out", output));
  return 0;
}

Command fetch_command() {
  return {.path = {"artifact", "fetch"},
          .summary = "verified, extracted artifacts in a directory",
          .description =
              "Each archive is read once: decompressed, hashed and unpacked in the same pass into a hidden place, and "
              "appears in the output directory only when its checksum, "
              "its manifest and every name and link in it are proven. One that fails does not stop the others.\n\n"
              "Run it again after an interruption: what is complete is kept, the rest is done again.\n\n"
              "Expressions are POSIX extended ones and are searched for anywhere in the artifact's name.",
          .operands = {{.name = "REGEX",
                        .help = "only artifacts in whose name one of these is found; default: all",
                        .required = false,
                        .repeats = true}},
          .flags = {{.name = "--from", .value = "LOCATOR", .help = std::string(k_locator_help), .required = true},
                    {.name = "--output-dir", .value = "DIR", .help = "where the artifacts go", .required = true},
                    k_store,
                    k_exclude,
                    k_group,
                    k_targets,
                    {.name = "--no-extract",
                     .value = "",
                     .help = "keep the archives as they are, with their checksum files"},
                    {.name = "--flatten",
                     .value = "",
                     .help = "merge all base directories into DIR; two owners of one path are refused"},
                    k_unverified,
                    k_max_ratio,
                    k_dry_run},
          .examples = {{"quarry artifact fetch --from run:42 --store file:store --output-dir artifacts",
                        "everything of run 42"},
                       {"quarry artifact fetch blas rand --from archives --output-dir a --artifact-group gfx103X-dgpu",
                        "two libraries of one family"}},
          .exit_codes = {{3, "nothing there that fits"},
                         {6, "an archive is damaged, hostile or has no checksum file"},
                         {7, "a directory or file of that name was not made by a fetch"},
                         {12, "the disk is full or not writable"}},
          .schema = "quarry.artifact-fetch/1",
          .run = run_fetch};
}

// pack

Result<int> run_pack(Context& context, const Arguments& arguments) {
  TRY(auto source, artifact::source_of_path(arguments.operands[0]));
  context.out.findings(source.findings);
  artifact::PackOptions options;
  options.compression = arguments.get("--format") == "xz" ? archive::Compression::xz : archive::Compression::zstd;
  options.jobs = context.jobs;
  std::uint64_t total = 0, archive_bytes = 0;
  for (const auto& item : source.items) {
    if (!item.exploded || item.defect) continue;
    TRY(auto size, size_of(item));
    total += size.bytes;
  }
  auto output = arguments.get("--output-dir");
  Meter meter(context, "packing", total);
  options.on_bytes = [&](std::uint64_t bytes) { meter.add(bytes); };
  TRY(auto packed, artifact::pack(source, output, options));
  auto seconds = meter.finish();

  Json list = Json::array();
  std::vector<std::vector<std::string>> rows;
  for (const auto& p : packed) {
    archive_bytes += p.size;
    rows.push_back({"packed", p.file, units::bytes(p.size),
                    units::percent(static_cast<double>(p.size), static_cast<double>(p.bytes)),
                    "sha256 " + p.digest.short_hex()});
    auto entry = name_json(p.name);
    entry.update({{"file", p.file},
                  {"sha256", p.digest.hex()},
                  {"archive_size", p.size},
                  {"files", p.files},
                  {"size", p.bytes}});
    list.push_back(std::move(entry));
  }
  context.out.data(table(rows) + fmt::format("{} archives in {}  {} from {}  {}\n", packed.size(), output,
                                             units::bytes(archive_bytes), units::bytes(total),
                                             units::seconds(seconds)));
  context.out.document({{"schema", "quarry.artifact-pack/1"},
                        {"output_dir", output},
                        {"artifacts", list},
                        {"findings", findings_json(source.findings)}});
  context.out.note(fmt::format("next: quarry artifact verify {}", output));
  return 0;
}

Command pack_command() {
  return {.path = {"artifact", "pack"},
          .summary = "exploded artifacts to archives with checksum files",
          .description = "Packs each `{name}_{component}_{target}/` below DIR, with its `artifact_manifest.txt` first "
                         "and the rest sorted. The same tree gives the same bytes on every machine, "
                         "for any number of processors. What a fetch would refuse (a link that leads outside, a file "
                         "beside the base directories) is refused before anything is written.",
          .operands = {{.name = "DIR", .help = "holds the exploded artifacts"}},
          .flags = {{.name = "--output-dir", .value = "OUT", .help = "where the archives go", .required = true},
                    {.name = "--format",
                     .value = "FORMAT",
                     .help = "zst: fast; xz: smaller and much slower",
                     .choices = {"zst", "xz"},
                     .fallback = "zst"}},
          .examples = {{"quarry artifact pack artifacts --output-dir store/42-linux", "as a run uploads them"}},
          .exit_codes = {{3, "DIR holds no exploded artifacts"},
                         {6, "an artifact is defective"},
                         {7, "OUT holds the same artifact in the other format"}},
          .schema = "quarry.artifact-pack/1",
          .run = run_pack};
}
} // namespace

std::vector<Command> artifact_commands() { return {fetch_command(), list_command(), pack_command(), verify_command()}; }

} // namespace quarry::cli
