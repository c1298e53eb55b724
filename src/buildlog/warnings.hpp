#pragma once
// Warnings of compilers, of Python and of the rules' [[warning]], each counted once by what it says; deprecations with
// the day or version from which on they break a build. One subject with two deadlines is two deprecations. Memory is
// bounded by k_warnings_max.
#include "buildlog/lines.hpp"
#include "buildlog/rules.hpp"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::buildlog {

constexpr std::size_t k_warnings_max = 10'000;  ///< different ones of one log; the others are counted together
constexpr std::uint64_t k_block_lines_max = 24; ///< lines below a warning that explain it; setuptools prints 12

struct Warning {
  std::string flag, message; ///< "-Wattributes", "UserWarning", a rule's name; the message as first seen
  std::string place;         ///< file and line of the source, as first seen
  std::uint64_t count = 0, first = 0;
};

struct Deprecation {
  std::string subject;   ///< "SetuptoolsDeprecationWarning: Pattern 'LICENSE.txt' did not match any files."
  std::string deadline;  ///< as written: "2026-Mar-20", "Python 3.14"; empty: none is named
  std::int64_t day = -1; ///< the deadline in days since 1970, -1 if it is not a day
  std::uint64_t count = 0, first = 0;
};

/// The first day that a text names, as 2026-Mar-20, 2026-03-20, 2026/03/20, March 20, 2026 or 20 March 2026; without a
/// day, "in March 2026" is its first one and "until March 2026" its last one.
struct NamedDay {
  std::string text;
  std::int64_t day = -1;
};
std::optional<NamedDay> find_day(std::string_view text);

class WarningCounter {
public:
  void compiler(const Line& line); ///< "x.cpp:12:3: warning: text [-Wflag]"
  /// A line with one of the words of rules.hpp; `words` has their bits. Returns whether it is a warning or deprecation.
  bool words(const Line& line, std::uint64_t words);
  /// A line of a [[warning]] that words() did not count.
  void by_rule(const Line& line, const WarningRule& rule);
  /// Every line that is neither: it may explain a deprecation above it.
  void other(const Line& line);
  void finish();

  std::vector<Warning> warnings() const;         ///< most frequent first
  std::vector<Deprecation> deprecations() const; ///< the nearest deadline first, those without one last
  std::uint64_t uncounted() const { return uncounted_; }

private:
  void close(); ///< what explains the open deprecation is complete
  void close_headed(std::string_view message);
  void count(const std::string& key, Warning fresh); ///< one more of the warnings with this key
  std::map<std::string, Warning, std::less<>> warnings_;
  std::map<std::string, Deprecation, std::less<>> deprecations_;
  std::optional<Deprecation> open_;
  std::optional<Warning> headed_; ///< its message comes below
  std::string detail_;
  bool framed_ = false; ///< setuptools' frame has begun
  std::uint64_t open_lines_ = 0, uncounted_ = 0;
};

} // namespace quarry::buildlog
