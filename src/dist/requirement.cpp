#include "dist/requirement.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include <algorithm>
#include <fmt/format.h>

namespace quarry::dist {

namespace {

Unexpected requirement_error(std::string_view text, std::string_view why) {
  return fail(ErrorKind::invalid_argument, "M010",
              fmt::format("{:?} is not a requirement: {}", text.substr(0, 200), why),
              "write it like name[extra]>=1.0,<2; python_version < \"3.11\"");
}

Result<std::vector<std::string>> parse_extras(std::string_view whole, std::string_view inside) {
  std::vector<std::string> extras;
  if (text::trim(inside).empty()) return extras;
  for (const auto& part : text::split(inside, ',')) {
    auto name = ProjectName::parse(text::trim(part));
    if (!name) return requirement_error(whole, "an extra is not a name");
    extras.push_back(name->str());
  }
  std::sort(extras.begin(), extras.end());
  extras.erase(std::unique(extras.begin(), extras.end()), extras.end());
  return extras;
}

bool in_name(char c) { return ascii::is_alnum(c) || c == '-' || c == '_' || c == '.'; }

/// "(>=1,<2)" is the old form of ">=1,<2".
std::string_view without_parentheses(std::string_view text) {
  text = text::trim(text);
  if (text.starts_with('(') && text.ends_with(')')) text = text::trim(text.substr(1, text.size() - 2));
  return text;
}

/// packaging reads `>=1,` and refuses `,>=1` and `>=1,,<2`.
bool has_empty_clause(std::string_view specifiers) {
  auto clauses = text::split(specifiers, ',');
  return std::any_of(clauses.begin(), clauses.end() - 1,
                     [](const std::string& clause) { return text::trim(clause).empty(); });
}

Result<void> parse_specifiers(std::string_view whole, std::string_view text, Requirement& into) {
  into.specifier_text = without_parentheses(text);
  if (into.specifier_text.empty()) return {};
  if (has_empty_clause(into.specifier_text))
    return requirement_error(whole, "a version specifier is missing before a comma");
  auto specifiers = Specifiers::parse(into.specifier_text);
  if (!specifiers) return requirement_error(whole, specifiers.error().message);
  into.specifiers = std::move(*specifiers);
  return {};
}

/// `rest` begins behind the @. A URL ends at the first blank, and only a ';' after that blank begins the marker: pip
/// refuses `name @ https://host/x.whl; marker`, uv reads a marker in it. Returns what is behind the URL.
Result<std::string_view> parse_url(std::string_view whole, std::string_view rest, Requirement& into) {
  rest = text::trim(rest);
  auto end = std::min(rest.find_first_of(" \t"), rest.size());
  into.url = rest.substr(0, end);
  rest = text::trim(rest.substr(end));
  if (into.url.empty() || into.url.starts_with(';')) return requirement_error(whole, "a URL is missing after the @");
  if (into.url.ends_with(';')) return requirement_error(whole, "a blank is missing between the URL and the semicolon");
  if (!rest.empty() && rest[0] != ';') return requirement_error(whole, "a URL holds no blanks");
  return rest;
}

} // namespace

Result<Requirement> Requirement::parse(std::string_view text) {
  if (text.size() > k_requirement_bytes_max) return requirement_error(text, "it is longer than 64 KiB");
  auto rest = text::trim(text);
  std::size_t end = 0;
  while (end < rest.size() && in_name(rest[end])) ++end;
  auto project = ProjectName::parse(rest.substr(0, end));
  if (!project) return requirement_error(text, "it does not begin with a project's name");
  Requirement requirement{std::move(*project), {}, {}, {}, {}, {}};
  rest = text::trim(rest.substr(end));
  if (rest.starts_with('[')) {
    auto close = rest.find(']');
    if (close == rest.npos) return requirement_error(text, "the list of extras is not closed");
    TRY(requirement.extras, parse_extras(text, rest.substr(1, close - 1)));
    rest = text::trim(rest.substr(close + 1));
  }
  if (rest.starts_with('@')) {
    TRY(rest, parse_url(text, rest.substr(1), requirement));
  } else {
    auto semicolon = std::min(rest.find(';'), rest.size());
    TRY_DO(parse_specifiers(text, rest.substr(0, semicolon), requirement));
    rest = rest.substr(semicolon);
  }
  if (rest.empty()) return requirement;
  TRY(requirement.marker, Marker::parse(rest.substr(1)));
  if (requirement.marker.str().empty()) return requirement_error(text, "a marker is missing after the semicolon");
  return requirement;
}

} // namespace quarry::dist
