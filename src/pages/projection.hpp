#pragma once
// Pages as projections of the truth: written last, leaves first, never over a newer page. A page may be stale, never
// dangling or torn.
// How rivals are kept apart: page_writer.hpp.
#include "base/result.hpp"
#include "registry/registry.hpp"
#include "store/object_store.hpp"
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace quarry::pages {

/// Cache-Control of pages: a promotion is seen within a minute, without any invalidation.
constexpr std::string_view k_page_cache = "public, max-age=60";

struct Projected {
  std::uint64_t pages_written = 0, pages_removed = 0;
  std::uint64_t generation = 0; ///< of a channel
};

/// The pages of a package directory ("42-linux/python/g"): the union of the sets sealed there. precondition_failed P010
/// when rivals kept writing for `k_rebase_max` rounds. No sealed set: nothing is written.
Result<Projected> project_directory(store::ObjectStore& store, const std::string& directory);

/// Of a distribution's pointer: its directory is one when this is there.
std::string pointer_key(const std::string& directory);
/// What the pointer at the root of `place` calls its directory; "": there is none. B00x when it is no pointer.
Result<std::string> directory_of_distribution(store::ObjectStore& place);
/// Writes the pointer of a distribution without sets where it has none, before its first file: what lies in the
/// directory from then on is ours, also when a writer is killed or two of them begin together.
Result<void> claim_distribution(store::ObjectStore& store, const std::string& directory);
/// The same for a distribution ("v2/gfx94X-dcgpu"), which is a simple repository itself: `{project}/index.html`
/// besides; then its pointer `distribution.json`, which tells which sets the pages show. `sources`: digest of a set
/// here -> of the set that it is a copy of, as far as the caller knows; what the pointer says already is kept.
Result<Projected> project_distribution(store::ObjectStore& store, const std::string& directory,
                                       const std::map<registry::SetDigest, registry::SetDigest>& sources);

/// Views that a caller has at hand, by digest: they are immutable, so nobody needs to read them again.
using KnownViews = std::map<registry::ViewDigest, registry::ViewRecord>;

enum class Extent : std::uint8_t {
  changed, ///< what moved since the generation that the pages show, as far as that is known; a small channel whole
  whole,   ///< every page, whatever the state says: for repair
};

/// The pages of a channel, then `channels/{name}/pages.json`, which says of which generation they are. not_found R015.
Result<Projected> project_channel(store::ObjectStore& store, const std::string& name, Extent extent = Extent::changed,
                                  const KnownViews& known = {});

/// The generation that a channel's pages show completely; 0 when there are none. Less than the channel's own: they are
/// stale.
Result<std::uint64_t> projected_generation(store::ObjectStore& store, const std::string& name);

/// Rounds that a writer starts anew when rivals are faster; each lost round is somebody else's success, so 32 rivals
/// end well before.
constexpr int k_rebase_max = 64;
/// Rounds after a move whose write nobody confirmed: the store has sent each several times by itself.
constexpr int k_lost_max = 3;

} // namespace quarry::pages
