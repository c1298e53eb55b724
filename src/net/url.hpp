#pragma once
// URLs as HTTP needs them (RFC 3986): ASCII only, no user, no fragment. Pure values.
#include "base/result.hpp"
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace quarry::net {

struct Url {
  std::string scheme = "https"; ///< "http" or "https"
  std::string host;             ///< lower case; an IPv6 address stands in brackets
  std::uint16_t port = 443;
  std::string path = "/"; ///< percent-encoded, begins with '/'
  std::string query;      ///< percent-encoded, without '?'

  bool secure() const { return scheme == "https"; }
  std::string authority() const; ///< "host", or "host:port" when the port is not the scheme's own
  std::string text() const;
  std::string shown() const; ///< for messages: a query may be a signature, so it reads `?…`
  bool operator==(const Url&) const = default;
};

/// An absolute URL with http or https. invalid_argument H001: another scheme, a user, a port out of range, a character
/// that must be encoded.
Result<Url> parse_url(std::string_view text);

/// This machine by definition: localhost, 127.0.0.0/8, [::1]. Names are not looked up.
bool is_loopback(const Url& url);
/// This machine, or its own link (169.254.0.0/16, fd00:ec2::/32: metadata services). Reached without a proxy, and over
/// plain http if need be.
bool is_local(const Url& url);

/// Where a redirect leads: absolute, or relative to `from`. Refused: from https to http (H009), malformed (H001).
Result<Url> redirected(const Url& from, std::string_view location);

} // namespace quarry::net
