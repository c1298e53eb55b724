#include "net/url.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::net {

namespace {

constexpr std::size_t k_url_bytes_max = 8192; // what servers and proxies commonly accept in a request line
constexpr std::uint16_t k_http = 80, k_https = 443;

constexpr std::string_view k_hidden_query = "?…";

Unexpected wrong(std::string_view text, std::string_view why) {
  auto question = text.find('?');
  return fail(ErrorKind::invalid_argument, "H001",
              fmt::format("`{}{}` is not a URL that can be used: {}",
                          text.substr(0, std::min<std::size_t>(question, 120)),
                          question == text.npos ? "" : k_hidden_query, why),
              "write it as https://host/path");
}

bool is_host_character(char c) { return ascii::is_lower(c) || ascii::is_digit(c) || c == '-' || c == '.' || c == '_'; }

bool is_host(std::string_view host) {
  if (host.starts_with("["))
    return host.size() > 3 && host.back() == ']' &&
           host.substr(1, host.size() - 2).find_first_not_of("0123456789abcdef:.") == host.npos;
  return !host.empty() && host.size() <= 255 && std::all_of(host.begin(), host.end(), is_host_character);
}

Result<void> read_authority(std::string_view text, std::string_view authority, Url& url) {
  if (authority.find('@') != authority.npos) return wrong("…", "it holds a user name");
  url.port = url.secure() ? k_https : k_http;
  auto colon = authority.rfind(':');
  if (colon != authority.npos && authority.find(']', colon) == authority.npos) {
    auto port = text::parse_u64(authority.substr(colon + 1));
    if (!port || *port == 0 || *port > 65535) return wrong(text, "the port is not a number from 1 to 65535");
    url.port = static_cast<std::uint16_t>(*port);
    authority = authority.substr(0, colon);
  }
  url.host = text::lower(authority);
  if (!is_host(url.host)) return wrong(text, "the host is not one");
  return {};
}

} // namespace

std::string Url::authority() const {
  return port == (secure() ? k_https : k_http) ? host : fmt::format("{}:{}", host, port);
}

std::string Url::text() const {
  return fmt::format("{}://{}{}{}{}", scheme, authority(), path, query.empty() ? "" : "?", query);
}

std::string Url::shown() const {
  return fmt::format("{}://{}{}{}", scheme, authority(), path, query.empty() ? "" : k_hidden_query);
}

Result<Url> parse_url(std::string_view text) {
  if (text.size() > k_url_bytes_max) return wrong(text, "it is longer than 8192 bytes");
  auto printable = [](char c) { return c > 0x20 && c < 0x7f; };
  if (!std::all_of(text.begin(), text.end(), printable)) return wrong(text, "it holds a character that is not encoded");
  Url url;
  if (text::starts_with_ignore_case(text, "http://"))
    url.scheme = "http";
  else if (!text::starts_with_ignore_case(text, "https://"))
    return wrong(text, "it does not begin with http:// or https://");
  auto rest = text.substr(url.scheme.size() + 3);
  rest = rest.substr(0, rest.find('#'));
  auto end = std::min(rest.find_first_of("/?"), rest.size());
  TRY_DO(read_authority(text, rest.substr(0, end), url));
  rest = rest.substr(end);
  auto question = std::min(rest.find('?'), rest.size());
  url.path = question == 0 ? "/" : std::string(rest.substr(0, question));
  if (question < rest.size()) url.query = rest.substr(question + 1);
  return url;
}

bool is_loopback(const Url& url) {
  return url.host == "localhost" || url.host == "[::1]" ||
         (url.host.starts_with("127.") && url.host.find_first_not_of("0123456789.") == std::string::npos);
}

bool is_local(const Url& url) {
  bool link = url.host.starts_with("169.254.") && url.host.find_first_not_of("0123456789.") == std::string::npos;
  return link || url.host.starts_with("[fd00:ec2:") || is_loopback(url);
}

namespace {
// RFC 3986 §3.1: what stands before the first of `:/?#` is a scheme when that is a colon.
bool has_scheme(std::string_view reference) {
  auto end = reference.find_first_of(":/?#");
  return end != reference.npos && end > 0 && reference[end] == ':';
}
// RFC 3986 §5.2.4; a query is not part of the path.
std::string without_dots(const std::string& target) {
  auto end = std::min(target.find_first_of("?#"), target.size());
  std::vector<std::string> kept;
  auto segments = text::split(std::string_view(target).substr(1, end - 1), '/');
  for (std::size_t i = 0; i < segments.size(); ++i) {
    bool dots = segments[i] == "." || segments[i] == "..";
    if (segments[i] == ".." && !kept.empty()) kept.pop_back();
    if (!dots) kept.push_back(segments[i]);
    if (dots && i + 1 == segments.size()) kept.emplace_back(); // it was a directory
  }
  return "/" + text::join(kept, "/") + target.substr(end);
}
std::string absolute(const Url& from, std::string_view reference) {
  if (has_scheme(reference)) return std::string(reference);
  if (reference.starts_with("//")) return fmt::format("{}:{}", from.scheme, reference);
  auto base = reference.starts_with("/")   ? std::string()
              : reference.starts_with("?") ? from.path
                                           : from.path.substr(0, from.path.rfind('/') + 1);
  return fmt::format("{}://{}{}", from.scheme, from.authority(), without_dots(base + std::string(reference)));
}
} // namespace

Result<Url> redirected(const Url& from, std::string_view location) {
  TRY(auto to, parse_url(absolute(from, location)));
  if (from.secure() && !to.secure())
    return fail(ErrorKind::permission_denied, "H009",
                fmt::format("{} redirects to the unprotected {}", from.shown(), to.shown()),
                "ask who runs the server: a redirect must not leave https");
  return to;
}

} // namespace quarry::net
