#pragma once
// Content of a server that ignores ranges: fetched whole, once, into a file without a name. Private to the http
// backend.
#include "content/rope.hpp"
#include "sys/file.hpp"
#include <atomic>
#include <functional>
#include <memory>

namespace quarry::store {

using FetchWhole = std::function<Result<sys::File>()>;

/// Reads `in_ranges` until `rangeless` is seen to be set, by itself or another source; then what `fetch` gives, which
/// is called when it is first needed. Thread-safe.
std::shared_ptr<const content::Source> make_spooled_source(std::shared_ptr<const content::Source> in_ranges,
                                                           std::shared_ptr<std::atomic<bool>> rangeless,
                                                           FetchWhole fetch);

} // namespace quarry::store
