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
  for (auto& [_, version] : found) versions.insert(versions.begin(), std::move(version));
  return versions;
}

bool allowed(const Version& version, const Demand& demand) {
  auto fits = [&](const Asked& one) { return one.requirement.specifiers.contains(version.version, true); };
  if (!std::all_of(demand.asked.begin(), demand.asked.end(), fits)) return false;
  bool yanked = std::all_of(version.files.begin(), version.files.end(), [](const auto& f) { return f.yanked; });
  auto pins = [](const Asked& one) { return one.requirement.specifier_text.starts_with("=="); };
  return !yanked || std::any_of(demand.asked.begin(), demand.asked.end(), pins);
}

/// Pre-releases when somebody names one, or when there is nothing else.
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

Unexpected nothing_fits(const std::string& project, const Demand& demand, const std::vector<Version>& versions,
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
  return fail(std::move(error));
}

class Resolver {
public:
  Resolver(Candidates& candidates, const std::vector<Asked>& asked, const Target& target, const Guard& guard)
      : candidates_(candidates), asked_(asked), target_(target), guard_(guard) {}

  Result<Resolution> run() {
    for (int round = 0; round < k_rounds_max; ++round) {
      TRY(auto demands, collect());
      std::erase_if(resolution_.choices, [&](const auto& choice) { return !demands.contains(choice.first); });
      TRY(bool changed, choose(demands));
      if (!changed) return finish();
    }
    return fail(ErrorKind::failed, "U009",
                fmt::format("the versions for Python {} do not settle: {}", target_.name(), unsettled_),
                "pin that project in the requirements");
  }

private:
  Resolution finish() {
    for (auto& [_, finding] : left_out_) resolution_.notes.push_back(std::move(finding));
    return std::move(resolution_);
  }

  /// Everything that is asked for, by the user and by what is chosen so far.
  Result<Demands> collect() {
    Demands demands;
    resolution_.notes.clear();
    std::deque<Asked> queue;
    for (const auto& one : asked_)
      if (target_.holds(one.requirement.marker, {})) queue.push_back(one);
    while (!queue.empty()) {
      auto one = std::move(queue.front());
      queue.pop_front();
      TRY_DO(take(std::move(one), demands, queue));
    }
    return demands;
  }

  Result<void> take(Asked one, Demands& demands, std::deque<Asked>& queue) {
    auto project = one.requirement.project.str();
    if (guarded_.insert(project).second) TRY_DO(guard_(project, one.by));
    auto [place, first] = demands.try_emplace(project);
    auto& demand = place->second;
    std::vector<std::string> fresh;
    if (first) fresh.push_back("");
    for (const auto& extra : one.requirement.extras)
      if (demand.extras.insert(extra).second) fresh.push_back(extra);
    demand.asked.push_back(std::move(one));
    auto choice = resolution_.choices.find(project);
    if (choice == resolution_.choices.end()) return {};
    for (const auto& extra : fresh) TRY_DO(expand(project, choice->second, extra, queue));
    return {};
  }

  /// What every chosen file requires: two wheels of one version may differ.
  Result<void> expand(const std::string& project, const Choice& choice, const std::string& extra,
                      std::deque<Asked>& queue) {
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
        queue.push_back({std::move(requirement), fmt::format("{} {}", project, choice.version)});
      }
    }
    return {};
  }

  static bool provides(const dist::Metadata& metadata, const std::string& extra) {
    return std::any_of(metadata.provides_extra.begin(), metadata.provides_extra.end(), [&](const std::string& name) {
      auto normal = dist::ProjectName::parse(name);
      return normal && normal->str() == extra;
    });
  }

  void note_missing_extra(const std::string& project, const std::string& version, const std::string& extra) {
    auto message = fmt::format("{} {} has no extra {}", project, version, extra);
    for (const auto& note : resolution_.notes)
      if (note.message == message) return;
    resolution_.notes.push_back(
        {"U011", Severity::warning, target_.name(), message, "installers ignore it, too; correct its name"});
  }

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

  /// True: some choice is another one now. A project that nothing fits is an error only when all else is settled: who
  /// asks may be about to be replaced.
  Result<bool> choose(const Demands& demands) {
    bool changed = false;
    std::optional<Error> conflict;
    for (const auto& [project, demand] : demands) {
      TRY(const auto* page, candidates_.page(project), fmt::format("asked for by {}", demand.asked[0].by));
      TRY(auto choice, newest_readable(*page, project, demand));
      if (!choice) {
        auto versions = versions_for(*page, target_, project, left_out_);
        if (!conflict) conflict = nothing_fits(project, demand, versions, target_, left_out_).value();
        resolution_.choices.erase(project);
        continue;
      }
      auto& current = resolution_.choices[project];
      if (current == *choice) continue;
      current = std::move(*choice);
      unsettled_ = project;
      changed = true;
    }
    if (conflict && !changed) return fail(std::move(*conflict));
    return changed;
  }

  Candidates& candidates_;
  const std::vector<Asked>& asked_;
  const Target& target_;
  const Guard& guard_;
  Resolution resolution_;
  LeftOut left_out_;
  std::set<std::string> readable_, guarded_;
  std::string unsettled_;
};

} // namespace

Result<Resolution> resolve(Candidates& candidates, const std::vector<Asked>& asked, const Target& target,
                           const Guard& guard) {
  return Resolver(candidates, asked, target, guard).run();
}

} // namespace quarry::mirror
