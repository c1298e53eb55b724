#include "net/lane.hpp"
#include "net/trace.hpp"

#include "base/text.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <mutex>
#include <stdexcept>

namespace quarry::net {

namespace {

constexpr int k_poll_ms = 200; // how late an interruption may be noticed
constexpr std::size_t k_idle_lanes_max = 64;

// Where systems keep the certificates that they trust; libcurl.a was built with Debian's place.
constexpr std::array<const char*, 3> k_ca_files = {"/etc/ssl/certs/ca-certificates.crt",
                                                   "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"};

/// Names and TLS sessions that all lanes know.
class Share {
public:
  Share() : share_(curl_share_init()) {
    curl_share_setopt(share_, CURLSHOPT_USERDATA, this);
    curl_share_setopt(share_, CURLSHOPT_LOCKFUNC, lock);
    curl_share_setopt(share_, CURLSHOPT_UNLOCKFUNC, unlock);
    curl_share_setopt(share_, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
    curl_share_setopt(share_, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
  }
  ~Share() { curl_share_cleanup(share_); }
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;
  CURLSH* get() { return share_; }

private:
  static void lock(CURL*, curl_lock_data data, curl_lock_access, void* self) {
    static_cast<Share*>(self)->mutexes_[data].lock();
  }
  static void unlock(CURL*, curl_lock_data data, void* self) { static_cast<Share*>(self)->mutexes_[data].unlock(); }
  CURLSH* share_;
  std::array<std::mutex, CURL_LOCK_DATA_LAST> mutexes_;
};

void start_library() {
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT); // once, by the first thread
  if (started != CURLE_OK) throw std::runtime_error("libcurl does not start");
}

Failure own_failure(Error error) { return {Fault::own, false, false, std::move(error)}; }

class Client final : public Transport {
public:
  explicit Client(Settings settings) : settings_(std::move(settings)) { start_library(); }

  Answer send(const Request& request) override {
    if (auto refused = refuse_plain(request)) return tl::unexpected(own_failure(std::move(*refused)));
    auto lane = take();
    auto answer = run(*lane, request);
    give_back(std::move(lane));
    return answer;
  }

private:
  std::optional<Error> refuse_plain(const Request& request) const {
    if (request.url.secure() || is_local(request.url) || settings_.allow_plain_http) return std::nullopt;
    return Error::of(ErrorKind::permission_denied, "H010",
                     fmt::format("{} is not protected: plain http leaves this machine", request.url.shown()))
        .with_hint("use https, or set QUARRY_ALLOW_PLAIN_HTTP=1 for a network that you trust");
  }

  // The lane that was used last: its connection is the one that is most likely still open.
  std::unique_ptr<Lane> take() {
    std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<Lane>();
    auto lane = std::move(idle_.back());
    idle_.pop_back();
    return lane;
  }
  void give_back(std::unique_ptr<Lane> lane) {
    std::lock_guard lock(mutex_);
    if (idle_.size() < k_idle_lanes_max) idle_.push_back(std::move(lane));
  }

  Answer run(Lane& lane, const Request& request) {
    Transfer transfer(request);
    auto* headers = prepare(lane.easy, transfer, settings_, share_.get());
    curl_multi_add_handle(lane.multi, lane.easy);
    auto code = drive(lane, transfer);
    curl_multi_remove_handle(lane.multi, lane.easy);
    curl_slist_free_all(headers);
    if (code != CURLE_OK && !transfer.cut_short) return tl::unexpected(failure_of(lane.easy, code, transfer));
    return std::move(transfer.response);
  }

  static CURLcode drive(Lane& lane, Transfer& transfer) {
    int running = 1;
    while (true) {
      if (curl_multi_perform(lane.multi, &running) != CURLM_OK) return CURLE_FAILED_INIT;
      if (running == 0) break;
      if (auto interrupted = sys::check_interrupted(); !interrupted) {
        transfer.own = std::move(interrupted).error();
        return CURLE_ABORTED_BY_CALLBACK;
      }
      curl_multi_poll(lane.multi, nullptr, 0, k_poll_ms, nullptr);
    }
    int left = 0;
    const auto* message = curl_multi_info_read(lane.multi, &left);
    return message ? message->data.result : CURLE_FAILED_INIT;
  }

