#pragma once
// Private to the room.
// One connection at a time and the transfer on it. Private to the client.
#include "net/http.hpp"
#include <curl/curl.h>

namespace quarry::net {

struct Lane {
  Lane();
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  CURL* easy;
  CURLM* multi;
};

/// State of one transfer, seen by libcurl's callbacks.
struct Transfer {
  explicit Transfer(const Request& r) : request(r) {}
  const Request& request;
  Response response;
  std::uint64_t sent = 0, received = 0;
  unsigned begun = 0;       ///< how often the request was about to leave
  bool cut_short = false;   ///< a callback ended the transfer because it has enough of an error page: an answer
  std::optional<Error> own; ///< why a callback ended the transfer
};

/// Everything that a request needs, set on a clean handle. The list must live as long as the transfer.
curl_slist* prepare(CURL* easy, Transfer& transfer, const Settings& settings, CURLSH* share);
/// The failure that libcurl's code means; `code` is not CURLE_OK.
Failure failure_of(CURL* easy, CURLcode code, const Transfer& transfer);

} // namespace quarry::net
