#pragma once
// From a locator to the sealed sets that it means.
#include "base/result.hpp"
#include "registry/registry.hpp"
#include "run/locator.hpp"
#include <string>

namespace quarry::publish {

/// Returns the sealed sets of set:, run:, channel: and release:, or of a directory inside the store; in a store that is
/// not on this machine's disks a directory is named by its URL or its key. Fails with invalid_argument L009 or L008 for
/// any other locator, L011 if it fits several runs, P012 for a directory outside the store, R005 for what cannot be a
/// key, R020; with not_found R010, R013 (not sealed) and R015; with corrupt R011, R012 and R014; with R018. Costs what
/// registry::resolve_set(), resolve_run(), resolve_channel() or resolve_release() does; run: also lists the runs.
Result<registry::Resolved> resolve(store::ObjectReader& store, const run::Locator& locator);

/// Returns the key prefix that `path` is in the store, without a '/' at its end. In a store that is not on this
/// machine's disks a path is the key itself. A relative path is below the current directory, or below the store if only
/// that exists. Fails with invalid_argument P012 if the path is not inside the store, and R005 for what cannot be a
/// key. Costs looks at the disk.
Result<std::string> key_of_path(const store::ObjectReader& store, const std::string& path);
/// Returns the path of an object on this machine, whether it exists or not. Fails with unsupported P012 if the store is
/// not on its disks. No I/O.
Result<std::string> path_of_key(const store::ObjectReader& store, const std::string& key);

} // namespace quarry::publish
