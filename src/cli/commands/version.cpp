#include "cli/commands.hpp"

#include "base/text.hpp"
#include "cli/job_files.hpp"
#include "dist/version.hpp"
#include "sys/file.hpp"
#include "sys/process.hpp"
#include "version/dist_versions.hpp"
#include "version/order.hpp"
#include "version/version_rules.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {
constexpr std::uint64_t k_version_file_max = 1u << 20; // the incumbent's has 100 bytes
constexpr std::uint64_t k_git_deadline_ms = 30'000; // reading one reference; a dead network mount must not hang a job
using Outputs = std::vector<std::pair<std::string, std::string>>;
using version::PackageType;

/// For a workflow's next step; a value cannot hold a line break, every one is a checked version.
Result<void> tell_github_of_version(const Context& context, const Outputs& outputs) {
  std::string lines;
  for (const auto& [name, value] : outputs) lines += fmt::format("{}={}\n", name, value);
  return append_for_job("GITHUB_OUTPUT", context.variable("GITHUB_OUTPUT"), lines);
}

void show(Context& context, const Outputs& outputs, Json document) {
  for (const auto& [name, value] : outputs) document[name] = value;
  if (outputs.size() == 1) context.out.data(outputs[0].second + "\n");
  if (outputs.size() > 1)
    for (const auto& [name, value] : outputs) context.out.data(fmt::format("{}={}\n", name, value));
  context.out.document(document);
}

Result<void> check_previous(Context& context, const Arguments& arguments, const std::string& next) {
  auto said = arguments.find("--previous");
  if (!said) return {};
  TRY(auto previous, dist::Version::parse(*said), "while reading --previous");
  TRY(auto version, dist::Version::parse(next));
  TRY(auto note, version::check_order(previous, version));
  if (note) context.out.warn("warning: " + *note);
  return {};
}

// version compute

Result<std::string> git_commit(const Context& context) {
  auto missing = [](std::string detail) {
    return fail(Error::of(ErrorKind::invalid_argument, "N004",
                          "the commit is missing: neither --sha nor GITHUB_SHA says it, and git does not know it")
                    .with_detail(std::move(detail))
                    .with_hint("give all 40 hex digits with --sha"));
  };
  auto done = sys::run_process({.argv = {"git", "rev-parse", "HEAD"},
                                .environment = context.environment,
                                .directory = "",
                                .deadline_ms = k_git_deadline_ms,
                                .on_output = {}});
  if (!done) return missing(done.error().message);
  if (done->exit_code != 0) return missing(std::string(text::trim(done->err)));
  return std::string(text::trim(done->out));
}

std::vector<PackageType> package_types(const Arguments& arguments) {
  auto said = arguments.get("--package-type");
  if (said == "wheel") return {PackageType::wheel};
  if (said == "deb") return {PackageType::deb};
  if (said == "rpm") return {PackageType::rpm};
  return {PackageType::wheel, PackageType::deb, PackageType::rpm};
}

/// The base: said, else from the file; the base date likewise.
Result<void> read_bases(const Arguments& arguments, version::VersionRequest& request) {
  request.base = arguments.get("--base");
  request.base_date = arguments.get("--base-date");
  bool needs_file = request.base.empty() || (request.release_type.ends_with("-bkc") && request.base_date.empty());
  if (!needs_file && !arguments.has("--version-file")) return {};
  auto name = arguments.get("--version-file");
  if (!request.base.empty() && !arguments.has("--version-file") && !sys::exists(name)) return {};
  auto text = sys::read_file(name, k_version_file_max);
  if (!text) {
    text.error().hint = "give the base version with --base, or the file with --version-file";
    return fail(std::move(text).error());
  }
  TRY(auto file, version::parse_version_file({*text, name}));
  if (request.base.empty()) request.base = file.base;
  if (request.base_date.empty()) request.base_date = file.base_date;
  return {};
}

