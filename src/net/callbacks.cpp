#include "net/lane.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <cstring>
#include <fmt/core.h>

namespace quarry::net {

namespace {

constexpr std::size_t k_headers_max = 256, k_header_bytes_max = 64 << 10; // S3 sends 20 of at most 8 KiB
constexpr long k_buffer_bytes = 512 << 10; // measured: 16 and 64 KiB cost a third more CPU, more leaves the L2 cache
constexpr long k_keep_seconds = 60;        // servers close idle connections after 5 to 90 s
constexpr long k_keepalive_seconds = 30;   // S3 drops silent connections after 60 s

std::size_t stop(Transfer& transfer, Error error) {
  if (!transfer.own) transfer.own = std::move(error);
  return 0; // fewer bytes than offered: libcurl ends the transfer
}

std::size_t on_header(char* data, std::size_t, std::size_t size, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  auto& response = transfer.response;
  auto line = text::trim(std::string_view(data, size));
  if (line.starts_with("HTTP/")) { // a status line: what came before belonged to an interim answer
    response.headers.clear();
    auto space = line.find(' ');
    response.status = static_cast<int>(text::parse_u64(line.substr(std::min(space + 1, line.size()), 3)).value_or(0));
    return size;
  }
  auto colon = line.find(':');
  if (colon == line.npos || response.headers.size() >= k_headers_max || size > k_header_bytes_max) return size;
  response.headers.emplace_back(text::lower(line.substr(0, colon)), std::string(text::trim(line.substr(colon + 1))));
  return size;
}

std::size_t on_body(char* data, std::size_t, std::size_t size, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  auto& response = transfer.response;
  transfer.received += size;
  if (transfer.request.sink && response.ok()) {
    auto taken = transfer.request.sink(response, std::as_bytes(std::span(data, size)));
    return taken ? size : stop(transfer, std::move(taken).error());
  }
  auto room = transfer.request.response_bytes_max - response.body.size();
  if (size > room && !response.ok()) { // the status says what matters, such as 404 or 503
    response.body.append(data, room);
    transfer.cut_short = true;
    return 0; // libcurl ends the transfer
  }
  if (size > room)
    return stop(transfer, {ErrorKind::resource_exhausted,
                           "H006",
                           fmt::format("the answer of {} is larger than {} bytes", transfer.request.url.authority(),
                                       transfer.request.response_bytes_max),
                           {},
                           {},
                           "it is not what was asked for: look at the URL"});
  response.body.append(data, size);
  return size;
}

std::size_t on_read(char* into, std::size_t, std::size_t room, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const auto& body = *transfer.request.body;
  auto size = static_cast<std::size_t>(std::min<std::uint64_t>(room, body.size() - transfer.sent));
  auto read = body.read(transfer.sent, std::as_writable_bytes(std::span(into, size)));
  if (!read) {
    stop(transfer, std::move(read).error());
    return CURL_READFUNC_ABORT;
  }
  transfer.sent += size;
  if (transfer.request.on_sent) transfer.request.on_sent(transfer.sent);
  return size;
}

int on_seek(void* user, curl_off_t offset, int origin) {
  if (origin != SEEK_SET) return CURL_SEEKFUNC_FAIL;
  static_cast<Transfer*>(user)->sent = static_cast<std::uint64_t>(offset);
  return CURL_SEEKFUNC_OK;
}

// libcurl sends a request again by itself when a kept connection turns out to be closed, also one that the server has
// done already. A write with a condition must not be sent twice unknowingly: the second time is ours to decide.
int on_begin(void* user, char*, char*, int, int) {
  return ++static_cast<Transfer*>(user)->begun > 1 ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

void set_body(CURL* easy, Transfer& transfer) {
  const auto& request = transfer.request;
  if (request.method == "HEAD") curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
  if (request.body) {
    curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request.body->size()));
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, on_read);
    curl_easy_setopt(easy, CURLOPT_READDATA, &transfer);
    curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, on_seek);
    curl_easy_setopt(easy, CURLOPT_SEEKDATA, &transfer);
    if (request.body->size() > k_buffer_bytes / 8) curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, k_buffer_bytes);
  }
  if (request.method != "HEAD") curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

void set_proxy(CURL* easy, const Url& url, const Settings& settings) {
  // Always said, also when empty: otherwise libcurl reads the environment itself.
  const auto& proxy = url.secure() ? settings.https_proxy : settings.http_proxy;
  curl_easy_setopt(easy, CURLOPT_PROXY, is_local(url) ? "" : proxy.c_str());
  curl_easy_setopt(easy, CURLOPT_NOPROXY, settings.no_proxy.c_str());
}

void set_trust(CURL* easy, const Settings& settings) {
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  curl_easy_setopt(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (!settings.ca_file.empty()) {
    curl_easy_setopt(easy, CURLOPT_CAINFO, settings.ca_file.c_str());
    curl_easy_setopt(easy, CURLOPT_PROXY_CAINFO, settings.ca_file.c_str());
  }
}

void set_times(CURL* easy, const Request& request, const Settings& settings) {
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(settings.connect_ms));
  curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(
      easy, CURLOPT_LOW_SPEED_TIME,
      static_cast<long>(std::max<std::uint64_t>(1, std::min(request.stall_ms, settings.stall_max_ms) / 1000)));
  if (request.deadline_ms) curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(*request.deadline_ms));
  curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, k_keep_seconds);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, k_keepalive_seconds);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
}

} // namespace

curl_slist* prepare(CURL* easy, Transfer& transfer, const Settings& settings, CURLSH* share) {
  const auto& request = transfer.request;
  curl_easy_reset(easy);
  curl_easy_setopt(easy, CURLOPT_SHARE, share);
  curl_easy_setopt(easy, CURLOPT_URL, request.url.text().c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(easy, CURLOPT_USERAGENT, "quarry");
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_begin);
  curl_easy_setopt(easy, CURLOPT_PREREQDATA, &transfer);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer);
  if (request.sink) curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, k_buffer_bytes);
  set_body(easy, transfer);
  set_proxy(easy, request.url, settings);
  set_trust(easy, settings);
  set_times(easy, request, settings);
  curl_slist* list = nullptr;
  for (const auto& [name, value] : request.headers) // libcurl sends an empty header only as "name;"
    list = curl_slist_append(list, (value.empty() ? name + ";" : name + ": " + value).c_str());
  if (request.body && !request.wait_before_body) list = curl_slist_append(list, "Expect:");
  if (request.body && request.wait_before_body) list = curl_slist_append(list, "Expect: 100-continue");
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list);
  return list;
}

} // namespace quarry::net
