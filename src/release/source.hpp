#pragma once
// What `--from` means, for every command that judges or moves sets.
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

/// The sealed sets of all locators, each set once, in the order given. One locator keeps its view and generation; of
/// several, `resolved.source` names all, separated by ", ". `resolved.files` is empty if two sets have one file name
/// with different content. Errors and cost: publish::resolve().
Result<Source> resolve(store::ObjectStore& store, const std::vector<std::string>& locators);

} // namespace quarry::release
