#pragma once
// Gathers from a store what a verdict depends on.
#include "base/result.hpp"
#include "gate/gate.hpp"
#include "registry/registry.hpp"
#include "store/object_store.hpp"
#include <cstdint>
#include <string>

namespace quarry::gate {

/// All evidence, all waivers, and the sets of `source` that the channel's view does not have yet (a channel that does
/// not exist has none). One altered record fails the whole: R011. Other errors: R0xx.
Result<Case> collect(store::ObjectStore& store, const std::string& channel, const registry::Resolved& source,
                     std::int64_t now_us);

} // namespace quarry::gate
