#pragma once
// Private to the room.
// Content from a web server that may ignore ranges. If it does, the object is fetched whole, once, into an unnamed
// temporary file and read there. Private to the http backend.
#include "content/rope.hpp"
#include "sys/file.hpp"
#include <atomic>
#include <functional>
#include <memory>

namespace quarry::store {

using FetchWhole = std::function<Result<sys::File>()>;

/// Returns a source that reads `in_ranges` as long as `rangeless` is false. Once this source, or another one of the
/// same store, has set it, the source reads the file that `fetch` returns; `fetch` is called when it is first needed,
/// and again by the next read if it failed. Thread-safe.
std::shared_ptr<const content::Source> make_spooled_source(std::shared_ptr<const content::Source> in_ranges,
                                                           std::shared_ptr<std::atomic<bool>> rangeless,
                                                           FetchWhole fetch);

} // namespace quarry::store
