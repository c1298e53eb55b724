#include "cli/progress.hpp"

#include "base/units.hpp"
#include "cli/table.hpp"
#include <algorithm>
#include <cmath>
#include <fmt/core.h>

namespace quarry::cli {

namespace {
constexpr std::uint64_t k_second_ns = 1'000'000'000;
constexpr std::uint64_t k_line_every_ns = 10 * k_second_ns; // often enough for a log, too seldom to flood it
constexpr std::uint64_t k_bar_every_ns = k_second_ns / 10;  // the eye sees no more
constexpr std::uint64_t k_rate_after_ns = k_second_ns / 2;  // a rate of the first moments is noise
constexpr std::size_t k_bars_max = 8;                       // more would push the text off the screen
constexpr unsigned k_columns_min = 20;
constexpr std::size_t k_bar_min = 8, k_bar_max = 40; // cells; fewer say nothing, more are not easier to read
constexpr std::size_t k_label_max = 60;
constexpr std::size_t k_facts_width = 33; // "100%  100.0 MB  100.0 MB/s  10:00": the bar keeps its place as they change
constexpr std::size_t k_bar_gap = 2;

std::string padded(std::string text, std::size_t width) {
  return text + std::string(width - std::min(width, width_of(text)), ' ');
}

std::string bar_of(const Work& work, std::size_t cells) {
  auto done = std::min(work.done, work.total);
  auto filled = static_cast<std::size_t>(static_cast<double>(cells) * static_cast<double>(done) /
                                         static_cast<double>(work.total));
  return "[" + std::string(filled, '#') + std::string(cells - filled, '-') + "]";
}
} // namespace

std::string clock_time(std::uint64_t seconds) {
  if (seconds >= 3600) return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
  return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
}

std::string progress_share(const Work& work) {
  if (!work.total) return units::bytes(work.done);
  auto done = std::min(work.done, work.total);
  return fmt::format("{:3}%  {}",
                     static_cast<unsigned>(100.0 * static_cast<double>(done) / static_cast<double>(work.total)),
                     units::bytes(done));
}

std::string progress_facts(const Work& work, std::uint64_t now_ns) {
  std::uint64_t passed = now_ns > work.started_ns ? now_ns - work.started_ns : 0;
  auto done = work.total ? std::min(work.done, work.total) : work.done;
  auto text = progress_share(work);
  if (passed < k_rate_after_ns || done == 0) return text;
  double rate = static_cast<double>(done) * static_cast<double>(k_second_ns) / static_cast<double>(passed);
  text += fmt::format("  {}/s", units::bytes(static_cast<std::uint64_t>(rate)));
  if (work.total)
    text += "  " + clock_time(static_cast<std::uint64_t>(std::llround(static_cast<double>(work.total - done) / rate)));
  return text;
}

std::string progress_bar(const Work& work, std::uint64_t now_ns, unsigned columns, std::size_t label_width) {
  std::size_t width = std::max(columns, k_columns_min) - 1; // a full line wraps on some terminals
  auto label = std::clamp<std::size_t>(label_width, width_of(work.label), k_label_max);
  auto facts = progress_facts(work, now_ns);
  auto around_bar = label + k_bar_gap + 2 + k_bar_gap + k_facts_width;
  if (work.total && around_bar + k_bar_min <= width)
    return padded(shortened(work.label, label), label) + "  " + bar_of(work, std::min(k_bar_max, width - around_bar)) +
           "  " + facts;
  if (label + k_bar_gap + width_of(facts) > width) facts = progress_share(work);
  auto room = width - std::min(width, k_bar_gap + width_of(facts));
  return shortened(padded(shortened(work.label, std::min(room, label)), std::min(room, label)) + "  " + facts, width);
}

ProgressBoard::Entry ProgressBoard::add(std::string label, std::uint64_t total, std::uint64_t now_ns) {
  return works_.insert(works_.end(), Work{std::move(label), total, 0, now_ns, now_ns});
}

std::string ProgressBoard::update(Entry entry, std::uint64_t done, std::uint64_t now_ns) {
  entry->done = std::max(entry->done, done); // workers report out of order
  if (mode_ == ProgressMode::bar) return now_ns - drawn_ns_ >= k_bar_every_ns ? redraw(now_ns) : "";
  if (mode_ == ProgressMode::none || now_ns - entry->shown_ns < k_line_every_ns) return "";
  entry->shown_ns = now_ns;
  return entry->label + "  " + progress_facts(*entry, now_ns) + "\n";
}

std::string ProgressBoard::remove(Entry entry, std::uint64_t now_ns) {
  works_.erase(entry);
  return drawn_ ? redraw(now_ns) : "";
}

std::string ProgressBoard::redraw(std::uint64_t now_ns) {
  auto text = clear();
  return text += draw(now_ns);
}

std::string ProgressBoard::clear() {
  std::string text;
  for (std::size_t i = 0; i < drawn_; ++i) text += i ? "\x1b[1A\r\x1b[K" : "\r\x1b[K";
  drawn_ = 0;
  return text;
}

std::string ProgressBoard::draw(std::uint64_t now_ns) {
  if (mode_ != ProgressMode::bar) return "";
  std::string text;
  std::size_t label_width = 0;
  for (const auto& work : works_) label_width = std::max(label_width, width_of(work.label));
  for (const auto& work : works_) {
    if (drawn_ == k_bars_max) break;
    text += (drawn_++ ? "\n" : "") + progress_bar(work, now_ns, columns_, label_width);
  }
  drawn_ns_ = now_ns;
  return text;
}

} // namespace quarry::cli
