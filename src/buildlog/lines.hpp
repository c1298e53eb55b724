#pragma once
// Lines of a log, as a program printed them: without the time stamps of GitHub (`2026-02-24T10:11:12.1234567Z `), of
// teatime (`12.3<TAB>`) and of docker's steps (`#12 34.5 `), without the job and step that `gh run view --log` puts
// before a stamp (`build<TAB>Compile<TAB>2026-…Z `), without ANSI escapes, carriage returns and a byte order mark.
// Bytes in blocks go in, one line at a time comes out; a line is a view into the block, or into a buffer of the
// splitter if it crosses two blocks or holds escapes.
#include "base/ascii.hpp"
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace quarry::buildlog {

/// What is looked at of one line; the rest is counted and skipped. Diagnostics and commands are shorter.
constexpr std::size_t k_line_bytes_max = 64u << 10;
constexpr std::int64_t k_no_time = INT64_MIN;

/// Logs are bytes: only ASCII digits count, whatever the locale.
using ascii::is_digit;

struct Line {
  std::string_view text;            ///< valid until the next line
  std::uint64_t number = 0;         ///< from 1
  std::uint64_t bytes = 0;          ///< as stored, with its end
  std::int64_t time_us = k_no_time; ///< since 1970, or since the log began (teatime)
  int step = 0;                     ///< the docker build step that printed it; 0: none
  std::string_view job, job_step;   ///< what `gh run view --log` writes before the line; empty in other logs
};

class LineSplitter {
public:
  explicit LineSplitter(std::function<void(const Line&)> take) : take_(std::move(take)) {}
  void feed(std::string_view block);
  void finish(); ///< a last line without its end

private:
  void line(std::string_view raw, std::uint64_t bytes);
  std::function<void(const Line&)> take_;
  std::string partial_, plain_;
  std::uint64_t partial_bytes_ = 0, number_ = 0;
  bool controls_ = false; ///< the block, or what is left of the one before, has escapes or carriage returns
  std::string minute_;    ///< "2026-02-24T10:11:" of the last stamp, and its microseconds
  std::int64_t minute_us_ = 0;
  friend struct Stamps;
};

/// The job of "JOB<TAB>STEP<TAB>2026-02-24T10:11:12.1234567Z text", as `gh run view --log` prints it; empty for other
/// lines.
std::string_view job_of_line(std::string_view line);

/// "2026-02-24" as days since 1970; -1 if it is not such a date. Also for `--today`.
std::int64_t days_of(std::string_view date);

} // namespace quarry::buildlog
