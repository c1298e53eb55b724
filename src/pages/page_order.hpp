#pragma once
// Private to the room.
// Orders the writes of pages so that a reader in the middle of an update does not see a package whose dependencies are
// not listed yet. Best effort: batches_of() lets more than k_in_order_max projects be written in parallel.
#include "base/result.hpp"
#include "index/pages.hpp"
#include "pages/page_writer.hpp"
#include "registry/records.hpp"
#include "store/object_store.hpp"
#include <functional>
#include <string>
#include <vector>

namespace quarry::pages {

/// Sorts the project pages so that dependencies come first; roots and the find-links page stay last. The dependencies
/// of a project are those of its newest wheel with METADATA, by upload time. A project without one (the `rocm`
/// sdist, which pins everything else) comes after all others. Ties are broken by name. The order inside a cycle is not
/// specified. A metadata file that is missing, too long or invalid is ignored. Fails with the errors of the store.
/// Costs one read per project that has a wheel with METADATA, one after the other.
Result<void> dependencies_first(store::ObjectReader& store, const std::vector<registry::FileRecord>& files,
                                std::vector<index::Page>& pages);

/// Functions that render pages; called when their batch is written.
struct Rendering {
  /// Returns the pages of `projects`, and appends the files of these projects to `files`.
  std::function<Result<std::vector<index::Page>>(const std::vector<std::string>& projects,
                                                 std::vector<registry::FileRecord>& files)>
      projects;
  /// Returns the pages that link to them, which are written last. `files`: those of all projects given to batches_of(),
  /// if they are one batch; else nullptr. The index may have more projects than were given.
  std::function<Result<std::vector<index::Page>>(const std::vector<registry::FileRecord>* files)> last;
};

/// Splits the work into batches. Up to k_in_order_max projects are one batch, dependencies first. More are split into
/// batches of 64 projects, whose pages are written in parallel; one more batch follows with the last pages, written one
/// after the other. A batch is in memory as a whole. No I/O until a batch is rendered; `store` must outlive the
/// batches, which copy the rest.
std::vector<Batch> batches_of(store::ObjectReader& store, const std::vector<std::string>& projects,
                              const Rendering& rendering);

// One publish or promotion changes fewer projects. Only the first move and a repair write more pages, and then time
// matters more than order.
constexpr std::size_t k_in_order_max = 200;

} // namespace quarry::pages
