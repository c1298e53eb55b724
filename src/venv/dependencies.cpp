#include "venv/dependencies.hpp"

#include "base/text.hpp"
#include "content/rope.hpp"
#include "dist/metadata.hpp"
#include "dist/name.hpp"
#include "dist/requirement.hpp"
#include "sys/file.hpp"
#include "wheel/wheel.hpp"
#include <algorithm>
#include <map>
#include <set>

namespace quarry::venv {

namespace {
constexpr std::string_view k_base_index = "python-deps"; // as `mirror sync` lays it out

/// "cp311" of 3.11; with abi3 or py3 every later one.
bool fits_python(std::string_view tag, std::string_view abi, std::uint64_t minor) {
  if (tag == "py3") return true;
  if (!tag.starts_with("cp3") && !tag.starts_with("py3")) return false;
  auto number = text::parse_u64(tag.substr(3));
  if (!number) return false;
  bool open_ended = tag.starts_with("py") || abi.find("abi3") != abi.npos || abi == "none";
  return *number == minor || (open_ended && *number < minor);
}

class Closure {
public:
  Closure(const Source& source, const Environment& environment, store::ObjectReader& store)
      : source_(source), minor_(environment.minor()), store_(store) {}

  Result<std::vector<Offered>> run(const std::vector<std::string>& packages) {
    TRY(bool any, read_base());
    if (!any) return std::vector<Offered>();
    for (const auto& package : packages)
      if (auto requirement = dist::Requirement::parse(package)) want(requirement->project.str());
    for (const auto& offered : source_.files) {
      if (!offered.file.filename.ends_with(".whl")) {
        want("setuptools");
        want("wheel");
        continue;
      }
      if (!fits_environment(offered.file.filename, minor_)) continue;
      TRY_DO(read_requirements(offered.file));
    }
    std::vector<Offered> found;
    while (!wanted_.empty()) {
      auto project = std::move(wanted_.back());
      wanted_.pop_back();
      auto [begin, end] = base_.equal_range(project);
      for (auto file = begin; file != end; ++file) {
        TRY_DO(read_requirements(file->second));
        auto url = store_.url(file->second.key);
        found.push_back({file->second, url.starts_with("file://") ? text::percent_decode(url.substr(7)) : "", {}});
      }
    }
    return found;
  }

private:
  Result<bool> read_base() {
    TRY(auto sets, registry::sealed_sets_below(store_, std::string(k_base_index)));
    TRY(auto files, registry::union_of(sets));
    std::set<std::string> own;
    for (const auto& offered : source_.files) own.insert(offered.file.project);
    for (auto& file : files) {
      bool fits = !file.filename.ends_with(".whl") || fits_environment(file.filename, minor_);
      if (fits && file.yanked.empty() && !own.contains(file.project)) base_.emplace(file.project, std::move(file));
    }
    return !base_.empty();
  }

  void want(const std::string& project) {
    if (base_.contains(project) && seen_.insert(project).second) wanted_.push_back(project);
  }

  /// Markers are not looked at: what the installer does not want it does not take.
  Result<void> read_requirements(const registry::FileRecord& file) {
    if (!file.metadata_sha256) return {}; // an sdist, or a file of a store that has no sidecars
    TRY(auto text, store_.get(file.key + ".metadata", dist::k_metadata_bytes_max));
    if (!text || sha256(*text) != *file.metadata_sha256)
      return fail(ErrorKind::corrupt, "V007", file.key + ".metadata is missing or is not the one that was sealed",
                  "`quarry set verify` lists all that differ; restore them from a copy");
    auto metadata = dist::Metadata::parse(*text);
    if (!metadata) return {};
    for (const auto& line : metadata->requires_dist)
      if (auto requirement = dist::Requirement::parse(line)) want(requirement->project.str());
    return {};
  }

  const Source& source_;
  std::string minor_;
  store::ObjectReader& store_;
  std::multimap<std::string, registry::FileRecord> base_; // by project
  std::set<std::string> seen_;
  std::vector<std::string> wanted_;
};
} // namespace

bool fits_environment(const std::string& filename, const std::string& minor) {
  auto name = dist::WheelName::parse(filename);
  auto number = minor.starts_with("3.") ? text::parse_u64(std::string_view(minor).substr(2)) : std::nullopt;
  if (!name || !number) return true;
  auto pythons = text::split(name->tags.python, '.'), platforms = text::split(name->tags.platform, '.');
  return std::any_of(pythons.begin(), pythons.end(),
                     [&](const auto& tag) { return fits_python(tag, name->tags.abi, *number); }) &&
         std::any_of(platforms.begin(), platforms.end(), [](const auto& tag) {
           return tag == "any" || tag.starts_with("linux") || tag.starts_with("manylinux");
         });
}

Result<std::vector<Offered>> find_dependencies(const Source& source, const Environment& environment,
                                               const std::vector<std::string>& packages, store::ObjectReader* store) {
  if (!source.sealed || !store) return std::vector<Offered>();
  return Closure(source, environment, *store).run(packages);
}

} // namespace quarry::venv
