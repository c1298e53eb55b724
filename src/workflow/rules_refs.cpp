// Branches, tags and commits of other repositories: do they exist?
#include "base/text.hpp"
#include "workflow/refs.hpp"
#include "workflow/rules.hpp"
#include "workflow/values.hpp"
#include <fmt/core.h>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace quarry::workflow {

namespace {

/// One place that names a ref, and the step that takes it.
struct NamedRef {
  Constant constant;
  std::string taken_by;
};
/// OWNER/REPO as first written, its refs by the name that is written.
struct RefsOfRepository {
  std::string name;
  std::map<std::string, std::vector<NamedRef>> refs;
};

class RefsOfWorkflows {
public:
  explicit RefsOfWorkflows(const Rules& rules) : rules_(rules) {
    for (const auto& file : rules.repository.files) {
      for (const auto& one : checkouts_of(*file))
        if (!one.ours && !text::trim(one.ref).empty()) checkout(*file, one);
      if (rules.refs->online()) actions(*file);
    }
  }

  void check() const {
    for (const auto& [key, repository] : repositories_) {
      std::set<std::string> names;
      for (const auto& [name, places] : repository.refs) names.insert(name);
      auto answer = rules_.refs->ask(repository.name, names);
      if (!answer || !*answer) {
        auto why = answer                           ? std::string("give a clone by --with, or ask with --online")
                   : answer.error().details.empty() ? answer.error().message
                                                    : "git says: " + answer.error().details.front();
        for (const auto& [name, places] : repository.refs) not_looked_at(repository, places, why);
        continue;
      }
      for (const auto& [name, places] : repository.refs) {
        if ((*answer)->found.contains(name)) continue;
        if ((*answer)->unknown.contains(name))
          not_looked_at(repository, places, is_commit(name) ? "a commit" : "the clone is not whole");
        else
          report(repository, name, places);
      }
    }
  }

private:
  void checkout(const File& file, const Checkout& one) {
    auto names = constants(rules_.repository, file, one.job, {one.at, one.repository});
    std::set<std::string> different;
    for (const auto& name : names) different.insert(text::lower(name.text));
    auto refs = constants(rules_.repository, file, one.job, {one.ref_at, one.ref});
    // Two repositories: which ref goes with which one is not known.
    if (different.size() != 1 || names.front().text.find('/') == std::string::npos)
      return rules_.not_looked_at("refs of repositories that expressions name");
    if (refs.empty()) return rules_.not_looked_at("refs that expressions make");
    for (auto& ref : refs) add(names.front().text, {std::move(ref), step_name(file, one.job, one.step)});
  }

  /// `uses: OWNER/REPO/PATH@REF` of steps and jobs.
  void actions(const File& file) {
    auto uses = [&](const std::string& text, Position at, std::string taken_by) {
      auto name = text.substr(0, text.find('@'));
      auto slash = name.find('/');
      if (text.size() == name.size() || slash == name.npos || name[0] == '.' || name.starts_with("docker:")) return;
      if (is_dynamic(text) || is_commit(text.substr(name.size() + 1))) return; // GitHub itself checks a commit
      auto second = name.find('/', slash + 1);
      add(name.substr(0, second), {{&file, at, text.substr(name.size() + 1)}, std::move(taken_by)});
    };
    for (std::size_t j = 0; j < file.jobs.size(); ++j) {
      const auto& job = file.jobs[j];
      uses(job.uses, job.at, fmt::format("job `{}`", job.id));
      for (std::size_t s = 0; s < job.steps.size(); ++s)
        uses(job.steps[s].uses, job.steps[s].at, step_name(file, static_cast<int>(j), static_cast<int>(s)));
    }
  }

  void add(const std::string& repository, NamedRef ref) {
    auto& entry = repositories_[text::lower(repository)];
    if (entry.name.empty()) entry.name = repository;
    auto name = ref.constant.text;
    entry.refs[name].push_back(std::move(ref));
  }

  void not_looked_at(const RefsOfRepository& repository, const std::vector<NamedRef>& places,
                     const std::string& why) const {
    for (std::size_t i = 0; i < places.size(); ++i)
      rules_.not_looked_at(fmt::format("refs of {} ({})", repository.name, why));
  }

  /// One finding for each place: a default is written once and taken by many steps.
  void report(const RefsOfRepository& repository, const std::string& name, const std::vector<NamedRef>& places) const {
    std::map<std::pair<std::string, std::uint32_t>, std::vector<const NamedRef*>> by_place;
    for (const auto& one : places) by_place[{one.constant.file->path, one.constant.at.line}].push_back(&one);
    for (const auto& [place, taken] : by_place) {
      const auto& first = *taken.front();
      auto others = taken.size() > 1 ? fmt::format(" and {} more", taken.size() - 1) : std::string();
      rules_.add(*first.constant.file, first.constant.at, "Y142", Severity::error,
                 fmt::format("`{}` is not a branch, a tag or a commit of {}; it is taken by {}{}", name,
                             repository.name, first.taken_by, others),
                 "correct it; `git ls-remote` with the URL of the repository lists the names");
    }
  }

  const Rules& rules_;
  std::map<std::string, RefsOfRepository> repositories_;
};
} // namespace

void check_refs(const Rules& rules) {
  if (rules.refs) RefsOfWorkflows(rules).check();
}

} // namespace quarry::workflow
