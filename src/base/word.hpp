#pragma once
// A text with a fixed set of known values, as a type of its own: what a test ended with, what a platform is called. It
// is parsed where it is read, from a record, a file's name or the command line. A value type without I/O, safe to copy
// between threads.
#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <fmt/core.h>
#include <optional>
#include <string>
#include <string_view>

namespace quarry {

/// One of the words of `Words`, as in `Outcome::passed`, or empty. A record of a later version may have another word:
/// it is kept as it was read, so that the record stays readable and keeps its digest, and it equals no known word.
template <class Words> class WordOf : public Words {
public:
  using Kind = typename Words::Kind;

  WordOf() = default;                ///< empty: whoever wrote it does not say
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
  /// Each known word, in the order of `Words`.
  static std::array<WordOf, Words::k_texts.size()> all() {
    std::array<WordOf, Words::k_texts.size()> words;
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<Kind>(i);
    return words;
  }

  const std::optional<Kind>& kind() const { return kind_; } ///< nullopt: empty, or a word of a later version
  std::string_view text() const { return kind_ ? Words::k_texts.at(static_cast<std::size_t>(*kind_)) : other_; }
  bool empty() const { return !kind_ && other_.empty(); }
  bool operator==(const WordOf& right) const { return kind_ == right.kind_ && other_ == right.other_; }
  bool operator==(Kind kind) const { return kind_ == kind; }
  auto operator<=>(const WordOf& right) const { return text() <=> right.text(); } ///< as the texts

private:
  std::optional<Kind> kind_;
  std::string other_; ///< a word that is not in `Words`
};

/// As a value of JSON: its text.
template <class Json, class Words> void to_json(Json& json, const WordOf<Words>& word) { json = word.text(); }

} // namespace quarry

template <class Words> struct fmt::formatter<quarry::WordOf<Words>> : fmt::formatter<fmt::string_view> {
  template <class Context> auto format(const quarry::WordOf<Words>& word, Context& context) const {
    auto text = word.text();
    return fmt::formatter<fmt::string_view>::format({text.data(), text.size()}, context);
  }
};
