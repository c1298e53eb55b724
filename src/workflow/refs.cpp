#include "workflow/refs.hpp"

#include "base/text.hpp"
#include "sys/file.hpp"
#include "workflow/rules.hpp"
#include <utility>
#include <vector>

namespace quarry::workflow {

namespace {

/// The spellings that `git ls-remote` takes as patterns of whole names. A copy keeps the branches of the repository
/// that it was cloned from below refs/remotes.
std::vector<std::string> patterns_of(const std::string& name) {
  if (name.starts_with("refs/")) return {name};
  return {"refs/heads/" + name, "refs/tags/" + name, "refs/remotes/*/" + name};
}

/// Characters that git refuses in a name (git-check-ref-format), and which would be a pattern here.
bool is_ref_name(std::string_view name) { return name.find_first_of("*?[ ~^:\\") == name.npos; }

std::set<std::string> listed(std::string_view output, const std::set<std::string>& names) {
  std::set<std::string> found;
  for (const auto& line : text::lines(output)) {
    auto tab = line.find('\t');
    if (tab == line.npos) continue;
    auto ref = std::string_view(line).substr(tab + 1);
    for (const auto& name : names)
      if (ref == name || (ref.size() > name.size() && ref.ends_with(name) && ref[ref.size() - name.size() - 1] == '/'))
        found.insert(name);
  }
  return found;
}

/// Whether a name that the copy does not have does not exist at all: a shallow clone and one of a single branch hold a
/// part of the names only.
bool is_whole(const GitPlace& copy) {
  auto shallow = git(copy, {"rev-parse", "--is-shallow-repository"});
  if (!shallow || text::trim(*shallow) != "false") return false;
  auto fetched = git(copy, {"config", "--get-all", "remote.origin.fetch"});
  return !fetched || text::trim(*fetched).empty() || fetched->find("refs/heads/*:") != std::string::npos;
}

} // namespace

void RefSource::add(const std::string& repository, GitPlace place) {
  bool bare = sys::exists(place.directory + "/objects") && sys::exists(place.directory + "/HEAD");
  if (bare || sys::exists(place.directory + "/.git")) copies_[text::lower(repository)] = std::move(place);
}

void RefSource::ask_server(std::string server, std::map<std::string, std::string> environment) {
  server_ = std::move(server);
  environment_ = std::move(environment);
  environment_["GIT_TERMINAL_PROMPT"] = "0";
}

Result<std::optional<RefAnswer>> RefSource::ask(const std::string& repository,
                                                const std::set<std::string>& names) const {
  auto copy = copies_.find(text::lower(repository));
  if (copy == copies_.end() && !online()) return std::nullopt;
  auto place = copy != copies_.end() ? copy->second : GitPlace{"", "", environment_};
  auto where = copy != copies_.end() ? std::string(".") : server_ + "/" + repository;
  RefAnswer answer;
  std::set<std::string> asked;
  std::vector<std::string> words{"ls-remote", "--", where};
  for (const auto& name : names) {
    if (!is_ref_name(name)) continue;
    if (is_commit(name)) {
      bool known = copy != copies_.end() && git(place, {"cat-file", "-e", name + "^{commit}"});
      (known ? answer.found : answer.unknown).insert(name);
      continue;
    }
    asked.insert(name);
    for (auto& pattern : patterns_of(name)) words.push_back(std::move(pattern));
  }
  if (asked.empty()) return answer;
  TRY(auto output, git(place, std::move(words)));
  answer.found.merge(listed(output, asked));
  if (copy == copies_.end() || is_whole(place)) return answer;
  for (const auto& name : asked)
    if (!answer.found.contains(name)) answer.unknown.insert(name);
  return answer;
}

} // namespace quarry::workflow
