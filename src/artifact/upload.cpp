#include "artifact/upload.hpp"

#include "artifact/rewrite.hpp"
#include "artifact/upload_files.hpp"
#include "artifact/upload_record.hpp"
#include <array>
#include <fmt/core.h>
#include <iterator>
#include <vector>

namespace quarry::artifact {

namespace {

/// The run of a place, for people: "42-linux".
std::string run_of(const UploadPlace& place) { return place.prefix.substr(0, place.prefix.size() - 1); }

// ---- the record: what is announced before the first file, and confirmed after the last

std::string record_key(const UploadPlace& place, const UploadRequest& request) {
  return place.prefix + "manifests/" + (request.group.empty() ? "" : request.group + "/") +
         std::string(k_upload_record);
}

/// What other uploads of this group announced stays announced; what a failed build did, is done again.
std::string record_over(const std::optional<std::string>& standing, const Outputs& outputs,
                        const UploadRequest& request, bool complete) {
  UploadRecord record;
  if (standing)
    if (auto old = parse_upload_record(*standing, k_upload_record); old && !old->build_failed) record = std::move(*old);
  record.group = request.group;
  record.complete = complete;
  record.build_failed = request.build_failed;
  for (const auto& file : outputs.files)
    if (file.kind == OutputFile::Kind::archive) record.archives.insert_or_assign(file.name, *file.sha256);
  return upload_record_text(record);
}

Result<std::uint64_t> write_record(const UploadPlace& place, const Outputs& outputs, const UploadRequest& request,
                                   bool complete) {
  TRY(bool wrote, rewrite(place, record_key(place, request), [&](const auto& standing) -> Result<std::string> {
        return record_over(standing, outputs, request, complete);
      }));
  return wrote ? 1 : 0;
}

/// A045: the run was complete, and this upload says that its build failed.
std::optional<Finding> reopened(const UploadPlace& place, const std::string& standing) {
  auto old = parse_upload_record(standing, k_upload_record);
  if (!old || !old->complete) return std::nullopt;
  return Finding{"A045", Severity::warning, run_of(place),
                 "it was complete, and is not any more: this upload says that the build failed",
                 "wrong run? `run upload` without --build-failed makes it complete again"};
}

struct Announcement {
  bool needed = true; ///< false: the record says already what it will say in the end
  std::uint64_t writes = 0;
  std::optional<Finding> finding = {};
};
Result<Announcement> announce(const UploadPlace& place, const Outputs& outputs, const UploadRequest& request) {
  TRY(auto standing, place.store.get(record_key(place, request), k_upload_record_bytes_max));
  Announcement made;
  made.needed = !standing || *standing != record_over(standing, outputs, request, !request.build_failed);
  if (!made.needed) return made;
  if (standing && request.build_failed) made.finding = reopened(place, *standing);
  TRY(made.writes, write_record(place, outputs, request, false));
  return made;
}

// ---- pages

/// The name under which a page shows an object, from the name below the page's directory; nullopt: it does not.
using Shown = std::optional<std::string> (*)(const std::string& name);

std::optional<std::string> shown_on_logs(const std::string& name) {
  return name == "index.html" ? std::nullopt : std::optional(name);
}

std::optional<std::string> shown_on_run(const std::string& name) {
  bool direct = name.find('/') == name.npos;
  if (direct) return name.ends_with(".html") ? std::nullopt : std::optional(name);
  bool leads = name.ends_with("/index.html") && name.find("/simple") == name.npos;
  bool below = name.starts_with("manifests/") || name.starts_with("tarballs/");
  return leads || below ? std::optional(name) : std::nullopt;
}

constexpr std::string_view k_times_page = "build_observability.html";

struct PageToWrite {
  std::string key, title;
  Shown shown;
};

std::vector<PageToWrite> pages_to_write(const UploadPlace& place, const OutputPages& known,
                                        const UploadRequest& request) {
  std::vector<PageToWrite> pages;
  auto run = run_of(place);
  if (!known.logs.empty()) pages.push_back({known.logs, "Logs of " + run, shown_on_logs});
  pages.push_back({place.prefix + "index.html", "Outputs of " + run, shown_on_run});
  if (request.february && !request.group.empty())
    pages.push_back({place.prefix + "index-" + request.group + ".html", "Outputs of " + run, shown_on_run});
  return pages;
}

Result<bool> write_page(const UploadPlace& place, const PageToWrite& page, const UploadRequest& request) {
  auto directory = page.key.substr(0, page.key.rfind('/') + 1);
  return rewrite(place, page.key, [&](const auto&) -> Result<std::string> {
    TRY(auto objects, place.store.list(directory));
    std::vector<Listed> entries;
    for (const auto& object : objects)
      if (auto name = page.shown(object.key.substr(directory.size()))) entries.push_back({*name, object.size});
    return request.page(page.title, entries);
  });
}

} // namespace

std::string content_type_of(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 12> k_types{
      {{".log", "text/plain; charset=utf-8"},
       {".txt", "text/plain; charset=utf-8"},
       {".sha256sum", "text/plain; charset=utf-8"},
       {".md", "text/markdown; charset=utf-8"},
       {".html", "text/html; charset=utf-8"},
       {".json", "application/json"},
       {".xml", "application/xml"},
       {".csv", "text/csv; charset=utf-8"},
       {".zst", "application/zstd"},
       {".xz", "application/x-xz"},
       {".tgz", "application/gzip"},
       {".gz", "application/gzip"}}};
  for (auto [ending, type] : k_types)
    if (name.ends_with(ending)) return std::string(type);
  return "application/octet-stream";
}

OutputPages pages_of(const Outputs& outputs, const UploadRequest& request) {
  auto prefix = request.layout.prefix();
  OutputPages pages;
  for (const auto& file : outputs.files) {
    if (file.kind == OutputFile::Kind::manifest && pages.manifest.empty()) pages.manifest = file.key;
    if (file.kind == OutputFile::Kind::log && file.name == k_times_page) pages.times = file.key;
    if (file.kind == OutputFile::Kind::log)
      pages.logs = logs_directory(request.layout, {request.stage, request.group}) + "index.html";
  }
  if (!request.stage.empty()) return pages;
  bool february = request.february && !request.group.empty();
  pages.artifacts = prefix + (february ? "index-" + request.group + ".html" : "index.html");
  return pages;
}

Result<UploadReport> upload_outputs(store::ObjectStore& store, const Outputs& outputs, const UploadRequest& request) {
  UploadPlace place{store, request.layout.prefix()};
  TRY(auto objects, store.list(place.prefix));
  Sizes before;
  for (auto& object : objects) before.emplace(object.key, object.size);
  if (!request.build_failed) TRY_DO(check_archives(place, outputs, before, request.at_once));
  TRY(place.conditional, store.conditional_writes());
  UploadReport report;
  Announcement announced{.needed = false};
  if (request.stage.empty()) { // a stage's logs say nothing about the run's archives
    TRY(announced, announce(place, outputs, request));
  }
  if (announced.finding) report.findings.push_back(std::move(*announced.finding));
  TRY(auto uploaded, upload_files(place, outputs, request, before));
  report.files = std::move(uploaded.files);
  std::move(uploaded.findings.begin(), uploaded.findings.end(), std::back_inserter(report.findings));
  report.writes = announced.writes + uploaded.writes;
  if (announced.needed) {
    TRY(auto writes, write_record(place, outputs, request, !request.build_failed));
    report.writes += writes;
  }
  auto known = pages_of(outputs, request);
  for (const auto& page : pages_to_write(place, known, request)) {
    TRY(bool wrote, write_page(place, page, request));
    report.writes += wrote ? 1 : 0;
  }
  report.pages = std::move(known);
  return report;
}

} // namespace quarry::artifact
