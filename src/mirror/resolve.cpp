#include "mirror/resolve.hpp"

#include "base/text.hpp"
#include "dist/resolver_fields.hpp"
#include <algorithm>
#include <deque>
#include <fmt/core.h>
#include <set>

namespace quarry::mirror {

namespace {

/// Each round goes one dependency deeper or corrects a choice; the deepest real graph seen has 12 levels.
constexpr int k_rounds_max = 200;
constexpr std::size_t k_askers_shown = 12;

struct Demand {
  std::vector<Asked> asked;
  std::set<std::string> extras;
};
using Demands = std::map<std::string, Demand>;

struct Version {
  dist::Version version;
  std::vector<index::PageFile> files;
  int fit = 0;
};

/// File name -> what installers could not read in its METADATA.
using LeftOut = std::map<std::string, Finding>;

/// The versions that have a wheel for the target, newest first.
std::vector<Version> versions_for(const index::IndexPage& page, const Target& target, const std::string& project,
                                  const LeftOut& left_out) {
  std::map<dist::Version, Version> found;
  for (const auto& file : page.files) {
    auto name = dist::WheelName::parse(file.filename);
    if (!name || name->project.str() != project || left_out.contains(file.filename)) continue;
    auto fits = fit(name->tags, target);
    if (!fits) continue;
    auto python = dist::Specifiers::parse(file.requires_python);
    if (python && !python->contains(target.full)) continue; // as pip: an invalid value does not exclude
    auto& version = found.try_emplace(name->version, Version{name->version, {}, *fits}).first->second;
    if (*fits < version.fit) version.files.clear();
    if (*fits <= version.fit) {
      version.fit = *fits;
      version.files.push_back(file);
    }
  }
  std::vector<Version> versions;
  for (auto version = found.rbegin(); version != found.rend(); ++version)
    versions.push_back(std::move(version->second));
  return versions;
}

bool allowed(const Version& version, const Demand& demand) {
  auto fits = [&](const Asked& one) { return one.requirement.specifiers.contains(version.version, true); };
  if (!std::all_of(demand.asked.begin(), demand.asked.end(), fits)) return false;
  bool yanked = std::all_of(version.files.begin(), version.files.end(), [](const auto& f) { return f.yanked; });
  auto pins = [](const Asked& one) { return one.requirement.specifiers.pin(); };
  return !yanked || std::any_of(demand.asked.begin(), demand.asked.end(), pins);
}

/// The newest allowed version. A pre-release only if a requirement names one, or if no release is allowed.
const Version* newest(const std::vector<Version>& versions, const Demand& demand) {
  auto names = [](const Asked& one) { return one.requirement.specifiers.name_prereleases(); };
  bool early = std::any_of(demand.asked.begin(), demand.asked.end(), names);
  const Version* prerelease = nullptr;
  for (const auto& version : versions) {
    if (!allowed(version, demand)) continue;
    if (early || !version.version.is_prerelease()) return &version;
    if (!prerelease) prerelease = &version;
  }
  return prerelease;
}

Error no_version(const std::string& project, const Demand& demand, const std::vector<Version>& versions,
                 const Target& target, const LeftOut& left_out) {
  auto error =
      Error::of(ErrorKind::failed, "U004",
                fmt::format("no wheel of {} for Python {} fits all that ask for it", project, target.name()))
          .with_hint(
              "name a version in the requirements that all of them accept, or an older version of one that asks");
  for (const auto& one : demand.asked) {
    if (error.details.size() >= k_askers_shown) break;
    const auto& wants = one.requirement.specifier_text;
    error.details.push_back(
        fmt::format("asked by  {}: {}{}", one.by, project, wants.empty() ? " (any version)" : wants));
  }
  for (const auto& [filename, finding] : left_out)
    if (auto name = dist::WheelName::parse(filename);
        name && name->project.str() == project && error.details.size() < 2 * k_askers_shown)
      error.details.push_back(finding.message);
  error.details.push_back(versions.empty() ? std::string("there is  no wheel for this Python and platform at all")
                                           : fmt::format("there is  {} versions, the newest {}", versions.size(),
                                                         versions[0].version.str()));
  return error;
}

bool provides(const dist::Metadata& metadata, const std::string& extra) {
  return std::any_of(metadata.provides_extra.begin(), metadata.provides_extra.end(), [&](const std::string& name) {
    auto normal = dist::ProjectName::parse(name);
    return normal && normal->str() == extra;
  });
}

/// Chooses among the versions of a project those whose METADATA installers can read.
class Chooser {
public:
  Chooser(Candidates& candidates, const Target& target) : candidates_(candidates), target_(target) {}

  /// The newest version of which an installer can read every file that is taken.
  Result<std::optional<Choice>> newest_readable(const index::IndexPage& page, const std::string& project,
                                                const Demand& demand) {
    for (;;) {
      auto versions = versions_for(page, target_, project, left_out_);
      const auto* best = newest(versions, demand);
      if (!best) return std::optional<Choice>();
      auto left_out = left_out_.size();
      for (const auto& file : best->files) TRY_DO(look_at(file));
      if (left_out == left_out_.size()) return std::optional(Choice{best->version.str(), best->files});
    }
  }

  /// Why no version of `project` does what is asked.
  Error nothing_fits(const index::IndexPage& page, const std::string& project, const Demand& demand) const {
    return no_version(project, demand, versions_for(page, target_, project, left_out_), target_, left_out_);
  }
  const LeftOut& left_out() const { return left_out_; }

private:
  Result<void> look_at(const index::PageFile& file) {
    if (readable_.contains(file.filename)) return {};
    TRY(auto metadata, candidates_.metadata(file));
    auto defects = dist::check_resolver_fields(metadata, target_.name());
    if (defects.empty()) {
      readable_.insert(file.filename);
      return {};
    }
    left_out_.emplace(file.filename,
                      Finding{"U013", Severity::warning, target_.name(),
                              fmt::format("{} is left out: {}", file.filename, defects.front().message),
                              "installers cannot read its METADATA; name another version in the requirements"});
    return {};
  }

