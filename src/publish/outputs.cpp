#include "publish/outputs.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "dist/family.hpp"
#include "dist/version.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace quarry::publish {

namespace {

bool has_prerelease(const std::vector<registry::FileRecord>& files) {
  return std::any_of(files.begin(), files.end(), [](const auto& file) {
    auto version = dist::Version::parse(file.version);
    return version && version->is_prerelease();
  });
}

} // namespace

namespace {
/// The extras of rocm whose wheels are there: pip warns of one that it cannot satisfy, or fails.
std::string rocm_requirement(const std::set<std::string>& projects) {
  bool libraries = std::any_of(projects.begin(), projects.end(),
                               [](const auto& project) { return !dist::family_of_libraries(project).empty(); });
  std::vector<std::string> extras;
  if (libraries) extras.emplace_back("libraries");
  if (projects.contains("rocm-sdk-devel")) extras.emplace_back("devel");
  return extras.empty() ? "rocm" : "\"rocm[" + text::join(extras, ",") + "]\"";
}
} // namespace

std::string requirement_of(const std::vector<registry::FileRecord>& files) {
  std::set<std::string> projects;
  for (const auto& file : files) projects.insert(file.project);
  if (projects.contains("rocm")) return rocm_requirement(projects);
  std::vector<std::string> names(projects.begin(), projects.end());
  return text::join(names, " ");
}

std::string requirement_of(const registry::SetRecord& set) { return requirement_of(set.files); }

std::string install_words(const std::vector<registry::FileRecord>& files) {
  constexpr std::size_t k_line_max = 60; // more names than that are not installed together
  auto words = requirement_of(files);
  if (words.empty() || words.size() > k_line_max) words = "PROJECT";
  return has_prerelease(files) ? words + " --pre" : words;
}

std::string install_line(const registry::SetRecord& set, const Addresses& from) {
  return fmt::format("pip install {} {}{}{}", requirement_of(set), has_prerelease(set.files) ? "--pre " : "",
                     installer_words(from),
                     from.best_index().starts_with("file:") ? " --disable-pip-version-check" : "");
}

std::string github_outputs(const Receipt& receipt) {
  std::string text;
  auto add = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) text += fmt::format("{}={}\n", name, value);
  };
  add("package_find_links_url", receipt.find_links_url);
  add("package_index_url", receipt.directory_at.index_url);
  add("package_set", receipt.set);
  add("package_merged_index_url", receipt.directory_at.merged_url);
  if (receipt.channel.empty()) return text;
  add("channel_index_url", receipt.channel_at.index_url);
  add("channel_find_links_url", text::join(receipt.channel_at.find_links, " "));
  add("channel_merged_index_url", receipt.channel_at.merged_url);
  add("channel_generation", std::to_string(receipt.generation));
  return text;
}

std::string step_summary(const Plan& plan, const Receipt& receipt) {
  std::uint64_t bytes = 0;
  for (const auto& file : plan.set.files) bytes += file.size;
  auto text =
      fmt::format("## Python packages\n\n{}, {}, {}.\n\n```\n{}\n```\n\n", units::things(plan.set.files.size(), "file"),
                  units::bytes(bytes),
                  receipt.set.empty() ? "not published: a dry run" : fmt::format("sealed as `set:{}`", receipt.set),
                  install_line(plan.set, receipt.directory_at));
  if (!receipt.channel.empty())
    text += fmt::format("Channel `{}` is at generation {}:\n\n```\n{}\n```\n\n", receipt.channel, receipt.generation,
                        install_line(plan.set, receipt.channel_at));
  text += fmt::format("Files: [find-links page]({})\n\n", receipt.find_links_url);
  return text;
}

} // namespace quarry::publish
