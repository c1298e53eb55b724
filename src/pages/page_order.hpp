#pragma once
// Project pages in the order that a reader in the middle can live with, as far as that is affordable: what others need
// comes first.
#include "base/result.hpp"
#include "index/pages.hpp"
#include "pages/page_writer.hpp"
#include "registry/records.hpp"
#include "store/object_store.hpp"
#include <functional>
#include <string>
#include <vector>

namespace quarry::pages {

/// Reorders the project pages among themselves; roots and the find-links page stay last. A project needs what the
/// METADATA of its newest wheel requires; one without wheels (the `rocm` sdist, which pins everything else) comes after
/// all others. Ties by name; cycles in any order. A sidecar that is missing or unreadable says nothing about order and
/// is no error here.
Result<void> dependencies_first(store::ObjectStore& store, const std::vector<registry::FileRecord>& files,
                                std::vector<index::Page>& pages);

/// How the pages of some projects are made, when their turn comes.
struct Rendering {
  /// Their pages; their files are added to `files`.
  std::function<Result<std::vector<index::Page>>(const std::vector<std::string>& projects,
                                                 std::vector<registry::FileRecord>& files)>
      projects;
  /// What links to them, written after them. `files`: of all projects, where they were rendered at once.
  std::function<Result<std::vector<index::Page>>(const std::vector<registry::FileRecord>* files)> last;
};

/// Up to `k_in_order_max` projects: one batch, dependencies first. More are written side by side, in pieces that fit
/// into memory.
std::vector<Batch> batches_of(store::ObjectStore& store, const std::vector<std::string>& projects,
                              const Rendering& rendering);

// Above this, order matters less than time: it is kept for what one publish or promotion brings, and an index of that
// many projects is written as a whole only by its first move and by a repair.
constexpr std::size_t k_in_order_max = 200;

} // namespace quarry::pages
