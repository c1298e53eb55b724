#include "workflow/refs.hpp"

#include "base/text.hpp"
#include "sys/file.hpp"
#include "workflow/rules.hpp"
#include <utility>
#include <vector>

namespace quarry::workflow {

namespace {

constexpr std::string_view k_heads = "refs/heads/", k_tags = "refs/tags/", k_remotes = "refs/remotes/";

/// The spellings that `git ls-remote` takes as patterns of whole names. A copy keeps the branches of the repository
/// that it was cloned from below refs/remotes.
std::vector<std::string> patterns_of(const std::string& name) {
  if (name.starts_with(k_heads)) return {name, "refs/remotes/*/" + name.substr(k_heads.size())};
  if (name.starts_with("refs/")) return {name};
  return {std::string(k_heads) + name, std::string(k_tags) + name, "refs/remotes/*/" + name};
}

/// Characters that git refuses in a name (git-check-ref-format), and which would be a pattern here.
bool is_ref_name(std::string_view name) { return name.find_first_of("*?[ ~^:\\") == name.npos; }

/// "x/main" of "refs/remotes/origin/x/main": git's `*` takes slashes, too, so it lists that one for "main" as well.
std::string_view branch_of_remote(std::string_view ref) {
  if (!ref.starts_with(k_remotes)) return {};
  ref.remove_prefix(k_remotes.size());
  auto slash = ref.find('/');
  return slash == ref.npos ? std::string_view() : ref.substr(slash + 1);
}

bool is_called(std::string_view ref, std::string_view name) {
  bool head = ref.starts_with(k_heads), tag = ref.starts_with(k_tags);
  if (ref == name) return true;
  if (name.starts_with(k_heads)) return branch_of_remote(ref) == name.substr(k_heads.size());
  if (head || tag) return ref.substr(head ? k_heads.size() : k_tags.size()) == name;
  return branch_of_remote(ref) == name;
}

std::set<std::string> listed(std::string_view output, const std::set<std::string>& names) {
  std::set<std::string> found;
  for (const auto& line : text::lines(output)) {
    auto tab = line.find('\t');
    if (tab == line.npos) continue;
    auto ref = std::string_view(line).substr(tab + 1);
    for (const auto& name : names)
      if (is_called(ref, name)) found.insert(name);
  }
  return found;
}

/// Which names do not exist at all if the copy does not have them. A shallow clone and one of a single branch hold a
/// part of the names only, one that was made with --no-tags has no tags, and no clone fetches refs/pull by itself.
struct Whole {
  bool branches = false, tags = false, others = false;

  bool has(std::string_view name) const {
    if (name.starts_with(k_heads)) return branches;
    if (name.starts_with(k_tags)) return tags;
    return name.starts_with("refs/") ? others : branches && tags;
  }
};

Whole whole_parts(const GitPlace& copy) {
  auto shallow = git(copy, {"rev-parse", "--is-shallow-repository"});
  if (!shallow || text::trim(*shallow) != "false") return {};
  auto fetched = git(copy, {"config", "--get-all", "remote.origin.fetch"});
  auto tags = git(copy, {"config", "--get", "remote.origin.tagOpt"});
  bool no_tags = tags && text::trim(*tags) == "--no-tags";
  bool original = !fetched || text::trim(*fetched).empty();
  bool mirror = !original && fetched->find("refs/*:") != std::string::npos;
  bool branches = original || mirror || fetched->find("refs/heads/*:") != std::string::npos;
  return {branches, branches && (mirror || !no_tags), mirror};
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
  if (copy == copies_.end()) return answer;
  auto whole = whole_parts(place);
  for (const auto& name : asked)
    if (!answer.found.contains(name) && !whole.has(name)) answer.unknown.insert(name);
  return answer;
}

} // namespace quarry::workflow
