#include "sys/clock.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <ctime>
#include <fmt/core.h>
#include <sys/random.h>
#include <thread>
#include <vector>

namespace quarry::sys {

std::int64_t RealClock::now_us() const {
  using namespace std::chrono;
  return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
}
std::uint64_t RealClock::steady_ns() const {
  using namespace std::chrono;
  return static_cast<std::uint64_t>(duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count());
}

std::string rfc3339(std::int64_t us) {
  auto fraction = (us % 1'000'000 + 1'000'000) % 1'000'000; // times before 1970 count down
  auto seconds = static_cast<std::time_t>((us - fraction) / 1'000'000);
  std::tm tm{};
  ::gmtime_r(&seconds, &tm);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
                     tm.tm_hour, tm.tm_min, tm.tm_sec, fraction);
}

namespace {
std::uint64_t days_in(std::uint64_t year, std::uint64_t month) {
  constexpr std::uint64_t k_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return k_days[month - 1] + (month == 2 && leap);
}
} // namespace

Result<std::int64_t> parse_rfc3339(std::string_view input) {
  auto bad = [&] {
    return fail(ErrorKind::invalid_argument, "B005",
                fmt::format("{} is not a time such as 2026-11-21T09:30:00Z", input));
  };
  auto number = [&](std::size_t at, std::size_t n) {
    return at + n <= input.size() ? text::parse_u64(input.substr(at, n)) : std::nullopt;
  };
  auto year = number(0, 4), month = number(5, 2), day = number(8, 2), hour = number(11, 2), minute = number(14, 2),
       second = number(17, 2);
  if (!year || !month || !day || !hour || !minute || !second || input[4] != '-' || input[7] != '-' ||
      input[10] != 'T' || input[13] != ':' || input[16] != ':')
    return bad();
  if (*month < 1 || *month > 12 || *day < 1 || *day > days_in(*year, *month) || *hour > 23 || *minute > 59 ||
      *second > 60)
    return bad();
  std::int64_t micros = 0;
  auto rest = input.substr(19);
  if (!rest.empty() && rest[0] == '.') {
    auto end = rest.find_first_not_of("0123456789", 1);
    auto digits = std::string(rest.substr(1, end == rest.npos ? rest.npos : end - 1));
    if (digits.empty() || digits.size() > 9) return bad();
    digits.resize(6, '0');
    micros = static_cast<std::int64_t>(*text::parse_u64(digits));
    rest = end == rest.npos ? std::string_view{} : rest.substr(end);
  }
  if (rest != "Z" && rest != "+00:00") return bad();
  std::tm tm{};
  tm.tm_year = static_cast<int>(*year) - 1900;
  tm.tm_mon = static_cast<int>(*month) - 1;
  tm.tm_mday = static_cast<int>(*day);
  tm.tm_hour = static_cast<int>(*hour);
  tm.tm_min = static_cast<int>(*minute);
  tm.tm_sec = static_cast<int>(*second);
  return static_cast<std::int64_t>(::timegm(&tm)) * 1'000'000 + micros;
}

std::string random_hex(std::size_t bytes) {
  std::vector<std::uint8_t> buffer(bytes);
  for (std::size_t done = 0; done < bytes;) {
    auto n = ::getrandom(buffer.data() + done, bytes - done, 0);
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  return text::hex(buffer);
}

namespace {
std::atomic<bool> g_interrupted{
    false}; // the one exception to "no global state": a signal handler can reach nothing else
void on_signal(int) { g_interrupted = true; }
} // namespace

void install_interrupt_handlers() {
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESETHAND; // a second Ctrl-C ends the program at once
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}
bool interrupted() { return g_interrupted; }
Result<void> check_interrupted() {
  if (interrupted()) return fail(ErrorKind::cancelled, "D006", "interrupted", "run the same command again");
  return {};
}

Result<void> pause_ms(std::uint64_t milliseconds) {
  constexpr std::uint64_t k_step_ms = 100; // how late an interruption is seen
  for (std::uint64_t left = milliseconds; left > 0;) {
    TRY_DO(check_interrupted());
    auto step = std::min(left, k_step_ms);
    std::this_thread::sleep_for(std::chrono::milliseconds(step));
    left -= step;
  }
  return {};
}

} // namespace quarry::sys
