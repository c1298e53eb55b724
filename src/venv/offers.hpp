#pragma once
// Private to the room.
// What a source offers of the packages that an installer could not find, for the hint of V010. Pure.
#include "venv/source.hpp"
#include <string>
#include <string_view>
#include <vector>

namespace quarry::venv {

/// Says why nothing of a local source fits: the project is not in it (and which are), its versions differ, only
/// pre-releases fit, or its wheels are for Windows. `output` is what pip or uv printed; `packages` what was asked for.
/// Empty if nothing is known, such as of an index.
std::string offers_hint(const Source& source, const std::vector<std::string>& packages, std::string_view output,
                        bool pre);

/// Why pip or uv failed, in one line: its last error, and the failure of the network behind it.
std::string failure_reason(std::string_view output);

} // namespace quarry::venv
