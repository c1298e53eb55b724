#include "derive/package.hpp"

#include "derive/sdist.hpp"
#include "dist/metadata.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "zip/reader.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::derive {

namespace {

bool is_wheel(const Package& package) { return package.file_name.ends_with(".whl"); }

Unexpected not_what_is_made(const DerivedPackage& package, const std::string& why) {
  return fail(ErrorKind::corrupt, "O102",
              fmt::format("{} is not what `release finalize` makes of {}: {}", package.made.file_name,
                          package.original.file_name, why),
              "make the release again from the candidate, and publish that");
}

Result<Renewed> renew_sdist(const Package& package, const dist::VersionChange& change, const std::string& output_dir) {
  Renewed made;
  TRY(auto sdist, read_sdist(package.file_name, package.bytes));
  TRY(auto changed, changed_sdist(sdist, change, made.changed));
  TRY(auto bytes, packed_sdist(changed));
  made.file_name = changed.file_name;
  made.path = path::join(output_dir, made.file_name);
  made.size = bytes.size();
  TRY_DO(sys::make_directories(output_dir));
  TRY_DO(sys::write_file(made.path, bytes));
  return made;
}

Result<void> prove_sdist(const DerivedPackage& package, const dist::VersionChange& change) {
  const auto& [derived, original] = package;
  std::vector<std::string> changed;
  TRY(auto before, read_sdist(original.file_name, original.bytes));
  TRY(auto wanted, changed_sdist(before, change, changed));
  if (derived.file_name != wanted.file_name)
    return not_what_is_made(package, fmt::format("it would be called {}", wanted.file_name));
  TRY(auto found, read_sdist(derived.file_name, derived.bytes));
  for (std::size_t i = 0; i < std::max(found.members.size(), wanted.members.size()); ++i) {
    if (i >= wanted.members.size()) return not_what_is_made(package, found.members[i].path + " is too many");
    if (i >= found.members.size() || found.members[i] != wanted.members[i])
      return not_what_is_made(package, wanted.members[i].path + " differs");
  }
  return {};
}

} // namespace

Result<Renewed> renew_package(const Package& package, const dist::VersionChange& change, const std::string& output_dir,
                              const CopiedBytes& on_progress) {
  if (!is_wheel(package)) return renew_sdist(package, change, output_dir);
  return wheel::renew(package, change, output_dir, on_progress);
}

Result<void> prove_package(const DerivedPackage& package, const dist::VersionChange& change) {
  return is_wheel(package.original) ? wheel::prove_renewed(package, change) : prove_sdist(package, change);
}

Result<bool> metadata_changes(const Package& package, const dist::VersionChange& change) {
  if (!is_wheel(package)) {
    TRY(auto sdist, read_sdist(package.file_name, package.bytes));
    return std::any_of(sdist.members.begin(), sdist.members.end(), [&](const SdistMember& member) {
      return path::basename(member.path) == "PKG-INFO" &&
             dist::changed_metadata(member.content, change) != member.content;
    });
  }
  Findings findings;
  auto zip = zip::Reader::open(package.bytes, package.file_name, findings);
  if (!zip || has_errors(findings))
    return fail(ErrorKind::corrupt, "W010", package.file_name + " is not a sound wheel",
                "`quarry wheel verify` lists everything");
  for (const auto& member : zip->members()) {
    auto parts = path::components(member.name);
    if (parts.size() != 2 || !parts[0].ends_with(".dist-info") || parts[1] != "METADATA") continue;
    TRY(auto metadata, zip->read_all(member, dist::k_metadata_bytes_max));
    if (dist::changed_metadata(metadata, change) != metadata) return true;
  }
  return false;
}

} // namespace quarry::derive
