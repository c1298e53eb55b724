#include "artifact/copied.hpp"
#include "artifact/pack.hpp"
#include "artifact/pattern.hpp"
#include "artifact/upload.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/compat/bootstrap.hpp"
#include "cli/compat/stages.hpp"
#include "cli/families.hpp"
#include "cli/records.hpp"
#include "index/listing.hpp"
#include "matrix/expand.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli::compat {

namespace {

Result<void> add_number(Words& words, const Arguments& arguments, std::string_view flag, std::string_view ours) {
  auto value = said(arguments, flag);
  if (!value) return {};
  auto number = text::parse_u64(*value);
  if (!number || *number == 0 || *number > 1024)
    return usage(fmt::format("{} must be a number from 1 to 1024, not {}", flag, *value), "omit it");
  constexpr std::uint64_t k_most = 64; // of `artifact fetch`
  if (!ours.empty()) words.insert(words.end(), {std::string(ours), std::to_string(std::min(*number, k_most))});
  return {};
}

/// A directory below the build's, gone at the end.
struct Workspace {
  std::string path;
  ~Workspace() { static_cast<void>(sys::remove_tree(path)); }
};

bool is_made_here(const Names& names, const artifact::SourceItem& item) { return names->contains(item.name.name); }

/// Archives that the build has packed itself go up as they are.
Result<void> link_archive(const std::string& from, const std::string& to, const artifact::SourceItem& item) {
  bool leads_nowhere = item.defect && !item.absent && !sys::exists(path::join(from, item.file));
  if (leads_nowhere) return fail(*item.defect);
  for (const auto& name : {item.file, item.file + std::string(artifact::k_checksum_suffix)})
    if (sys::exists(path::join(from, name)))
      TRY_DO(sys::hard_link(path::join(from, name), path::join(to, name)), "while taking " + name);
  return {};
}

Result<std::size_t> pack_into(Context& context, const Arguments& arguments, const std::string& directory) {
  TRY(auto names, produced_of(arguments));
  auto artifacts = path::join(arguments.get("--build-dir"), "artifacts");
  TRY(auto source, artifact::source_of_path(artifacts, artifact::Twins::archive_made));
  std::erase_if(source.items, [&](const auto& item) { return item.name.whole_sdk() || !is_made_here(names, item); });
  std::size_t count = source.items.size();
  for (const auto& item : source.items)
    if (!item.exploded) TRY_DO(link_archive(artifacts, directory, item));
  std::erase_if(source.items, [](const auto& item) { return !item.exploded; });
  artifact::PackOptions options;
  if (arguments.get("--compression-type") == "xz") options.compression = codec::Compression::xz;
  options.jobs = context.jobs;
  if (auto jobs = text::parse_u64(said(arguments, "--compress-concurrency").value_or("")))
    options.jobs = static_cast<unsigned>(*jobs);
  if (!source.items.empty()) TRY_DO(artifact::pack(source, directory, options));
  return count;
}

std::string page_of_run(const std::string& title, const std::vector<artifact::Listed>& entries) {
  std::vector<index::Listed> listed;
  for (const auto& entry : entries) listed.push_back({entry.name, false, entry.size});
  return index::listing_page(title, std::move(listed), index::Parent::none);
}

Result<run::Layout> layout_of(const Place& place) { return run::Layout::parse(place.prefix); }

/// The run that is copied from: of today's bucket by its own repository, or in the same staging directory.
Result<Place> source_place(Context& context, const Arguments& arguments, const Place& target) {
  auto run_id = arguments.get("--source-run-id");
  auto platform = arguments.get("--platform");
  Arguments asked = arguments;
  if (auto repository = said(arguments, "--source-repository")) asked.values["--run-github-repo"] = {*repository};
  bool given = said(arguments, "--local-staging-dir") || !arguments.get("--store").empty();
  TRY(auto place, place_of(context, asked, {run_id, platform, "", given ? target.store : ""}));
  if (said(arguments, "--local-staging-dir")) {
    place.external_repo.clear();
    place.prefix = run_id + "-" + platform;
  }
  return place;
}

Result<artifact::Outputs> copies_of(const Context& context, const Arguments& arguments, const Place& from,
                                    const Place& to) {
  TRY(auto names, produced_of(arguments));
  TRY(auto expressions, expressions_of(context, arguments, names));
  std::vector<artifact::Pattern> patterns;
  for (const auto& expression : expressions) {
    TRY(auto pattern, artifact::Pattern::compile(expression));
    patterns.push_back(std::move(pattern));
  }
  TRY(auto source_layout, layout_of(from));
  TRY(auto target_layout, layout_of(to));
  auto inner = at(context, from);
  TRY(auto opened, open_store(inner, from.store));
  std::shared_ptr<store::ObjectStore> store = std::move(opened);
  TRY(auto source, artifact::source_of_run(store, source_layout));
  std::erase_if(source.items, [&](const auto& item) {
    auto fits = [&](const artifact::Pattern& pattern) { return pattern.found_in(item.name.text()); };
    return item.absent || std::ranges::none_of(patterns, fits);
  });
  if (source.items.empty())
    return fail(ErrorKind::not_found, "A021", fmt::format("{} has no artifact of these stages", from.locator()),
                "`quarry artifact list` shows what it has");
  return artifact::outputs_copied({store, source_layout, target_layout}, std::move(source.items));
}

void show_copies(Context& context, const artifact::Outputs& outputs, std::string_view what, std::uint64_t writes) {
  Json files = Json::array();
  for (const auto& file : outputs.files) {
    context.out.data(fmt::format("{}  {}  {}\n", what, units::bytes(file.content.size()), file.key));
    files.push_back({{"key", file.key}, {"from", file.from}, {"sha256", file.sha256->hex()}});
  }
  context.out.document({{"schema", "quarry.compat-copy/1"}, {"files", files}, {"writes", writes}});
}

/// Warns of families and targets that a fetch of all stages names and the run has no artifact of. A single stage may
/// take generic artifacts alone.
Result<void> tell_of_missing_families(const Context& context, const Arguments& arguments, const Place& place) {
  auto asked = text::split_any(arguments.get("--amdgpu-families"), ",; ");
  auto targets = text::split_any(said(arguments, "--amdgpu-targets").value_or(""), ",; ");
  asked.insert(asked.end(), targets.begin(), targets.end());
  if (said(arguments, "--stage").value_or("all") != "all" || asked.empty()) return {};
  auto inner = at(context, place);
  TRY(auto opened, open_store(inner, place.store));
  TRY(auto layout, layout_of(place));
  TRY(auto source, artifact::source_of_run(std::shared_ptr<store::ObjectStore>(std::move(opened)), layout));
  std::set<std::string> there;
  for (const auto& item : source.items)
    if (item.name.target_base() != "generic") there.insert(std::string(item.name.target_base()));
  TRY(auto known, load_families(context, ""));
  for (const auto& name : asked) {
    auto meant = matrix::expand_targets(known, {name}); // an unknown family means only itself
    std::set<std::string> targets_of{name, std::string(artifact::target_base(name))};
    if (meant) targets_of.insert(meant->begin(), meant->end());
    if (std::ranges::any_of(targets_of, [&](const auto& target) { return there.contains(target); })) continue;
    context.out.findings(
        {{"A021", Severity::warning, place.locator(),
          fmt::format("the run has no artifact of {}; it has {}", name,
                      there.empty() ? "generic ones only"
                                    : text::first(std::vector<std::string>(there.begin(), there.end()), 10)),
          "correct the name, or fetch the run that built it"}});
  }
  return {};
}
} // namespace

