#pragma once
// Whether what people install from a channel is all there: the files of its current view, and its pages.
#include "publish/verify.hpp"
#include <string>

namespace quarry::publish {

struct VerifiedChannel {
  registry::ChannelRecord record;
  std::uint64_t files = 0, bytes = 0, pages = 0; ///< that were looked at; a page and its copy count as one
  Findings findings; ///< by key: P020, P021, P022 of files and sidecars, P094 of pages; empty: nothing is wrong
};

enum class Depth : std::uint8_t { sizes, bytes };
/// With Depth::sizes files are looked for by name and size: one listing for each directory. With Depth::bytes every
/// byte is read, as verify_sets() does by `options`. Pages are always read and compared with the view: two reads for
/// each project, three where installers ask for copies of the pages; and two listings for pages of other projects. What
/// is found while the channel or its pages move is looked at again, three times at most; then it fails with
/// precondition_failed P010. Also fails with R015, and with what stops the reading itself: a record of the view that is
/// lost, or a store that does not answer.
Result<VerifiedChannel> verify_channel(store::ObjectStore& store, const std::string& name, Depth depth,
                                       const VerifyOptions& options);

} // namespace quarry::publish
