#include "s3/sources.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "net/fetch.hpp"
#include "s3/location.hpp"
#include "s3/replies.hpp"
#include "sys/file.hpp"
#include <cstdlib>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::s3 {

namespace {

using Found = Result<std::optional<Credentials>>;

constexpr std::uint64_t k_answer_max = 64 << 10;
constexpr std::int64_t k_skew_max_us = 300'000'000; // AWS takes signatures up to five minutes off
constexpr std::uint64_t k_service_ms = 15'000;
constexpr std::uint64_t k_machine_ms = 1000; // off Amazon's machines nobody answers there: do not wait
constexpr std::string_view k_container_host = "http://169.254.170.2", k_machine_host = "http://169.254.169.254";

Unexpected failed(const std::string& source, const std::string& why) {
  return fail(ErrorKind::unauthenticated, "K012", fmt::format("{} gave no credentials: {}", source, why),
              "check the role, its trust policy and `permissions: id-token: write`");
}

std::string without_secrets(const net::Response& response) {
  auto reply = parse_reply({response.body, "an answer"});
  std::string code;
  if (reply)
    for (const auto& [name, records] : reply->groups)
      for (const auto& record : records)
        if (code.empty()) code = record.value("Code");
  return fmt::format("status {}{}{}", response.status, code.empty() ? "" : " ", code);
}

bool may_hold_credentials(const net::Url& url) { // as aws does: the container's own addresses, or https
  return url.secure() || net::is_loopback(url) || url.host == "169.254.170.2" || url.host == "169.254.170.23" ||
         url.host == "[fd00:ec2::23]";
}

} // namespace

Result<net::Response> ask(const CredentialSurroundings& surroundings, net::Request request, std::uint64_t deadline_ms) {
  request.deadline_ms = deadline_ms;
  request.response_bytes_max = k_answer_max;
  net::FetchOptions options;
  options.limits.attempts_max = 3;
  options.limits.elapsed_max_ms = deadline_ms * 3;
  options.redirects_max = 0;
  return net::fetch(surroundings.transport, std::move(request), options, surroundings.clock);
}

namespace {
/// A request to STS, signed at `now_us` if there are keys.
Result<net::Request> role_request(const CredentialSurroundings& surroundings, const Role& role, const Keys* keys,
                                  std::int64_t now_us) {
  Pairs form = {{"Action", keys ? "AssumeRole" : "AssumeRoleWithWebIdentity"},
                {"Version", "2011-06-15"},
                {"RoleArn", role.arn},
                {"RoleSessionName", role.session}};
  if (!keys) form.emplace_back("WebIdentityToken", role.token);
  auto body = canonical_query(form);
  net::Request request;
  request.method = "POST";
  auto endpoint = variable(surroundings, "AWS_ENDPOINT_URL_STS");
  if (endpoint.empty()) endpoint = fmt::format("https://{}/", amazon_host(AmazonService::sts, surroundings.region));
  TRY(request.url, net::parse_url(endpoint), "while reading AWS_ENDPOINT_URL_STS");
  request.headers = {{"content-type", "application/x-www-form-urlencoded"}};
  if (keys) {
    auto date = amz_date(now_us);
    SignedRequest sign{
        "POST", request.url.path, {}, {{"host", request.url.authority()}, {"x-amz-date", date}}, sha256(body).hex()};
    if (!keys->session_token.empty()) sign.headers.emplace_back("x-amz-security-token", keys->session_token.reveal());
    request.headers.emplace_back("authorization", authorization(sign, {date, surroundings.region, "sts"}, *keys));
    for (const auto& [name, value] : sign.headers)
      if (name != "host") request.headers.emplace_back(name, value);
  }
  request.body = content::Rope::literal(body);
  return request;
}
} // namespace

Result<Credentials> assume_role(const CredentialSurroundings& surroundings, const Role& role, const Keys* keys,
                                const std::string& source) {
  auto now = surroundings.clock.now_us();
  TRY(auto request, role_request(surroundings, role, keys, now));
  TRY(auto response, ask(surroundings, std::move(request), k_service_ms), "while asking STS for a role");
  auto servers = time_of(net::header(response.headers, "date"));
  if (!response.ok() && keys && servers != 0 && std::abs(servers - now) > k_skew_max_us) {
    // This machine's clock is wrong, as Bucket::call() corrects it, too.
    TRY(request, role_request(surroundings, role, keys, servers));
    TRY(response, ask(surroundings, std::move(request), k_service_ms), "while asking STS for a role");
  }
  if (!response.ok()) return failed("STS", without_secrets(response));
  return parse_assumed_role({response.body, source});
}

