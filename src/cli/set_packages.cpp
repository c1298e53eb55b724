#include "cli/set_packages.hpp"

#include "cli/records.hpp"
#include "closure/stored.hpp"
#include "content/rope.hpp"
#include "index/describe.hpp"
#include "publish/collect.hpp"
#include "publish/resolve.hpp"
#include "sys/path.hpp"
#include "wheel/look.hpp"
#include <fmt/core.h>
#include <map>

namespace quarry::cli {

namespace {
Result<closure::Package> package_of_file(const std::string& path) {
  std::string file(path::basename(path));
  TRY(auto rope, content::Rope::file(path));
  if (!file.ends_with(".whl")) {
    TRY(auto metadata, index::read_sdist_metadata(path));
    return closure::package_of(file, metadata, rope.size());
  }
  TRY(auto look, wheel::look_at_metadata(rope, file));
  return closure::package_of(file, look.metadata, rope.size());
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
    TRY(auto package, closure::load_package(*store, file));
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
  const closure::Package& package() const { return set.packages[number]; }
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

Result<SetPackages> packages_of(const Context& context, const std::string& operand, const std::string& place) {
  TRY(auto locator, run::parse_locator(operand));
  if (locator.kind == run::LocatorKind::path) return packages_of_directory(locator.path);
  if (place.empty())
    return fail(ErrorKind::invalid_argument, "Q006", fmt::format("{} needs a store to look in", operand),
                "add `--store file:PATH` or set QUARRY_STORE");
  TRY(auto store, open_store(context, place));
  return packages_of_sets(std::move(store), locator);
}

Result<SetPackages> packages_of_all(const Context& context, const std::vector<std::string>& operands,
                                    const std::string& place) {
  SetPackages all;
  std::map<std::string, std::size_t> seen;
  for (const auto& operand : operands) {
    TRY(auto one, packages_of(context, operand, place));
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

Result<std::vector<inspect::DeviceOperand>> wheels_of_set(const SetPackages& set) {
  std::vector<inspect::DeviceOperand> wheels;
  for (std::size_t i = 0; i < set.packages.size(); ++i) {
    const auto& bytes = set.bytes[i];
    if (!set.packages[i].tags) continue;
    if (!bytes.store) {
      wheels.push_back({bytes.path});
      continue;
    }
    TRY(auto rope, bytes.store->open(bytes.key), "while reading " + bytes.key);
    wheels.push_back({bytes.store->url(bytes.key), std::move(rope), true});
  }
  return wheels;
}

Result<SetPackages> packages_of_plan(const publish::Plan& plan) {
  SetPackages set;
  for (const auto& file : plan.files) {
    TRY(auto package, closure::package_of_record(file.file, file.sidecar));
    set.packages.push_back(std::move(package));
    set.bytes.push_back({file.file.sha256, file.path, nullptr, {}});
  }
  return set;
}

} // namespace quarry::cli
