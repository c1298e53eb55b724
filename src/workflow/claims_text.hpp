#pragma once
// Private to the room.
// The parts of a description or title that can hold claims. Pure.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::workflow {

struct Paragraph {
  std::string text;
  std::uint32_t line = 0; ///< of its beginning
};

/// What a text says, without headings, quotations, tables, code, comments, boxes that nobody ticked, and parts whose
/// title says that they are about something else: testing, rollout, symptoms, background, what follows.
std::vector<Paragraph> paragraphs_of(std::string_view text);

/// The sentences of a paragraph: it is split at ". " and "; " outside of back quotes.
std::vector<std::string_view> statements_of(std::string_view line);

} // namespace quarry::workflow
