#pragma once
// Whether what people install from a channel is all there: the files of its current view, and its pages.
#include "publish/verify.hpp"
#include <string>

namespace quarry::publish {

struct VerifiedChannel {
  registry::ChannelRecord record;
  std::uint64_t files = 0, bytes = 0, pages = 0; ///< that were looked at; a page and its copy count as one
  /// By key: P020, P021, P022 of files and sidecars, P094 of pages; R010, R011, R013 of the view and its sets. Empty:
  /// nothing is wrong.
  Findings findings;
};

/// Looks for the files and sidecars of these sets by name and size: P020, P021, P022. One listing for each directory,
/// eight at the same time.
Result<Findings> look_for_files(store::ObjectReader& store, const std::vector<registry::SealedSet>& sets);

enum class Depth : std::uint8_t { sizes, bytes };
/// Each set of the view must be there as it was sealed: two reads for each. With Depth::sizes files are looked for by
/// name and size: one listing for each directory. With Depth::bytes every
/// byte is read, as verify_sets() does by `options`. Pages are always read and compared with the view: two reads for
/// each project, three where installers ask for copies of the pages; and two listings for pages of other projects. What
/// is found while the channel or its pages move is looked at again, three times at most; then it fails with
/// precondition_failed P010. Also fails with R015, R026, and with what stops the reading itself: a store that does not
/// answer.
Result<VerifiedChannel> verify_channel(store::ObjectStore& store, const std::string& name, Depth depth,
                                       const VerifyOptions& options);

} // namespace quarry::publish