  Settings settings_;
  Share share_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Lane>> idle_;
};

} // namespace

Lane::Lane() : easy(curl_easy_init()), multi(curl_multi_init()) {
  if (!easy || !multi) throw std::bad_alloc();
}
Lane::~Lane() {
  curl_easy_cleanup(easy);
  curl_multi_cleanup(multi);
}

Failure failure_of(CURL* easy, CURLcode code, const Transfer& transfer) {
  long connects = 0, request_bytes = 0;
  curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &connects);
  curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &request_bytes);
  bool again = transfer.begun > 1; // libcurl found its connection closed, and was kept from sending anew
  bool sent = request_bytes > 0 || again;
  if (transfer.own) { // stopped by us; a server that has the whole request may have acted all the same
    curl_off_t uploaded = 0;
    curl_easy_getinfo(easy, CURLINFO_SIZE_UPLOAD_T, &uploaded);
    const auto& body = transfer.request.body;
    auto own = own_failure(*transfer.own);
    own.sent = sent && static_cast<std::uint64_t>(uploaded) >= (body ? body->size() : 0);
    return own;
  }
  const auto* why = curl_easy_strerror(code);
  auto said = [&](std::string_view what) { return fmt::format("{} {}", transfer.request.url.authority(), what); };
  auto failure = [&](Fault fault, Error error) {
    return Failure{fault, sent, again || (sent && connects == 0), std::move(error).with_detail(why)};
  };
  if (again) why = "the server closed it while it was idle, or instead of answering";
  switch (code) {
  case CURLE_PEER_FAILED_VERIFICATION:
  case CURLE_SSL_CACERT_BADFILE:
  case CURLE_SSL_ISSUER_ERROR:
    return failure(Fault::untrusted,
                   Error::of(ErrorKind::permission_denied, "H003", said("shows a certificate that is not trusted"))
                       .with_hint("name your authority's certificates in SSL_CERT_FILE; verification stays on"));
  case CURLE_OPERATION_TIMEDOUT:
    if (sent)
      return failure(
          Fault::stalled,
          Error::of(ErrorKind::timed_out, "H004", said("stopped answering")).with_hint("run the command again"));
    [[fallthrough]];
  case CURLE_COULDNT_RESOLVE_HOST:
  case CURLE_COULDNT_RESOLVE_PROXY:
  case CURLE_COULDNT_CONNECT:
  case CURLE_SSL_CONNECT_ERROR:
  case CURLE_FAILED_INIT:
    return failure(Fault::unreachable, Error::of(ErrorKind::unavailable, "H002", said("cannot be reached"))
                                           .with_hint("check the name and the network"));
  default:
    return failure(
        Fault::cut,
        Error::of(ErrorKind::unavailable, "H005", said("cut the connection")).with_hint("run the command again"));
  }
}

std::string header(const Headers& headers, std::string_view name) {
  for (const auto& [key, value] : headers)
    if (key == name) return value;
  return {};
}

Settings settings_from(const std::map<std::string, std::string>& environment) {
  auto first = [&](std::initializer_list<const char*> names) {
    for (const auto* name : names)
      if (auto found = environment.find(name); found != environment.end() && !found->second.empty())
        return found->second;
    return std::string();
  };
  Settings settings;
  settings.ca_file = first({"AWS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"});
  settings.http_proxy = first({"http_proxy", "all_proxy", "ALL_PROXY"});
  settings.https_proxy = first({"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"});
  settings.no_proxy = first({"no_proxy", "NO_PROXY"});
  if (auto seconds = text::parse_u64(first({"QUARRY_STALL_SECONDS"})); seconds && *seconds > 0)
    settings.stall_max_ms = std::min(settings.stall_max_ms, std::min<std::uint64_t>(*seconds, 1000) * 1000);
  settings.allow_plain_http = first({"QUARRY_ALLOW_PLAIN_HTTP"}) == "1";
  return settings;
}

std::string trusted_certificates(const Settings& settings) {
  if (!settings.ca_file.empty()) return settings.ca_file;
  for (const auto* file : k_ca_files)
    if (sys::exists(file)) return file;
  return "";
}

std::shared_ptr<Transport> make_client(Settings settings) {
  settings.ca_file = trusted_certificates(settings);
  static const sys::RealClock k_clock;
  auto trace = settings.trace;
  std::shared_ptr<Transport> client = std::make_shared<Client>(std::move(settings));
  return trace ? make_traced(std::move(client), std::move(trace), k_clock) : client;
}

} // namespace quarry::net
