#include "shadow/packages.hpp"

#include "index/site.hpp"
#include "inspect/compare.hpp"
#include "publish/resolve.hpp"
#include <list>
#include <set>

namespace quarry::shadow {

namespace {
/// The packages of one directory, and the files that they are read from.
struct OpenPackages {
  std::list<index::LocalFile> files;
  std::vector<inspect::Package> packages;
};

Result<OpenPackages> open_packages(const Side& side, const PackageDirectories& all, const std::string& directory,
                                   const inspect::ReadOptions& options) {
  OpenPackages opened;
  auto here = all.find(directory);
  if (here == all.end()) return opened;
  for (const auto& [file, name] : here->second) {
    auto path = publish::path_of_key(*side.store, side.key(name));
    if (!path) {
      TRY(auto local, index::fetched(*side.store, side.key(name), options.spool_directory));
      path = opened.files.emplace_back(std::move(local)).path();
    }
    TRY(auto package, inspect::read_package(*path, options));
    opened.packages.push_back(std::move(package));
  }
  return opened;
}

std::string place_of(const inspect::PackageDiff& package, const inspect::Part& part) {
  auto place = package.package + (part.place.empty() ? "" : "!" + part.place);
  if (part.kind == inspect::Kind::only_left) return place + "!ours";
  return part.kind == inspect::Kind::only_right ? place + "!theirs" : place;
}

/// Where the text of a part belongs: to the side that alone has it, or to both.
std::string& value_of(Difference& difference, inspect::Kind kind) {
  if (kind == inspect::Kind::only_left) return difference.ours;
  return kind == inspect::Kind::only_right ? difference.theirs : difference.what;
}

/// What is a difference of its own: so that a row about one never explains another one of the same file.
std::vector<inspect::Part> parts_of(const inspect::Difference& each) {
  if (each.parts.empty()) return {{each.place, each.kind, each.message}};
  return each.parts;
}

void add_package(Section& section, const inspect::PackageDiff& package, const std::string& directory,
                 const Table& table) {
  section.equal += package.equal;
  for (const auto& each : package.differences)
    for (const auto& part : parts_of(each)) {
      Difference difference{Topic::packages, place_of(package, part), {}, {}};
      value_of(difference, part.kind) = part.message;
      difference.kind = to_string(part.kind);
      difference.where = directory;
      difference.reason = each.allowed ? each.reason : table.reason(Topic::packages, difference.place);
      section.differences.push_back(std::move(difference));
    }
}
} // namespace

Result<Section> compare_packages(const Sides& sides, const Table& table, const inspect::ReadOptions& options) {
  const auto& [ours, theirs] = sides;
  auto left = package_directories(ours), right = package_directories(theirs);
  std::set<std::string> directories;
  for (const auto* side : {&left, &right})
    for (const auto& [directory, files] : *side) directories.insert(directory);
  Section section;
  for (const auto& directory : directories) {
    TRY(auto one, open_packages(ours, left, directory, options), "while reading our " + directory);
    TRY(auto other, open_packages(theirs, right, directory, options), "while reading their " + directory);
    TRY(auto diff, inspect::compare(one.packages, other.packages, table.packages(), options, inspect::Detail::parts));
    for (const auto& package : diff.packages) add_package(section, package, directory, table);
  }
  return section;
}

} // namespace quarry::shadow
