#pragma once
// Private to the room.
// The table of packages that our `_dist_info.py` writes down (python/README.md: ALL_PACKAGES, EXTRAS), held against the
// packages that lie beside it. The other tool fills its table by calls, so the two texts always differ; what makes ours
// right or wrong is the packages.
#include "content/rope.hpp"
#include "inspect/compare.hpp"
#include "inspect/python_module.hpp"
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::inspect {

/// A package that lies beside the table.
struct HeldPackage {
  const Package* package = nullptr;
  std::set<std::string> directories; ///< the first part of each path, those of a payload included; none for an sdist
};

/// The packages of one side. Payloads are read once, when they are first asked for.
class Neighbours {
public:
  Neighbours(const std::vector<Package>& packages, const ReadOptions& options)
      : packages_(packages), options_(options) {}
  /// Returns those of a version. Fails if a payload cannot be read. Costs one pass over each payload the first time.
  /// Not thread-safe.
  Result<std::vector<HeldPackage>> of_version(const std::string& version);

private:
  Result<void> look();
  const std::vector<Package>& packages_;
  const ReadOptions& options_;
  std::optional<std::vector<HeldPackage>> held_;
};

/// Says why the module's ALL_PACKAGES does not name exactly the packages beside it; empty if it does:
/// - each wheel is named by an entry, or is device code,
/// - each entry that exists for the platform has a wheel, which holds the entry's two directories,
/// - `requires` of an entry are the requirements of its wheel, and `required` are those of the source distribution that
///   hold without an extra.
/// Pure.
std::string package_table_problem(const PythonModule& module, const std::vector<HeldPackage>& beside);

/// Says which extra of the module's EXTRAS brings other packages than the source distribution beside it asks for; empty
/// if all fit. Only the extras that EXTRAS lists are compared; those of single families are not in it. Pure.
std::string extras_problem(const PythonModule& module, const std::vector<HeldPackage>& beside);

struct OurModule {
  const std::string& place;
  const std::string& version; ///< of the package that the module lies in
  const content::Rope& bytes;
};

/// Holds the tables of our module against the packages of its version. Renames the part "PLACE!value:ALL_PACKAGES" to
/// "…!held" if the table names exactly these. Otherwise that part, and the one of EXTRAS, become a difference of two
/// values, with the problem as its message. Fails if a file cannot be read.
Result<void> hold_package_tables(const OurModule& ours, Neighbours& beside, std::vector<Part>& parts);

} // namespace quarry::inspect
