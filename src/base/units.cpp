#include "base/units.hpp"

#include "base/text.hpp"
#include <cmath>
#include <fmt/core.h>

namespace quarry::units {

std::string bytes(std::uint64_t count) {
  constexpr std::string_view k_names[] = {"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(count);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < std::size(k_names)) value /= 1000, ++unit;
  if (unit == 0) return fmt::format("{} B", count);
  return value >= 9.995 ? fmt::format("{:.1f} {}", value, k_names[unit])
                        : fmt::format("{:.2f} {}", value, k_names[unit]);
}

std::string seconds(double value) {
  if (value < 60) return fmt::format("{:.1f} s", value);
  auto whole = std::llround(std::min(value, 1e15)); // beyond, a sum of forged times would not fit
  return whole < 3600 ? fmt::format("{} min {:02} s", whole / 60, whole % 60)
                      : fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string count(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

std::string things(std::uint64_t number, std::string_view noun) {
  if (number == 1) return fmt::format("1 {}", noun);
  bool to_ies =
      noun.size() > 1 && noun.back() == 'y' && std::string_view("aeiou").find(noun[noun.size() - 2]) == noun.npos;
  return fmt::format("{} {}{}", count(number), noun.substr(0, noun.size() - (to_ies ? 1 : 0)), to_ies ? "ies" : "s");
}

std::string percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.0f} %", 100 * part / whole) : "- %";
}

std::optional<std::uint64_t> parse_duration_ms(std::string_view input) {
  auto digits = input.find_first_not_of("0123456789");
  auto number = text::parse_u64(input.substr(0, digits));
  if (!number) return std::nullopt;
  std::string_view unit = digits == input.npos ? "s" : input.substr(digits);
  std::uint64_t factor = unit == "ms"                   ? 1
                         : unit == "s"                  ? 1000
                         : unit == "m" || unit == "min" ? 60'000
                         : unit == "h"                  ? 3'600'000
                                                        : 0;
  if (!factor || *number > UINT64_MAX / factor) return std::nullopt;
  return *number * factor;
}

} // namespace quarry::units
