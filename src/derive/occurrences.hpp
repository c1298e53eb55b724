#pragma once
// Private to the room.
// Finds files that still contain the candidate's version.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "derive/package.hpp"
#include <string>

namespace quarry::derive {

struct SearchOptions {
  std::string version; ///< as it is written: "7.2.0rc1"
  unsigned workers = 1;
};
/// Returns a warning O104 for each file inside the package that contains `version` as a word, not as a part of a longer
/// number. Does not open compressed files inside the package. Costs inflating the package, on `workers` threads.
Result<Findings> find_occurrences(const Package& package, const SearchOptions& options);

/// Counts whole occurrences of a word in a stream of pieces.
class WordCounter {
public:
  explicit WordCounter(std::string word) : word_(std::move(word)) {}
  void feed(std::string_view piece);
  std::uint64_t finish(); ///< returns the count, and resets the counter

private:
  void count(bool last);
  std::string word_, window_;
  std::uint64_t found_ = 0;
  bool begun_ = false; ///< whether the first byte of window_ is the one before the word
};

} // namespace quarry::derive
