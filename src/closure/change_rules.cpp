#include "closure/change_rules.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "dist/platform_parts.hpp"
#include "version/order.hpp"
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

namespace quarry::closure {

namespace {
/// What a platform tag promises besides the version of the C library: manylinux_2_28_x86_64 and linux_x86_64 are both
/// for glibc on x86_64. A wheel that was built against another glibc replaces the one before.
std::string platform_of(std::string_view tag) {
  auto parts = dist::platform_parts(tag);
  if (parts.machine.empty()) return std::string(tag);
  return fmt::format("{}_{}", parts.system == "manylinux" ? "linux" : parts.system, parts.machine);
}

std::string place_of(const Package& package) {
  if (!package.tags) return package.project;
  std::set<std::string> platforms;
  for (const auto& tag : text::split(package.tags->platform, '.')) platforms.insert(platform_of(tag));
  return fmt::format("{} {}-{}-{}", package.project, package.tags->python, package.tags->abi,
                     fmt::join(platforms, "."));
}

std::string tags_of(const Package& package) {
  if (!package.tags) return "source distribution";
  return fmt::format("{}-{}-{}", package.tags->python, package.tags->abi, package.tags->platform);
}

using ByProject = std::map<std::string, const Package*>;

/// The newest package of each project.
ByProject newest_of(const std::vector<Package>& set) {
  ByProject newest;
  for (const auto& package : set) {
    auto [place, fresh] = newest.try_emplace(package.project, &package);
    if (!fresh && package.version > place->second->version) place->second = &package;
  }
  return newest;
}

/// Files of the newest versions alone: a channel keeps older ones, which a set of one build does not have.
std::map<std::string, const Package*> by_place(const std::vector<Package>& set, const ByProject& newest) {
  std::map<std::string, const Package*> places;
  for (const auto& package : set)
    if (package.version == newest.at(package.project)->version) places[place_of(package)] = &package;
  return places;
}

struct EarlierVersion {
  const dist::Version& version;
  std::string_view where; ///< "the last good set"
};

void check_order(const Package& package, const EarlierVersion& before, Findings& findings) {
  auto order = version::check_order(before.version, package.version);
  if (!order) {
    auto why = order.error().details.empty() ? "" : ": " + order.error().details.front();
    findings.push_back({"Q421", Severity::error, package.file,
                        fmt::format("{} {} sorts below {} of {}{}", package.project, package.version.str(),
                                    before.version.str(), before.where, why),
                        "installers keep the older package: raise the version"});
  } else if (*order) {
    findings.push_back({"Q421", Severity::note, package.file, **order, "a date in the version would order them"});
  }
}

void check_file(const Package& before, const ByProject& projects, const std::map<std::string, const Package*>& places,
                Findings& findings) {
  auto now = places.find(place_of(before));
  if (now == places.end()) {
    bool whole = !projects.contains(before.project);
    findings.push_back(
        {"Q424", Severity::error, before.file,
         whole ? fmt::format("the last good set had {}, this one does not", before.project)
               : fmt::format("the last good set had {} for {}, this one does not", before.project, tags_of(before)),
         "find the job that should have built it; a package that is no longer built is accepted by a "
         "suppression with a reason"});
    return;
  }
  auto size = now->second->size;
  if (before.size == 0 || static_cast<double>(size) >= static_cast<double>(before.size) * (1 - k_shrink_max)) return;
  findings.push_back(
      {"Q423", Severity::error, now->second->file,
       fmt::format("{}, and {} in the last good set: {} less", units::bytes(size), units::bytes(before.size),
                   units::percent(static_cast<double>(before.size - size), static_cast<double>(before.size))),
       "`quarry wheel diff` says which files are missing or smaller"});
}

std::optional<std::uint64_t> bytes_of(std::string_view text) {
  double number = 0;
  text = text::trim(text);
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !(number >= 0)) return std::nullopt;
  auto unit = text::trim(text.substr(static_cast<std::size_t>(end - text.data())));
  const std::map<std::string_view, double> k_units{{"", 1},     {"B", 1},    {"kB", 1e3},
                                                   {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}};
  auto found = k_units.find(unit);
  if (unit.empty() && number != std::floor(number)) return std::nullopt; // 2.5 of what? nobody means 2 bytes
  constexpr double k_bytes_max = 1e18; // far above every store, and below what the number's type holds
  if (found == k_units.end() || number * found->second > k_bytes_max) return std::nullopt;
  return static_cast<std::uint64_t>(number * found->second);
}
} // namespace

Findings check_change(const std::vector<Package>& set, const LastGood& last_good) {
  Findings findings;
  auto before = newest_of(last_good.packages), now = newest_of(set);
  for (const auto& [project, package] : now)
    if (auto known = before.find(project); known != before.end())
      check_order(*package, {known->second->version, "the last good set"}, findings);
  auto places = by_place(set, now);
  for (const auto& [_, package] : by_place(last_good.packages, before)) check_file(*package, now, places, findings);
  return findings;
}

Findings check_shown_versions(const std::vector<Package>& set, const ShownVersions& shown) {
  Findings findings;
  for (const auto& [project, package] : newest_of(set)) {
    auto known = shown.newest.find({project, package->version.base_version().key()});
    if (known != shown.newest.end()) check_order(*package, {known->second, shown.where}, findings);
  }
  return findings;
}

Result<Budget> parse_budget(std::string_view text) {
  Budget budget;
  auto sign = text.find('=');
  auto project = sign == text.npos ? std::string_view() : text.substr(0, sign);
  auto bytes = bytes_of(sign == text.npos ? text : text.substr(sign + 1));
  auto name = project.empty() ? Result<dist::ProjectName>(*dist::ProjectName::parse("x"))
                              : dist::ProjectName::parse(text::trim(project));
  if (!bytes || !name || sign == 0)
    return fail(ErrorKind::invalid_argument, "C006", fmt::format("--budget is {}, not a size", text),
                "write it like 12GB for the whole set, or torch=2.5GB for each file of a project; the units are B, kB, "
                "MB, GB and TB");
  budget.bytes = *bytes;
  if (!project.empty()) budget.project = name->str();
  return budget;
}

Findings check_budgets(const std::vector<Package>& set, const std::vector<Budget>& budgets) {
  Findings findings;
  std::uint64_t total = 0;
  for (const auto& package : set) total += package.size;
  auto exceed = [&](const std::string& place, std::uint64_t size, const Budget& budget, std::string fix) {
    if (size > budget.bytes)
      findings.push_back({"Q422", Severity::error, place,
                          fmt::format("{}, above the budget of {}", units::bytes(size), units::bytes(budget.bytes)),
                          std::move(fix)});
  };
  for (const auto& budget : budgets) {
    if (budget.project.empty())
      exceed("set", total, budget, "`quarry wheel inspect` and `quarry wheel diff` say where the bytes are");
    bool matched = budget.project.empty();
    for (const auto& package : set) {
      if (package.project != budget.project) continue;
      matched = true;
      exceed(package.file, package.size, budget, "`quarry wheel inspect` says where the bytes are");
    }
    if (!matched)
      findings.push_back(
          {"Q422", Severity::warning, "set",
           fmt::format("--budget {}=… bounds nothing: the set has no file of {}", budget.project, budget.project),
           "is the name of the project right?"});
  }
  return findings;
}

} // namespace quarry::closure
