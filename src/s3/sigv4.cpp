#include "s3/sigv4.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "digest/hmac.hpp"
#include "sys/clock.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <span>

namespace quarry::s3 {

namespace {

constexpr std::string_view k_algorithm = "AWS4-HMAC-SHA256";

std::string hmac(std::string_view key, std::string_view message) {
  auto digest = hmac_sha256(key, message);
  return {reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
}

std::string hex_of(std::string_view bytes) {
  return text::hex(std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
}

// Leading and trailing spaces go, runs of spaces inside become one.
std::string folded(std::string_view value) {
  std::string out;
  for (char c : text::trim(value))
    if (c != ' ' || out.empty() || out.back() != ' ') out += c;
  return out;
}

Pairs sorted_headers(const SignedRequest& request) {
  auto headers = request.headers;
  std::stable_sort(headers.begin(), headers.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return headers;
}

std::string signed_names(const SignedRequest& request) {
  std::string names;
  for (const auto& [name, value] : sorted_headers(request)) names += (names.empty() ? "" : ";") + name;
  return names;
}

std::string day_of(const Scope& scope) { return scope.date.substr(0, 8); }

std::string scope_text(const Scope& scope) {
  return fmt::format("{}/{}/{}/aws4_request", day_of(scope), scope.region, scope.service);
}

} // namespace

std::string uri_encode(std::string_view text, Slash slash) {
  constexpr std::string_view k_digits = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size() + 16);
  for (char c : text) {
    bool plain =
        ascii::is_alnum(c) || c == '-' || c == '.' || c == '_' || c == '~' || (slash == Slash::kept && c == '/');
    if (plain) {
      out += c;
      continue;
    }
    auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += k_digits[byte >> 4];
    out += k_digits[byte & 15];
  }
  return out;
}

std::string canonical_query(const Pairs& parameters) {
  Pairs encoded;
  for (const auto& [name, value] : parameters)
    encoded.emplace_back(uri_encode(name, Slash::encoded), uri_encode(value, Slash::encoded));
  std::sort(encoded.begin(), encoded.end());
  std::string out;
  for (const auto& [name, value] : encoded) out += (out.empty() ? "" : "&") + name + "=" + value;
  return out;
}

std::string canonical_request(const SignedRequest& request) {
  std::string headers;
  for (const auto& [name, value] : sorted_headers(request)) headers += name + ":" + folded(value) + "\n";
  return request.method + "\n" + request.path + "\n" + request.query + "\n" + headers + "\n" + signed_names(request) +
         "\n" + request.payload_hash;
}

std::string string_to_sign(const SignedRequest& request, const Scope& scope) {
  return fmt::format("{}\n{}\n{}\n{}", k_algorithm, scope.date, scope_text(scope),
                     sha256(canonical_request(request)).hex());
}

std::string signature(const SignedRequest& request, const Scope& scope, const Keys& keys) {
  auto key = hmac("AWS4" + keys.secret_key.reveal(), day_of(scope));
  for (const auto& part : {scope.region, scope.service, std::string("aws4_request")}) key = hmac(key, part);
  return hex_of(hmac(key, string_to_sign(request, scope)));
}

std::string authorization(const SignedRequest& request, const Scope& scope, const Keys& keys) {
  return fmt::format("{} Credential={}/{}, SignedHeaders={}, Signature={}", k_algorithm, keys.access_key,
                     scope_text(scope), signed_names(request), signature(request, scope, keys));
}

std::string amz_date(std::int64_t us) {
  auto full = sys::rfc3339(us); // "2013-05-24T00:00:00.000000Z"
  return full.substr(0, 4) + full.substr(5, 2) + full.substr(8, 5) + full.substr(14, 2) + full.substr(17, 2) + "Z";
}

} // namespace quarry::s3
