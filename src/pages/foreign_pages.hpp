#pragma once
// Private to the room.
// Pages that another tool writes in the same directory, such as a function that the bucket calls after each upload. Two
// tools that both rewrite one page would never stop, so such a page is left to the other tool.
#include "base/result.hpp"
#include "store/object_store.hpp"
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::pages {

/// The page of a package directory, relative to it, that says whether all our pages were there once.
inline constexpr std::string_view k_written_last = "simple-json/index.html";

/// Whether `bytes` are an index page with our mark (index::k_generator_mark), or begin with '{', as JSON. Pure.
bool is_our_page(const std::string& bytes);
/// Whether `bytes` are an index page without our mark that links to something. False for bytes that
/// index::read_html_page() refuses, such as text that is not UTF-8. Pure.
bool is_anothers_page(const std::string& bytes);

/// What one call of write_pages() has learnt about pages of another tool. Thread-safe.
class ForeignPages {
public:
  ForeignPages(store::ObjectReader& store, std::string directory) : store_(store), directory_(std::move(directory)) {}

  /// For a page of which is_anothers_page() is true. True: leave the page to the other tool. False: replace or remove
  /// it. Returns true in two cases: k_written_last existed at the first look; or somebody has written this page since
  /// is_left() was first asked about it, so that its ETag differs or lost() was called. The first call costs one head,
  /// if look_first() has not made it.
  Result<bool> is_left(const std::string& key, const std::string& etag);
  /// Forgets what left() returns: another round has begun, and looks at all pages again.
  void begin_round();
  /// Makes the first look now: whether k_written_last exists. Otherwise is_left() makes it, perhaps after our own pages
  /// were written. Costs one head; later calls cost nothing.
  Result<void> look_first();
  /// Our write of this page failed, because somebody was faster: from now on is_left() returns true for it.
  void lost(const std::string& key);
  /// The pages of which is_left() returned true in this round, sorted; copies (`simple/rocm/`) by the key of their
  /// page.
  std::vector<std::string> left() const;

private:
  Result<void> find_whether_ours(); ///< with the lock held

  store::ObjectReader& store_;
  std::string directory_;
  mutable std::mutex mutex_;
  std::optional<bool> ours_before_;         ///< whether our pages were here at the first look; nullopt: not looked yet
  std::map<std::string, std::string> seen_; ///< ETag of the page when it was first seen, by key
  std::set<std::string> lost_, left_;
};

} // namespace quarry::pages
