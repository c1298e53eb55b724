#include "derive/occurrences.hpp"

#include "base/ascii.hpp"
#include "derive/sdist.hpp"
#include "sys/path.hpp"
#include "thread/pool.hpp"
#include "zip/reader.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <utility>

namespace quarry::derive {

namespace {

using ascii::is_digit;

Finding occurrence(const Package& package, const std::string& member, std::uint64_t count,
                   const SearchOptions& options) {
  return {"O104", Severity::warning, fmt::format("{}!{}", package.file_name, member),
          fmt::format("holds `{}`{}", options.version, count > 1 ? fmt::format(" {} times", count) : ""),
          "look at it: a text may stay, a check of versions would fail"};
}

Result<Findings> find_in_wheel(const Package& package, const SearchOptions& options) {
  Findings broken;
  auto zip = zip::Reader::open(package.bytes, package.file_name, broken);
  if (!zip || has_errors(broken))
    return fail(ErrorKind::corrupt, "W010", package.file_name + " is not a sound wheel",
                "`quarry wheel verify` lists everything");
  const auto& members = zip->members();
  std::vector<std::uint64_t> counts(members.size());
  TRY_DO(parallel_for(members.size(), options.workers, [&](std::size_t i) -> Result<void> {
    if (members[i].is_directory) return {};
    WordCounter counter(options.version);
    TRY_DO(zip->read(members[i], [&](std::span<const std::byte> piece) -> Result<void> {
      counter.feed({reinterpret_cast<const char*>(piece.data()), piece.size()});
      return {};
    }));
    counts[i] = counter.finish();
    return {};
  }));
  Findings found;
  for (std::size_t i = 0; i < members.size(); ++i)
    if (counts[i]) found.push_back(occurrence(package, members[i].name, counts[i], options));
  return found;
}

Result<Findings> find_in_sdist(const Package& package, const SearchOptions& options) {
  TRY(auto sdist, read_sdist(package.file_name, package.bytes));
  Findings found;
  for (const auto& member : sdist.members) {
    WordCounter counter(options.version);
    counter.feed(member.content);
    if (auto count = counter.finish()) found.push_back(occurrence(package, member.path, count, options));
  }
  return found;
}

} // namespace

void WordCounter::feed(std::string_view piece) {
  window_ += piece;
  count(false);
}

std::uint64_t WordCounter::finish() {
  count(true);
  window_.clear();
  begun_ = false;
  return std::exchange(found_, 0);
}

/// Looks at every place of the window behind which one more byte is known, or all places at the end. Keeps what the
/// next piece may complete, and the byte before it.
void WordCounter::count(bool last) {
  std::size_t at = begun_ ? 1 : 0, done = at;
  for (;;) {
    auto found = window_.find(word_, at);
    if (found == window_.npos) break;
    auto end = found + word_.size();
    if (end == window_.size() && !last) break;
    bool whole = (found == 0 || !is_digit(window_[found - 1])) && (end == window_.size() || !is_digit(window_[end]));
    found_ += whole;
    at = done = found + 1;
  }
  if (last || window_.size() <= word_.size()) return;
  auto keep_from = std::max(done, window_.size() - word_.size()) - 1;
  window_.erase(0, keep_from);
  begun_ = true;
}

Result<Findings> find_occurrences(const Package& package, const SearchOptions& options) {
  return package.file_name.ends_with(".whl") ? find_in_wheel(package, options) : find_in_sdist(package, options);
}

} // namespace quarry::derive
