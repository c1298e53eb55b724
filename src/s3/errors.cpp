#include "s3/errors.hpp"

#include "base/text.hpp"
#include "s3/replies.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>

namespace quarry::s3 {

namespace {

using net::Trouble;
using Kind = ErrorKind;

constexpr ErrorRow k_rows[] = {
    {"NoSuchBucket", Kind::not_found, "K002", Trouble::final},
    {"InvalidBucketName", Kind::invalid_argument, "K002", Trouble::final},
    {"AccessDenied", Kind::unauthenticated, "K003", Trouble::final},
    {"AllAccessDisabled", Kind::unauthenticated, "K003", Trouble::final},
    {"AccountProblem", Kind::unauthenticated, "K003", Trouble::final},
    {"InvalidAccessKeyId", Kind::unauthenticated, "K004", Trouble::final},
    {"SignatureDoesNotMatch", Kind::unauthenticated, "K004", Trouble::final},
    {"ExpiredToken", Kind::unauthenticated, "K004", Trouble::expired},
    {"ExpiredTokenException", Kind::unauthenticated, "K004", Trouble::expired},
    {"RequestExpired", Kind::unauthenticated, "K004", Trouble::expired},
    {"TokenRefreshRequired", Kind::unauthenticated, "K004", Trouble::expired},
    {"InvalidToken", Kind::unauthenticated, "K004", Trouble::expired},
    {"RequestTimeTooSkewed", Kind::unauthenticated, "K009", Trouble::skewed},
    {"PermanentRedirect", Kind::invalid_argument, "K008", Trouble::moved},
    {"TemporaryRedirect", Kind::invalid_argument, "K008", Trouble::moved},
    {"AuthorizationHeaderMalformed", Kind::unauthenticated, "K004", Trouble::moved}, // of a bad access key, too
    {"IllegalLocationConstraintException", Kind::invalid_argument, "K008", Trouble::moved},
    {"NoSuchKey", Kind::not_found, "K005", Trouble::final},
    {"NoSuchUpload", Kind::not_found, "K005", Trouble::final},
    {"NoSuchVersion", Kind::not_found, "K005", Trouble::final},
    {"PreconditionFailed", Kind::precondition_failed, "K005", Trouble::final},
    {"ConditionalRequestConflict", Kind::precondition_failed, "K005", Trouble::conflict},
    {"OperationAborted", Kind::unavailable, "K006", Trouble::conflict},
    {"SlowDown", Kind::unavailable, "K006", Trouble::throttled},
    {"ServiceUnavailable", Kind::unavailable, "K006", Trouble::throttled},
    {"Throttling", Kind::unavailable, "K006", Trouble::throttled},
    {"ThrottlingException", Kind::unavailable, "K006", Trouble::throttled},
    {"ThrottledException", Kind::unavailable, "K006", Trouble::throttled},
    {"RequestThrottled", Kind::unavailable, "K006", Trouble::throttled},
    {"RequestThrottledException", Kind::unavailable, "K006", Trouble::throttled},
    {"RequestLimitExceeded", Kind::unavailable, "K006", Trouble::throttled},
    {"TooManyRequestsException", Kind::unavailable, "K006", Trouble::throttled},
    {"BandwidthLimitExceeded", Kind::unavailable, "K006", Trouble::throttled},
    {"QpsLimitExceeded", Kind::unavailable, "K006", Trouble::throttled},
    {"InternalError", Kind::unavailable, "K006", Trouble::busy},
    {"RequestTimeout", Kind::unavailable, "K006", Trouble::busy},
    {"IncompleteBody", Kind::unavailable, "K006", Trouble::busy},
    {"BadDigest", Kind::corrupt, "K007", Trouble::damaged},
    {"XAmzContentSHA256Mismatch", Kind::corrupt, "K007", Trouble::damaged},
    {"InvalidPart", Kind::unavailable, "K006", Trouble::final}, // it lost one: the next run sends it again
    {"NotImplemented", Kind::unsupported, "K008", Trouble::final},
    {"MethodNotAllowed", Kind::unsupported, "K008", Trouble::final},
    {"InvalidObjectState", Kind::unsupported, "K008", Trouble::final},
    {"QuotaExceeded", Kind::unavailable, "K014", Trouble::final},
    {"EntityTooLarge", Kind::unsupported, "K008", Trouble::final},
};

ErrorRow by_status(int status) {
  switch (status) {
  case 301:
  case 307: return {"", Kind::invalid_argument, "K008", Trouble::moved};
  case 401: return {"", Kind::unauthenticated, "K004", Trouble::final};
  case 403: return {"", Kind::unauthenticated, "K003", Trouble::final};
  case 404: return {"", Kind::not_found, "K005", Trouble::final};
  case 412: return {"", Kind::precondition_failed, "K005", Trouble::final};
  case 405:
  case 501: return {"", Kind::unsupported, "K008", Trouble::final};
  case 507: return {"", Kind::unavailable, "K014", Trouble::final};
  default: break;
  }
  auto trouble = net::trouble_of_status(status);
  if (trouble == Trouble::final) return {"", Kind::failed, "K005", trouble};
  return {"", Kind::unavailable, "K006", trouble};
}

std::string printable(std::string_view text) { // from a server: one line, bounded
  std::string out(text.substr(0, 300));
  std::replace_if(out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return out;
}

std::string hint_of_region(const Refusal& refusal) {
  if (refusal.region.empty()) return "check AWS_REGION and AWS_ENDPOINT_URL";
  return fmt::format("the server says that the bucket is in {}: set AWS_REGION, and check AWS_ENDPOINT_URL",
                     printable(refusal.region));
}

std::string hint_of(std::string_view code, const Refusal& refusal) {
  if (refusal.code == "AuthorizationHeaderMalformed") return "check the access key; " + hint_of_region(refusal);
  if (code == "K002") return "check the name of the bucket and the endpoint (AWS_ENDPOINT_URL)";
  if (code == "K004") return "check which credentials these are: `aws sts get-caller-identity`";
  if (code == "K006") return "run the command again later: nothing is done twice";
  if (code == "K007") return "the memory, the disk or the network of this machine damages bytes: use another one";
  if (code == "K008" && !refusal.region.empty()) return hint_of_region(refusal);
  if (code == "K008")
    return "check AWS_ENDPOINT_URL and AWS_REGION; `quarry doctor --store LOCATOR` tries what it can do";
  if (code == "K009") return "set the clock of this machine";
  if (code == "K014")
    return "make room there, or have its quota raised; then run the command again: nothing is done twice";
  if (code == "K005") return "the server's own words are above; its operators can find the request by its id";
  return {};
}

std::string words_of(std::string_view code) {
  if (code == "K002") return "the bucket does not exist";
  if (code == "K003") return "access is denied";
  if (code == "K004") return "the credentials are refused";
  if (code == "K006") return "the store is overloaded or ill";
  if (code == "K007") return "the store got other bytes than were sent";
  if (code == "K008") return "the store does not do this";
  if (code == "K009") return "the clock of this machine is more than 15 minutes off";
  if (code == "K014") return "the store is full";
  return "the store refuses";
}

/// The text of an HTML page, without its tags.
std::string words_of_page(std::string_view body) {
  constexpr std::size_t k_looked_at = 4096;
  std::string words;
  bool inside = false;
  for (char c : body.substr(0, k_looked_at)) {
    if (c == '<') inside = true;
    bool blank = inside || static_cast<unsigned char>(c) <= 0x20;
    if (!blank) words += c;
    if (blank && !words.empty() && words.back() != ' ') words += ' ';
    if (c == '>') inside = false;
  }
  return printable(text::trim(words));
}

/// The target of a redirect, without its query, which may contain a signature.
std::string target_of(const net::Response& response) {
  auto location = net::header(response.headers, "location");
  return printable(location.substr(0, location.find('?')));
}

bool says_amazon(const net::Headers& headers) {
  return std::any_of(headers.begin(), headers.end(), [](const auto& h) { return h.first.starts_with("x-amz-"); });
}

/// Whether S3 never gives such an answer: an HTML page (without a body: its content type), or a redirect without
/// Amazon's headers and without an S3 error.
bool is_foreign(const net::Response& response) {
  bool page = is_page(response.body) ||
              (response.body.empty() && net::header(response.headers, "content-type").starts_with("text/html") &&
               !says_amazon(response.headers));
  bool redirect = response.status == 301 || response.status == 302 || response.status == 303 ||
                  response.status == 307 || response.status == 308;
  return page || (redirect && !says_amazon(response.headers) && response.body.find("<Error>") == std::string::npos);
}

void add_page(Error& error, const net::Response& response) {
  auto words = is_page(response.body) ? words_of_page(response.body) : std::string();
  if (!words.empty()) error.details.push_back("page     " + words);
}

} // namespace

bool is_page(std::string_view body) {
  if (body.starts_with("\xef\xbb\xbf")) body.remove_prefix(3); // a byte order mark
  auto begin = text::lower(text::trim(body.substr(0, 256)));
  return begin.starts_with("<!doctype html") || begin.starts_with("<html");
}

std::string hint_of_denial(const Denied& denied) {
  const auto& [method, of_object, is_signed] = denied;
  if (!is_signed) return "set credentials, such as AWS_PROFILE, and unset QUARRY_S3_ANONYMOUS: nothing was signed";
  if (method == "DELETE") return "ask for s3:DeleteObject and s3:AbortMultipartUpload there";
  if (method == "PUT" || method == "POST") return "ask for s3:PutObject there";
  if (of_object) return "ask for s3:GetObject there; without s3:ListBucket absent objects are denied, too";
  return "ask for s3:ListBucket and s3:ListBucketMultipartUploads there";
}

Refusal foreign_refusal(const net::Response& response, const std::string& what) {
  Refusal refusal;
  refusal.error = {ErrorKind::corrupt,
                   "K020",
                   fmt::format("cannot {}: something else than the store answered", what),
                   {fmt::format("answer   {}", response.status)},
                   {},
                   "a proxy or captive portal, or no S3 server: look at AWS_ENDPOINT_URL with curl"};
  if (auto target = target_of(response); !target.empty()) refusal.error.details.push_back("leads to " + target);
  add_page(refusal.error, response);
  return refusal;
}

ErrorRow error_row(std::string_view s3_code, int status) {
  const auto* found =
      std::find_if(std::begin(k_rows), std::end(k_rows), [&](const auto& row) { return row.s3_code == s3_code; });
  return found == std::end(k_rows) ? by_status(status) : *found;
}

bool holds_error(const net::Response& response) {
  return response.ok() && response.body.size() < 64 << 10 && response.body.find("<Error>") != std::string::npos;
}

Refusal refusal_of(const net::Response& response, const std::string& what) {
  bool passes =
      net::trouble_of_status(response.status) != Trouble::final; // a gateway in front of an overloaded store: retry
  if (!response.ok() && !passes && is_foreign(response)) return foreign_refusal(response, what);
  Refusal refusal;
  refusal.status = response.ok() ? 500 : response.status; // a success whose body is an error is not a success
  refusal.unanswered = refusal.status == 502 || refusal.status == 504; // a gateway says so, and S3 may still write
  refusal.retry_after_ms = net::retry_after_ms(response.headers);
  auto reply = parse_reply({response.body, what});
  std::string message;
  if (reply && reply->root == "Error") {
    refusal.code = reply->top.value("Code");
    refusal.region = reply->top.value("Region");
    message = reply->top.value("Message");
    if (response.ok() && refusal.code == "PreconditionFailed") refusal.status = 412;
  }
  auto region = net::header(response.headers, "x-amz-bucket-region");
  if (!region.empty()) refusal.region = region;
  auto row = error_row(refusal.code, refusal.status);
  refusal.trouble = row.trouble == Trouble::moved && refusal.region.empty() ? Trouble::final : row.trouble;
  refusal.error = {row.kind, std::string(row.code),     fmt::format("cannot {}: {}", what, words_of(row.code)), {},
                   {},       hint_of(row.code, refusal)};
  auto answer = fmt::format("answer   {} {}", refusal.status, printable(refusal.code));
  if (!message.empty()) answer += ": " + printable(message);
  refusal.error.details.push_back(answer);
  add_page(refusal.error, response);
  for (const auto* name : {"x-amz-request-id", "x-amz-id-2"})
    if (auto id = net::header(response.headers, name); !id.empty())
      refusal.error.details.push_back(fmt::format("{}   {}", name, printable(id)));
  return refusal;
}

bool may_have_been_done(int status) { return status >= 500 && status != 501 && status != 505 && status != 507; }

Refusal refusal_of(net::Failure failure, const std::string& what) {
  Refusal refusal;
  refusal.trouble = net::trouble_of(failure);
  refusal.ambiguous = refusal.unanswered = failure.sent;
  refusal.error = std::move(failure.error);
  refusal.error.context.push_back("while trying to " + what);
  return refusal;
}

} // namespace quarry::s3
