#pragma once
// Project pages in the order that a reader in the middle can live with: what others need comes first.
#include "base/result.hpp"
#include "index/pages.hpp"
#include "registry/records.hpp"
#include "store/object_store.hpp"
#include <vector>

namespace quarry::publish {

/// Reorders the project pages among themselves; roots and the find-links page stay last. A project needs what the
/// METADATA of its newest wheel requires; one without wheels (the `rocm` sdist, which pins everything else) comes after
/// all others. Ties by name; cycles in any order. A sidecar that is missing or unreadable says nothing about order and
/// is no error here.
Result<void> dependencies_first(store::ObjectStore& store, const std::vector<registry::FileRecord>& files,
                                std::vector<index::Page>& pages);

} // namespace quarry::publish
