#include "run/find_runs.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::run {

namespace {
bool fits(const Layout& run, const Locator& wanted) {
  if (!wanted.platform.empty() && run.platform() != wanted.platform) return false;
  if (!wanted.external_repo.empty() && run.external_repo() != wanted.external_repo) return false;
  // A pasted URL says the repository: its runs lie at the root (the store's own repository) or below its name.
  if (!wanted.repository.empty() && !run.external_repo().empty())
    return run.external_repo() == text::replace_all(wanted.repository, "/", "-") + "/";
  return true;
}

/// A directory store may hold an empty directory of that name.
Result<bool> holds_anything(store::ObjectReader& store, const Layout& run) {
  TRY(auto found, store.children(run.prefix()));
  return !found.objects.empty() || !found.directories.empty();
}

/// The run whose prefix is what the user wrote; then nothing else is meant, and nothing else is listed.
Result<std::optional<Layout>> exact_run(store::ObjectReader& store, const Locator& locator) {
  if (locator.platform.empty() || !locator.repository.empty()) return std::optional<Layout>();
  TRY(auto layout, Layout::create({locator.external_repo, locator.run_id, locator.platform}));
  TRY(bool present, holds_anything(store, layout), "while looking for " + locator.text);
  return present ? std::optional(std::move(layout)) : std::nullopt;
}

/// The runs directly below `directory` ("" or "owner-repo/"). Their number and size do not matter: one level is listed,
/// of names that begin with the run's number.
Result<void> add_runs(store::ObjectReader& store, const std::string& directory, const Locator& wanted,
                      std::vector<Layout>& runs) {
  TRY(auto found, store.children(directory + wanted.run_id + "-"), "while looking for " + wanted.text);
  for (const auto& name : found.directories) {
    auto run = Layout::parse(name);
    if (!run || run->run_id() != wanted.run_id || !fits(*run, wanted)) continue;
    TRY(bool present, holds_anything(store, *run), "while looking for " + wanted.text);
    if (present) runs.push_back(std::move(*run));
  }
  return {};
}

/// Where runs of other repositories may be: the directories at the root that are not runs themselves.
Result<std::vector<std::string>> repositories(store::ObjectReader& store, const Locator& wanted) {
  TRY(auto root, store.children(""), "while looking for " + wanted.text);
  std::erase_if(root.directories, [](const std::string& name) { return Layout::parse(name).has_value(); });
  return std::move(root.directories);
}
} // namespace

Result<std::vector<Layout>> find_runs(store::ObjectReader& store, const Locator& locator) {
  TRY_DO(require_kind(locator, {LocatorKind::run}, "look for"));
  std::vector<Layout> runs;
  std::vector<std::string> directories = {locator.external_repo};
  if (locator.external_repo.empty()) {
    TRY(directories, repositories(store, locator));
    directories.emplace_back();
  }
  for (const auto& directory : directories) TRY_DO(add_runs(store, directory, locator, runs));
  std::sort(runs.begin(), runs.end(), [](const Layout& a, const Layout& b) { return a.prefix() < b.prefix(); });
  return runs;
}

Result<Layout> find_run(store::ObjectReader& store, const Locator& locator) {
  TRY_DO(require_kind(locator, {LocatorKind::run}, "look for"));
  TRY(auto exact, exact_run(store, locator));
  if (exact) return std::move(*exact);
  TRY(auto runs, find_runs(store, locator));
  if (runs.empty())
    return fail(ErrorKind::not_found, "L010",
                fmt::format("no run {} below {}", locator.text.substr(locator.text.find(':') + 1), store.describe()),
                "check `--store` and the run id");
  if (runs.size() == 1) return std::move(runs.front());
  auto error = Error::of(ErrorKind::invalid_argument, "L011",
                         fmt::format("{} fits {} runs below {}", locator.text, runs.size(), store.describe()));
  for (const auto& run : runs) error.details.push_back("run:" + run.prefix().substr(0, run.prefix().size() - 1));
  error.hint = "name one of those listed above";
  return fail(std::move(error));
}

} // namespace quarry::run
