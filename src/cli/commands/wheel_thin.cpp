#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/families.hpp"
#include "cli/records.hpp"
#include "cli/table.hpp"
#include "gpu/target.hpp"
#include "inspect/device_verdict.hpp"
#include "matrix/expand.hpp"
#include "wheel/thin.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

Result<void> check_thin_target(const std::string& target) {
  if (gpu::known_processor(target) == target && !target.empty()) return {};
  auto end = target.find(':');
  auto hint = end == target.npos ? std::string("name processors such as gfx942 or gfx11-generic")
                                 : fmt::format("name the processor alone: {}", target.substr(0, end));
  return fail(ErrorKind::invalid_argument, "G113", fmt::format("`{}` is not a GPU target that is known", target),
              std::move(hint));
}

Result<std::vector<std::string>> thin_targets(const Context& context, const Arguments& arguments) {
  auto said = arguments.find("--targets"), family = arguments.find("--amdgpu-family");
  auto names = text::split_any(said ? *said : family.value_or(""), ",; ");
  if ((said && family) || names.empty())
    return fail(ErrorKind::invalid_argument, "G113",
                "say with one of --targets and --amdgpu-family what the wheel is for",
                "--targets gfx1030, or --amdgpu-family gfx120X-all");
  if (said) {
    for (const auto& target : names) TRY_DO(check_thin_target(target));
    return names;
  }
  TRY(auto families, load_families(context, arguments.get("--families-file")));
  return matrix::expand_targets(families, names);
}

codec::Profile thin_profile(const std::string& name) {
  if (name == "ci") return codec::Profile::ci;
  return name == "stored" ? codec::Profile::stored : codec::Profile::release;
}

std::vector<wheel::TargetCode> in_order(const wheel::ThinReport& report) {
  auto targets = report.targets;
  std::ranges::sort(targets, [](const auto& a, const auto& b) { return inspect::target_less(a.target, b.target); });
  return targets;
}

struct CodeSums {
  std::uint64_t before = 0, after = 0;
};
CodeSums code_sums(const wheel::ThinReport& report) {
  CodeSums sums;
  for (const auto& code : report.targets) {
    sums.before += code.bytes;
    sums.after += code.bytes - code.removed_bytes;
  }
  return sums;
}

std::string change_of_bytes(std::uint64_t before, std::uint64_t after) {
  return before == after ? units::bytes(after) + ", as before"
                         : fmt::format("{}, was {}", units::bytes(after), units::bytes(before));
}

std::string thin_text(const wheel::ThinReport& report, Look look) {
  TableRows rows{{"target", "objects", "bytes", "removed"}};
  for (const auto& code : in_order(report)) {
    auto removed = code.removed_objects == 0              ? Cell("no", code.asked ? Tone::good : Tone::doubtful)
                   : code.removed_objects == code.objects ? Cell("yes")
                                                          : Cell(units::things(code.removed_objects, "object"));
    rows.push_back({code.target, units::count(code.objects), units::bytes(code.bytes), removed});
  }
  std::string out;
  if (rows.size() > 1) out = table({k_name, k_number, k_number, k_text}, rows, look) + "\n";
  auto sums = code_sums(report);
  out += table({k_text, k_text},
               {{"device code", change_of_bytes(sums.before, sums.after)},
                {"loose files", report.dropped.empty()
                                    ? "none removed"
                                    : fmt::format("{} removed, {}", units::things(report.dropped.size(), "file"),
                                                  units::bytes(report.dropped_bytes))},
                {"wheel", change_of_bytes(report.original_size, report.size)},
                {"installed", change_of_bytes(report.original_installed_size, report.installed_size)}},
               look);
  while (out.ends_with('\n')) out.pop_back(); // the note ends with one
  return out;
}

Json thin_json(const wheel::ThinReport& report, const std::vector<std::string>& asked, const std::string& original) {
  auto targets = Json::array();
  for (const auto& code : in_order(report))
    targets.push_back({{"target", code.target},
                       {"asked", code.asked},
                       {"objects", code.objects},
                       {"bytes", code.bytes},
                       {"removed_objects", code.removed_objects},
                       {"removed_bytes", code.removed_bytes}});
  auto sums = code_sums(report);
  return {{"path", report.path},
          {"filename", report.file_name},
          {"sha256", report.sha256.hex()},
          {"size", report.size},
          {"original", {{"path", original}, {"size", report.original_size}}},
          {"asked", asked},
          {"missing", report.missing},
          {"thinned", !report.copied},
          {"targets", std::move(targets)},
          {"device_bytes", {{"before", sums.before}, {"after", sums.after}}},
          {"installed_bytes", {{"before", report.original_installed_size}, {"after", report.installed_size}}},
          {"changed_files", report.changed},
          {"removed_files", report.dropped},
          {"findings", findings_json(report.findings)}};
}