  Candidates& candidates_;
  const Target& target_;
  LeftOut left_out_;
  std::set<std::string> readable_; ///< file names
};

/// Collects everything that is asked for, by the user and by what is chosen so far. One round.
class Collector {
public:
  Collector(Candidates& candidates, const Target& target, const std::map<std::string, Choice>& choices)
      : candidates_(candidates), target_(target), choices_(choices) {}

  Result<Demands> run(const std::vector<Asked>& asked, const Guard& guard, std::set<std::string>& guarded) {
    for (const auto& one : asked)
      if (target_.holds(one.requirement.marker, {})) queue_.push_back(one);
    while (!queue_.empty()) {
      auto one = std::move(queue_.front());
      queue_.pop_front();
      auto project = one.requirement.project.str();
      if (guarded.insert(project).second) TRY_DO(guard(project, one.by));
      TRY_DO(take(std::move(one), project));
    }
    return std::move(demands_);
  }
  Findings notes() { return std::move(notes_); }

private:
  Result<void> take(Asked one, const std::string& project) {
    auto [place, first] = demands_.try_emplace(project);
    auto& demand = place->second;
    std::vector<std::string> fresh;
    if (first) fresh.push_back("");
    for (const auto& extra : one.requirement.extras)
      if (demand.extras.insert(extra).second) fresh.push_back(extra);
    demand.asked.push_back(std::move(one));
    auto choice = choices_.find(project);
    if (choice == choices_.end()) return {};
    for (const auto& extra : fresh) TRY_DO(expand(project, choice->second, extra));
    return {};
  }

  /// What every chosen file requires: two wheels of one version may differ.
  Result<void> expand(const std::string& project, const Choice& choice, const std::string& extra) {
    std::set<std::string> seen;
    for (const auto& file : choice.files) {
      TRY(auto metadata, candidates_.metadata(file));
      if (!extra.empty() && !provides(metadata, extra)) note_missing_extra(project, choice.version, extra);
      for (const auto& text : metadata.requires_dist) {
        if (!seen.insert(text).second) continue;
        TRY(auto requirement, dist::Requirement::parse(text), fmt::format("in METADATA of {}", file.filename));
        if (!target_.holds(requirement.marker, extra)) continue;
        if (!extra.empty() && target_.holds(requirement.marker, {})) continue; // it is there without the extra
        if (!requirement.url.empty())
          return fail(ErrorKind::unsupported, "U004",
                      fmt::format("{} requires {} from a URL, which no index can serve", file.filename,
                                  requirement.project.str()),
                      "leave that project or its extra out of the requirements");
        queue_.push_back({std::move(requirement), fmt::format("{} {}", project, choice.version)});
      }
    }
    return {};
  }

  void note_missing_extra(const std::string& project, const std::string& version, const std::string& extra) {
    auto message = fmt::format("{} {} has no extra {}", project, version, extra);
    for (const auto& note : notes_)
      if (note.message == message) return;
    notes_.push_back(
        {"U011", Severity::warning, target_.name(), message, "installers ignore it, too; correct its name"});
  }

  Candidates& candidates_;
  const Target& target_;
  const std::map<std::string, Choice>& choices_;
  std::deque<Asked> queue_;
  Demands demands_;
  Findings notes_;
};

/// The choices so far, and the project whose choice changed last.
struct Settling {
  std::map<std::string, Choice> choices;
  std::string last;
};

/// Returns true if a choice changed. A project that no version fits is an error only once no other choice changes: the
/// version that asks for it may still be replaced.
Result<bool> choose(const Demands& demands, Candidates& candidates, Chooser& chooser, Settling& settling) {
  bool changed = false;
  std::optional<Error> conflict;
  for (const auto& [project, demand] : demands) {
    TRY(const auto* page, candidates.page(project), fmt::format("asked for by {}", demand.asked[0].by));
    TRY(auto choice, chooser.newest_readable(*page, project, demand));
    if (!choice) {
      if (!conflict) conflict = chooser.nothing_fits(*page, project, demand);
      settling.choices.erase(project);
      continue;
    }
    auto& current = settling.choices[project];
    if (current == *choice) continue;
    current = std::move(*choice);
    settling.last = project;
    changed = true;
  }
  if (conflict && !changed) return fail(std::move(*conflict));
  return changed;
}

} // namespace

Result<Resolution> resolve(Candidates& candidates, const std::vector<Asked>& asked, const Target& target,
                           const Guard& guard) {
  Chooser chooser(candidates, target);
  Settling settling;
  std::set<std::string> guarded;
  for (int round = 0; round < k_rounds_max; ++round) {
    Collector collector(candidates, target, settling.choices);
    TRY(auto demands, collector.run(asked, guard, guarded));
    std::erase_if(settling.choices, [&](const auto& choice) { return !demands.contains(choice.first); });
    TRY(bool changed, choose(demands, candidates, chooser, settling));
    if (changed) continue;
    Resolution resolution{std::move(settling.choices), collector.notes()};
    for (const auto& [_, finding] : chooser.left_out()) resolution.notes.push_back(finding);
    return resolution;
  }
  return fail(ErrorKind::failed, "U009",
              fmt::format("the versions for Python {} do not settle: {}", target.name(), settling.last),
              "pin that project in the requirements");
}

} // namespace quarry::mirror
