#pragma once
// Licence expressions (SPDX specification 2.3, annex D, as PEP 639 uses it): `MIT OR (Apache-2.0 WITH LLVM-exception)`.
// Pure, thread-safe.
#include "base/result.hpp"
#include <cstddef>
#include <string_view>

namespace quarry::dist {

/// The expression of a Linux distribution's largest package has about 1 KiB.
constexpr std::size_t k_license_expression_bytes_max = 8u << 10;

/// Checks the syntax: identifiers joined by AND, OR and WITH in upper or lower case, parentheses that match, `+` only
/// behind an identifier. Identifiers are not compared with the list of SPDX. Fails with invalid_argument M014. Linear.
Result<void> check_license_expression(std::string_view text);

} // namespace quarry::dist