/// One bar for each phase.
class ThinProgress {
public:
  explicit ThinProgress(Context& context) : context_(context) {}
  void update(std::string_view phase, std::uint64_t done, std::uint64_t total) {
    if (phase != phase_) {
      finish();
      phase_ = phase;
      bar_ = context_.out.progress(phase_, total);
    }
    bar_->update(done);
  }
  void finish() {
    if (bar_) bar_->finish();
    bar_.reset();
  }

private:
  Context& context_;
  std::string phase_;
  std::unique_ptr<Progress> bar_;
};

Result<int> run_thin(Context& context, const Arguments& arguments) {
  const auto& path = arguments.operands.at(0);
  wheel::ThinOptions options;
  TRY(options.devices, thin_targets(context, arguments));
  options.keep_loose_files = arguments.has("--keep-named-files");
  options.profile = thin_profile(arguments.get("--profile"));
  options.workers = context.jobs;
  options.spool_directory = temporary_of(context);
  ThinProgress progress(context);
  options.on_progress = [&](std::string_view phase, std::uint64_t done, std::uint64_t total) {
    progress.update(phase, done, total);
  };
  TRY(auto report, wheel::thin(path, options, arguments.get("--output-dir")));
  progress.finish();
  if (!report.missing.empty())
    context.out.warn(fmt::format("no code for {}: the wheel had none", text::join(report.missing, ", ")));
  if (report.copied)
    context.out.note(report.targets.empty() ? "no device code: the wheel was copied as it is"
                                            : "nothing to remove: the wheel was copied as it is");
  else
    context.out.note(thin_text(report, context.out.note_look()));
  context.out.findings(report.findings);
  context.out.data(report.path + "\n");
  context.out.document(thin_json(report, options.devices, path));
  return 0;
}

std::vector<Flag> thin_flags() {
  return {
      {.name = "--targets", .value = "A,B", .help = "GPU targets whose code stays, such as gfx942,gfx11-generic"},
      {.name = "--amdgpu-family",
       .value = "A,B",
       .help = "likewise, all targets of these families, such as gfx120X-all"},
      {.name = "--output-dir", .value = "DIR", .help = "where to put the wheel", .required = true, .letter = 'd'},
      {.name = "--profile",
       .value = "NAME",
       .help = "compression of what changes: smallest, fastest, or none",
       .choices = {"release", "ci", "stored"},
       .fallback = "release"},
      {.name = "--keep-named-files",
       .value = "",
       .help = "keep files that are for one target as a whole (by their path, or .hsaco, .co, .kpack)"},
      {.name = "--families-file",
       .value = "FILE",
       .help = "a families file, or the name of a shipped table (default: data/families.toml)",
       .environment = "QUARRY_FAMILIES"},
  };
}

} // namespace

Command wheel_thin_command() {
  return {
      .path = {"wheel", "thin"},
      .summary = "remove the code of GPU targets that nobody asked for",
      .description =
          "Writes the wheel without the device code of other targets. In libraries the code is overwritten with zeros, "
          "which compress to nothing, and its entry leaves the table of its bundle: addresses, sections and lengths "
          "stay, so an installed library keeps its size, and only the download gets smaller. Windows DLLs are thinned "
          "likewise, unless they are signed. A compressed bundle is compressed again in its place. A kpack archive "
          "gets shorter: its rows and code for other targets leave. A bundle without code for any of the targets keeps "
          "its header and the entry of the host; to the HIP runtime it is a library that was not built for the GPU.\n\n"
          "Files that are for one target as a whole are left out of the wheel if nobody asked for it: `.hsaco` and "
          "`.co` files, kpack archives, kernels and databases whose path names the target, as Tensile, MIOpen, "
          "AOTriton and hipDNN write it. The objects in static libraries are thinned in their places.\n\n"
          "Code with a setting (`gfx90a:xnack+`) counts as its processor's, and generic code such as gfx11-generic "
          "stays if it serves one of the targets. Code for a processor that is not known stays.\n\n"
          "All other files are copied as they are stored; RECORD is new, the wheel keeps its name and tags. Every byte "
          "outside the removed code is proven to be the same before the wheel gets its name. If there is nothing to "
          "remove, the wheel is copied as it is, so that a loop over wheels leaves a complete directory. The wheel is "
          "not "
          "verified: what else is wrong with it, such as a RECORD without digests, is so afterwards, too; `quarry "
          "wheel "
          "verify` finds it.",
      .operands = {{.name = "FILE", .help = "the wheel"}},
      .flags = thin_flags(),
      .examples = {{"quarry wheel thin rocm_sdk_libraries-7.2.0-py3-none-linux_x86_64.whl --targets gfx1030 -d thin",
                    "keep the code for one GPU"},
                   {"quarry wheel thin x-1.0-py3-none-linux_x86_64.whl --amdgpu-family gfx120X-all -d thin",
                    "keep the code for a family"}},
      .exit_codes = {{1, "dist-info or RECORD is missing, or RECORD does not list the same files as the archive"},
                     {2, "a target is not known, or the wheel lies in the output directory"},
                     {3, "the wheel has device code, and none for the targets"},
                     {6, "device code is damaged"}},
      .schema = "quarry.wheel-thin/1",
      .run = run_thin};
}

} // namespace quarry::cli
