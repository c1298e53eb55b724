#include "sys/timestamp.hpp"

#include "sys/clock.hpp"

namespace quarry::sys {

Timestamp Timestamp::from_us(std::int64_t us) {
  Timestamp time;
  time.us_ = us;
  time.text_ = rfc3339(us);
  return time;
}

Result<Timestamp> Timestamp::parse(std::string_view text) {
  Timestamp time;
  TRY(time.us_, parse_rfc3339(text));
  time.text_ = text;
  return time;
}

} // namespace quarry::sys