Result<int> fetch_stage(Context& context, const Arguments& arguments) {
  TRY(auto names, inbound_of(arguments));
  auto output = said(arguments, "--output-dir");
  if (!output) return usage("--output-dir is missing", "name the build's directory");
  if (names && names->empty()) {
    context.out.note("note: nothing goes into this stage");
    context.out.document({{"schema", "quarry.artifact-fetch/1"}, {"artifacts", Json::array()}});
    return 0;
  }
  TRY(auto expressions, expressions_of(context, arguments, names));
  bool bootstrap = arguments.has("--bootstrap"), flatten = arguments.has("--flatten");
  if (bootstrap && flatten) return usage("--bootstrap and --flatten exclude each other", "use only one of them");
  TRY(auto place, staged_place(context, arguments));
  auto inner = at(context, place);
  inner.step_of_another = bootstrap;
  auto directory = flatten ? *output : path::join(*output, bootstrap ? k_bootstrap_directory : "artifacts");
  if (arguments.has("--no-extract"))
    directory = said(arguments, "--download-cache-dir").value_or(path::join(*output, ".download_cache"));
  Words words{"artifact",  "fetch",        "--from",  place.locator(),  "--store",
              place.store, "--output-dir", directory, "--allow-partial"};
  if (arguments.has("--no-extract"))
    words.emplace_back("--no-extract");
  else if (flatten)
    words.emplace_back("--flatten");
  if (arguments.has("--allow-unverified")) words.emplace_back("--allow-unverified");
  TRY_DO(add_number(words, arguments, "--download-concurrency", "--transfers"));
  TRY_DO(add_number(words, arguments, "--extract-concurrency", ""));
  if (auto jobs = text::parse_u64(said(arguments, "--extract-concurrency").value_or("")))
    inner.jobs = static_cast<unsigned>(*jobs);
  words.emplace_back("--");
  words.insert(words.end(), expressions.begin(), expressions.end());
  TRY_DO(tell_of_missing_families(context, arguments, place));
  TRY(auto code, run_words(inner, words));
  if (code == 0 && bootstrap && !arguments.has("--no-extract")) TRY_DO(bootstrap_build(context, directory, *output));
  return code;
}

