#include "base/redact.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include <algorithm>
#include <array>
#include <optional>

namespace quarry::redact {

namespace {

constexpr std::size_t k_value_bytes_min = 8;
constexpr std::string_view k_scheme_end = "://";
constexpr std::string_view k_url_end = " \t\r\n\"'<>`";

struct Parts {
  std::string_view before, user, place, query; ///< "https://", "me:pw", "host/path", "a=b#c"
};

/// `text` begins with a scheme and "://", whose end is at `authority`.
Parts split_url(std::string_view text, std::size_t authority) {
  Parts parts;
  parts.before = text.substr(0, authority);
  auto rest = text.substr(authority);
  auto query = rest.find_first_of("?#");
  if (query != rest.npos) parts.query = rest.substr(query + 1);
  rest = rest.substr(0, query);
  // A password may hold '@', as written by hand: the last one before the path ends it.
  auto at = rest.substr(0, rest.find('/')).rfind('@');
  if (at != rest.npos) parts.user = rest.substr(0, at);
  parts.place = at == rest.npos ? rest : rest.substr(at + 1);
  return parts;
}

std::optional<Parts> whole_url(std::string_view url) {
  auto at = url.find(k_scheme_end);
  if (at == url.npos) return std::nullopt;
  return split_url(url, at + k_scheme_end.size());
}

} // namespace

std::string without_credentials(std::string_view text) {
  std::string shown;
  while (true) {
    auto at = text.find(k_scheme_end);
    if (at == text.npos) break;
    auto authority = at + k_scheme_end.size();
    auto end = std::min(text.find_first_of(k_url_end, authority), text.size());
    auto parts = split_url(text.substr(0, end), authority);
    shown.append(parts.before).append(parts.place);
    text.remove_prefix(end);
  }
  return shown.append(text);
}

bool has_credentials(std::string_view url) {
  auto parts = whole_url(url);
  return parts && (!parts->user.empty() || !parts->query.empty());
}

bool is_secret_name(std::string_view name) {
  static constexpr std::array k_words = {"TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "CREDENTIALS"};
  auto upper = std::string(name);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](char c) { return ascii::is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c; });
  if (upper.starts_with("AWS_") || upper.starts_with("ACTIONS_") || upper.ends_with("_KEY")) return true;
  auto parts = text::split(upper, '_');
  return std::any_of(parts.begin(), parts.end(), [](const std::string& part) {
    return std::find(k_words.begin(), k_words.end(), part) != k_words.end();
  });
}

Redactor::Redactor(const std::map<std::string, std::string>& environment) {
  for (const auto& [name, value] : environment)
    if (is_secret_name(name))
      add(value);
    else
      add_url(value);
}

void Redactor::add(std::string_view value) {
  for (const auto& line : text::lines(value)) {
    auto word = std::string(text::trim(line));
    if (word.size() < k_value_bytes_min) continue;
    auto longer = [](const std::string& a, const std::string& b) {
      return a.size() != b.size() ? a.size() > b.size() : a < b;
    };
    auto place = std::lower_bound(values_.begin(), values_.end(), word, longer);
    if (place == values_.end() || *place != word) values_.insert(place, std::move(word));
  }
}

void Redactor::add_url(std::string_view url) {
  auto parts = whole_url(url);
  if (!parts) return;
  add(parts->user);
  add(parts->query);
  auto colon = parts->user.find(':');
  if (colon == parts->user.npos) return;
  add(parts->user.substr(colon + 1));
  add(text::percent_decode(parts->user.substr(colon + 1)));
}

std::string Redactor::apply(std::string text) const {
  for (const auto& value : values_) text = text::replace_all(text, value, "***");
  return text;
}

} // namespace quarry::redact
