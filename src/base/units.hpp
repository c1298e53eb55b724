#pragma once
// Sizes and durations as people read them, and the bounds that several rooms share.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace quarry::units {

constexpr std::uint64_t k_kib = 1024, k_mib = 1024 * k_kib, k_gib = 1024 * k_mib;

std::string bytes(std::uint64_t count);                         ///< decimal units: "96.0 MB", "1.61 GB", "512 B"
std::string seconds(double value);                              ///< "6.9 s", "2 min 03 s"
std::string count(std::uint64_t value);                         ///< "3,214"
std::string things(std::uint64_t count, std::string_view noun); ///< "1 file", "3,214 files"
std::string percent(double part, double whole);                 ///< "26 %"
/// "90", "90s", "15m", "2h", "500ms" to milliseconds.
std::optional<std::uint64_t> parse_duration_ms(std::string_view text);

} // namespace quarry::units
