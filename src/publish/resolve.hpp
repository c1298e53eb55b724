#pragma once
// From a locator to the sealed sets that it means.
#include "base/result.hpp"
#include "registry/registry.hpp"
#include "run/locator.hpp"
#include <string>

namespace quarry::publish {

/// set:, run: and channel:, or a directory that lies inside the store and is sealed; of a store that is not on this
/// machine, by its URL or by its key. Everything else is invalid_argument L009 or L008. Not sealed: not_found R013;
/// altered: corrupt R011; several runs: invalid_argument L011.
Result<registry::Resolved> resolve(store::ObjectStore& store, const run::Locator& locator);

/// The key prefix that `path` is in the store, without the last '/': invalid_argument P012 when it lies outside. For a
/// store that is not on this machine's disks a path is the key itself; R005 for what cannot be one.
Result<std::string> key_of_path(const store::ObjectStore& store, const std::string& path);
/// Where an object's bytes are on this machine; unsupported P012 when they are not.
Result<std::string> path_of_key(const store::ObjectStore& store, const std::string& key);

} // namespace quarry::publish
