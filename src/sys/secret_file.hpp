#pragma once
// A random secret that belongs to one user of one machine.
#include "base/result.hpp"
#include <string>

namespace quarry::sys {

constexpr std::size_t k_secret_digits = 64; ///< 32 random bytes in hexadecimal

/// Reads the secret at `path`. Creates it, with mode 0600 and its directory with mode 0700, if the file is missing or
/// incomplete. Fails with permission_denied D015 if the file is a link, belongs to another user, or may be read or
/// written by others; with D00x if it cannot be read or created. Two processes that create it at the same time may
/// get different secrets: the later file stays.
Result<std::string> read_or_create_secret(const std::string& path);

} // namespace quarry::sys
