#pragma once
// Private to the room.
// Files that still name the candidate's version.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "derive/package.hpp"
#include <string>

namespace quarry::derive {

/// Warnings O104, one for each file inside the package whose content holds `version` as a word: not as a part of a
/// longer number. Compressed files inside the package are not opened. Costs inflating the package, on `workers`
/// threads.
struct SearchOptions {
  std::string version; ///< as it is written: "7.2.0rc1"
  unsigned workers = 1;
};
Result<Findings> find_occurrences(const Package& package, const SearchOptions& options);

/// Counts whole occurrences of a word in a stream of pieces.
class WordCounter {
public:
  explicit WordCounter(std::string word) : word_(std::move(word)) {}
  void feed(std::string_view piece);
  std::uint64_t finish(); ///< the count; the counter begins anew

private:
  void count(bool last);
  std::string word_, window_;
  std::uint64_t found_ = 0;
  bool begun_ = false; ///< whether window_ begins with a byte that was looked at before
};

} // namespace quarry::derive
