#include "base/day.hpp"

#include "base/text.hpp"
#include <chrono>

namespace quarry {

bool is_day(std::string_view text) {
  constexpr std::size_t k_length = 10;
  if (text.size() != k_length || text[4] != '-' || text[7] != '-') return false;
  auto month = text::parse_u64(text.substr(5, 2)), day = text::parse_u64(text.substr(8, 2));
  auto year = text::parse_u64(text.substr(0, 4));
  if (!year || !month || !day) return false;
  return std::chrono::year_month_day(std::chrono::year(static_cast<int>(*year)),
                                     std::chrono::month(static_cast<unsigned>(*month)),
                                     std::chrono::day(static_cast<unsigned>(*day)))
      .ok();
}

} // namespace quarry
