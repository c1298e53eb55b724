#include "dist/requirement.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <fmt/format.h>

namespace quarry::dist {

namespace {

Unexpected error(std::string_view text, std::string_view why) {
  return fail(ErrorKind::invalid_argument, "M010",
              fmt::format("{:?} is not a requirement: {}", text.substr(0, 200), why),
              "write it like name[extra]>=1.0,<2; python_version < \"3.11\"");
}

Result<std::vector<std::string>> parse_extras(std::string_view whole, std::string_view inside) {
  std::vector<std::string> extras;
  if (text::trim(inside).empty()) return extras;
  for (const auto& part : text::split(inside, ',')) {
    auto name = ProjectName::parse(text::trim(part));
    if (!name) return error(whole, "an extra is not a name");
    extras.push_back(name->str());
  }
  std::sort(extras.begin(), extras.end());
  extras.erase(std::unique(extras.begin(), extras.end()), extras.end());
  return extras;
}

bool in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

/// "(>=1,<2)" is the old form of ">=1,<2".
std::string_view without_parentheses(std::string_view text) {
  text = text::trim(text);
  if (text.starts_with('(') && text.ends_with(')')) text = text::trim(text.substr(1, text.size() - 2));
  return text;
}

} // namespace

Result<Requirement> Requirement::parse(std::string_view text) {
  if (text.size() > k_requirement_bytes_max) return error(text, "it is longer than 64 KiB");
  auto rest = text::trim(text);
  std::size_t end = 0;
  while (end < rest.size() && in_name(rest[end])) ++end;
  auto project = ProjectName::parse(rest.substr(0, end));
  if (!project) return error(text, "it does not begin with a project's name");
  Requirement requirement{std::move(*project), {}, {}, {}, {}, {}};
  rest = text::trim(rest.substr(end));
  if (rest.starts_with('[')) {
    auto close = rest.find(']');
    if (close == rest.npos) return error(text, "the list of extras is not closed");
    TRY(requirement.extras, parse_extras(text, rest.substr(1, close - 1)));
    rest = text::trim(rest.substr(close + 1));
  }
  bool by_url = rest.starts_with('@');
  // A URL may hold a ';': only one after a blank begins the marker.
  auto semicolon = by_url ? rest.find(" ;") : rest.find(';');
  if (semicolon != rest.npos) {
    TRY(requirement.marker, Marker::parse(rest.substr(semicolon + (by_url ? 2 : 1))));
    if (requirement.marker.str().empty()) return error(text, "a marker is missing after the semicolon");
    rest = text::trim(rest.substr(0, semicolon));
  }
  if (by_url) {
    requirement.url = text::trim(rest.substr(1));
    if (requirement.url.empty()) return error(text, "a URL is missing after the @");
    return requirement;
  }
  requirement.specifier_text = without_parentheses(rest);
  if (requirement.specifier_text.empty()) return requirement;
  auto specifiers = Specifiers::parse(requirement.specifier_text);
  if (!specifiers) return error(text, specifiers.error().message);
  requirement.specifiers = std::move(*specifiers);
  return requirement;
}

} // namespace quarry::dist
