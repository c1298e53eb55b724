#pragma once
// Words of records that have a fixed meaning: how a test ended, what a move of a channel was. They are parsed when a
// record is read. Value types without I/O, safe to copy between threads.
#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/core.h>
#include <optional>
#include <string>
#include <string_view>

namespace quarry::registry {

/// One of the words of `Words`, as in `Outcome::passed`, or empty. A record of a later version may have another word:
/// it is kept as it was read, so that the record stays readable and keeps its digest, and it equals no known word.
template <class Words> class WordOf : public Words {
public:
  using Kind = typename Words::Kind;

  WordOf() = default;                ///< empty: the record does not say
  WordOf(Kind kind) : kind_(kind) {} ///< NOLINT(google-explicit-constructor): a word is its meaning
  /// Takes any text, as records need it.
  static WordOf read(std::string_view text) {
    auto at = std::find(Words::k_texts.begin(), Words::k_texts.end(), text);
    WordOf word;
    if (at != Words::k_texts.end())
      word.kind_ = static_cast<Kind>(at - Words::k_texts.begin());
    else
      word.other_ = text;
    return word;
  }

  const std::optional<Kind>& kind() const { return kind_; } ///< nullopt: empty, or a word of a later version
  std::string_view text() const { return kind_ ? Words::k_texts.at(static_cast<std::size_t>(*kind_)) : other_; }
  bool operator==(const WordOf& right) const { return kind_ == right.kind_ && other_ == right.other_; }
  bool operator==(Kind kind) const { return kind_ == kind; }

private:
  std::optional<Kind> kind_;
  std::string other_; ///< a word that is not in `Words`
};

/// As a value of JSON: its text.
template <class Json, class Words> void to_json(Json& json, const WordOf<Words>& word) { json = word.text(); }

struct OutcomeWords {
  enum Kind : std::uint8_t { passed, failed, skipped, error, timed_out };
  static constexpr std::array<std::string_view, 5> k_texts = {"passed", "failed", "skipped", "error", "timed_out"};
};
/// How a test or a suite ended. A test is never `timed_out`: only its suite has a deadline. A suite is never `skipped`.
using Outcome = WordOf<OutcomeWords>;

struct ActionWords {
  enum Kind : std::uint8_t { publish, promote, rollback, protect, unprotect, unblock };
  static constexpr std::array<std::string_view, 6> k_texts = {"publish", "promote",   "rollback",
                                                              "protect", "unprotect", "unblock"};
};
/// What a move of a channel was: the command that made it.
using Action = WordOf<ActionWords>;

} // namespace quarry::registry

template <class Words> struct fmt::formatter<quarry::registry::WordOf<Words>> {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  template <class Context> auto format(const quarry::registry::WordOf<Words>& word, Context& context) const {
    return fmt::format_to(context.out(), "{}", word.text());
  }
};
