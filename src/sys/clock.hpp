#pragma once
// Time, entropy and interruption: the only places that ask the machine for them.
#include "base/result.hpp"
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace quarry::sys {

class Clock {
public:
  virtual ~Clock() = default;
  virtual std::int64_t now_us() const = 0;     ///< UTC, microseconds since 1970
  virtual std::uint64_t steady_ns() const = 0; ///< for durations
};
class RealClock final : public Clock {
public:
  std::int64_t now_us() const override;
  std::uint64_t steady_ns() const override;
};
class FixedClock final : public Clock { ///< for tests: stands still until moved
public:
  explicit FixedClock(std::int64_t now) : now_(now) {}
  std::int64_t now_us() const override { return now_; }
  std::uint64_t steady_ns() const override { return static_cast<std::uint64_t>(now_) * 1000; }
  void advance_us(std::int64_t by) { now_ += by; }

private:
  std::int64_t now_;
};

std::string rfc3339(std::int64_t us);                      ///< "2026-11-21T09:30:00.123456Z" (PEP 700's upload-time)
Result<std::int64_t> parse_rfc3339(std::string_view text); ///< UTC only ("Z"), with or without fraction; B005
std::string random_hex(std::size_t bytes);                 ///< from getrandom(2)

/// SIGINT and SIGTERM set a flag that long loops look at. Install once, in app.
void install_interrupt_handlers();
bool interrupted();
Result<void> check_interrupted(); ///< cancelled D006
/// Sleeps, and wakes early when interrupted (cancelled D006).
Result<void> pause_ms(std::uint64_t milliseconds);

} // namespace quarry::sys
