#include "sdk/thin.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "sys/clock.hpp"
#include "thread/pool.hpp"
#include "wheel/thin_member.hpp"
#include <fmt/core.h>

namespace quarry::sdk {

namespace {

struct Removed {
  std::uint64_t objects = 0, code_bytes = 0, file_bytes = 0;
  std::size_t files = 0;
};

Result<std::vector<wheel::MemberLook>> look_at_package(const PackagePlan& package, const wheel::ThinRules& rules,
                                                       unsigned workers) {
  const auto& members = package.wheel.members;
  std::vector<wheel::MemberLook> looks(members.size());
  content::SpoolPool spools(rules.spool_directory);
  TRY_DO(parallel_for(members.size(), workers, [&](std::size_t i) -> Result<void> {
    TRY_DO(sys::check_interrupted());
    TRY(auto spool, spools.take());
    TRY(looks[i], wheel::thin_member(members[i].path, members[i].data, rules, spool));
    spools.give_back(std::move(spool));
    return {};
  }));
  return looks;
}

/// Takes what is left of each member into the package.
Removed apply(std::vector<wheel::MemberLook>& looks, PackagePlan& package) {
  Removed removed;
  std::vector<wheel::Member> kept;
  for (std::size_t i = 0; i < looks.size(); ++i) {
    auto& member = package.wheel.members[i];
    for (const auto& [target, code] : looks[i].code) {
      removed.objects += looks[i].dropped ? 0 : code.removed_objects;
      removed.code_bytes += looks[i].dropped ? 0 : code.removed_bytes;
    }
    if (looks[i].dropped) {
      ++removed.files;
      removed.file_bytes += member.data.size();
      continue;
    }
    if (looks[i].thinned) member.data = std::move(*looks[i].thinned);
    kept.push_back(std::move(member));
  }
  package.wheel.members = std::move(kept);
  package.files -= removed.files;
  package.input_bytes -= removed.file_bytes;
  return removed;
}

void report(const PackagePlan& package, const Removed& removed, Findings& findings) {
  std::vector<std::string> what;
  if (removed.objects > 0)
    what.push_back(
        fmt::format("{} ({})", units::things(removed.objects, "code object"), units::bytes(removed.code_bytes)));
  if (removed.files > 0)
    what.push_back(fmt::format("{} ({})", units::things(removed.files, "file"), units::bytes(removed.file_bytes)));
  if (what.empty()) return;
  findings.push_back({"S058", Severity::note, package.dist,
                      fmt::format("left out what is for other targets than those of {}: {}", package.family,
                                  text::join(what, " and ")),
                      ""});
}

Result<void> thin_package(const BuildRequest& request, PackagePlan& package, Findings& findings) {
  wheel::ThinRules rules;
  TRY(rules.devices, request.targets_of_family(package.family));
  rules.spool_directory = request.trees.spool_directory;
  TRY(auto looks, look_at_package(package, rules, request.workers), "while thinning " + package.dist);
  auto processors = wheel::processors_of(looks);
  if (!processors.empty() && wheel::unserved(rules.devices, processors).size() == rules.devices.size())
    findings.push_back({"G114", Severity::error, package.dist,
                        fmt::format("it has no code for the targets of {}, only for {}", package.family,
                                    text::first(std::vector<std::string>(processors.begin(), processors.end()), 8)),
                        "build it for the family's targets, or omit --thin"});
  for (std::size_t i = 0; i < looks.size(); ++i)
    for (const auto& sentence : looks[i].left)
      findings.push_back({"G115", Severity::warning, fmt::format("{}!{}", package.dist, package.wheel.members[i].path),
                          sentence, "build it for the family's targets alone"});
  report(package, apply(looks, package), findings);
  return {};
}

} // namespace

Result<void> thin_packages(const BuildRequest& request, BuildPlan& plan) {
  if (!request.targets_of_family) return {};
  for (auto& package : plan.packages)
    if (!package.family.empty()) TRY_DO(thin_package(request, package, plan.findings));
  return {};
}

} // namespace quarry::sdk
