#pragma once
// A version must not sort below the one that went out before it: installers would keep the old one for ever. Pure.
#include "base/result.hpp"
#include "dist/version.hpp"
#include <optional>

namespace quarry::version {

/// invalid_argument N008 when `next` sorts below `previous`, with the reason where the order surprises. A note instead
/// when both differ in their local segment only and a commit decides: nobody can say which of them is newer.
Result<std::optional<std::string>> check_order(const dist::Version& previous, const dist::Version& next);

} // namespace quarry::version
