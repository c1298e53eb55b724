// What is built: revisions of checkouts, and whether anything says which.
#include "base/text.hpp"
#include "workflow/programs.hpp"
#include "workflow/rules.hpp"
#include "workflow/values.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <set>

namespace quarry::workflow {

namespace {

std::string repository_name(const Checkout& checkout) {
  return checkout.repository.empty() ? "this repository" : checkout.repository;
}

void check_shared_ref(const Rules& rules, const File& file, const std::vector<Checkout>& checkouts) {
  std::set<std::pair<int, std::string>> told;
  for (const auto& one : checkouts) {
    if (one.ref.find("${{") == std::string::npos) continue;
    auto reads = only_expression(one.ref);
    bool triggering = reads && reads->kind == Expression::Kind::name && text::lower(reads->path[0]) == "github";
    auto ref = canonical(one.ref);
    std::vector<std::string> names;
    std::set<std::string> different;
    for (const auto& other : checkouts) {
      if (other.job != one.job || canonical(other.ref) != ref) continue;
      if (different.insert(text::lower(canonical(other.repository))).second) names.push_back(repository_name(other));
    }
    if (triggering || names.size() < 2 || !told.insert({one.job, ref}).second) continue;
    const auto* second = &one;
    for (const auto& other : checkouts)
      if (other.job == one.job && canonical(other.ref) == ref &&
          canonical(other.repository) != canonical(one.repository))
        second = &other;
    rules.add(
        file, second->ref_at, "Y125", Severity::error,
        fmt::format("`{}` is the revision of {} repositories in job `{}`: {}; a branch of that name must exist in each",
                    text::trim(one.ref), names.size(), file.jobs[static_cast<std::size_t>(one.job)].id,
                    text::first(names, k_names_shown)),
        "take one input for each repository");
  }
}

/// Whether the step or its job runs only where the inputs that the ref reads are not empty.
bool is_guarded(const File& file, const Checkout& one) {
  const auto& job = file.jobs[static_cast<std::size_t>(one.job)];
  auto needed = inputs_needed_by(*job.node);
  for (auto& name : inputs_needed_by(*job.steps[static_cast<std::size_t>(one.step)].node)) needed.push_back(name);
  auto read = inputs_in(one.ref);
  return !read.empty() && std::ranges::all_of(read, [&](const std::string& name) {
    return std::ranges::any_of(needed, [&](const std::string& known) { return same_name(name, known); });
  });
}

void check_empty_ref(const Rules& rules, const File& file, const Checkout& one) {
  if (one.ours) return; // an empty ref of this repository is the revision that started the run
  if (!one.has_ref || text::trim(one.ref).empty()) {
    rules.add(file, one.at, "Y126", Severity::warning,
              fmt::format("{} checks out {} without `ref`: its default branch, whatever that is on the day",
                          step_name(file, one.job, one.step), repository_name(one)),
              "name a commit or take an input");
    return;
  }
  auto empty = emptiness(rules.repository, file, one.job, one.ref);
  if (empty == Emptiness::never || empty == Emptiness::unknown || is_guarded(file, one)) return;
  rules.add(file, one.ref_at, "Y136", empty == Emptiness::happens ? Severity::warning : Severity::note,
            fmt::format("`{}` {}; an empty ref builds the default branch of {} silently", text::trim(one.ref),
                        empty == Emptiness::happens ? "is empty unless somebody passes it" : "may be passed empty",
                        repository_name(one)),
            "write a fallback, such as `|| 'v1.2'`, or skip the step when it is empty: `if: inputs.NAME != ''`");
}

void check_moving_ref(const Rules& rules, const File& file, const Checkout& one) {
  if (one.ours || one.ref.empty() || is_dynamic(one.ref) || is_commit(one.ref)) return;
  rules.add(file, one.ref_at, "Y141", Severity::note,
            fmt::format("{} is checked out at `{}`, a branch or tag that can move: nobody verifies its bytes",
                        repository_name(one), one.ref),
            "name a commit, and the branch in a comment");
}

/// A checkout of this repository that takes the triggering revision, where others of the workflow take an input.
void check_own_ref(const Rules& rules, const File& file, const std::vector<Checkout>& checkouts) {
  std::set<std::string> used;
  const Checkout* example = nullptr;
  for (const auto& one : checkouts) {
    if (!one.ours) continue;
    auto names = inputs_in(one.ref);
    if (!names.empty()) used.insert(names.front()), example = example ? example : &one;
  }
  if (!example || !file.input(*used.begin())) return;
  for (const auto& one : checkouts) {
    if (!one.ours || !one.repository.empty() || one.has_ref) continue;
    rules.add(file, one.at, "Y127", Severity::warning,
              fmt::format("{} checks out the revision that started the run, not `inputs.{}`, which line {} takes",
                          step_name(file, one.job, one.step), *used.begin(), example->at.line),
              fmt::format("add `ref: {}`", text::trim(example->ref)));
  }
}

struct OwnerPlace {
  const File* file;
  Position at, edit_at; ///< edit_at.line 0: what else reads the value (a bucket's key, a cache's) may mind the case
};
/// By owner in lower case, then by spelling.
using Owners = std::map<std::string, std::map<std::string, std::vector<OwnerPlace>>>;

void note_owner(Owners& owners, std::string_view name, OwnerPlace place) {
  auto slash = name.find('/');
  if (slash == name.npos || slash == 0 || is_dynamic(name) || name.starts_with('.')) return;
  auto owner = std::string(name.substr(0, slash));
  owners[text::lower(owner)][owner].push_back(std::move(place));
}

void note_owners(Owners& owners, const File& file) {
  auto note = [&](const Node* value) {
    if (value) note_owner(owners, value->text, {&file, value->at, value->bound ? Position{} : position_in(*value, 0)});
  };
  for (const auto& one : checkouts_of(file)) {
    const auto& step = file.jobs[static_cast<std::size_t>(one.job)].steps[static_cast<std::size_t>(one.step)];
    if (const auto* with = step.node->find("with")) note(with->find("repository"));
  }
  for (const auto& job : file.jobs)
    for (const auto& step : job.steps)
      if (!step.uses.starts_with("docker:")) note(step.node->find("uses"));
  for (const auto& name : file.input_names()) {
    const auto* input = file.input(name);
    if (text::lower(name).find("repo") != name.npos)
      note_owner(owners, input->fallback.value_or(""), {&file, input->fallback_at, {}});
  }
}

/// OWNER/REPO spelled in more than one way; GitHub does not mind, caches, comparisons and other hosts do. Each place
/// with a rare spelling is told; of two spellings that are as usual, one place of the second.
void check_owners(const Rules& rules) {
  Owners owners;
  for (const auto& file : rules.repository.files) note_owners(owners, *file);
  for (const auto& [owner, spellings] : owners) {
    auto usual = std::max_element(spellings.begin(), spellings.end(),
                                  [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    auto count = usual->second.size();
    bool tie = std::ranges::count_if(spellings, [&](const auto& one) { return one.second.size() == count; }) > 1;
    for (auto one = spellings.begin(); one != spellings.end(); ++one) {
      if (one == usual) continue;
      bool rare = one->second.size() < count;
      auto others = count == 1 ? std::string("another place") : fmt::format("{} {}places", count, rare ? "other " : "");
      for (const auto& place : one->second) {
        rules.add(
            *place.file, place.at, "Y137", Severity::warning,
            fmt::format("owner `{}` is spelled `{}` in {}", one->first, usual->first, others),
            tie ? "choose one spelling and write it everywhere" : fmt::format("write `{}` everywhere", usual->first),
            !tie && place.edit_at.line != 0 ? std::optional(Edit{one->first + "/", usual->first + "/", place.edit_at})
                                            : std::nullopt);
        if (!rare) break;
      }
    }
  }
}
} // namespace

bool is_commit(std::string_view ref) {
  return ref.size() == 40 && ref.find_first_not_of("0123456789abcdefABCDEF") == ref.npos;
}

std::vector<Checkout> checkouts_of(const File& file) {
  std::vector<Checkout> found;
  for (std::size_t j = 0; j < file.jobs.size(); ++j)
    for (std::size_t s = 0; s < file.jobs[j].steps.size(); ++s) {
      const auto& step = file.jobs[j].steps[s];
      if (!step.uses.starts_with("actions/checkout@")) continue;
      Checkout one;
      one.job = static_cast<int>(j);
      one.step = static_cast<int>(s);
      one.at = one.ref_at = step.at;
      if (const auto* with = step.node->find("with")) {
        one.repository = with->text_at("repository");
        one.path = with->text_at("path");
        if (const auto* ref = with->find("ref")) one.has_ref = true, one.ref = ref->text, one.ref_at = ref->at;
      }
      auto repository = text::lower(one.repository);
      one.ours = repository.empty() || repository.find("github.repository") != repository.npos;
      // `repository` is the input by which callers build their fork of this repository.
      auto names = inputs_in(one.repository);
      one.ours |= names.size() == 1 && text::lower(names[0]) == "repository";
      found.push_back(std::move(one));
    }
  return found;
}

void check_checkouts(const Rules& rules) {
  for (const auto& file : rules.repository.files) {
    auto checkouts = checkouts_of(*file);
    check_shared_ref(rules, *file, checkouts);
    check_own_ref(rules, *file, checkouts);
    for (const auto& one : checkouts) {
      check_empty_ref(rules, *file, one);
      check_moving_ref(rules, *file, one);
    }
  }
  check_owners(rules);
}

} // namespace quarry::workflow
