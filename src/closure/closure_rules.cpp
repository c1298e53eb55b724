#include "closure/closure_rules.hpp"

#include "base/codes.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "closure/choose.hpp"
#include "closure/resolve.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <functional>
#include <map>
#include <set>

namespace quarry::closure {

namespace {
constexpr std::size_t k_gaps_max = 50;      // of one question; a set that nobody resolved has a few
constexpr std::size_t k_extras_max = 1'000; // of one package; apache-airflow has 150
constexpr std::size_t k_askers_shown = 4, k_versions_shown = 3, k_targets_shown = 3;

/// The same gap is met from many packages and on many targets; it is said once.
struct Met {
  Finding finding;
  std::vector<std::string> targets;
};

/// What the search found out.
struct Told {
  std::map<std::string, Met> met;
  std::vector<std::string> order; ///< keys of `met`
  Installable installable;
};

std::string asker_of(const Demand& demand) {
  if (demand.by.empty()) return "the set";
  auto extra = demand.extra.empty() ? "" : fmt::format("[{}]", demand.extra);
  return fmt::format("{}{} {}", demand.by, extra, demand.by_version);
}

std::string wish_of(const Demand& demand) {
  const auto& wants = demand.requirement;
  auto extras = wants.extras.empty() ? "" : fmt::format("[{}]", text::join(wants.extras, ","));
  return wants.project.str() + extras + wants.specifier_text;
}

std::string wishes_of(const Gap& gap) {
  std::vector<std::string> wishes;
  for (const auto& demand : gap.demands) {
    auto wish = fmt::format("{} requires {}", asker_of(demand), wish_of(demand));
    if (std::ranges::find(wishes, wish) == wishes.end()) wishes.push_back(std::move(wish));
  }
  return text::first(wishes, k_askers_shown);
}

std::string versions_of(const Gap& gap) {
  std::vector<std::string> versions;
  for (const auto& version : gap.there) versions.push_back(version.str());
  return text::first(versions, k_versions_shown);
}

std::string file_of(const std::vector<Package>& set, const std::string& project) {
  auto found = std::ranges::find(set, project, &Package::project);
  return found == set.end() ? project : found->file;
}

std::string owner_of(const Gap& gap, const ClosureQuestion& question) {
  return gap.in_set ? question.set_name : question.base_name;
}

Finding unknown_of(const Gap& gap, const std::string& wishes, const ClosureQuestion& question) {
  if (question.beside && question.beside->owns(gap.project))
    return {"Q401",
            Severity::error,
            {},
            fmt::format("{}, which {} lacks", wishes, question.set_name),
            fmt::format("have {} tested, so that it can move, too", gap.project)};
  auto fix = fmt::format("publish {} with the set; `--allow-missing {}` if people get it from elsewhere", gap.project,
                         gap.project);
  if (!question.base)
    return {"Q401",
            Severity::error,
            {},
            wishes + ", which is not in the set, and no base index was asked",
            "name the index of dependencies with --base-index, or " + fix};
  return {"Q401",
          Severity::error,
          {},
          fmt::format("{}, which neither {} nor {} has", wishes, question.set_name, question.base_name),
          fix};
}

Finding finding_of(const Gap& gap, const ClosureQuestion& question) {
  auto wishes = wishes_of(gap);
  switch (gap.kind) {
  case GapKind::unknown: return unknown_of(gap, wishes, question);
  case GapKind::no_file:
    return {"Q403",
            Severity::error,
            {},
            fmt::format("{}, and {} has {}", wishes, owner_of(gap, question),
                        gap.only_source ? "only a source distribution of it" : "no file of it for this target"),
            fmt::format("build {} for this target, or leave the target out with --python and --platform", gap.project)};
  case GapKind::no_match:
    return {"Q402",
            Severity::error,
            {},
            fmt::format("{}; {} has {}", wishes, owner_of(gap, question), versions_of(gap)),
            fmt::format("build them from one source, or correct who asks for {}", gap.project)};
  case GapKind::from_url:
    return {"Q404",
            Severity::error,
            {},
            fmt::format("{} from a URL, which no index serves", wishes),
            "require a version of the project, and publish it"};
  case GapKind::unreadable:
    return {"Q409",
            Severity::error,
            {},
            fmt::format("{}, and METADATA of {} {} cannot be read", wishes, gap.project, versions_of(gap)),
            fmt::format("leave this version of {} out with a requirement such as {}!={}", gap.project, gap.project,
                        versions_of(gap))};
  case GapKind::undecided: break;
  }
  return {"Q405",
          Severity::warning,
          {},
          fmt::format("the search for {} did not end within its bound: {}", gap.project, wishes),
          fmt::format("pin {} in the package that asks for it", gap.project)};
}

struct Asked { ///< one question
  std::string project, version, extra;
};
struct Root { ///< whose question it is
  std::vector<std::string> files;
  std::string extra;
};

class Rules {
public:
  Rules(const std::vector<Package>& set, const ClosureQuestion& question) : set_(set), question_(question) {
    for (const auto& package : set) projects_.insert(package.project);
  }

