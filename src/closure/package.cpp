#include "closure/package.hpp"

#include "base/text.hpp"
#include "registry/requirements.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace quarry::closure {

namespace {
constexpr std::size_t k_tags_shown = 5;

std::vector<std::string> normalised(const std::vector<std::string>& names) {
  std::set<std::string> sorted;
  for (const auto& name : names)
    if (auto parsed = dist::ProjectName::parse(name)) sorted.insert(parsed->str());
  return {sorted.begin(), sorted.end()};
}

void read_requirements(const std::vector<std::string>& texts, Package& package) {
  for (const auto& text : texts) {
    auto requirement = dist::Requirement::parse(text);
    if (requirement)
      package.requirements.push_back(std::move(*requirement));
    else if (package.unreadable.empty())
      package.unreadable = fmt::format("`{}`: {}", text, requirement.error().message);
  }
}

Result<Package> frame_of(const std::string& file) {
  TRY(auto name, dist::DistributionName::parse(file));
  Package package{file, name.project.str(), name.version, {}, {}, {}, {}, true, 0, true, {}};
  if (name.kind == dist::DistributionKind::sdist) return package;
  TRY(auto wheel, dist::WheelName::parse(file));
  package.tags = wheel.tags;
  return package;
}

/// "3.12" of "cp312"; nothing for "py3", and for what is not CPython 3.
std::optional<std::string> python_of(std::string_view tag) {
  if (!tag.starts_with("cp3")) return std::nullopt;
  auto minor = text::parse_u64(tag.substr(3));
  if (!minor) return std::nullopt;
  return fmt::format("3.{}", *minor);
}

bool is_linux(std::string_view tag) {
  return tag == "linux_x86_64" || (tag.starts_with("manylinux") && tag.ends_with("_x86_64"));
}

struct TagsOfSet {
  std::set<std::uint64_t> minors;
  std::set<Platform> platforms;
  std::set<std::string> unresolved;

  void add(const dist::WheelTags& tags) {
    bool stable = false;
    for (const auto& abi : text::split(tags.abi, '.')) {
      stable = stable || abi == "abi3";
      // cp313t: without the global lock; its wheels are not those of cp313
      if (abi.starts_with("cp3") && abi.ends_with('t')) unresolved.insert(abi);
    }
    for (const auto& python : text::split(tags.python, '.'))
      if (auto version = python_of(python); version && !stable) {
        if (mirror::parse_target(*version, Platform::linux))
          minors.insert(*text::parse_u64(std::string_view(*version).substr(2)));
        else
          unresolved.insert(python); // too old, or a number that is not a version
      }
    for (const auto& platform : text::split(tags.platform, '.')) {
      if (is_linux(platform))
        platforms.insert(Platform::linux);
      else if (platform == "win_amd64")
        platforms.insert(Platform::windows);
      else if (platform != "any")
        unresolved.insert(platform);
    }
  }
};

std::string join_pythons(const std::set<std::uint64_t>& minors) {
  std::vector<std::string> names;
  for (auto minor : minors) names.push_back(fmt::format("3.{}", minor));
  return names.empty() ? std::string(k_pythons) : text::join(names, ",");
}

std::string join_platforms(const std::set<Platform>& platforms) {
  std::vector<std::string> names;
  for (const auto& platform : platforms) names.emplace_back(platform.text());
  return names.empty() ? "linux" : text::join(names, ",");
}

/// Installers leave out a file whose Requires-Python they cannot read.
void read_requires_python(const std::string& text, Package& package) {
  package.requires_python = text;
  auto read = dist::Specifiers::parse(text);
  if (!read && package.unreadable.empty())
    package.unreadable = fmt::format("Requires-Python {:?}: {}", text, read.error().message);
}
} // namespace

Result<Package> package_of(const std::string& file, const dist::Metadata& metadata, std::uint64_t size) {
  TRY(auto package, frame_of(file));
  package.size = size;
  read_requires_python(metadata.requires_python, package);
  if (package.tags) {
    package.extras = normalised(metadata.provides_extra);
    read_requirements(metadata.requires_dist, package);
    return package;
  }
  auto known = registry::requirements_of_sdist(metadata);
  package.requirements_known = known.has_value();
  package.extras_known = std::ranges::none_of(
      metadata.dynamic, [](const std::string& field) { return text::lower(field) == "provides-extra"; });
  if (!known) return package;
  package.extras = normalised(known->extras);
  read_requirements(known->requires_dist, package);
  return package;
}

Result<Package> package_of_record(const registry::FileRecord& file, std::string_view metadata_text) {
  if (!metadata_text.empty()) {
    TRY(auto metadata, dist::Metadata::parse(metadata_text), "while reading METADATA of " + file.filename);
    return package_of(file.filename, metadata, file.size);
  }
  TRY(auto package, frame_of(file.filename));
  package.size = file.size;
  read_requires_python(file.requires_python, package);
  auto known = registry::recorded_requirements(file);
  package.requirements_known = known.has_value();
  package.extras_known = false; // the record does not say whether the build may add some
  if (!known) return package;
  package.extras = normalised(known->extras);
  read_requirements(known->requires_dist, package);
  return package;
}

namespace {
/// Packages whose Requires-Python excludes every target.
std::vector<std::string> outside_of(const std::vector<Package>& set, const std::vector<mirror::Target>& targets) {
  std::vector<std::string> names;
  for (const auto& package : set) {
    auto python = dist::Specifiers::parse(package.requires_python);
    auto allows = [&](const mirror::Target& target) { return python->contains(target.full); };
    if (python && std::ranges::none_of(targets, allows)) names.push_back(package.file);
  }
  return names;
}
} // namespace

Result<SetTargets> targets_of(const std::vector<Package>& set, const std::string& pythons,
                              const std::optional<std::string>& platforms) {
  TagsOfSet tags;
  for (const auto& package : set)
    if (package.tags) tags.add(*package.tags);
  SetTargets found;
  TRY(found.targets, mirror::parse_targets(pythons.empty() ? join_pythons(tags.minors) : pythons,
                                           platforms.value_or(join_platforms(tags.platforms))));
  if (auto outside = outside_of(set, found.targets); !outside.empty())
    found.notes.push_back({"Q408", Severity::note, "set",
                           fmt::format("what {} {} is not looked for: no Python that is resolved for may install {}",
                                       text::first(outside, k_tags_shown), outside.size() == 1 ? "requires" : "require",
                                       outside.size() == 1 ? "it" : "them"),
                           "name the Pythons by `--python`, such as 3.14"});
  if (tags.unresolved.empty()) return found;
  std::vector<std::string> names(tags.unresolved.begin(), tags.unresolved.end());
  found.notes.push_back(
      {"Q408", Severity::note, "set",
       fmt::format("what wheels with these tags require is not looked for: {}", text::first(names, k_tags_shown)),
       "install them on such a machine before they are promoted"});
  return found;
}

} // namespace quarry::closure
