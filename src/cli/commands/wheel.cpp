#include "wheel/wheel.hpp"

#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/inspected.hpp"
#include "cli/prover.hpp"
#include "cli/records.hpp"
#include "cli/shared_flags.hpp"
#include "cli/sizes.hpp"
#include "cli/table.hpp"
#include "cli/wheel_operands.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "sys/tree.hpp"
#include "wheel/rewrite.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

codec::Profile wheel_profile_of(const std::string& name) {
  if (name == "ci") return codec::Profile::ci;
  return name == "stored" ? codec::Profile::stored : codec::Profile::release;
}

// For the bar only: what cannot be listed is an error of the packing itself.
std::uint64_t bytes_of_tree(const std::string& tree) {
  auto entries = sys::list_tree(tree);
  std::uint64_t total = 0;
  if (entries)
    for (const auto& e : *entries) total += e.size;
  return total;
}

Result<int> run_wheel_pack(Context& context, const Arguments& arguments) {
  const auto& tree = arguments.operands.at(0);
  auto progress = context.out.progress("pack", bytes_of_tree(tree));
  wheel::PackOptions options;
  options.profile = wheel_profile_of(arguments.get("--profile"));
  options.workers = context.jobs;
  options.prover = prover_of(context);
  options.on_progress = [&](std::uint64_t done) { progress->update(done); };
  auto start = context.clock.steady_ns();
  TRY(auto built, wheel::pack_tree(tree, arguments.get("--output-dir"), options));
  progress->finish();
  auto seconds = static_cast<double>(context.clock.steady_ns() - start) / 1e9;
  context.out.note(fmt::format("packed {}, {} into {} in {}", units::things(built.file_count, "file"),
                               units::bytes(built.input_bytes), units::bytes(built.size), units::seconds(seconds)));
  context.out.data(built.path + "\n");
  context.out.document({{"path", built.path},
                        {"filename", built.file_name},
                        {"size", built.size},
                        {"sha256", built.sha256.hex()},
                        {"metadata_sha256", built.metadata_sha256.hex()},
                        {"files", built.file_count},
                        {"input_bytes", built.input_bytes}});
  return 0;
}

Result<int> run_unpack(Context& context, const Arguments& arguments) {
  TRY(auto directory, wheel::unpack(arguments.operands.at(0), arguments.get("--output-dir"), context.jobs));
  context.out.data(directory + "\n");
  context.out.document({{"directory", directory}});
  return 0;
}

// Integrity outweighs the rest, whichever file it was.
int worse(int a, int b) { return std::max(a, b); }

/// `--derived-from`: what the wheel and the one that it was made from have in common.
Result<Json> compare_with_original(Context& context, const wheel::PlacedWheel& made, const wheel::PlacedWheel& original,
                                   Findings& findings) {
  TRY(auto derivation, wheel::compare_derived(made, original));
  context.out.data(fmt::format("{}: {}, {}, have the same content as in {}\n", made.place,
                               units::things(derivation.equal_files, "file"), units::bytes(derivation.equal_bytes),
                               original.place));
  auto list = [&](std::string_view what, const std::vector<std::string>& paths) {
    for (const auto& one : paths) context.out.data(fmt::format("  {:<8} {}\n", what, one));
  };
  list("changed", derivation.changed);
  list("added", derivation.added);
  list("removed", derivation.removed);
  findings = derivation.findings;
  return Json{{"from", original.place},
              {"equal_files", derivation.equal_files},
              {"equal_bytes", derivation.equal_bytes},
              {"changed", derivation.changed},
              {"added", derivation.added},
              {"removed", derivation.removed}};
}

/// `bytes` is set to those of the wheel.
Result<wheel::VerifyReport> verified_wheel(const Context& context, const FileOperand& wheel, content::Rope& bytes,
                                           const std::function<void(std::uint64_t)>& fetched) {
  TRY(bytes, bytes_of_wheel(context, wheel, fetched));
  return wheel::verify(bytes, wheel.place, {.workers = context.jobs, .digest = context.out.json()});
}

/// What `--derived-from` names. It is fetched whole if it is far away: each of its files is compared.
Result<std::optional<wheel::PlacedWheel>> original_of(const Context& context, const Arguments& arguments) {
  auto named = arguments.find("--derived-from");
  if (!named) return std::optional<wheel::PlacedWheel>();
  TRY(auto operand, file_operand(context, *named));
  TRY(auto bytes, bytes_of_wheel(context, operand, [](std::uint64_t) {}));
  return std::optional(wheel::PlacedWheel{std::move(bytes), operand.place});
}

