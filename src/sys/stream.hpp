#pragma once
// Pipes, terminals and standard input: bytes that can be read once, from their beginning.
#include "base/result.hpp"
#include <cstdint>
#include <string>

namespace quarry::sys {

/// Whether `path` is `-` (standard input) or names a pipe, a socket or a device: not a file that can be read at any
/// place, and not a directory. False if it does not exist.
bool is_stream(const std::string& path);

/// Reads `path`, or standard input for `-`, to its end, into memory. resource_exhausted D001 beyond `bytes_max`; D001
/// if it cannot be opened or read; cancelled D006 when the program is interrupted. Waits for the writer.
Result<std::string> read_stream(const std::string& path, std::uint64_t bytes_max);

} // namespace quarry::sys
