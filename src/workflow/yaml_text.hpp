#pragma once
// Private to the room.
// What libfyaml misreads, read from the text of the file: bytes that are not UTF-8, tabs, and quotes beside quotes.
// Pure and linear in the text.
#include "workflow/yaml.hpp"
#include <optional>
#include <string>
#include <string_view>

namespace quarry::workflow {

/// Where the file stops being YAML, and why.
struct SyntaxError {
  Position at;
  std::string message;
};

/// The first byte that YAML 1.2 §5.1 does not allow: one that is not UTF-8, or a control character. libfyaml 0.7.12
/// never ends on `%` before a byte that is not UTF-8, so such a file must not reach it.
std::optional<SyntaxError> not_text(std::string_view text);

/// The tab that indents a line up to `last`; line 0 when there is none. libfyaml reports a tab where the construct
/// around it ends; the tab itself is what people look for.
Position tab_before(std::string_view text, std::uint32_t last);

/// The text of a single-quoted scalar, given as it is written between its quotes (YAML 1.2 §7.3.2): `''` is a quote,
/// lines are folded.
std::string single_quoted(std::string_view written);

} // namespace quarry::workflow
