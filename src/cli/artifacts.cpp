#include "cli/artifacts.hpp"

#include "base/text.hpp"
#include "cli/records.hpp"
#include "run/find_runs.hpp"
#include "store/object_store.hpp"
#include "sys/file.hpp"
#include "sys/tree.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

using artifact::Source;
using artifact::SourceItem;

std::vector<Flag> joined(const std::vector<std::vector<Flag>>& lists) {
  std::vector<Flag> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

Result<void> refuse_same_directory(const std::string& from, const std::string& output) {
  auto source = sys::real_path(from), target = sys::real_path(output);
  if (!source || !target || *source != *target) return {};
  return fail(ErrorKind::invalid_argument, "A090", fmt::format("{} is both read and written", output),
              "name another --output-dir");
}

std::vector<Flag> artifact_source_flags() {
  return {{.name = "--store",
           .value = "LOCATOR",
           .help = "the store that `run:ID` is looked for in",
           .environment = "QUARRY_STORE"},
          {.name = "--tarballs", .value = "", .help = "the run's tarballs of whole SDKs instead of its artifacts"}};
}

std::vector<Flag> artifact_selection_flags() {
  return {
      {.name = "--exclude",
       .value = "REGEX",
       .help = "leave out artifacts in whose name this is found",
       .repeats = true},
      {.name = "--artifact-group", .value = "G", .help = "only artifacts of this family, and the generic ones"},
      {.name = "--amdgpu-targets", .value = "A,B", .help = "also those of these GPU targets (and the generic ones)"}};
}

Flag include_flag() {
  return {.name = "--include",
          .value = "REGEX",
          .help = "only artifacts in whose name this is found; any of several",
          .repeats = true};
}

std::vector<Flag> artifact_trust_flags() {
  return {{.name = "--allow-unverified", .value = "", .help = "accept archives that have no checksum file"},
          {.name = "--max-ratio",
           .value = "N",
           .help = "refuse archives that unpack to more than 64 MiB + N times their size",
           .fallback = "60"}};
}

Result<Source> artifact_source(const Context& context, const std::string& text, const Arguments& arguments) {
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
  return artifact::source_of_run(std::move(store), found,
                                 arguments.has("--tarballs") ? artifact::RunPart::tarballs
                                                             : artifact::RunPart::artifacts);
}

Result<std::vector<SourceItem>> selected_artifacts(const Source& source, const Arguments& arguments,
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

Result<ArtifactSize> size_of(const SourceItem& item) {
  if (!item.exploded) return ArtifactSize{item.size, 1};
  ArtifactSize size;
  std::vector<sys::TreeEntry> listed;
  if (!item.chosen) {
    TRY(listed, sys::list_tree(item.directory));
  }
  for (const auto& entry : item.chosen ? *item.chosen : listed) {
    if (entry.type == sys::EntryType::directory) continue;
    size.bytes += entry.size;
    ++size.files;
  }
  return size;
}

Json name_json(const artifact::Name& name) {
  return {{"artifact", name.text()}, {"name", name.name}, {"component", name.component}, {"target", name.target}};
}

Json digest_json(const std::optional<Sha256>& digest) { return digest ? Json(digest->hex()) : Json(nullptr); }

Json error_json(const Error& error) {
  return {{"code", error.code}, {"message", error.message}, {"details", error.details}};
}

std::string text_table(const std::vector<std::vector<std::string>>& rows) {
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

} // namespace quarry::cli