  Result<Told> run() {
    for (const auto& target : question_.targets) TRY_DO(check_target(target));
    return std::move(told_);
  }

private:
  Result<void> check_target(const mirror::Target& target) {
    Shelf shelf({set_, question_.beside, question_.base}, target);
    for (const auto& name : projects_) {
      TRY(const auto* project, shelf.project(name));
      for (const auto& edition : project->editions) {
        asked_ = {of_set(edition), {}};
        if (!asked_.files.empty()) TRY_DO(check_edition(name, edition, shelf)); // else `beside` has all of it
      }
    }
    return {};
  }

  std::vector<std::string> of_set(const Edition& edition) const {
    std::vector<std::string> files;
    std::less<> before; // packages of `beside` lie elsewhere
    for (const auto* package : edition.packages)
      if (!before(package, set_.data()) && before(package, set_.data() + set_.size())) files.push_back(package->file);
    return files;
  }

  /// Without extras first: what is missing then is missing with each extra, too, and is not told again.
  Result<void> check_edition(const std::string& name, const Edition& edition, Shelf& shelf) {
    for (const auto* package : edition.packages)
      if (!package->requirements_known) note_unknown(*package, shelf.target());
    TRY(const auto* needs, shelf.needs(edition));
    if (!needs->readable) {
      for (const auto* package : edition.packages) note_unreadable(*package, shelf.target());
      return {};
    }
    if (needs->requirements.empty() && needs->extras.empty()) return {}; // it can be chosen, and asks for nothing
    TRY(auto told, ask({name, edition.version.str(), ""}, {}, shelf));
    if (!told) return {};
    if (needs->extras.size() > k_extras_max)
      note_undecided(*edition.packages.front(), fmt::format("has {} extras", units::count(needs->extras.size())),
                     shelf.target());
    else
      for (const auto& extra : needs->extras) TRY_DO(ask({name, edition.version.str(), extra}, *told, shelf));
    return {};
  }

  /// The projects whose gaps are told, with those of `told`; nothing if the search was given up.
  Result<std::optional<std::set<std::string>>> ask(const Asked& asked, std::set<std::string> told, Shelf& shelf) {
    asked_.extra = asked.extra;
    if (gave_up_) {
      cannot({"the search was given up: the packages before it have used up its bound", {}});
      return std::nullopt;
    }
    auto extra = asked.extra.empty() ? "" : fmt::format("[{}]", asked.extra);
    TRY(auto requirement, dist::Requirement::parse(fmt::format("{}{}=={}", asked.project, extra, asked.version)));
    auto assumed = [&](const std::string& project) { return told.contains(project) || is_assumed(project); };
    // A gap that is told is left out of the next search, so that people hear of all of them at once.
    while (told.size() < k_gaps_max) {
      TRY(auto answer, resolve(shelf, {{requirement, {}, {}, {}}}, assumed, budget_));
      for (const auto& missing : answer.missing_extras) note_missing_extra(missing, shelf.target());
      if (!answer.gap) break;
      note_gap(*answer.gap, shelf.target());
      if (answer.gap->kind == GapKind::undecided || !told.insert(answer.gap->project).second) {
        gave_up_ = budget_.left == 0 || budget_.comparisons == 0;
        return std::nullopt;
      }
    }
    return told;
  }

  /// What the set has itself is never assumed: its own version is what people would get.
  bool is_assumed(const std::string& project) {
    if (projects_.contains(project)) return false;
    if (question_.beside && !question_.base && !question_.beside->owns(project)) {
      told_.installable.taken_as_given.insert(project);
      return true;
    }
    return std::ranges::any_of(question_.assumed,
                               [&](const std::string& pattern) { return text::glob_match(pattern, project); });
  }

  struct Obstacle {
    std::string why, lacks;
  };
  void cannot(const Obstacle& obstacle) {
    for (const auto& file : asked_.files) {
      Unmet unmet{file, asked_.extra, obstacle.lacks, obstacle.why};
      auto& known = told_.installable.unmet;
      if (std::ranges::find(known, unmet) == known.end()) known.push_back(std::move(unmet));
    }
  }

  void meet(Finding finding, const mirror::Target& target, const std::string& lacks = {}) {
    if (!finding.is(codes::missing_extra)) cannot({finding.message, lacks});
    auto key = fmt::format("{}\n{}\n{}", finding.code, finding.place, finding.message);
    auto [place, fresh] = told_.met.try_emplace(key, Met{std::move(finding), {}});
    if (fresh) told_.order.push_back(key);
    auto& targets = place->second.targets;
    if (std::ranges::find(targets, target.name()) == targets.end()) targets.push_back(target.name());
  }

