#pragma once
// Private to the room.
// What Python could import of a wheel, by the names of its files.
#include "inspect/wheel_contents.hpp"
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace quarry::inspect {

using Modules = std::set<std::string, std::less<>>; ///< "rocm_sdk/tools" for rocm_sdk.tools

/// The modules of wheels that are installed side by side: source files, extension modules, and each directory above
/// them, which is at least a namespace package. Pure.
Modules modules_of(std::span<const WheelContents* const> wheels);
/// Whether a name is one that Python's grammar allows, without a look at its keywords. Letters beyond ASCII are taken.
bool is_identifier(std::string_view name);

} // namespace quarry::inspect
