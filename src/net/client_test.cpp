// The client against a server that says exactly what a test wrote.
#include "net/fetch.hpp"
#include "net/http.hpp"

#include "sys/clock.hpp"
#include <arpa/inet.h>
#include <atomic>
#include <fmt/core.h>
#include <functional>
#include <gtest/gtest.h>
#include <mutex>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace quarry::net {
namespace {

/// Accepts connections one after the other; each request gets the next answer. An answer "close" ends the connection.
class Scripted {
public:
  explicit Scripted(std::vector<std::string> answers) : answers_(std::move(answers)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    ::listen(listener_, 16);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~Scripted() {
    ::shutdown(listener_, SHUT_RDWR);
    ::close(listener_);
    thread_.join();
  }
  Url url(const std::string& path = "/") const { return *parse_url(fmt::format("http://127.0.0.1:{}{}", port_, path)); }
  std::vector<std::string> requests() {
    std::lock_guard lock(mutex_);
    return requests_;
  }
  int connections() const { return connections_; }

private:
  void serve() {
    for (int at = 0; at < static_cast<int>(answers_.size());) {
      int connection = ::accept(listener_, nullptr, nullptr);
      if (connection < 0) return;
      ++connections_;
      while (at < static_cast<int>(answers_.size()) && read_request(connection)) {
        const auto& answer = answers_[static_cast<std::size_t>(at++)];
        auto text = answer.starts_with("close") ? answer.substr(5) : answer;
        static_cast<void>(::send(connection, text.data(), text.size(), MSG_NOSIGNAL));
        if (answer.starts_with("close")) break;
      }
      ::close(connection);
    }
  }
  bool read_request(int connection) {
    std::string text;
    char c = 0;
    while (!text.ends_with("\r\n\r\n"))
      if (::recv(connection, &c, 1, 0) != 1)
        return false;
      else
        text += c;
    auto at = text.find("Content-Length: ");
    auto length = at == text.npos ? 0u : std::stoul(text.substr(at + 16));
    for (std::size_t i = 0; i < length && ::recv(connection, &c, 1, 0) == 1; ++i) text += c;
    std::lock_guard lock(mutex_);
    requests_.push_back(text);
    return true;
  }
  std::vector<std::string> answers_, requests_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::mutex mutex_;
  std::atomic<int> connections_ = 0;
  std::thread thread_;
};

std::string answer(const std::string& status, const std::string& headers, const std::string& body) {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers + "\r\n" + body;
}

const sys::RealClock k_clock;
FetchOptions quick() {
  FetchOptions options;
  options.limits.base_ms = options.limits.throttled_base_ms = 1;
  return options;
}
Request get(const Url& url) {
  Request request;
  request.url = url;
  return request;
}

TEST(Client, SendsAndReceivesOnOneConnection) {
  Scripted server({answer("200 OK", "ETag: \"x\"\r\n", "one"), answer("204 No Content", "", ""),
                   answer("404 Not Found", "", "nothing")});
  auto client = make_client({});
  auto first = client->send(get(server.url("/a?b=c")));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->status, 200);
  EXPECT_EQ(first->body, "one");
  EXPECT_EQ(header(first->headers, "etag"), "\"x\"");
  Request put = get(server.url("/k"));
  put.method = "PUT";
  put.headers = {{"x-empty", ""}, {"x-a", "b"}};
  put.body = content::Rope::literal("some ").append(content::Rope::literal("bytes"));
  std::uint64_t sent = 0;
  put.on_sent = [&](std::uint64_t now) { sent = now; };
  EXPECT_EQ(client->send(put)->status, 204);
  EXPECT_EQ(sent, 10u);
  EXPECT_EQ(client->send(get(server.url("/b")))->body, "nothing");
  EXPECT_EQ(server.connections(), 1);
  auto seen = server.requests();
  EXPECT_TRUE(seen[0].starts_with("GET /a?b=c HTTP/1.1\r\n")) << seen[0];
  EXPECT_TRUE(seen[1].starts_with("PUT /k HTTP/1.1\r\n") && seen[1].ends_with("\r\n\r\nsome bytes")) << seen[1];
  EXPECT_NE(seen[1].find("x-empty:"), std::string::npos);
  EXPECT_EQ(seen[1].find("Expect"), std::string::npos);
  EXPECT_EQ(seen[0].find("Accept-Encoding"), std::string::npos);
}

TEST(Client, BuffersAreBounded) {
  Scripted server({"close" + answer("200 OK", "", std::string(2000, 'x'))});
  auto request = get(server.url());
  request.response_bytes_max = 1000;
  auto answered = make_client({})->send(request);
  ASSERT_FALSE(answered);
  EXPECT_EQ(answered.error().error.code, "H006");
  EXPECT_EQ(answered.error().fault, Fault::own);
}

TEST(Client, AnErrorPageIsCutAtTheBound) {
  const std::string page(4u << 20, 'x'); // more than libcurl gives at once
  for (bool with_sink : {false, true}) {
    Scripted server({"close" + answer("404 Not Found", "ETag: e\r\n", page), answer("200 OK", "", "next")});
    auto client = make_client({});
    auto request = get(server.url());
    request.response_bytes_max = 1000;
    if (with_sink) request.sink = [](const Response&, std::span<const std::byte>) -> Result<void> { return {}; };
    auto answered = client->send(request);
    ASSERT_TRUE(answered) << render(answered.error().error);
    EXPECT_EQ(answered->status, 404);
    EXPECT_EQ(answered->body, page.substr(0, 1000));
    EXPECT_EQ(client->send(get(server.url()))->body, "next") << "the rest of the page is not taken for this answer";
  }
}

TEST(Client, TheSinksErrorEndsTheTransfer) {
  Scripted server({"close" + answer("200 OK", "", std::string(2000, 'x'))});
  auto request = get(server.url());
  request.sink = [](const Response& head, std::span<const std::byte>) -> Result<void> {
    return fail(ErrorKind::corrupt, "T001", fmt::format("after status {}", head.status));
  };
  auto answered = make_client({})->send(request);
  ASSERT_FALSE(answered);
  EXPECT_EQ(answered.error().error.message, "after status 200");
}

TEST(Client, AFailureSaysWhetherTheServerMayHaveActed) {
  auto client = make_client({});
  Scripted silent({"close"}), half({"closeHTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"});
  auto cut = client->send(get(silent.url()));
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().fault, Fault::cut);
  EXPECT_TRUE(cut.error().sent);
  EXPECT_FALSE(cut.error().reused);
  auto short_body = client->send(get(half.url()));
  ASSERT_FALSE(short_body);
  EXPECT_EQ(short_body.error().error.code, "H005");
  auto nobody = client->send(get(*parse_url("http://127.0.0.1:1/")));
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().fault, Fault::unreachable);
  EXPECT_FALSE(nobody.error().sent);
}

