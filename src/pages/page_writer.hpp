#pragma once
// How pages follow a truth that others move meanwhile (projection.hpp says why it holds). Private to the room.
//
// The guard: the ETag of every page is read *before* the truth is read again, and the page is written if-match. A
// writer that was overtaken fails its condition and starts anew from the new truth; a writer that nobody overtook is
// right. No lock, no clock.
//
// Where the store keeps keys that end in a slash, each HTML page has a copy under `…/simple/rocm/`, the key that
// installers ask a bucket for. Page and copy are guarded alike; the page is written first and removed last.
#include "base/result.hpp"
#include "index/pages.hpp"
#include "pages/projection.hpp"
#include "store/object_store.hpp"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace quarry::pages {

/// Pages that are looked at, confirmed and written together; made when their turn comes, so that a large index is never
/// in memory as a whole.
struct Batch {
  std::function<Result<std::vector<index::Page>>()> pages; ///< keys relative to Truth::directory
  bool in_order = true;                                    ///< written one after the other; else side by side
};

struct Work {
  std::vector<Batch> batches;
  /// Keys of pages that nothing shows any more: they are removed, with their copies, when all are written.
  std::vector<std::string> stale;
  /// Written before any page: it no longer vouches for those that are about to change, so that a writer that is killed
  /// leaves none that the next one believes.
  std::optional<index::Page> state_before = {};
  /// Tells which truth the pages show; made and written when nothing else is left to do.
  std::function<index::Page()> state = {};
};

/// What pages are made from.
struct Truth {
  std::string directory;
  std::function<Result<std::string>()> token; ///< reads the truth; another token, another truth
  /// What follows from the truth that token() read last. `state`: what stands under `state_key`, empty when nothing
  /// does. Called again when a rival was faster: then also for the pages of the call before, of which one may have been
  /// written over the rival's.
  std::function<Result<Work>(const std::string& state)> work;
  std::string state_key = {}; ///< relative to `directory`; empty: there is none
  unsigned transfers = 8;     ///< pages are small: on a far store each costs one round trip and nothing else
};

/// Makes the pages as the truth says, as often as rivals move it. precondition_failed P010.
Result<Projected> write_pages(store::ObjectStore& store, const Truth& truth);

/// "a/simple/rocm/index.html" -> "a/simple/rocm/", the key of its copy; "" when the key is not that of such a page.
std::string slash_key_of(const std::string& page_key);
/// The page of which `key` may be the copy: "a/simple/rocm/" -> "a/simple/rocm/index.html"; other keys as they are.
std::string page_key_of(const std::string& key);

/// Every page below `simple/` and `simple-json/` of one of our directories for which `is_current` is false, by its key
/// with index.html: also where only its copy is left. Costs two listings.
Result<std::vector<std::string>> stale_pages(store::ObjectStore& store, const std::string& directory,
                                             const std::function<bool(const std::string& key)>& is_current);

constexpr std::uint64_t k_page_bytes_max = 512u << 20; ///< half a million files as HTML are 250 MB

} // namespace quarry::pages
