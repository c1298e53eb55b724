#include "index/check.hpp"

#include "index/claims.hpp"
#include "index/facts.hpp"
#include "index/not_an_index.hpp"
#include "index/trees.hpp"
#include "thread/pool.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>

namespace quarry::index {

namespace {

using Facts = std::map<std::string, FileFacts>; // by what the site calls the file

Result<Reading> read_all_pages(Site& site, const std::vector<std::string>& asked) {
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
  else if (shape.top.there() && !(shape.html && is_listing(shape.top.text)))
    TRY_DO(read_top_page(site, asked.empty() ? &html : nullptr, reading));
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

/// Some pages are ours, and one is not: another tool writes in the same place, and rewrites what we would write.
Findings pages_of_another_tool(const Reading& reading) {
  Findings findings;
  if (reading.our_pages.empty()) return findings;
  for (const auto& place : reading.other_pages)
    findings.push_back({"I025", Severity::warning, place, "another tool wrote this page, between pages of ours",
                        "stop that tool, remove the page and run `quarry index repair`; or let it keep the find-links "
                        "page: `quarry store setting --find-links other`"});
  return findings;
}

CheckReport judge(Reading reading, const Facts& facts) {
  CheckReport report{std::move(reading.findings), reading.pages, reading.projects.size(), 0, false};
  auto add = [&](Findings findings) { std::ranges::move(findings, std::back_inserter(report.findings)); };
  for (const auto& [target, claims] : reading.claims)
    for (const auto& claim : claims) {
      auto judgement = judge_claim(claim, target, facts.at(target));
      report.altered = report.altered || judgement.altered;
      add(std::move(judgement.findings));
    }
  for (const auto& [target, file] : facts) {
    report.files += file.exists;
    report.altered = report.altered || has_errors(file.findings);
    add(file.findings);
  }
  add(reading.copies.findings());
  add(pages_of_another_tool(reading));
  std::ranges::sort(report.findings, {}, [](const Finding& f) { return std::tie(f.place, f.code, f.message); });
  return report;
}

} // namespace

Result<CheckReport> check_index(Site& site, const CheckOptions& options) {
  TRY(auto reading, read_all_pages(site, options.projects));
  TRY(auto facts, look_at_files(site, reading.claims, options));
  return judge(std::move(reading), facts);
}

Result<CheckReport> check_index(const std::string& directory, const CheckOptions& options) {
  return check_index(*files_site(directory), options);
}

int exit_code(const CheckReport& report) { return !has_errors(report.findings) ? 0 : report.altered ? 6 : 1; }

} // namespace quarry::index
