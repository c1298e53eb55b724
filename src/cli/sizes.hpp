#pragma once
// Totals for progress bars. What cannot be opened or listed counts nothing: that is an error of the work itself.
#include <cstdint>
#include <string>
#include <vector>

namespace quarry::cli {

std::uint64_t bytes_of_files(const std::vector<std::string>& paths);
/// Adds up the packages that `publish` and `index build` find in a directory.
std::uint64_t bytes_of_packages(const std::string& directory);

} // namespace quarry::cli
