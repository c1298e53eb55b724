#pragma once
// Private to the room.
// Packages of device code lay their files into the tree of another package. No file may belong to two packages: an
// installer that removes one would remove the file of the other, too.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "content/rope.hpp"
#include "sdk/packages.hpp"
#include <map>
#include <string>

namespace quarry::sdk {

/// Which package each file below site-packages belongs to.
class FileOwners {
public:
  struct Owner {
    std::string dist;
    content::Rope data;
  };
  /// `platform`: the directory that the package's files are in.
  void add(const std::string& platform, const std::string& dist, const Population& population);
  const Owner* find(const std::string& path) const;

private:
  std::map<std::string, Owner> owners_;
};

/// Removes from `population` what the package that it is laid into holds with the same content, and adds the rest to
/// `owners`. Other content, or a file of another package of device code: S062 (error). Cost: reads files that two
/// packages have.
Result<void> leave_to_owners(const PackageInputs& inputs, const Instance& instance, Population& population,
                             FileOwners& owners, Findings& findings);

} // namespace quarry::sdk
