#pragma once
// Private to the room.
// What is odd about single libraries of a wheel: files that are only named like libraries, run paths that repeat
// themselves or depend on the loader, build IDs. Codes Q123 to Q127. Pure.
#include "base/finding.hpp"
#include "inspect/wheel_contents.hpp"
#include <cstdint>
#include <string>
#include <string_view>

namespace quarry::inspect {

/// How many first bytes of a file fault_of_library() compares: a linker script begins with a comment.
constexpr std::size_t k_library_head_bytes = 4096;

/// Whether a file is called like a shared library: `x.so`, `x.so.1`, `x.dll`, `x.pyd`, `x.dylib`.
bool is_named_like_library(std::string_view member);
/// Why such a file cannot be loaded, by its first bytes: "is empty", "begins with text". Empty if it may be a library
/// of the system that its name says, or is a linker script.
std::string_view fault_of_library(std::string_view member, std::string_view head);

/// At most one finding of each code. Time: linear in the files and their run paths.
Findings library_findings(const WheelContents& wheel);

} // namespace quarry::inspect