Result<std::string> version_type(const Context& context, const Arguments& arguments) {
  if (arguments.has("--custom-version-suffix") && arguments.has("--release-type"))
    return fail(ErrorKind::invalid_argument, "N001", "--release-type and --custom-version-suffix exclude each other",
                "a custom suffix takes the place of the release type's");
  if (arguments.has("--custom-version-suffix")) return std::string();
  auto type = arguments.find("--release-type").value_or(context.variable("RELEASE_TYPE"));
  const auto& known = version::version_release_types(arguments.get("--era") == "feb");
  if (std::find(known.begin(), known.end(), type) != known.end()) return type;
  return fail(ErrorKind::invalid_argument, "N001",
              type.empty() ? "nothing says which kind of release it is"
                           : fmt::format("{:?} is not a release type", type),
              "give --release-type one of: " + text::join(known, ", "));
}

Result<version::VersionRequest> version_request_of(const Context& context, const Arguments& arguments,
                                                   const std::vector<PackageType>& types) {
  version::VersionRequest request;
  TRY(request.release_type, version_type(context, arguments));
  request.custom_suffix = arguments.find("--custom-version-suffix");
  request.prerelease = arguments.find("--prerelease-version");
  TRY_DO(read_bases(arguments, request));
  request.date = arguments.find("--date").value_or(version::date_of(context.clock.now_us()));
  request.commit = arguments.get("--sha"); // empty is as absent: workflows pass an input that nobody has set
  if (request.commit.empty()) request.commit = context.variable("GITHUB_SHA");
  bool needed = std::any_of(types.begin(), types.end(),
                            [&](PackageType type) { return version::needs_commit(request.release_type, type); });
  if (needed && request.commit.empty()) {
    TRY(request.commit, git_commit(context));
  }
  return request;
}

Result<int> run_compute(Context& context, const Arguments& arguments) {
  auto types = package_types(arguments);
  if (arguments.has("--previous") && types.front() != PackageType::wheel)
    return fail(ErrorKind::invalid_argument, "N008", "--previous orders versions of wheels only",
                "omit --package-type, or compare with the package manager's own tool");
  TRY(auto request, version_request_of(context, arguments, types));
  Outputs outputs;
  for (auto type : types) {
    TRY(auto version, version::compute_version(request, type));
    outputs.emplace_back(version::output_name(type), std::move(version));
  }
  TRY_DO(check_previous(context, arguments, outputs.front().second));
  TRY_DO(tell_github_of_version(context, outputs));
  show(context, outputs, {{"release_type", request.release_type}, {"base", request.base}});
  return 0;
}

Command compute_command() {
  return {
      .path = {"version", "compute"},
      .summary = "compute the SDK's package version",
      .description =
          "From the kind of release, the base version, the day and the commit: one version for wheels, one for Debian "
          "and "
          "one for RPM packages (docs/formats/versions.md). With one --package-type standard output holds that version "
          "alone. In a workflow the outputs `rocm_package_version`, `rocm_deb_package_version` and "
          "`rocm_rpm_package_version` are appended to GITHUB_OUTPUT.\n\nThe commit is --sha, else GITHUB_SHA, else "
          "what "
          "`git rev-parse HEAD` says here. A version for wheels that installers would write differently is refused "
          "before anything is built, and with --previous one that sorts below what went out before.",
      .operands = {},
      .flags = {{"--release-type", "TYPE",
                 "release, prerelease, nightly, nightly-bkc, ci, dev or dev-bkc (default: RELEASE_TYPE)"},
                {"--package-type", "TYPE", "only this kind", {"wheel", "deb", "rpm"}},
                {.name = "--base",
                 .value = "V",
                 .help = "the base version (default: from the version file)",
                 .aliases = {"--override-base-version"}},
                {"--version-file",
                 "FILE",
                 "holds `rocm-version` and, for bkc, `release-metadata.base-date`",
                 {},
                 "version.json"},
                {"--date", "YYYYMMDD", "the day (default: today, UTC)"},
                {"--base-date", "YYYYMMDD", "the day of the configuration that a bkc release builds on"},
                {"--sha", "SHA", "the commit, 40 hex digits"},
                {"--prerelease-version", "N", "the number of the release candidate"},
                {"--custom-version-suffix", "S", "the base and this, instead of a release type's suffix"},
                {"--previous", "V", "refuse a version that sorts below this one"},
                {"--era", "ERA", "the release types of that month", {"feb", "aug"}, "aug"}},
      .examples = {{"quarry version compute --release-type nightly --base 7.12.0 --package-type wheel",
                    "tonight's wheels"},
                   {"quarry version compute --release-type prerelease --prerelease-version 2 --previous 7.12.0rc1",
                    "the second candidate, from version.json"}},
      .exit_codes = {{2, "something that the release type needs is missing or malformed, or the order goes backwards"}},
      .schema = "quarry.version-compute/1",
      .run = run_compute};
}