Result<int> run_wheel_verify(Context& context, const Arguments& arguments) {
  auto files = Json::array();
  Findings all;
  int code = 0;
  TRY(auto wheels, wheels_of(context, arguments));
  if (arguments.has("--derived-from") && wheels.size() != 1)
    return fail(ErrorKind::invalid_argument, "C042", "--derived-from compares one wheel with one other",
                fmt::format("give one wheel, not {}", wheels.size()));
  TRY(auto original, original_of(context, arguments));
  std::uint64_t done = 0;
  auto progress = context.out.progress("verifying", bytes_of_wheels(wheels));
  for (const auto& wheel : wheels) {
    const auto& path = wheel.place;
    content::Rope bytes;
    auto verified =
        verified_wheel(context, wheel, bytes, [&](std::uint64_t fetched) { progress->update(done + fetched); });
    progress->update(done += bytes_of_wheels({wheel}));
    if (!verified && wheels.size() == 1) return fail(std::move(verified).error());
    if (!verified) { // one that cannot be read says nothing about the others
      TRY_DO(sys::check_interrupted());
      const auto& error = verified.error();
      context.out.warn(render(error));
      code = worse(code, traits(error.kind).exit_code);
      files.push_back(
          {{"path", path}, {"sound", false}, {"error", {{"code", error.code}, {"message", error.message}}}});
      continue;
    }
    auto& report = *verified;
    Json derivation;
    if (original) {
      Findings differences;
      TRY(derivation, compare_with_original(context, {bytes, path}, *original, differences));
      report.findings.insert(report.findings.end(), differences.begin(), differences.end());
    }
    code = worse(code, wheel::exit_code(report));
    context.out.findings(report.findings);
    bool sound = wheel::exit_code(report) == 0;
    context.out.data(fmt::format("{}: {}\n", path,
                                 painted(sound                     ? "sound"
                                         : report.container_broken ? "broken"
                                                                   : "not sound",
                                         sound ? Tone::good : Tone::bad, context.out.data_look().color)));
    all.insert(all.end(), report.findings.begin(), report.findings.end());
    files.push_back({{"path", path}, {"size", report.size}, {"sha256", digest_json(report)}, {"sound", sound}});
    if (original) files.back()["derived"] = std::move(derivation);
  }
  context.out.document({{"files", files}, {"findings", findings_json(all)}});
  return code;
}

Flag output_dir_flag(std::string help) {
  return {.name = "--output-dir", .value = "DIR", .help = std::move(help), .required = true, .letter = 'd'};
}

Command pack_command() {
  return {
      .path = {"wheel", "pack"},
      .summary = "pack an unpacked wheel tree",
      .description =
          "TREE holds the files of a wheel and exactly one `.dist-info` directory with METADATA and WHEEL, as `quarry "
          "wheel unpack` leaves it. "
          "The file name comes from that directory's name and from WHEEL's Tag and Build lines; RECORD is made "
          "again.\n\n"
          "The wheel's bytes depend on the files' names, content and executable bits and on the profile alone. The "
          "profile `release` makes "
          "small wheels, `ci` makes them in a tenth of the time and about a fifth larger, `stored` does not compress.",
      .operands = {{.name = "TREE", .help = "directory with the wheel's files"}},
      .flags = {output_dir_flag("where to put the wheel"),
                {.name = "--profile",
                 .value = "NAME",
                 .help = "how to compress",
                 .choices = {"release", "ci", "stored"},
                 .fallback = "release"}},
      .examples = {{"quarry wheel pack rocm_sdk_core-7.0 --output-dir dist", "make `dist/rocm_sdk_core-7.0-….whl`"}},
      .exit_codes = {{2, "the tree is not a wheel: the message says why"}},
      .schema = "quarry.wheel-pack/1",
      .run = run_wheel_pack};
}

Command unpack_command() {
  return {.path = {"wheel", "unpack"},
          .summary = "verify a wheel and unpack it",
          .description = "Makes `{name}-{version}` below the output directory. A wheel that is not sound (see `quarry "
                         "wheel verify`) is refused, and "
                         "nothing of it is left behind; the directory appears complete or not at all.",
          .operands = {{.name = "FILE", .help = "the wheel"}},
          .flags = {output_dir_flag("where to make the directory")},
          .examples = {{"quarry wheel unpack x-1.0-py3-none-any.whl --output-dir .", "make `./x-1.0`"}},
          .exit_codes = {{1, "the wheel has findings"},
                         {6, "its container or RECORD is broken"},
                         {7, "the directory already exists"}},
          .schema = "quarry.wheel-unpack/1",
          .run = run_unpack};
}

Command wheel_verify_command() {
  return {
      .path = {"wheel", "verify"},
      .summary = "prove that wheels are sound",
      .description =
          "Checks everything on which two readers of a wheel could disagree: the zip container byte by "
          "byte, RECORD against every file, "
          "METADATA, WHEEL, entry points and licence files against each other and against the file "
          "name. docs/formats/zip.md and "
          "docs/formats/wheel.md list what is refused and why. A directory stands for the wheels in it, or in its "
          "`dist/`.",
      .operands = {{.name = "WHEEL", .help = k_wheels_help, .repeats = true}},
      .flags = {{.name = "--derived-from",
                 .value = "WHEEL",
                 .help = "also prove that all files outside dist-info are those of this one: a file, s3: or https:"},
                store_of_sets_flag()},
      .examples = {{"quarry wheel verify dist", "check all wheels of a directory"},
                   {"quarry wheel verify --json x.whl | jq .findings", "the findings as data"}},
      .exit_codes = {{0, "all are sound"},
                     {1, "a wheel has findings"},
                     {2, "a file is not a wheel"},
                     {3, "a directory holds no wheel"},
                     {6, "a container or RECORD is broken or ambiguous"}},
      .schema = "quarry.wheel-verify/1",
      .run = run_wheel_verify};
}

} // namespace

std::vector<Command> wheel_commands() {
  return {pack_command(),        unpack_command(),       wheel_verify_command(), wheel_metadata_command(),
          wheel_retag_command(), wheel_edit_command(),   wheel_thin_command(),   wheel_check_command(),
          wheel_diff_command(),  wheel_inspect_command()};
}

} // namespace quarry::cli
