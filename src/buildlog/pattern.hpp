#pragma once
// Patterns of log lines, and many of them against one line. A pattern is the whole line: text, `*` (any run of
// characters, also none), `#` (a number such as 42, 1,234 or 3.5, with blanks before it); `\` takes the next character
// as it is. Pure. Cost: a line that no pattern's beginning fits is read once, whatever the number of patterns.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::buildlog {

constexpr std::size_t k_pattern_bytes_max = 512; ///< longer than any line that is worth a rule
constexpr std::size_t k_words_max = 64;          ///< of one Finder: one bit each

class Pattern {
public:
  /// nullopt if the text is empty, longer than k_pattern_bytes_max, ends in `\`, or has neither text nor `#`.
  static std::optional<Pattern> parse(std::string_view text);
  bool matches(std::string_view line) const;
  const std::string& text() const { return text_; }
  /// Characters that a matching line can begin with; all of them if the pattern begins with `*`.
  bool begins_anywhere() const;
  std::string_view begin_characters() const;
  /// The longest literal part; empty if the pattern has no literal part.
  std::string_view longest() const;

private:
  enum class Kind : std::uint8_t { literal, number, any };
  struct Part {
    Kind kind;
    std::string text;
  };
  std::optional<std::size_t> take(const Part& part, std::string_view line, std::size_t at) const;
  std::string text_;
  std::vector<Part> parts_;
};

/// Finds which of up to k_words_max words are in a line, in one pass (Aho and Corasick, 1975). ASCII case is ignored.
class Finder {
public:
  Finder() = default;
  explicit Finder(std::span<const std::string> words);
  /// Bit i is set if word i is in the line.
  std::uint64_t scan(std::string_view line) const;

private:
  std::array<std::uint8_t, 256> class_{};
  std::vector<std::uint32_t> next_; ///< (state << shift_) + class -> state << shift_
  std::vector<std::uint64_t> found_;
  unsigned shift_ = 0;
};

/// Patterns with numbers, against one line. Patterns that begin with text are looked at first.
class PatternSet {
public:
  struct Match {
    int rule = -1;           ///< the number of the first pattern that fits; -1: none
    std::uint64_t words = 0; ///< which watched words are in the line; 0 if a beginning decided
  };
  /// `watch`: words whose presence match() reports as well.
  explicit PatternSet(std::vector<std::string> watch = {});
  /// False if the bounds of Finder are reached. `rule` is what match() reports.
  bool add(Pattern pattern, int rule);
  void compile(); ///< after the last add()
  Match match(std::string_view line) const;
  std::uint64_t watched_in(std::string_view line) const; ///< Match::words, also where a beginning decided

private:
  struct Entry {
    Pattern pattern;
    int rule;
    std::uint64_t word = 0; ///< the bit of its longest text, for patterns that begin anywhere
  };
  std::vector<std::string> words_;
  std::size_t watched_;
  std::vector<Entry> entries_;
  std::array<std::vector<std::uint16_t>, 256> by_first_;
  std::vector<std::uint16_t> anywhere_;
  std::uint64_t anywhere_words_ = 0;
  Finder finder_;
};

} // namespace quarry::buildlog
