#pragma once
// How long work shows itself: bars that are redrawn on a terminal, or a line each 10 s. Not thread-safe: the printer
// locks.
#include "cli/output.hpp"
#include <cstdint>
#include <list>
#include <string>

namespace quarry::cli {

/// One piece of work as it stands.
struct Work {
  std::string label;
  std::uint64_t total = 0, done = 0; ///< bytes; total 0: unknown
  std::uint64_t started_ns = 0, shown_ns = 0;
};

/// "61%  1.2 GB  412 MB/s  0:02": share, bytes, rate since the start, time left. Without a total: "1.2 GB  412 MB/s".
std::string progress_facts(const Work& work, std::uint64_t now_ns);
/// "61%  1.2 GB": for a narrow terminal.
std::string progress_share(const Work& work);
/// "label  [#####-----]  facts", shorter than `columns` so that it never wraps. Where that is too little, the bar is
/// narrowed, then left out, then rate and time go; the label is shortened last. `label_width`: of the longest label
/// that is shown, so that the bars of several works are aligned.
std::string progress_bar(const Work& work, std::uint64_t now_ns, unsigned columns, std::size_t label_width = 0);
/// "0:02", "1:02:03".
std::string clock_time(std::uint64_t seconds);

/// Everything under way. What it returns is to be written to the terminal.
class ProgressBoard {
public:
  ProgressBoard(ProgressMode mode, unsigned columns) : mode_(mode), columns_(columns) {}
  using Entry = std::list<Work>::iterator;
  Entry add(std::string label, std::uint64_t total, std::uint64_t now_ns);
  std::string update(Entry entry, std::uint64_t done, std::uint64_t now_ns);
  std::string remove(Entry entry, std::uint64_t now_ns);
  std::string clear();                    ///< takes the bars off the screen, before other text
  std::string draw(std::uint64_t now_ns); ///< puts them back
  std::string redrawn(std::uint64_t now_ns) { return redraw(now_ns); } ///< at once, when work begins

private:
  std::string redraw(std::uint64_t now_ns);
  ProgressMode mode_;
  unsigned columns_;
  std::list<Work> works_;
  std::size_t drawn_ = 0;
  std::uint64_t drawn_ns_ = 0;
};

} // namespace quarry::cli
