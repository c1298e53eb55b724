#include "workflow/yaml_text.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::workflow {

namespace {
std::size_t digits_at(std::string_view text) { return std::min(text.find_first_not_of("0123456789"), text.size()); }

/// A decimal number of the core schema: `-1`, `.5`, `1.`, `1e3`.
bool is_number(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  auto whole = digits_at(text);
  text.remove_prefix(whole);
  std::size_t fraction = 0;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = digits_at(text);
    text.remove_prefix(fraction);
  }
  if (whole + fraction == 0) return false;
  if (text.empty()) return true;
  if (text[0] != 'e' && text[0] != 'E') return false;
  text.remove_prefix(1);
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && digits_at(text) == text.size();
}
} // namespace

Node::Kind plain_kind(std::string_view text) {
  // A word of the schema or a number begins with one of these; most texts do not.
  if (!text.empty() && std::string_view("~nNtTfF+-.0123456789").find(text[0]) == std::string_view::npos)
    return Node::Kind::text;
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") return Node::Kind::null;
  for (auto word : {"true", "True", "TRUE", "false", "False", "FALSE"})
    if (text == word) return Node::Kind::boolean;
  return is_number(text) ? Node::Kind::number : Node::Kind::text;
}

std::optional<SyntaxError> not_text(std::string_view text) {
  auto at = text::utf8_prefix(text);
  auto control = std::find_if(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), [](unsigned char c) {
    return (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F;
  });
  at = static_cast<std::size_t>(control - text.begin());
  if (at == text.size()) return std::nullopt;
  auto before = text.substr(0, at);
  auto line_begin = before.rfind('\n') + 1; // npos + 1 is 0: the first line
  Position place{static_cast<std::uint32_t>(std::count(before.begin(), before.end(), '\n') + 1),
                 static_cast<std::uint32_t>(at - line_begin + 1)};
  auto byte = static_cast<unsigned char>(text[at]);
  return SyntaxError{place, byte < 0x80
                                ? fmt::format("the file is not YAML: it holds the control character 0x{:02X}", byte)
                                : fmt::format("the file is not YAML: byte 0x{:02X} is not UTF-8", byte)};
}

Position tab_before(std::string_view text, std::uint32_t last) {
  std::uint32_t line = 1;
  for (std::size_t begin = 0; begin < text.size() && line <= last + 1; ++line) {
    auto end = std::min(text.find('\n', begin), text.size());
    auto indent = text.substr(begin, end - begin);
    auto first = indent.find_first_not_of(' ');
    if (first != indent.npos && indent[first] == '\t' && indent.find_first_not_of(" \t") != indent.npos &&
        line + 1 >= last)
      return {line, static_cast<std::uint32_t>(first + 1)};
    begin = end + 1;
  }
  return {};
}

std::string single_quoted(std::string_view written) {
  std::string folded;
  std::size_t breaks = 0; // since the last line that holds text
  auto lines = text::split(written, '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool first = i == 0, last = i + 1 == lines.size();
    std::string_view line = lines[i];
    if (!first) line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size())), ++breaks;
    if (!last) line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    if (line.empty() && !first && !last) continue;
    if (breaks > 0) folded += breaks == 1 ? " " : std::string(breaks - 1, '\n');
    breaks = 0;
    folded += line;
  }
  return text::replace_all(folded, "''", "'");
}

} // namespace quarry::workflow