  void note_gap(const Gap& gap, const mirror::Target& target) {
    auto finding = finding_of(gap, question_);
    finding.place = file_of(set_, gap.demands.back().by);
    meet(std::move(finding), target, gap.project);
  }

  void note_missing_extra(const MissingExtra& missing, const mirror::Target& target) {
    meet({"Q407", Severity::warning, file_of(set_, missing.by),
          fmt::format("{} asks for {}[{}], and {} has no such extra: installers ignore it", missing.by, missing.project,
                      missing.extra, missing.project),
          "correct the name of the extra"},
         target);
  }

  void note_undecided(const Package& package, const std::string& why, const mirror::Target& target) {
    meet({"Q405", Severity::warning, package.file, fmt::format("{}: they are not searched for", why),
          "give the package fewer extras"},
         target);
  }

  void note_unreadable(const Package& package, const mirror::Target& target) {
    if (package.unreadable.empty()) return;
    meet({"Q409", Severity::error, package.file, "installers cannot read a requirement: " + package.unreadable,
          "correct Requires-Dist; `quarry wheel edit` can change it in a wheel"},
         target);
  }

  void note_unknown(const Package& package, const mirror::Target& target) {
    meet({"Q406", Severity::note, package.file, "what this source distribution requires is known only once it is built",
          "publish it again with this version of Quarry: `sdk build` writes it down, and `publish` records it"},
         target);
  }

  const std::vector<Package>& set_;
  const ClosureQuestion& question_;
  std::set<std::string> projects_; ///< of the set
  Told told_;
  Root asked_;
  SearchBudget budget_;
  bool gave_up_ = false; ///< the budget was used up, and a finding says so
};
} // namespace

Result<Findings> check_closure(const std::vector<Package>& set, const ClosureQuestion& question) {
  TRY(auto told, Rules(set, question).run());
  Findings findings;
  for (const auto& key : told.order) {
    auto& met = told.met.at(key);
    met.finding.message += fmt::format(" (Python {})", text::first(met.targets, k_targets_shown));
    findings.push_back(std::move(met.finding));
  }
  return findings;
}

Result<Installable> find_unmet(const std::vector<Package>& set, const ClosureQuestion& question) {
  TRY(auto told, Rules(set, question).run());
  return std::move(told.installable);
}

std::vector<std::string> extras_of(const std::vector<Package>& set, const std::string& project) {
  std::set<std::string> extras;
  for (const auto& package : set)
    if (package.project == project) extras.insert(package.extras.begin(), package.extras.end());
  return {extras.begin(), extras.end()};
}

namespace {
/// A source distribution may add extras when it is built; what these would need is not known, so nobody can lock it.
Result<std::vector<UnknownExtra>> unknown_extras(Shelf& shelf, const std::vector<dist::Requirement>& wanted,
                                                 const Answer& answer) {
  std::vector<UnknownExtra> unknown;
  for (const auto& requirement : wanted) {
    auto chosen = answer.chosen.find(requirement.project.str());
    if (chosen == answer.chosen.end()) continue; // its marker leaves it out, or it is assumed
    TRY(const auto* needs, shelf.needs(*chosen->second));
    for (const auto& extra : requirement.extras)
      if (!std::ranges::binary_search(needs->extras, extra))
        unknown.push_back({chosen->first, chosen->second->version.str(), extra, needs->extras});
  }
  return unknown;
}
} // namespace

Result<Chosen> choose_versions(const std::vector<Package>& set, const std::vector<dist::Requirement>& wanted,
                               const ClosureQuestion& question) {
  Shelf shelf({set, question.beside, question.base}, question.targets.front());
  auto assumed = [&](const std::string& project) {
    auto fits = [&](const std::string& pattern) { return text::glob_match(pattern, project); };
    return std::ranges::find(set, project, &Package::project) == set.end() &&
           std::ranges::any_of(question.assumed, fits);
  };
  std::vector<Demand> demands;
  for (const auto& requirement : wanted) demands.push_back({requirement, {}, {}, {}});
  SearchBudget budget;
  TRY(auto answer, resolve(shelf, demands, assumed, budget));
  Chosen chosen;
  if (answer.gap) {
    auto finding = finding_of(*answer.gap, question);
    finding.place = file_of(set, answer.gap->demands.back().by);
    chosen.gaps.push_back(std::move(finding));
  }
  for (const auto& [project, edition] : answer.chosen) {
    auto& version = chosen.projects[project];
    version.version = edition->version.str();
    for (const auto* package : edition->packages) version.files.push_back(package->file);
    version.upstream = edition->upstream;
  }
  TRY(chosen.unknown_extras, unknown_extras(shelf, wanted, answer));
  return chosen;
}

} // namespace quarry::closure
