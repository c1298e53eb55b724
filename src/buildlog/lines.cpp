#include "buildlog/lines.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <charconv>
#include <chrono>

namespace quarry::buildlog {

namespace {

int two(std::string_view text, std::size_t at) { return (text[at] - '0') * 10 + (text[at + 1] - '0'); }

bool digits(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_digit); }

/// CSI sequences (ECMA-48: ESC [ … final byte), two-byte sequences, and other control characters but the tab.
void copy_plain(std::string_view raw, std::string& into) {
  into.clear();
  for (std::size_t i = 0; i < raw.size(); ++i) {
    auto c = static_cast<unsigned char>(raw[i]);
    if (c != 0x1b) {
      if (c >= 0x20 || c == '\t') into += raw[i];
      continue;
    }
    if (i + 1 >= raw.size()) break;
    if (raw[++i] != '[') continue;
    while (i + 1 < raw.size() && !(raw[i + 1] >= 0x40 && raw[i + 1] <= 0x7e)) ++i;
    ++i;
  }
}

/// The seconds and the length of "12.3\t" at the beginning; length 0 if it is not there.
std::pair<double, std::size_t> teatime_stamp(std::string_view text) {
  constexpr std::size_t k_digits_max = 12; // a year has 8
  auto tab = text.substr(0, k_digits_max).find('\t');
  if (tab == text.npos || tab == 0) return {0, 0};
  double value = 0;
  auto figure = text.substr(0, tab);
  auto [end, error] = std::from_chars(figure.data(), figure.data() + figure.size(), value);
  bool whole = error == std::errc{} && end == figure.data() + figure.size() && text[tab - 1] != '.';
  return whole && is_digit(text[0]) && text.find('.') < tab ? std::pair{value, tab + 1}
                                                            : std::pair{0.0, std::size_t{0}};
}

/// "JOB<TAB>STEP<TAB>" of `gh run view --log`, and the byte order mark with which GitHub begins a file; length 0 if a
/// digit of a stamp does not follow.
struct GhPrefix {
  std::string_view job, step;
  std::size_t length = 0;
};
GhPrefix gh_prefix(std::string_view text) {
  auto first = text.find('\t');
  auto second = first == text.npos ? first : text.find('\t', first + 1);
  if (second == text.npos || first == 0) return {};
  auto length = second + 1;
  if (text.substr(length).starts_with("\xEF\xBB\xBF")) length += 3;
  if (length >= text.size() || !is_digit(text[length])) return {};
  return {text.substr(0, first), text.substr(first + 1, second - first - 1), length};
}

/// "#12 34.56 text" of docker's plain progress: the step and the length of what stands before the text.
std::pair<int, std::size_t> docker_stamp(std::string_view text) {
  std::size_t at = 1;
  int step = 0;
  while (at < text.size() && at < 6 && is_digit(text[at])) step = step * 10 + (text[at++] - '0');
  if (at == 1 || at >= text.size() || text[at] != ' ') return {0, 0};
  auto begin = ++at;
  while (at < text.size() && is_digit(text[at])) ++at;
  if (at == begin || at >= text.size() || text[at] != '.') return {0, 0};
  auto point = ++at;
  while (at < text.size() && is_digit(text[at])) ++at;
  if (at == point || (at < text.size() && text[at] != ' ')) return {0, 0};
  return {step, std::min(at + 1, text.size())};
}
} // namespace

std::string_view job_of_line(std::string_view line) {
  auto said = gh_prefix(line);
  auto stamp = line.substr(said.length);
  bool stamped = said.length > 0 && stamp.size() > 27 && stamp[10] == 'T' && stamp[19] == '.' && stamp[27] == 'Z' &&
                 days_of(stamp.substr(0, 10)) >= 0;
  return stamped ? said.job : std::string_view();
}

std::int64_t days_of(std::string_view date) {
  if (date.size() != 10 || date[4] != '-' || date[7] != '-' || !digits(date.substr(0, 4)) ||
      !digits(date.substr(5, 2)) || !digits(date.substr(8)))
    return -1;
  int year = two(date, 0) * 100 + two(date, 2);
  std::chrono::year_month_day day{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(two(date, 5))),
                                  std::chrono::day(static_cast<unsigned>(two(date, 8)))};
  return day.ok() ? std::chrono::sys_days(day).time_since_epoch().count() : -1;
}