// version write

Result<void> check_python(const std::string& python) {
  auto dot = python.find('.');
  bool fits = python.empty() || (python.starts_with("3.") && text::parse_u64(python.substr(dot + 1)));
  if (fits) return {};
  return fail(ErrorKind::invalid_argument, "N012", fmt::format("{:?} is not a version of Python", python),
              "write it like 3.12");
}

Result<int> run_write(Context& context, const Arguments& arguments) {
  const auto& framework = arguments.operands.at(0);
  if (framework != "torch" && framework != "jax")
    return fail(ErrorKind::invalid_argument, "C006",
                fmt::format("FRAMEWORK must be one of torch, jax, not `{}`", framework), "choose one of them");
  version::DistRequest request{framework == "jax" ? version::Framework::jax : version::Framework::torch,
                               Platform::read(arguments.get("--platform")), arguments.get("--python"),
                               arguments.list("--optional")};
  TRY_DO(check_python(request.python));
  TRY(auto files, version::list_wheels(arguments.get("--dist-dir")));
  TRY(auto found, version::choose_versions(request, files));
  TRY_DO(check_previous(context, arguments, found.wheels.front().version));
  TRY_DO(tell_github_of_version(context, found.outputs));
  Json wheels = Json::array();
  for (const auto& wheel : found.wheels)
    wheels.push_back({{"project", wheel.project}, {"version", wheel.version}, {"file", wheel.file}});
  for (const auto& project : found.absent)
    context.out.note(fmt::format("note: no wheel of {}: it is optional here", project));
  show(context, found.outputs, {{"wheels", wheels}, {"absent", found.absent}});
  return 0;
}

Command write_command() {
  return {
      .path = {"version", "write"},
      .summary = "the versions of the wheels that a framework's build made",
      .description =
          "Reads names, not contents, of the wheels in --dist-dir (or its `dist/`) and hands their versions on: "
          "`torch_version`, `torchaudio_version`, `torchvision_version`, `triton_version`, `apex_version`, or "
          "`jax_version`; in a workflow they are appended to GITHUB_OUTPUT.\n\nTwo wheels of one project are refused, "
          "with both names and the one that installers would take; so is a raw wheel next to the repaired one. On "
          "Windows triton and apex may be absent; jaxlib always may.",
      .operands = {{"FRAMEWORK", "torch or jax"}},
      .flags = {{"--dist-dir", "DIR", "the directory with the wheels", {}, {}, {}, true},
                {"--platform", "P", "the platform of the wheels (default: as their tags say)", {"linux", "windows"}},
                {"--python", "V", "look only at wheels for this Python, such as 3.12"},
                {"--optional", "PROJECT", "this one may be absent", {}, {}, {}, false, true},
                {"--previous", "V", "refuse a version of torch, or of JAX's plugin, that sorts below this one"}},
      .examples = {{"quarry version write torch --dist-dir dist", "after a build of PyTorch"},
                   {"quarry version write jax --dist-dir dist --python 3.12 --json", "one Python of several"}},
      .exit_codes = {{2, "a project has several candidates, or a name is not a wheel's"},
                     {3, "a project has no wheel"}},
      .schema = "quarry.version-write/1",
      .run = run_write};
}

} // namespace

std::vector<Command> version_commands() { return {compute_command(), write_command()}; }

} // namespace quarry::cli
