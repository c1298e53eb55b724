#pragma once
// HTTP/1.1 by libcurl: one request, one answer, connections reused. Certificates are always verified, redirects are not
// followed here (fetch.hpp does, by rules), every buffer is bounded. A failure says whether the server may have acted.
// Errors: unreachable H002, untrusted certificate H003, stalled H004, cut H005, a success larger than asked H006,
// plain http to another machine H010, and the body's or sink's own error.
#include "base/result.hpp"
#include "content/rope.hpp"
#include "net/url.hpp"
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quarry::net {

using Headers = std::vector<std::pair<std::string, std::string>>; ///< names in lower case

/// The value of `name` (lower case); empty when it is not there.
std::string header(const Headers& headers, std::string_view name);

struct Response {
  int status = 0;
  Headers headers;
  std::string body; ///< unless a sink took it; of an answer that is not ok() at most response_bytes_max
  bool ok() const { return status >= 200 && status < 300; }
};

struct Request {
  std::string method = "GET";
  Url url;
  Headers headers;
  std::optional<content::Rope> body; ///< sent with its length; read once, in order
  /// The limit for a body that goes to memory and not to a sink. A success with a longer body fails (H006). An error
  /// with a longer body is cut at the limit.
  std::uint64_t response_bytes_max = 1u << 20;
  std::uint64_t stall_ms = 60'000;               ///< nothing moved for so long: stalled
  std::optional<std::uint64_t> deadline_ms = {}; ///< for all of it; only small requests have one
  bool wait_before_body = false;                 ///< Expect: 100-continue; libcurl waits 1 s for the answer
  /// Takes the body of a successful answer piece by piece, in the thread of send(). Its error ends the transfer.
  std::function<Result<void>(const Response& head, std::span<const std::byte> piece)> sink = {};
  std::function<void(std::uint64_t)> on_sent = {}; ///< bytes of the body so far
};

/// What a retry would have to know (retry.hpp).
enum class Fault : std::uint8_t {
  unreachable, ///< no connection: the server saw nothing
  stalled,     ///< nothing moved for too long
  cut,         ///< the connection ended early
  untrusted,   ///< the certificate; never retried
  own,         ///< our body, sink, bound or interruption; never retried
};

struct Failure {
  Fault fault = Fault::own;
  bool sent = false;   ///< the server may have seen, and done, the request
  bool reused = false; ///< on a connection that had served before: the server may have closed it meanwhile
  Error error;
};

using Answer = tl::expected<Response, Failure>;

struct Settings {
  std::string ca_file; ///< certificates to trust, PEM; empty: the system's
  std::string http_proxy, https_proxy, no_proxy;
  std::uint64_t connect_ms = 10'000;
  std::uint64_t stall_max_ms = 300'000; ///< bounds Request::stall_ms
  bool allow_plain_http = false;        ///< to machines other than this one
  /// Gets a line for each request: method, URL without its query, status or error, milliseconds. Called by the thread
  /// that sends. Headers, and so credentials, are never in it.
  std::function<void(std::string_view)> trace = {};
};

/// As curl reads them: `http_proxy` in lower case only (a CGI sets the other), HTTPS_PROXY, ALL_PROXY, NO_PROXY in
/// both; AWS_CA_BUNDLE, then CURL_CA_BUNDLE, then SSL_CERT_FILE; QUARRY_STALL_SECONDS (1 to 300) for stall_max_ms.
Settings settings_from(const std::map<std::string, std::string>& environment);

/// The file of certificates that a client with these settings trusts: the one that they name, else the first that
/// exists of the places where Debian, Fedora and Alpine keep theirs; "" when none of them exists.
/// Opens no file.
std::string trusted_certificates(const Settings& settings);

/// Who sends requests: the real client, or a fake in tests.
class Transport {
public:
  virtual ~Transport() = default;
  virtual Answer send(const Request& request) = 0;
};

/// Thread-safe: as many requests at once as there are callers, each on a connection of its own that is kept for the
/// next. An interruption ends a transfer (cancelled D006).
std::shared_ptr<Transport> make_client(Settings settings);

} // namespace quarry::net
