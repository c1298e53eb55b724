#include "venv/offers.hpp"

#include "base/text.hpp"
#include "dist/name.hpp"
#include "dist/requirement.hpp"
#include "dist/version.hpp"
#include "venv/installer.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <optional>
#include <set>

namespace quarry::venv {

namespace {

constexpr std::size_t k_shown_max = 8;
constexpr std::size_t k_reason_bytes_max = 160;

std::string first_of(const std::vector<std::string>& all) { return text::first(all, k_shown_max); }

/// pip names what it did not find, which may be a dependency: "No matching distribution found for rocm==9.9".
std::vector<std::string> not_found_by_pip(std::string_view output) {
  constexpr std::string_view k_sign = "No matching distribution found for ";
  std::vector<std::string> found;
  for (const auto& line : text::lines(output))
    if (auto at = line.find(k_sign); at != line.npos) {
      auto wanted = line.substr(at + k_sign.size());
      found.push_back(wanted.substr(0, wanted.find(" (from")));
    }
  return found;
}

bool for_windows(const std::string& filename) {
  auto name = dist::WheelName::parse(filename);
  return name && name->tags.platform.starts_with("win");
}

std::string hint_of(const Source& source, const dist::Requirement& wanted, bool pre) {
  const auto& project = wanted.project.str();
  std::vector<const Offered*> files;
  std::set<std::string> projects;
  for (const auto* list : {&source.files, &source.dependencies})
    for (const auto& offered : *list) {
      projects.insert(offered.file.project);
      if (offered.file.project == project) files.push_back(&offered);
    }
  if (files.empty())
    return fmt::format("{} has no {}; it has: {}", source.description, project,
                       first_of({projects.begin(), projects.end()}));
  if (std::ranges::all_of(files, [](const Offered* offered) { return for_windows(offered->file.filename); }))
    return fmt::format("the wheels of {} in {} are for Windows: install them there", project, source.description);
  std::set<dist::Version> versions;
  std::vector<std::string> fitting;
  bool fits = false, only_pre = true;
  for (const auto* offered : files) {
    auto version = dist::Version::parse(offered->file.version);
    if (!version) continue;
    if (wanted.specifiers.contains(*version)) {
      fits = true;
      only_pre &= version->is_prerelease();
      fitting.push_back(offered->file.filename);
    }
    versions.insert(std::move(*version));
  }
  std::vector<std::string> shown;
  for (auto it = versions.rbegin(); it != versions.rend(); ++it) shown.push_back(it->str());
  if (!fits) return fmt::format("{} has {} {}", source.description, project, first_of(shown));
  if (only_pre && !pre) return fmt::format("only pre-releases of {} fit ({}): add --pre", project, first_of(shown));
  return fmt::format("no file of {} fits this Python and platform: {}", project, first_of(fitting));
}

} // namespace

std::string offers_hint(const Source& source, const std::vector<std::string>& packages, std::string_view output,
                        bool pre) {
  if (source.is_remote() || source.files.empty()) return {};
  auto missing = not_found_by_pip(output);
  if (missing.empty()) missing = packages;
  std::string hint;
  for (const auto& text : missing) {
    auto wanted = dist::Requirement::parse(text);
    if (!wanted) continue;
    auto of_one = hint_of(source, *wanted, pre);
    // uv does not say which of several packages it was: one that is missing explains more than one that is there.
    if (hint.empty() || hint.starts_with("no file of")) hint = std::move(of_one);
  }
  return hint;
}

std::string failure_reason(std::string_view output) {
  std::string reason, last;
  std::string_view network;
  for (const auto& line : text::lines(output)) {
    auto trimmed = std::string(text::trim(line));
    if (trimmed.empty()) continue;
    for (std::string_view sign : {"ERROR: ", "error: "})
      if (trimmed.starts_with(sign)) reason = trimmed.substr(sign.size());
    if (auto sign = transient_sign(trimmed); !sign.empty()) network = sign;
    last = std::move(trimmed);
  }
  if (reason.empty()) reason = last;
  reason = reason.substr(0, k_reason_bytes_max);
  if (!network.empty() && reason.find(network) == reason.npos) reason += fmt::format(" ({})", network);
  return reason;
}

} // namespace quarry::venv
