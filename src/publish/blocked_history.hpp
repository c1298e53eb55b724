#pragma once
// Private to the room.
// What a distribution blocks and another tool offers under another spelling of its name.
#include "publish/history.hpp"

namespace quarry::publish {

/// Takes out of the plan the files whose bytes the distribution blocks, under whatever name, and warns of each (P126).
/// The sha256 tells. Where nobody but a page says it, or nobody at all, a file of the same project and version as a
/// blocked one, and of its size if that one is still there, is read to its end; the plan then has its sha256. One read,
/// and those of the files.
Result<void> leave_out_blocked(store::ObjectReader& target, const std::vector<store::ObjectInfo>& objects,
                               HistoryPlan& plan);

} // namespace quarry::publish
