#include "venv/reinstall.hpp"

#include "base/codes.hpp"
#include "base/text.hpp"
#include "venv/installed.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::venv {

namespace {

Error with_command(Error error, const Reinstall& again) {
  error.hint = fmt::format("install again: `{}`", reinstall_command(again));
  return error;
}

bool is_of_proof(const Error& error) {
  return error.is(codes::environment_changed) || error.is(codes::package_of_other_source);
}

std::vector<std::string> installed_projects(const Environment& environment, const Source& source) {
  std::vector<std::string> projects;
  auto distributions = list_distributions(environment);
  if (!distributions) return projects;
  for (const auto& distribution : *distributions)
    if (std::ranges::any_of(source.files, [&](const auto& file) { return file.file.project == distribution.project; }))
      projects.push_back(distribution.project);
  return projects;
}

} // namespace

std::string reinstall_command(const Reinstall& again) {
  auto command =
      "quarry venv install " + text::shell_word(again.directory) + " --clean --from " + text::shell_word(again.locator);
  if (!again.store.empty()) command += " --store " + text::shell_word(again.store);
  return command + " --packages " + text::shell_word(text::join(again.packages, " "));
}

Error with_reinstall(Error error, const Environment& environment, const Source& source,
                     std::vector<std::string> packages) {
  if (!is_of_proof(error)) return error;
  if (packages.empty())
    if (auto receipt = read_receipt(environment); receipt && *receipt) packages = (*receipt)->packages;
  if (packages.empty()) packages = installed_projects(environment, source);
  return with_command(std::move(error),
                      {environment.directory, source.locator, source.sealed ? source.store : "", std::move(packages)});
}

Error with_reinstall(Error error, const Environment& environment, const Receipt& receipt) {
  if (!is_of_proof(error)) return error;
  return with_command(std::move(error), {environment.directory, receipt.locator, receipt.store, receipt.packages});
}

} // namespace quarry::venv
