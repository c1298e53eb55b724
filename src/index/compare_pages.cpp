#include "index/check.hpp"

#include "base/text.hpp"

#include <fmt/format.h>
#include <map>

namespace quarry::index {

namespace {

/// The same link has different texts from pages in different directories only through leading "../"; both kinds of
/// project page lie equally deep, so the texts must agree.
std::string difference(const PageFile& a, const PageFile& b) {
  if (a.url != b.url) return fmt::format("links to {} and to {}", a.url, b.url);
  if (a.hashes != b.hashes) return "has different hashes";
  if (a.requires_python != b.requires_python)
    return fmt::format("requires Python {:?} and {:?}", a.requires_python, b.requires_python);
  if (a.core_metadata != b.core_metadata)
    return fmt::format("has core metadata {:?} and {:?}", a.core_metadata, b.core_metadata);
  if (a.yanked != b.yanked || a.yank_reason != b.yank_reason)
    return "is yanked in one form only, or for different reasons";
  if (a.size && b.size && a.size != b.size) return fmt::format("has {} and {} bytes", *a.size, *b.size);
  if (!a.upload_time.empty() && !b.upload_time.empty() && a.upload_time != b.upload_time)
    return "has different upload times";
  return "";
}

} // namespace

Findings compare_pages(const IndexPage& left, const IndexPage& right, std::string_view place) {
  constexpr std::string_view k_fix = "write both pages from one source: `quarry index build`";
  Findings findings;
  auto report = [&](std::string message) {
    findings.push_back({"I015", Severity::error, std::string(place), std::move(message), std::string(k_fix)});
  };
  std::map<std::string, const PageFile*> others;
  for (const auto& file : right.files) others.emplace(file.filename, &file);
  for (const auto& file : left.files) {
    auto it = others.find(file.filename);
    if (it == others.end())
      report(fmt::format("{} is listed in one form only", file.filename));
    else if (auto text = difference(file, *it->second); !text.empty())
      report(fmt::format("{} {}", file.filename, text));
    if (it != others.end()) others.erase(it);
  }
  for (const auto& [name, file] : others) report(fmt::format("{} is listed in one form only", name));
  return findings;
}

} // namespace quarry::index
