#include "closure/set_packages.hpp"

#include "closure/stored.hpp"
#include "index/describe.hpp"
#include "publish/collect.hpp"
#include "publish/resolve.hpp"
#include "registry/registry.hpp"
#include "run/locator.hpp"
#include "sys/path.hpp"
#include "wheel/look.hpp"
#include <fmt/core.h>
#include <map>
#include <set>

namespace quarry::closure {

namespace {
Result<Package> package_of_file(const std::string& path) {
  std::string file(path::basename(path));
  TRY(auto rope, content::Rope::file(path));
  if (!file.ends_with(".whl")) {
    TRY(auto metadata, index::read_sdist_metadata(path));
    return package_of(file, metadata, rope.size());
  }
  TRY(auto look, wheel::look_at_metadata(rope, file));
  return package_of(file, look.metadata, rope.size());
}

Result<SetPackages> packages_of_directory(const std::string& directory) {
  TRY(auto found, publish::list_distributions(directory));
  if (found.names.empty())
    return fail(ErrorKind::not_found, "P001", fmt::format("{} holds no wheel and no source distribution", directory),
                "name the directory that `quarry sdk build --dest-dir` wrote");
  SetPackages made;
  for (const auto& name : found.names) {
    auto path = path::join(found.directory, name);
    TRY(auto package, package_of_file(path), "while reading " + path);
    made.packages.push_back(std::move(package));
    made.bytes.push_back({{}, path, nullptr, {}});
  }
  return made;
}

Result<SetPackages> packages_of_sets(const std::shared_ptr<store::ObjectReader>& store, const run::Locator& locator) {
  TRY(auto resolved, publish::resolve(*store, locator));
  SetPackages made;
  for (const auto& file : resolved.files) {
    TRY(auto package, load_package(*store, file));
    made.packages.push_back(std::move(package));
    if (auto path = publish::path_of_key(*store, file.key))
      made.bytes.push_back({file.sha256, std::move(*path), nullptr, {}});
    else
      made.bytes.push_back({file.sha256, {}, store, file.key});
  }
  return made;
}

struct KeptPackage { ///< one package of several
  const SetPackages& set;
  std::size_t number;
  const Package& package() const { return set.packages[number]; }
  Result<Sha256> sha256() const {
    const auto& bytes = set.bytes[number];
    if (bytes.sha256) return *bytes.sha256;
    return content::sha256_of_file(bytes.path);
  }
};

Result<bool> is_same_file(const KeptPackage& first, const KeptPackage& second) {
  if (first.package().size != second.package().size) return false;
  TRY(auto left, first.sha256());
  TRY(auto right, second.sha256());
  return left == right;
}

Finding two_files(const std::string& file, const std::string& operand) {
  return {"Q437", Severity::error, file,
          fmt::format("the file of this name in {} has other bytes than the one before it, which is judged", operand),
          "leave one of the two out; a build that differs gets a version or a build number of its own"};
}
} // namespace

Result<content::Rope> open_package(const PackageBytes& bytes) {
  if (!bytes.store) return content::Rope::file(bytes.path);
  return bytes.store->open(bytes.key);
}

Result<SetPackages> packages_of(const std::string& operand, const OpenStore& open) {
  TRY(auto locator, run::parse_locator(operand));
  if (locator.kind == run::LocatorKind::path) return packages_of_directory(locator.path);
  TRY(auto store, open(operand));
  return packages_of_sets(store, locator);
}

Result<SetPackages> packages_of_all(const std::vector<std::string>& operands, const OpenStore& open) {
  SetPackages all;
  std::map<std::string, std::size_t> seen;
  for (const auto& operand : operands) {
    TRY(auto one, packages_of(operand, open));
    for (std::size_t i = 0; i < one.packages.size(); ++i) {
      auto [known, fresh] = seen.try_emplace(one.packages[i].file, all.packages.size());
      if (!fresh) {
        TRY(bool same, is_same_file({all, known->second}, {one, i}));
        if (!same) all.findings.push_back(two_files(one.packages[i].file, operand));
        continue;
      }
      all.packages.push_back(std::move(one.packages[i]));
      all.bytes.push_back(std::move(one.bytes[i]));
    }
  }
  return all;
}

Result<std::optional<ShownVersions>> versions_in_channel(store::ObjectReader& store, const std::string& channel,
                                                         const std::vector<Package>& set) {
  std::optional<ShownVersions> none;
  TRY(auto found, registry::read_channel(store, channel));
  if (!found) return none;
  TRY(auto view, registry::load_view(store, found->record.view), "while reading channel " + channel);
  ShownVersions shown{"channel " + channel, {}};
  std::set<std::string> projects;
  for (const auto& package : set) projects.insert(package.project);
  for (const auto& project : projects) {
    TRY(auto shard, registry::load_shard_of(store, view, project), "while reading channel " + channel);
    if (!shard) continue;
    for (const auto& file : shard->files) {
      auto version = dist::Version::parse(file.version);
      if (!version || !file.yanked.empty()) continue;
      auto [newest, fresh] = shown.newest.try_emplace({project, version->base_version().key()}, *version);
      if (!fresh && *version > newest->second) newest->second = *version;
    }
  }
  return std::optional(std::move(shown));
}

Result<SetPackages> packages_of_plan(const publish::Plan& plan) {
  SetPackages set;
  for (const auto& file : plan.files) {
    TRY(auto package, package_of_record(file.file, file.sidecar));
    set.packages.push_back(std::move(package));
    set.bytes.push_back({file.file.sha256, file.path, nullptr, {}});
  }
  return set;
}

} // namespace quarry::closure
