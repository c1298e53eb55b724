#pragma once
// Private to the room.
// Tells about requests, for `--verbose`.
#include "net/http.hpp"
#include "sys/clock.hpp"
#include <functional>
#include <memory>
#include <string_view>

namespace quarry::net {

/// Sends through `inner` and gives `trace` one line for each answer or failure: "GET https://host/path -> 200, 12 kB in
/// 35 ms". A request that is sent again after a failure, or after a status that is worth a retry, is marked "(attempt
/// 2)". Thread-safe if `trace` is. `clock` must outlive the result.
std::shared_ptr<Transport> make_traced(std::shared_ptr<Transport> inner, std::function<void(std::string_view)> trace,
                                       const sys::Clock& clock);

} // namespace quarry::net
