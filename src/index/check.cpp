#include "index/check.hpp"

#include "index/claims.hpp"
#include "index/facts.hpp"
#include "index/not_an_index.hpp"
#include "index/other_tool.hpp"
#include "index/trees.hpp"
#include "thread/pool.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>

namespace quarry::index {

namespace {

using Facts = std::map<std::string, FileFacts>; // by what the site calls the file

/// The page of the place itself, a find-links page; of a distribution also the pages of projects beside it.
Result<void> read_beside_trees(Site& site, const Shape& shape, const CheckOptions& options, const Pages& html,
                               Reading& reading) {
  bool of_another = reading.ours && is_of_another_tool(shape.top);
  if (of_another && options.find_links_left) {
    TRY(reading.top_left, options.find_links_left(site));
  }
  const auto& asked = options.projects;
  bool listing = shape.html && is_listing(shape.top.text);
  if (shape.top.there() && !listing && !reading.top_left)
    TRY_DO(read_top_page(site, asked.empty() ? &html : nullptr, reading));
  RepositoryPages pages;
  TRY(bool distribution, shape.html ? is_distribution(site) : Result<bool>(false));
  if (distribution)
    for (const auto& [name, page] : html) pages.projects.insert(name);
  if (of_another) pages.listed = projects_linked(shape.top);
  if (!asked.empty()) std::erase_if(pages.listed, [&](const auto& name) { return !html.contains(name); });
  return read_repository_pages(site, pages, html, reading);
}

Result<Reading> read_all_pages(Site& site, const CheckOptions& options) {
  const auto& asked = options.projects;
  TRY(auto shape, shape_of(site));
  Reading reading;
  Pages html, json;
  if (shape.html) {
    TRY(html, read_tree(site, "simple", asked, reading));
  }
  if (shape.json) {
    TRY(json, read_tree(site, "simple-json", asked, reading));
  }
  // index.html of the directory: a find-links page, or the root when the directory is a `simple/` itself.
  bool is_tree = shape.root && !shape.html && !shape.json;
  if (shape.top.there() && is_tree)
    TRY_DO(read_tree(site, "", asked, reading));
  else
    TRY_DO(read_beside_trees(site, shape, options, html, reading));
  std::ranges::move(compare_trees(site, html, json), std::back_inserter(reading.findings));
  return reading;
}

// Looks once at each file, however many pages mention it.
Result<Facts> look_at_files(Site& site, const Claims& claims, const CheckOptions& options) {
  std::vector<const Claims::value_type*> files;
  for (const auto& claim : claims) files.push_back(&claim);
  Facts all;
  std::mutex mutex;
  std::uint64_t done = 0;
  auto outer = static_cast<unsigned>(std::min<std::size_t>(options.workers, files.size()));
  unsigned inner = std::max(1u, options.workers / std::max(1u, outer));
  TRY_DO(parallel_for(files.size(), outer, [&](std::size_t i) -> Result<void> {
    const auto& [target, said] = *files[i];
    bool offers = std::ranges::any_of(said, [](const Claim& c) { return !c.file.core_metadata.empty(); });
    TRY(auto facts, look_at(site, target, {offers, options.contents, inner}),
        "while looking at " + shown_target(target));
    std::lock_guard lock(mutex);
    done += facts.size;
    if (options.on_progress) options.on_progress(done);
    all.emplace(target, std::move(facts));
    return {};
  }));
  return all;
}

CheckReport judge(const OtherTool& other, const Reading& reading, const Facts& facts) {
  CheckReport report{{}, reading.pages, reading.projects.size(), 0, false};
  auto add = [&](const Findings& findings) {
    std::ranges::copy_if(findings, std::back_inserter(report.findings), [&](const auto& f) { return other.counts(f); });
  };
  add(reading.findings);
  for (const auto& [target, claims] : reading.claims)
    for (const auto& claim : claims) {
      auto judgement = judge_claim(claim, target, facts.at(target));
      bool counts = std::ranges::any_of(judgement.findings, [&](const auto& f) { return other.counts(f); });
      report.altered = report.altered || (judgement.altered && counts);
      add(judgement.findings);
    }
  for (const auto& [target, file] : facts) {
    report.files += file.exists;
    report.altered = report.altered || has_errors(file.findings);
    add(file.findings);
  }
  add(reading.copies.findings());
  std::ranges::move(other.findings(), std::back_inserter(report.findings));
  std::ranges::sort(report.findings, {}, [](const Finding& f) { return std::tie(f.place, f.code, f.message); });
  return report;
}

} // namespace

Result<CheckReport> check_index(Site& site, const CheckOptions& options) {
  TRY(auto reading, read_all_pages(site, options));
  OtherTool other(site, reading);
  other.drop_ignored_links(reading.claims);
  TRY(auto facts, look_at_files(site, reading.claims, options));
  return judge(other, reading, facts);
}

Result<CheckReport> check_index(const std::string& directory, const CheckOptions& options) {
  return check_index(*files_site(directory), options);
}

int exit_code(const CheckReport& report) { return !has_errors(report.findings) ? 0 : report.altered ? 6 : 1; }

} // namespace quarry::index
