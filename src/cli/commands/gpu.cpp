#include "cli/asked_targets.hpp"
#include "cli/commands.hpp"
#include "cli/families.hpp"
#include "cli/records.hpp"
#include "cli/shared_flags.hpp"
#include "cli/table.hpp"
#include "cli/wheel_operands.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "inspect/device_picture.hpp"
#include "sys/file.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <set>

namespace quarry::cli {

namespace {
constexpr std::size_t k_files_shown = 20; // rows of a terminal; --json has all

std::uint64_t bytes_of(const inspect::DeviceFile& file) {
  std::uint64_t bytes = 0;
  for (const auto& object : file.contents.objects) bytes += object.bytes;
  return bytes;
}

// Text

std::string target_table(const inspect::Judgement& judgement, const inspect::Asked& asked, Look look) {
  std::uint64_t all = 0;
  for (const auto& sum : judgement.targets) all += sum.bytes;
  TableRows rows{{"target", "objects", "bytes", "share", "files", asked.targets.empty() ? "" : "asked for"}};
  for (const auto& sum : judgement.targets)
    rows.push_back({sum.target, units::count(sum.count), units::bytes(sum.bytes),
                    units::percent(static_cast<double>(sum.bytes), static_cast<double>(all)), units::count(sum.files),
                    asked.targets.empty() ? Cell("")
                    : sum.asked           ? Cell("yes", Tone::good)
                                          : Cell("no", Tone::doubtful)});
  return table({k_name, k_number, k_number, k_number, k_number, k_text}, rows, look);
}

std::string file_table(const inspect::DeviceCode& code, Look look) {
  std::vector<const inspect::DeviceFile*> files;
  for (const auto& file : code.files)
    if (!file.contents.objects.empty()) files.push_back(&file);
  std::ranges::stable_sort(files, [](const auto* a, const auto* b) { return bytes_of(*a) > bytes_of(*b); });
  TableRows rows{{"file", "objects", "bytes", "targets"}};
  for (std::size_t i = 0; i < std::min(files.size(), k_files_shown); ++i) {
    std::vector<std::string> targets;
    for (const auto& sum : inspect::code_by_target(files[i]->contents)) targets.push_back(sum.name);
    rows.push_back({files[i]->path, units::count(files[i]->contents.objects.size()), units::bytes(bytes_of(*files[i])),
                    text::join(targets, " ")});
  }
  auto out = table({k_name, k_number, k_number, k_text}, rows, look);
  if (files.size() > k_files_shown)
    out += fmt::format("{} more; --json lists all\n", units::things(files.size() - k_files_shown, "file"));
  return out;
}

/// "the paths of 3 files (2 MiB) name a target …": what the tables do not have.
std::string named_line(const inspect::DeviceCode& code) {
  std::size_t count = 0;
  std::uint64_t bytes = 0;
  std::set<std::string> targets;
  for (const auto& file : code.files)
    if (file.named && file.contents.objects.empty()) {
      ++count, bytes += file.size;
      targets.insert(file.named->target.str());
    }
  if (count == 0) return {};
  std::vector<std::string> names(targets.begin(), targets.end());
  std::ranges::sort(names, inspect::target_less);
  return fmt::format(
      "{} of {} ({}) {} a target ({}), but no code object was found in {}: {} tuning data, or kernels in "
      "a format that Quarry does not read\n",
      count == 1 ? "the path" : "the paths", units::things(count, "file"), units::bytes(bytes),
      count == 1 ? "names" : "name", text::join(names, " "), count == 1 ? "it" : "them",
      count == 1 ? "it is" : "they are");
}

std::string as_text(const inspect::DeviceCode& code, const inspect::Judgement& judgement, const inspect::Asked& asked,
                    Look look) {
  auto named = named_line(code);
  if (judgement.targets.empty()) return named;
  return file_table(code, look) + "\n" + target_table(judgement, asked, look) + (named.empty() ? "" : "\n" + named);
}

// JSON

Json objects_json(const inspect::DeviceCode& code) {
  Json out = Json::array();
  for (const auto& file : code.files)
    for (const auto& sum : inspect::code_by_target(file.contents))
      out.push_back({{"file", file.path},
                     {"target", sum.name},
                     {"container", gpu::to_string(sum.container)},
                     {"count", sum.count},
                     {"bytes", sum.bytes}});
  return out;
}

Json named_json(const inspect::DeviceCode& code) {
  Json out = Json::array();
  for (const auto& file : code.files)
    if (file.named)
      out.push_back({{"file", file.path},
                     {"target", file.named->target.str()},
                     {"maker", file.named->maker},
                     {"kernels", file.named->kernels != gpu::Kernels::none},
                     {"bytes", file.size}});
  return out;
}

Json verdicts_json(const std::vector<inspect::DeviceVerdict>& verdicts) {
  auto optional = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  Json out = Json::array();
  for (const auto& one : verdicts)
    out.push_back({{"verdict", inspect::to_string(one.verdict)},
                   {"target", optional(one.target)},
                   {"file", optional(one.file)},
                   {"bytes", one.bytes}});
  return out;
}

Json targets_json(const std::vector<inspect::TargetSum>& targets) {
  Json out = Json::array();
  for (const auto& sum : targets)
    out.push_back({{"target", sum.target},
                   {"count", sum.count},
                   {"bytes", sum.bytes},
                   {"files", sum.files},
                   {"asked", sum.asked}});
  return out;
}

Json as_json(const inspect::DeviceCode& code, const inspect::Judgement& judgement, const inspect::Asked& asked) {
  return {{"family", asked.family.empty() ? Json(nullptr) : Json(asked.family)},
          {"asked", asked.targets},
          {"files_looked_at", code.looked_at},
          {"code_objects", objects_json(code)},
          {"named_files", named_json(code)},
          {"targets", targets_json(judgement.targets)},
          {"verdicts", verdicts_json(judgement.verdicts)},
          {"findings", findings_json(judgement.findings)}};
}

/// Checked before any file is read: a large listing should not be lost to a mistyped name.
Result<void> check_picture_name(const Arguments& arguments) {
  auto path = arguments.get("--treemap");
  if (path.empty() || path.ends_with(".svg") || path.ends_with(".html")) return {};
  return fail(ErrorKind::invalid_argument, "G112", fmt::format("--treemap {} ends with neither .svg nor .html", path),
              "name an SVG picture or an HTML page: --treemap gpu.svg");
}

Result<void> draw(const Context& context, const std::string& path, const inspect::DeviceCode& code,
                  const inspect::Judgement& judgement, const inspect::Asked& asked) {
  if (path.empty()) return {};
  auto picture = path.ends_with(".svg") ? inspect::device_svg(code, judgement, asked)
                                        : inspect::device_html(code, judgement, asked);
  TRY_DO(sys::write_file(path, picture));
  context.out.note(fmt::format("treemap     {}", path));
  return {};
}

Result<std::vector<inspect::DeviceOperand>> device_operands(const Context& context, const Arguments& arguments) {
  std::vector<inspect::DeviceOperand> operands;
  for (const auto& word : arguments.operands) {
    TRY(auto files, files_of_operand(context, arguments, word));
    for (auto& file : files) {
      bool far = file.far.has_value();
      operands.push_back({std::move(file.place), std::move(file.far), far});
    }
  }
  return operands;
}

Result<int> run_list(Context& context, const Arguments& arguments) {
  TRY_DO(check_picture_name(arguments));
  TRY(auto asked, asked_of(context, arguments));
  TRY(auto operands, device_operands(context, arguments));
  TRY(auto code, inspect::list_device_code(operands, {context.jobs, temporary_of(context)}));
  auto judgement = inspect::judge(code, asked);
  context.out.data(as_text(code, judgement, asked, context.out.data_look()));
  if (judgement.targets.empty())
    context.out.note(fmt::format("no device code in {}", units::things(code.looked_at, "file")));
  TRY_DO(draw(context, arguments.get("--treemap"), code, judgement, asked));
  context.out.findings(judgement.findings);
  if (context.out.json()) context.out.document(as_json(code, judgement, asked));
  return has_errors(judgement.findings) ? traits(ErrorKind::failed).exit_code : 0;
}

Command list_command() {
  return {
      .path = {"gpu", "list"},
      .summary = "the GPU code of libraries and wheels: targets, code objects, bytes",
      .description =
          "Lists the device code of ELF libraries and programs, static libraries, Windows DLLs, code objects (.hsaco, "
          ".co), offload "
          "bundles, plain or compressed, .kpack archives, and wheels. A directory stands for all files below it. Only "
          "headers and tables are read, so that a library of 1.3 GB takes milliseconds; a compressed member of a wheel "
          "is inflated once. Bytes are those of the decompressed code.\n\n"
          "A file in a bucket or on a web server is read in ranges: headers, tables, and those compressed members that "
          "may hold code.\n\n"
          "The header of each code object is compared with the label of its container and with the target in the "
          "file's path, as Tensile, MIOpen, AOTriton and Composable Kernel write it.\n\n"
          "With --amdgpu-family the code is judged against the targets of the family: *missing* (no code for a target; "
          "a generic target such as gfx11-generic counts for all that it covers), *extra* (code that the family did "
          "not ask for), *uneven* (only some libraries have code for a target). Without it, too: *feature mix* (a "
          "processor with and without a setting of xnack or sramecc), *label lie* (label, header or path disagree), "
          "*unconverted* (code embedded in one file, moved to .kpack archives in others).\n\n"
          "--treemap draws the same in one file, for a pull request: wheels, their files, and the targets of each; "
          "targets that were not asked for are grey and hatched.",
      .operands = {{"FILE",
                    "a library, code object, archive, wheel or directory; `s3://BUCKET/KEY`, `https://HOST/PATH`; or "
                    "the wheels "
                    "of `set:DIGEST`, `run:ID`, `channel:NAME` in the store",
                    true, true}},
      .flags = {family_flag(),
                {"--treemap", "FILE",
                 "draw bytes by file and target: an SVG picture or an HTML page, by the name's ending"},
                families_file_flag(),
                store_of_sets_flag()},
      .examples = {{"quarry gpu list librocsparse.so.0", "targets and bytes of a library"},
                   {"quarry gpu list dist --amdgpu-family gfx120X-all", "does a set of wheels hold what it promises?"},
                   {"quarry gpu list dist --treemap gpu.svg", "a picture for a pull request"},
                   {"quarry gpu list run:42-linux --store file:store", "the wheels that a run published"},
                   {"quarry gpu list https://host/torch-2.9.0-cp312-cp312-linux_x86_64.whl", "a wheel on a server"},
                   {"quarry gpu list --json x.whl | jq .code_objects", "the same as data"}},
      .exit_codes = {{1, "targets are missing, labels lie, or code is damaged; the findings say where"},
                     {2, "the family is unknown; the treemap has another ending"},
                     {3, "a file does not exist"},
                     {6, "a wheel is damaged, or a file changed while it was read"}},
      .schema = "quarry.gpu-list/1",
      .run = run_list};
}
} // namespace

std::vector<Command> gpu_commands() { return {list_command()}; }

} // namespace quarry::cli
