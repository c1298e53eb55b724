#pragma once
// The packages of sets, directories and plans as the rules of sets see them: METADATA alone, no file is inflated.
#include "base/finding.hpp"
#include "cli/command.hpp"
#include "closure/package.hpp"
#include "digest/sha256.hpp"
#include "inspect/device_code.hpp"
#include "publish/plan.hpp"
#include "store/object_store.hpp"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quarry::cli {

/// Where the bytes of a package are, and what tells whether two packages of one name are one file.
struct PackageBytes {
  std::optional<Sha256> sha256;               ///< of a sealed file
  std::string path;                           ///< of a file on this machine; empty: it has none here
  std::shared_ptr<store::ObjectReader> store; ///< of another one: where it is, under `key`
  std::string key;
};

struct SetPackages {
  std::vector<closure::Package> packages;
  std::vector<PackageBytes> bytes; ///< of each package
  Findings findings;               ///< Q437
};

/// What `operand` means: a directory of packages, or a sealed set, run or channel of the store (`place`, the value of
/// --store; empty: none was given, which is Q006 for a locator that needs one). Costs one small read for each package.
/// Fails with P001, P002, P014 and the errors of wheel::look_at_metadata() for directories, and with those of
/// publish::resolve() for sets; corrupt P022 for a metadata file that is not the one that was sealed.
Result<SetPackages> packages_of(const Context& context, const std::string& operand, const std::string& place);

/// What all operands hold together, each file once. One file name with different bytes is a finding (Q437), and the
/// first of these files counts. Files of one name and size are read to compare them.
Result<SetPackages> packages_of_all(const Context& context, const std::vector<std::string>& operands,
                                    const std::string& place);

/// The wheels, to be looked into. One request for each that is in a store far away; fails as opening its object does.
Result<std::vector<inspect::DeviceOperand>> wheels_of_set(const SetPackages& set);

/// Those of a directory that was verified for publishing; without bytes those that are in the store already. No I/O.
Result<SetPackages> packages_of_plan(const publish::Plan& plan);

} // namespace quarry::cli