TEST(Client, NothingIsSentTwiceUnknowingly) { // libcurl would, on a kept connection
  Scripted server({answer("200 OK", "", "one"), "close", answer("200 OK", "", "sent again")});
  auto client = make_client({});
  ASSERT_TRUE(client->send(get(server.url())));
  auto put = get(server.url());
  put.method = "PUT";
  put.body = content::Rope::literal("bytes");
  auto lost = client->send(put);
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().fault, Fault::cut);
  EXPECT_TRUE(lost.error().sent && lost.error().reused);
  EXPECT_EQ(server.requests().size(), 2u);
  EXPECT_EQ(client->send(put)->body, "sent again");
}

TEST(Client, PlainHttpStaysOnThisMachine) {
  auto refused = make_client({})->send(get(*parse_url("http://example.com/")));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error.code, "H010");
}

TEST(Client, AStallEnds) {
  Scripted server({"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "never sent"});
  auto request = get(server.url());
  request.deadline_ms = 300;
  auto answered = make_client({})->send(request);
  ASSERT_FALSE(answered);
  EXPECT_EQ(answered.error().error.code, "H004");
  EXPECT_EQ(answered.error().error.kind, ErrorKind::timed_out);
}

TEST(Client, TlsNeedsTls) {
  Scripted server({"never sent"}); // speaks no TLS; tests/e2e has one with a certificate that nobody vouches for
  auto url = server.url();
  url.scheme = "https";
  Settings settings;
  settings.connect_ms = 200;
  auto answered = make_client(settings)->send(get(url));
  ASSERT_FALSE(answered);
  EXPECT_EQ(answered.error().error.code, "H002");
  settings.ca_file = "/nonexistent/authority.pem";
  auto untrusted = make_client(settings)->send(get(url));
  ASSERT_FALSE(untrusted);
  EXPECT_EQ(untrusted.error().error.code, "H003");
}

TEST(Fetch, RetriesWhatMayWorkTheNextTime) {
  Scripted server({answer("503 Slow Down", "", ""), "close", answer("200 OK", "", "at last")});
  auto response = fetch(*make_client({}), get(server.url()), quick(), k_clock);
  ASSERT_TRUE(response) << render(response.error());
  EXPECT_EQ(response->body, "at last");
  EXPECT_EQ(server.requests().size(), 3u);
}

TEST(Fetch, RetriesAfterALongErrorPage) {
  Scripted server({"close" + answer("503 Slow Down", "", std::string(2000, 'x')), answer("200 OK", "", "at last")});
  auto request = get(server.url());
  request.response_bytes_max = 1000;
  auto response = fetch(*make_client({}), request, quick(), k_clock);
  ASSERT_TRUE(response) << render(response.error());
  EXPECT_EQ(response->body, "at last");
}

TEST(Fetch, GivesUpWithTheLastAnswer) {
  auto options = quick();
  options.limits.attempts_max = 2;
  Scripted server({answer("500 Ill", "", ""), answer("502 Ill", "", "")});
  EXPECT_EQ(fetch(*make_client({}), get(server.url()), options, k_clock)->status, 502);
}

TEST(Fetch, FollowsRedirectsWithoutCredentials) {
  Scripted there({answer("200 OK", "", "here")});
  Scripted from({answer("302 Found", "Location: " + there.url("/new").text() + "\r\n", "")});
  auto request = get(from.url());
  request.headers = {{"authorization", "secret"}, {"range", "bytes=0-"}};
  Places places;
  auto response = fetch(*make_client({}), request, quick(), k_clock, &places);
  ASSERT_TRUE(response) << render(response.error());
  EXPECT_EQ(response->body, "here");
  EXPECT_EQ(places.lasting, from.url()); // found there for now only
  EXPECT_EQ(places.final, there.url("/new"));
  EXPECT_EQ(there.requests()[0].find("secret"), std::string::npos); // another port is another place
  EXPECT_NE(there.requests()[0].find("range"), std::string::npos);
}

TEST(Fetch, OnlyAPermanentPlaceWithoutAQueryLasts) {
  struct Case {
    std::string first, second, lasting; // "status location"
  };
  for (const auto& c : std::vector<Case>{{"301 /a", "308 /b", "/b"},
                                         {"301 /a", "302 /b", "/a"},
                                         {"302 /a", "301 /b", "/from"},
                                         {"301 /a?signature=x", "301 /b", "/from"}}) {
    auto moved = [](const std::string& hop) {
      return answer(hop.substr(0, 3) + " Moved", "Location: " + hop.substr(4) + "\r\n", "");
    };
    Scripted server({moved(c.first), moved(c.second), answer("200 OK", "", "here")});
    Places places;
    ASSERT_TRUE(fetch(*make_client({}), get(server.url("/from")), quick(), k_clock, &places));
    EXPECT_EQ(places.lasting, server.url(c.lasting)) << c.first << ", " << c.second;
  }
}

TEST(Fetch, ACircleOfRedirectsEnds) {
  std::vector<std::string> answers(7, answer("301 Moved", "Location: /again\r\n", ""));
  Scripted server(answers);
  auto response = fetch(*make_client({}), get(server.url()), quick(), k_clock);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, "H009");
  EXPECT_EQ(server.requests().size(), 6u);
}

TEST(Settings, ProxiesAndAuthoritiesComeFromTheEnvironment) {
  auto settings = settings_from({{"HTTP_PROXY", "http://cgi:1"},
                                 {"HTTPS_PROXY", "http://p:3128"},
                                 {"NO_PROXY", "localhost,.example"},
                                 {"SSL_CERT_FILE", "/a.pem"},
                                 {"AWS_CA_BUNDLE", "/b.pem"}});
  EXPECT_EQ(settings.http_proxy, ""); // HTTP_PROXY is a header of a request to a CGI program
  EXPECT_EQ(settings.https_proxy, "http://p:3128");
  EXPECT_EQ(settings.no_proxy, "localhost,.example");
  EXPECT_EQ(settings.ca_file, "/b.pem");
  EXPECT_FALSE(settings.allow_plain_http);
}

TEST(Client, AProxyIsUsedForOtherMachinesOnly) {
  Scripted proxy({answer("200 OK", "", "from the proxy")}), direct({answer("200 OK", "", "direct")});
  Settings settings;
  settings.http_proxy = proxy.url().text();
  settings.allow_plain_http = true;
  auto client = make_client(settings);
  EXPECT_EQ(client->send(get(direct.url()))->body, "direct");
  auto through = client->send(get(*parse_url("http://elsewhere.test/x")));
  ASSERT_TRUE(through) << through.error().error.message;
  EXPECT_EQ(through->body, "from the proxy");
  EXPECT_TRUE(proxy.requests()[0].starts_with("GET http://elsewhere.test/x HTTP/1.1")) << proxy.requests()[0];
}

} // namespace
} // namespace quarry::net