Result<int> push_stage(Context& context, const Arguments& arguments) {
  auto build = said(arguments, "--build-dir");
  if (!build) return usage("--build-dir is missing", "name the build's directory");
  for (const auto* flag : {"--compress-concurrency", "--upload-concurrency"}) {
    Words none;
    TRY_DO(add_number(none, arguments, flag, ""));
  }
  TRY(auto place, staged_place(context, arguments));
  place.environment.erase("QUARRY_S3_ANONYMOUS"); // nobody uploads unsigned
  TRY(auto scratch, sys::make_temporary_directory(*build, ".quarry-push-"));
  Workspace workspace{scratch};
  TRY(auto count, pack_into(context, arguments, scratch));
  if (count == 0) {
    context.out.note("note: the build made no artifact of this stage");
    context.out.document({{"schema", "quarry.run-upload/1"}, {"dry_run", false}, {"files", Json::array()}});
    return 0;
  }
  TRY(auto layout, layout_of(place));
  Words words{"run",           "upload",     scratch,
              "--store",       place.store,  "--run-id",
              layout.run_id(), "--platform", arguments.get("--platform"),
              "--no-logs"};
  if (arguments.get("--stage") != "all")
    words.insert(words.end(), {"--artifact-group", text::replace_all(arguments.get("--stage"), ",", "+")});
  if (!place.external_repo.empty()) words.insert(words.end(), {"--external-repo", place.external_repo});
  auto inner = at(context, place);
  return run_words(inner, words);
}

Result<int> copy_stages(Context& context, const Arguments& arguments) {
  if (!said(arguments, "--source-run-id")) return usage("--source-run-id is missing", "name the run to copy from");
  TRY(auto to, staged_place(context, arguments));
  TRY(auto from, source_place(context, arguments, to));
  TRY(auto outputs, copies_of(context, arguments, from, to));
  if (arguments.has("--dry-run")) {
    show_copies(context, outputs, "would copy", 0);
    return 0;
  }
  to.environment.erase("QUARRY_S3_ANONYMOUS");
  auto inner = at(context, to);
  TRY(auto target, open_store_to_write(inner, to.store));
  TRY(auto layout, layout_of(to));
  artifact::UploadRequest upload{.layout = layout, .group = "copied", .page = page_of_run};
  if (auto at_once = text::parse_u64(said(arguments, "--concurrency").value_or("")))
    upload.at_once = static_cast<unsigned>(std::min<std::uint64_t>(*at_once, 64));
  TRY(auto report, artifact::upload_outputs(*target, outputs, upload));
  context.out.findings(report.findings);
  show_copies(context, outputs, "copied", report.writes);
  return 0;
}

} // namespace quarry::cli::compat