Result<std::optional<Credentials>> from_github(const CredentialSurroundings& s, const SharedFiles&, std::string& why) {
  auto url = variable(s, "ACTIONS_ID_TOKEN_REQUEST_URL"), bearer = variable(s, "ACTIONS_ID_TOKEN_REQUEST_TOKEN");
  auto role = variable(s, "AWS_ROLE_ARN");
  if (url.empty() || bearer.empty() || role.empty()) {
    why = role.empty() ? "AWS_ROLE_ARN is not set" : "the job has no `id-token: write`";
    return std::optional<Credentials>();
  }
  net::Request request;
  TRY(request.url, net::parse_url(url + (url.find('?') == url.npos ? "?" : "&") + "audience=sts.amazonaws.com"));
  if (!may_hold_credentials(request.url)) return failed("GitHub's identity service", "its address is not protected");
  request.headers = {{"authorization", "bearer " + bearer}};
  TRY(auto response, ask(s, std::move(request), k_service_ms), "while asking GitHub for an identity token");
  if (!response.ok()) return failed("GitHub's identity service", fmt::format("status {}", response.status));
  auto document = json::parse({response.body, "GitHub's identity token"});
  if (!document) return failed("GitHub's identity service", "its answer is not JSON"); // what it is may be half a token
  auto token = json::string_or(*document, "value", "");
  if (token.empty()) return failed("GitHub's identity service", "its answer holds no token");
  auto run = variable(s, "GITHUB_RUN_ID");
  TRY(auto assumed,
      assume_role(s, {role, "github-" + (run.empty() ? "run" : run), token}, nullptr, "GitHub's identity"));
  return std::optional(assumed);
}

Result<std::optional<Credentials>> from_container(const CredentialSurroundings& s, const SharedFiles&,
                                                  std::string& why) {
  auto relative = variable(s, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  auto full =
      relative.empty() ? variable(s, "AWS_CONTAINER_CREDENTIALS_FULL_URI") : std::string(k_container_host) + relative;
  if (full.empty()) {
    why = "AWS_CONTAINER_CREDENTIALS_FULL_URI is not set";
    return std::optional<Credentials>();
  }
  net::Request request;
  TRY(request.url, net::parse_url(full), "while reading AWS_CONTAINER_CREDENTIALS_FULL_URI");
  if (!may_hold_credentials(request.url)) return failed("the container", "its address is neither local nor https");
  auto token = variable(s, "AWS_CONTAINER_AUTHORIZATION_TOKEN");
  if (auto file = variable(s, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); !file.empty()) {
    TRY(token, sys::read_file(file, k_answer_max), "while reading AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
    token = text::trim(token);
  }
  if (!token.empty()) request.headers = {{"authorization", token}};
  TRY(auto response, ask(s, std::move(request), k_service_ms), "while asking the container for credentials");
  if (!response.ok()) return failed("the container", fmt::format("status {}", response.status));
  TRY(auto found, parse_credentials_json({response.body, "the container"}));
  return std::optional(found);
}

// Version 2 of the metadata service: a token first, which a forged request from elsewhere cannot get.
Result<std::optional<Credentials>> from_machine(const CredentialSurroundings& s, const SharedFiles&, std::string& why) {
  why = "no cloud metadata service answered";
  if (text::lower(variable(s, "AWS_EC2_METADATA_DISABLED")) == "true") {
    why = "AWS_EC2_METADATA_DISABLED is true";
    return std::optional<Credentials>();
  }
  auto said = variable(s, "AWS_EC2_METADATA_SERVICE_ENDPOINT");
  TRY(auto base, net::parse_url(said.empty() ? std::string(k_machine_host) : said));
  auto at = [&](const std::string& path, std::string method, net::Headers headers) {
    net::Request request;
    request.method = std::move(method);
    request.url = base;
    request.url.path = path;
    request.headers = std::move(headers);
    if (request.method == "PUT") request.body = content::Rope();
    request.deadline_ms = k_machine_ms;
    request.response_bytes_max = k_answer_max;
    return s.transport.send(request);
  };
  auto token = at("/latest/api/token", "PUT", {{"x-aws-ec2-metadata-token-ttl-seconds", "21600"}});
  if (!token && token.error().error.kind == ErrorKind::cancelled) return fail(std::move(token.error().error));
  if (!token || !token->ok()) return std::optional<Credentials>();
  net::Headers with_token = {{"x-aws-ec2-metadata-token", std::string(text::trim(token->body))}};
  const std::string roles = "/latest/meta-data/iam/security-credentials/";
  auto role = at(roles, "GET", with_token);
  if (!role) return fail(std::move(role.error().error));
  if (!role->ok() && role->status != 404) return failed("the metadata service", fmt::format("status {}", role->status));
  if (!role->ok() || text::trim(role->body).empty()) {
    why = "this machine has no role";
    return std::optional<Credentials>();
  }
  auto name = text::lines(role->body).front();
  auto found = at(roles + uri_encode(text::trim(name), Slash::encoded), "GET", with_token);
  if (!found) return fail(std::move(found.error().error));
  if (!found->ok()) return failed("the metadata service", fmt::format("status {}", found->status));
  TRY(auto credentials, parse_credentials_json({found->body, "the machine's role"}));
  return std::optional(credentials);
}

} // namespace quarry::s3
