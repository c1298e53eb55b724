#include "artifact/case_rule.hpp"
#include "artifact/descriptor.hpp"
#include "artifact/pack.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/artifacts.hpp"
#include "cli/records.hpp"
#include "cli/table.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {
Result<artifact::Source> source_to_pack(const Arguments& arguments) {
  auto descriptors = arguments.list("--descriptor");
  for (const auto* flag : {"--target", "--platform"})
    if (descriptors.empty() && arguments.has(flag))
      return fail(ErrorKind::invalid_argument, "A047", fmt::format("{} has no effect without --descriptor", flag),
                  "omit it, or name the descriptors");
  if (descriptors.empty()) return artifact::source_of_path(arguments.operands[0]);
  TRY(auto source,
      artifact::source_of_descriptors(arguments.operands[0], descriptors,
                                      {arguments.get("--target"), Platform::read(arguments.get("--platform"))}));
  if (source.items.empty())
    return fail(ErrorKind::not_found, "A021", "the descriptors name no component",
                "a descriptor has a table for each: [components.lib.\"STAGE/DIRECTORY\"]");
  return source;
}

Result<int> run_artifact_pack(Context& context, const Arguments& arguments) {
  TRY_DO(refuse_same_directory(arguments.operands[0], arguments.get("--output-dir")));
  TRY(auto source, source_to_pack(arguments));
  context.out.findings(source.findings);
  artifact::PackOptions options;
  options.compression = arguments.get("--format") == "xz" ? codec::Compression::xz : codec::Compression::zstd;
  options.jobs = context.jobs;
  TRY(options.max_ratio, max_ratio(arguments));
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
  Findings notes;

  Json list = Json::array();
  TableRows rows;
  for (const auto& p : packed) {
    archive_bytes += p.size;
    artifact::note_case_pairs(p.case_pairs, p.file, notes);
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
  std::copy(notes.begin(), notes.end(), std::back_inserter(source.findings));
  context.out.data(table({k_text, k_name, k_number, k_number, k_text}, rows, context.out.data_look()) +
                   fmt::format("{} in {}  {} from {}  {}\n", units::things(packed.size(), "archive"), output,
                               units::bytes(archive_bytes), units::bytes(total), units::seconds(seconds)));
  context.out.document({{"output_dir", output}, {"artifacts", list}, {"findings", findings_json(source.findings)}});
  context.out.findings(notes);
  context.out.note(fmt::format("next: quarry artifact verify {}", text::shell_word(output)));
  return 0;
}

} // namespace

Command artifact_pack_command() {
  return {
      .path = {"artifact", "pack"},
      .summary = "exploded artifacts to archives with checksum files",
      .description =
          "Packs each `{name}_{component}_{target}/` below DIR, with its `artifact_manifest.txt` first "
          "and the rest sorted. The same tree gives the same bytes on every machine, "
          "for any number of processors. What a fetch would refuse (a link that leads outside, a file "
          "next to the base directories) is refused before anything is written.\n\n"
          "With `--descriptor`, DIR is a build tree: the descriptors (`artifact-NAME.toml`) say which files of its "
          "stage "
          "directories belong to which component, and `{NAME}_{component}_{T}` is packed for each component they name. "
          "A file that no component takes is an error.",
      .operands = {{.name = "DIR", .help = "holds the exploded artifacts, or the stage directories of a build"}},
      .flags = {{.name = "--output-dir", .value = "OUT", .help = "where the archives go", .required = true},
                {.name = "--format",
                 .value = "FORMAT",
                 .help = "zst: fast; xz: smaller and much slower",
                 .choices = {"zst", "xz"},
                 .fallback = "zst"},
                {.name = "--max-ratio",
                 .value = "N",
                 .help = "refuse trees of more than 1 GiB + N times their archive, which a fetch refuses, too",
                 .fallback = "60"},
                {.name = "--descriptor",
                 .value = "FILE",
                 .help = "take the files of stage directories as this artifact-NAME.toml says",
                 .repeats = true},
                {.name = "--target",
                 .value = "T",
                 .help = "with --descriptor: target of the artifacts, a family, an ISA or generic",
                 .fallback = "generic"},
                {.name = "--platform",
                 .value = "P",
                 .help = "with --descriptor: the platform that `optional` is judged for",
                 .choices = {"linux", "windows"},
                 .fallback = "linux"}},
      .examples = {{"quarry artifact pack artifacts --output-dir store/42-linux", "as a run uploads them"},
                   {"quarry artifact pack build --descriptor blas/artifact-blas.toml --target gfx94X-dcgpu "
                    "--output-dir store/42-linux",
                    "from what a build staged"}},
      .exit_codes = {{1, "files that no component of a descriptor takes"},
                     {3, "DIR holds no exploded artifacts, or lacks a stage directory"},
                     {6, "an artifact is defective"},
                     {7, "OUT holds the same artifact in the other format; two descriptors share a stage directory"}},
      .schema = "quarry.artifact-pack/1",
      .run = run_artifact_pack};
}

} // namespace quarry::cli
