#include "buildlog/noise.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "buildlog/lines.hpp"
#include <algorithm>
#include <charconv>
#include <fmt/core.h>

namespace quarry::buildlog {

namespace {
constexpr std::string_view k_stuck = "Bazel progress of stuck actions";

/// A number with commas, and blanks before it; moves `at` behind it.
bool take_number(std::string_view line, std::size_t& at, std::uint64_t& into) {
  while (at < line.size() && line[at] == ' ') ++at;
  auto begin = at;
  into = 0;
  constexpr std::size_t k_digits_max = 15;
  for (; at < line.size() && at - begin < k_digits_max && (is_digit(line[at]) || (line[at] == ',' && at > begin)); ++at)
    if (line[at] != ',') into = into * 10 + static_cast<std::uint64_t>(line[at] - '0');
  return at > begin;
}

/// "Compiling x.cc; 512s local" to the action and its seconds.
void parse_action(std::string_view text, BazelProgress& into) {
  if (auto running = text.find(" running; "); running != text.npos) text.remove_prefix(running + 10);
  if (auto end = text.find(" ... ("); end != text.npos) text = text.substr(0, end);
  auto semicolon = text.rfind("; ");
  if (semicolon == text.npos) {
    into.action = text::trim(text);
    return;
  }
  auto figure = text.substr(semicolon + 2);
  unsigned seconds = 0;
  auto [end, error] = std::from_chars(figure.data(), figure.data() + figure.size(), seconds);
  bool timed = error == std::errc{} && end < figure.data() + figure.size() && *end == 's';
  if (timed) into.seconds = seconds;
  into.action = text::trim(timed ? text.substr(0, semicolon) : text);
}

/// U+007F to U+009F, U+061C, U+200E, U+200F, U+202A to U+202E and U+2066 to U+2069, in valid UTF-8.
std::string without_hidden_controls(std::string text) {
  auto hides = [&](std::size_t at) -> std::size_t { // the length of what is replaced
    auto byte = [&](std::size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u; };
    if (byte(0) == 0x7F) return 1;
    if (byte(0) == 0xC2) return byte(1) <= 0x9F ? 2 : 0;
    if (byte(0) == 0xD8) return byte(1) == 0x9C ? 2 : 0;
    if (byte(0) != 0xE2 || (byte(1) != 0x80 && byte(1) != 0x81)) return 0;
    auto last = byte(2);
    bool turns =
        byte(1) == 0x81 ? last >= 0xA6 && last <= 0xA9 : last == 0x8E || last == 0x8F || (last >= 0xAA && last <= 0xAE);
    return turns ? 3 : 0;
  };
  for (std::size_t at = 0; (at = text.find_first_of("\x7F\xC2\xD8\xE2", at)) != text.npos;)
    if (auto length = hides(at); length > 0) {
      text.replace(at, length, "\xEF\xBF\xBD");
      at += 3;
    } else {
      ++at;
    }
  return text;
}
} // namespace

bool parse_bazel(std::string_view line, BazelProgress& into) {
  into = {};
  if (line.starts_with("    ")) {
    parse_action(line, into);
    return into.seconds >= 0;
  }
  std::size_t at = 1;
  if (!line.starts_with('[') || !take_number(line, at, into.done) || !line.substr(at).starts_with(" / ")) return false;
  at += 3;
  if (!take_number(line, at, into.total) || !line.substr(at).starts_with("]")) return false;
  parse_action(line.substr(at + 1), into);
  return true;
}

std::string shown(std::string_view text, std::size_t max) {
  bool cut = text.size() > max;
  if (cut) {
    auto end = max;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text = text.substr(0, end);
  }
  std::string out(text);
  if (!text::is_valid_utf8(out)) {
    out.clear();
    for (char c : text) // one replacement for each foreign byte: how many there were can be seen
      if (static_cast<unsigned char>(c) < 0x80)
        out += c;
      else
        out += "\xEF\xBF\xBD";
  }
  for (auto& c : out)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  out = without_hidden_controls(std::move(out));
  if (!cut && out.size() <= max) return out;
  constexpr std::string_view k_more = "…"; // counts, as a foreign byte that became three does
  auto room = max - std::min(max, k_more.size());
  if (out.size() > room) {
    while (room > 0 && (static_cast<unsigned char>(out[room]) & 0xC0) == 0x80) --room;
    out.resize(room);
  }
  return max < k_more.size() ? out : out.append(k_more);
}

void NoiseCounter::take(const Line& line, int rule) {
  auto& count = counts_[static_cast<std::size_t>(rule)];
  ++count.lines;
  count.bytes += line.bytes;
  std::string_view subject;
  BazelProgress progress;
  if (rules_.noise[static_cast<std::size_t>(rule)].kind == NoiseRule::Kind::bazel && parse_bazel(line.text, progress))
    subject = progress.action;
  if (rule != now_.rule || subject != now_.run.subject) {
    close();
    now_ = {rule, {{}, std::string(subject), line.number, 0, 0}, 0, line.time_us, line.time_us};
  }
  ++now_.run.lines;
  now_.bytes += line.bytes;
  now_.end_us = line.time_us;
}

void NoiseCounter::interrupt(const Line&) {
  if (now_.rule >= 0) close();
  now_.rule = -1;
}

bool NoiseCounter::continues(const Line& line) const {
  if (now_.rule < 0) return false;
  const auto& patterns = rules_.noise[static_cast<std::size_t>(now_.rule)].continues;
  return std::any_of(patterns.begin(), patterns.end(), [&](const Pattern& p) { return p.matches(line.text); });
}

void NoiseCounter::close() {
  if (now_.rule < 0 || now_.run.lines < k_run_lines_min) return;
  const auto& rule = rules_.noise[static_cast<std::size_t>(now_.rule)];
  now_.run.source = rule.name;
  if (now_.begin_us != k_no_time && now_.end_us != k_no_time) now_.run.span_us = now_.end_us - now_.begin_us;
  if (rule.kind == NoiseRule::Kind::bazel && !now_.run.subject.empty()) {
    now_.run.source = k_stuck;
    auto& count = counts_[static_cast<std::size_t>(now_.rule)];
    count.lines -= now_.run.lines;
    count.bytes -= now_.bytes;
    stuck_.lines += now_.run.lines;
    stuck_.bytes += now_.bytes;
    auto subject = shown(now_.run.subject);
    if (stuck_subjects_.size() < k_subjects_max || stuck_subjects_.contains(subject))
      stuck_subjects_[subject] += now_.run.lines;
  }
  now_.run.subject = shown(now_.run.subject);
  runs_.push_back(now_.run);
  if (runs_.size() >= 2 * k_runs_max) {
    auto kept = runs();
    runs_ = std::move(kept);
  }
}

void NoiseCounter::finish() {
  close();
  now_.rule = -1;
}

std::vector<NoiseRow> NoiseCounter::rows() const {
  std::vector<NoiseRow> rows;
  for (std::size_t i = 0; i < counts_.size(); ++i)
    if (counts_[i].lines > 0)
      rows.push_back({rules_.noise[i].name, rules_.noise[i].hint, "", counts_[i].lines, counts_[i].bytes});
  if (stuck_.lines > 0) {
    auto most = std::max_element(stuck_subjects_.begin(), stuck_subjects_.end(),
                                 [](const auto& a, const auto& b) { return a.second < b.second; });
    auto remark = fmt::format("{} of {}", units::count(most->second), most->first);
    auto bazel = std::find_if(rules_.noise.begin(), rules_.noise.end(),
                              [](const NoiseRule& rule) { return rule.kind == NoiseRule::Kind::bazel; });
    rows.push_back({std::string(k_stuck), bazel->hint, remark, stuck_.lines, stuck_.bytes});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.lines > b.lines; });
  return rows;
}

std::vector<NoiseRun> NoiseCounter::runs() const {
  auto sorted = runs_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.lines > b.lines; });
  if (sorted.size() > k_runs_max) sorted.resize(k_runs_max);
  return sorted;
}

std::uint64_t NoiseCounter::lines() const {
  std::uint64_t sum = stuck_.lines;
  for (const auto& count : counts_) sum += count.lines;
  return sum;
}

std::uint64_t NoiseCounter::lines_of(std::string_view source) const {
  for (std::size_t i = 0; i < counts_.size(); ++i)
    if (rules_.noise[i].name == source) return counts_[i].lines;
  return 0;
}

} // namespace quarry::buildlog
