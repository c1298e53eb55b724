#pragma once
// A path that must be a directory.
#include "base/result.hpp"
#include <string>

namespace quarry::sys {

/// not_found D001 that tells what is missing from what is a file; `hint` says which directory is wanted. One stat or
/// two.
Result<void> require_directory(const std::string& path, std::string hint = "check the path");

} // namespace quarry::sys
