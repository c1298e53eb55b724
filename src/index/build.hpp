#pragma once
// `index build`: a directory of distributions becomes an index that pip and uv install from, as files or served.
#include "base/result.hpp"
#include "index/pages.hpp"
#include "sys/clock.hpp"
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace quarry::index {

struct BuildOptions {
  std::string directory; ///< holds wheels and source distributions, directly or in dist/
  std::string output;    ///< of the pages; empty: `directory`
  unsigned workers = 1;
  std::function<void(std::uint64_t bytes)>
      on_progress; ///< bytes of distributions verified so far; from any one thread at a time
};

/// What is to be done, before anything is written.
struct BuildPlan {
  std::string output;                      ///< absolute
  std::vector<registry::FileRecord> files; ///< sorted by file name; key = path below `output`
  struct Placed {
    std::string from, to; ///< absolute; from != to only when `output` does not hold the directory
    std::string sidecar;  ///< bytes of `{to}.metadata`; empty: none
  };
  std::vector<Placed> placed;     ///< parallel to `files`
  std::vector<Page> pages;        ///< leaves first
  std::vector<std::string> stale; ///< pages of ours for projects that are gone, below `output`
};

/// Verifies every distribution. not_found I001 when there is none; already_exists I003 for two files that are one
/// distribution. Upload times and yanks of files that an earlier index of ours lists with the same sha256 are kept, so
/// that building twice gives the same bytes.
Result<BuildPlan> plan_build(const BuildOptions& options, const sys::Clock& clock);

struct BuildResult {
  std::size_t files_placed = 0, sidecars_written = 0, pages_written = 0, pages_removed = 0;
  std::size_t writes() const { return files_placed + sidecars_written + pages_written + pages_removed; }
};
/// Files, then sidecars, then pages, then the removal of stale pages: a page never mentions what is not there. Each
/// file appears whole or not at all, and what is already right is not touched; killed anywhere, the next run completes
/// it.
Result<BuildResult> execute_build(const BuildPlan& plan);

} // namespace quarry::index