/// The stamp of GitHub's logs: 20 characters of date and time, 7 digits of a fraction, "Z ". Lines of the same minute
/// share the first 17 characters, which are read once.
struct Stamps {
  static constexpr std::size_t k_length = 29, k_minute = 17;
  static bool read(LineSplitter& splitter, std::string_view text, std::int64_t& time) {
    if (text.size() < k_length - 1 || text[19] != '.' || text[27] != 'Z') return false;
    if (text.size() >= k_length && text[28] != ' ') return false;
    std::int64_t tail = 0; // of seconds, fraction: 9 digits
    for (std::size_t i = k_minute; i < 27; ++i) {
      if (i == 19) continue;
      auto digit = static_cast<unsigned char>(text[i]) - unsigned{'0'};
      if (digit > 9) return false;
      tail = tail * 10 + digit;
    }
    if (text.substr(0, k_minute) != splitter.minute_ && !read_minute(splitter, text)) return false;
    time = splitter.minute_us_ + tail / 10;
    return true;
  }
  static bool read_minute(LineSplitter& splitter, std::string_view text) {
    bool shaped = text[10] == 'T' && text[13] == ':' && text[16] == ':' && digits(text.substr(11, 2)) &&
                  digits(text.substr(14, 2));
    auto day = shaped ? days_of(text.substr(0, 10)) : -1;
    if (day < 0) return false;
    splitter.minute_ = text.substr(0, k_minute);
    splitter.minute_us_ = day * 86'400'000'000 + (two(text, 11) * 3600 + two(text, 14) * 60) * std::int64_t{1'000'000};
    return true;
  }
};

void LineSplitter::line(std::string_view raw, std::uint64_t bytes) {
  Line out;
  out.number = ++number_;
  out.bytes = bytes;
  auto text = raw;
  if (number_ == 1 && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  bool digit = !text.empty() && is_digit(text.front());
  if (digit && Stamps::read(*this, text, out.time_us)) {
    text.remove_prefix(std::min(Stamps::k_length, text.size()));
  } else if (auto said = gh_prefix(text);
             said.length > 0 && Stamps::read(*this, text.substr(said.length), out.time_us)) {
    out.job = said.job;
    out.job_step = said.step;
    text.remove_prefix(std::min(said.length + Stamps::k_length, text.size()));
  } else if (digit) {
    if (auto [seconds, length] = teatime_stamp(text); length > 0) {
      out.time_us = static_cast<std::int64_t>(seconds * 1e6);
      text.remove_prefix(length);
    }
  }
  if (controls_) {
    // A bar that draws over itself: what a person would see is what was drawn last.
    if (auto carriage = text.rfind('\r'); carriage != text.npos) text.remove_prefix(carriage + 1);
    if (text.find('\x1b') != text.npos) {
      copy_plain(text, plain_);
      text = plain_;
    }
  }
  if (!text.empty() && text.front() == '#')
    if (auto [step, length] = docker_stamp(text); length > 0) {
      out.step = step;
      text.remove_prefix(length);
    }
  out.text = text;
  take_(out);
}

void LineSplitter::feed(std::string_view block) {
  // Most blocks have neither, and two fast searches of a block are cheaper than two for each line.
  auto has = [&](char c) { return block.find(c) != block.npos; };
  controls_ = (partial_bytes_ > 0 && controls_) || has('\r') || has('\x1b');
  while (!block.empty()) {
    auto end = block.find('\n');
    auto piece = block.substr(0, end);
    if (end == block.npos) {
      partial_.append(piece.substr(0, k_line_bytes_max - std::min(partial_.size(), k_line_bytes_max)));
      partial_bytes_ += piece.size();
      return;
    }
    block.remove_prefix(end + 1);
    if (partial_bytes_ == 0) {
      line(piece.substr(0, k_line_bytes_max), piece.size() + 1);
      continue;
    }
    partial_.append(piece.substr(0, k_line_bytes_max - std::min(partial_.size(), k_line_bytes_max)));
    line(partial_, partial_bytes_ + piece.size() + 1);
    partial_.clear();
    partial_bytes_ = 0;
  }
}

void LineSplitter::finish() {
  if (partial_bytes_ == 0) return;
  line(partial_, partial_bytes_);
  partial_.clear();
  partial_bytes_ = 0;
}

} // namespace quarry::buildlog
