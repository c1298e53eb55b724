#pragma once
// `index check`: is every page true? Read-only; works on an index of anybody's making, in a directory, in object
// storage or on a web server.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "index/read_page.hpp"
#include "index/site.hpp"
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace quarry::index {

struct CheckOptions {
  unsigned workers = 1;
  std::function<void(std::uint64_t bytes)> on_progress =
      {};                                 ///< bytes of distributions read so far; from any one thread at a time
  std::vector<std::string> projects = {}; ///< only these; empty: all
  bool contents = true;                   ///< false: files are looked at, not read: no hashes, no metadata of wheels
  /// Whether a setting leaves the find-links page to another tool; asked once, where one wrote it. Empty: it does not.
  std::function<Result<bool>(Site&)> find_links_left = {};
};

struct CheckReport {
  Findings
      findings; ///< sorted by place; I010-I025, I040, I041, and those of `wheel verify` for files that are not sound
  std::size_t pages = 0, projects = 0, files = 0;
  bool altered = false; ///< some bytes are not what a page says, or a file is broken: exit 6 rather than 1
};

/// Every page is read, every local link followed, every file hashed, every wheel verified and its sidecar compared. A
/// page of another tool between ours is named (I025); besides, it is judged by what is false on it alone
/// (`other_tool.hpp`).
/// not_found I001 when there is no index, I008 when a server lists a directory that is not one. resource_exhausted
/// I007: a server lists more projects than are read unasked.
Result<CheckReport> check_index(Site& site, const CheckOptions& options);
Result<CheckReport> check_index(const std::string& directory, const CheckOptions& options);
/// The exit code of the command: 0, 1 or 6.
int exit_code(const CheckReport& report);

/// Where two pages about the same project (HTML and JSON, or two mirrors) differ: one I015 each. Order does not count;
/// size and upload time only where both have them, since the HTML form has no place for them.
Findings compare_pages(const IndexPage& left, const IndexPage& right, std::string_view place);

} // namespace quarry::index
