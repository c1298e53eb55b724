#pragma once
// Private to the room.
// What libfyaml 0.7.12 handles wrongly, found in the text itself: bytes that are not UTF-8, tabs, adjacent quotes. Pure
// and linear in the text.
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

/// Finds the first tab in the indentation of line `last` or of a line next to it. libfyaml names the line where the
/// broken list or mapping ends; people look for the tab. Returns line 0 if these lines have no such tab.
Position tab_before(std::string_view text, std::uint32_t last);

/// The text of a single-quoted scalar, given as it is written between its quotes (YAML 1.2 §7.3.2): `''` is a quote,
/// lines are folded.
std::string single_quoted(std::string_view written);

} // namespace quarry::workflow
