#pragma once
// Reads the locators of `--from`, for every command that judges or moves sets.
#include "base/result.hpp"
#include "gate/policy.hpp"
#include "registry/registry.hpp"
#include <string>
#include <vector>

namespace quarry::release {

struct Source {
  registry::Resolved resolved;
  std::vector<gate::Expectation> expectations; ///< of the releases among them
};

/// Returns the sealed sets of all locators in the given order, each set once. With one locator, the result has its view
/// and generation; with several, `resolved.source` lists them, separated by ", ". `resolved.files` is empty if two sets
/// have a file of one name with different content. Errors and cost are those of publish::resolve().
Result<Source> resolve(store::ObjectReader& store, const std::vector<std::string>& locators);

} // namespace quarry::release
