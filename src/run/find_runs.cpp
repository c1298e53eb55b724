#include "run/find_runs.hpp"

#include "base/text.hpp"
#include <fmt/core.h>
#include <set>

namespace quarry::run {

namespace {
/// The run that `key` belongs to; nullopt for a key of channels/, sets/ and so on.
std::optional<Layout> run_of(std::string_view key, const Locator& wanted) {
  auto first = key.find('/');
  if (first == key.npos) return std::nullopt;
  // A run directly below the root has its platform in the first component; else the first may be owner-repo.
  auto direct = Layout::parse(key.substr(0, first));
  if (direct && direct->run_id() == wanted.run_id) return std::move(*direct);
  auto second = key.find('/', first + 1);
  if (second == key.npos) return std::nullopt;
  auto nested = Layout::parse(key.substr(0, second));
  if (nested && nested->run_id() == wanted.run_id) return std::move(*nested);
  return std::nullopt;
}

bool fits(const Layout& run, const Locator& wanted) {
  if (!wanted.platform.empty() && run.platform() != wanted.platform) return false;
  if (!wanted.external_repo.empty() && run.external_repo() != wanted.external_repo) return false;
  // A pasted URL says the repository: its runs lie at the root (the store's own repository) or below its name.
  if (!wanted.repository.empty() && !run.external_repo().empty())
    return run.external_repo() == text::replace_all(wanted.repository, "/", "-") + "/";
  return true;
}

/// The run whose prefix is what the user wrote; then nothing else is meant, and nothing else is listed.
Result<std::optional<Layout>> exact_run(store::ObjectStore& store, const Locator& locator) {
  if (locator.platform.empty() || !locator.repository.empty()) return std::optional<Layout>();
  TRY(auto layout, Layout::create({locator.external_repo, locator.run_id, locator.platform}));
  TRY(auto objects, store.list(layout.prefix()), "while looking for " + locator.text);
  return objects.empty() ? std::nullopt : std::optional(std::move(layout));
}

/// As short a listing as the locator allows.
std::vector<std::string> prefixes(const Locator& wanted) {
  if (wanted.external_repo.empty()) return {""};
  std::vector<std::string> found;
  for (const auto& platform : platforms())
    if (wanted.platform.empty() || wanted.platform == platform)
      found.push_back(wanted.external_repo + wanted.run_id + "-" + platform + "/");
  return found;
}
} // namespace

Result<std::vector<Layout>> find_runs(store::ObjectStore& store, const Locator& locator) {
  TRY_DO(require_kind(locator, {LocatorKind::run}, "look for"));
  std::vector<Layout> runs;
  std::set<std::string> seen;
  for (const auto& prefix : prefixes(locator)) {
    TRY(auto objects, store.list(prefix), "while looking for " + locator.text);
    for (const auto& object : objects) {
      auto run = run_of(object.key, locator);
      if (run && fits(*run, locator) && seen.insert(run->prefix()).second) runs.push_back(std::move(*run));
    }
  }
  std::sort(runs.begin(), runs.end(), [](const Layout& a, const Layout& b) { return a.prefix() < b.prefix(); });
  return runs;
}

Result<Layout> find_run(store::ObjectStore& store, const Locator& locator) {
  TRY_DO(require_kind(locator, {LocatorKind::run}, "look for"));
  TRY(auto exact, exact_run(store, locator));
  if (exact) return std::move(*exact);
  TRY(auto runs, find_runs(store, locator));
  if (runs.empty())
    return fail(ErrorKind::not_found, "L010",
                fmt::format("no run {} below {}", locator.text.substr(locator.text.find(':') + 1), store.describe()),
                "check `--store` and the run id");
  if (runs.size() == 1) return std::move(runs.front());
  Error error{ErrorKind::invalid_argument,
              "L011",
              fmt::format("{} fits {} runs below {}", locator.text, runs.size(), store.describe()),
              {},
              {},
              {}};
  for (const auto& run : runs) error.details.push_back("run:" + run.prefix().substr(0, run.prefix().size() - 1));
  error.hint = "name one of those listed above";
  return fail(std::move(error));
}

} // namespace quarry::run
