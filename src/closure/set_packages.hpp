#pragma once
// The packages of sets, directories and plans as the rules of sets see them: METADATA alone, no file is inflated.
#include "base/finding.hpp"
#include "closure/change_rules.hpp"
#include "closure/package.hpp"
#include "content/rope.hpp"
#include "digest/sha256.hpp"
#include "publish/plan.hpp"
#include "store/object_store.hpp"
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quarry::closure {

/// Where the bytes of a package are, and what tells whether two packages of one name are one file.
struct PackageBytes {
  std::optional<Sha256> sha256;               ///< of a sealed file
  std::string path;                           ///< of a file on this machine; empty: it has none here
  std::shared_ptr<store::ObjectReader> store; ///< of another one: where it is, under `key`
  std::string key;

  bool known() const { return store || !path.empty(); }
};

/// Opens the file or object. One request if it is in a store far away. Fails as opening does, and needs known().
Result<content::Rope> open_package(const PackageBytes& bytes);

struct SetPackages {
  std::vector<Package> packages;
  std::vector<PackageBytes> bytes; ///< of each package
  Findings findings;               ///< Q437
};

/// Opens the store that sets, runs and channels are in. `operand` is the locator that needs it, for messages.
using OpenStore = std::function<Result<std::shared_ptr<store::ObjectReader>>(const std::string& operand)>;

/// What `operand` means: a directory of packages, or a sealed set, run or channel of a store, which is only then
/// opened. Costs one small read for each package. Fails as run::parse_locator() does; for directories with P001, P002,
/// P014 and the errors of wheel::look_at_metadata(); for sets as `open` and publish::resolve() do, and with corrupt
/// P022 for a metadata file that is not the one that was sealed.
Result<SetPackages> packages_of(const std::string& operand, const OpenStore& open);

/// What all operands hold together, each file once. One file name with different bytes is a finding (Q437), and the
/// first of these files counts. Files of one name and size are read to compare them.
Result<SetPackages> packages_of_all(const std::vector<std::string>& operands, const OpenStore& open);

/// The newest versions that a channel shows of each release of the projects of `set`, without yanked files; nullopt if
/// the channel does not exist. Costs two reads and one for each project. Fails as registry::read_channel(), load_view()
/// and load_shard_of() do.
Result<std::optional<ShownVersions>> versions_in_channel(store::ObjectReader& store, const std::string& channel,
                                                         const std::vector<Package>& set);

/// Those of a directory that was verified for publishing; without bytes those that are in the store already. No I/O.
Result<SetPackages> packages_of_plan(const publish::Plan& plan);

} // namespace quarry::closure
