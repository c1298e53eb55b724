#include "s3/errors.hpp"

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
    {"AccessDenied", Kind::permission_denied, "K003", Trouble::final},
    {"AllAccessDisabled", Kind::permission_denied, "K003", Trouble::final},
    {"AccountProblem", Kind::permission_denied, "K003", Trouble::final},
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
    {"AuthorizationHeaderMalformed", Kind::invalid_argument, "K008", Trouble::moved},
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
    {"InvalidPart", Kind::corrupt, "K007", Trouble::final},
    {"NotImplemented", Kind::unsupported, "K008", Trouble::final},
    {"MethodNotAllowed", Kind::unsupported, "K008", Trouble::final},
    {"InvalidObjectState", Kind::unsupported, "K008", Trouble::final},
    {"QuotaExceeded", Kind::resource_exhausted, "K005", Trouble::final},
    {"EntityTooLarge", Kind::resource_exhausted, "K005", Trouble::final},
};

ErrorRow by_status(int status) {
  switch (status) {
  case 301:
  case 307: return {"", Kind::invalid_argument, "K008", Trouble::moved};
  case 401: return {"", Kind::unauthenticated, "K004", Trouble::final};
  case 403: return {"", Kind::permission_denied, "K003", Trouble::final};
  case 404: return {"", Kind::not_found, "K005", Trouble::final};
  case 412: return {"", Kind::precondition_failed, "K005", Trouble::final};
  case 405:
  case 501: return {"", Kind::unsupported, "K008", Trouble::final};
  default: break;
  }
  auto trouble = net::trouble_of_status(status);
  if (trouble == Trouble::final) return {"", Kind::invalid_argument, "K005", trouble};
  return {"", Kind::unavailable, "K006", trouble};
}

std::string hint_of(std::string_view code) {
  if (code == "K002") return "check the name of the bucket and the endpoint (AWS_ENDPOINT_URL)";
  if (code == "K003") return "ask for s3:GetObject, s3:PutObject, s3:DeleteObject and s3:ListBucket there";
  if (code == "K004") return "check which credentials these are: `aws sts get-caller-identity`";
  if (code == "K006") return "run the command again later: nothing is done twice";
  if (code == "K007") return "the memory, the disk or the network of this machine damages bytes: use another one";
  if (code == "K009") return "set the clock of this machine";
  return {};
}

std::string words_of(std::string_view code) {
  if (code == "K002") return "the bucket is not there";
  if (code == "K003") return "access is denied";
  if (code == "K004") return "the credentials are refused";
  if (code == "K006") return "the store is overloaded or ill";
  if (code == "K007") return "the store got other bytes than were sent";
  if (code == "K008") return "the store does not do this";
  if (code == "K009") return "the clock of this machine is more than 15 minutes off";
  return "the store refuses";
}

std::string printable(std::string_view text) { // from a server: one line, bounded
  std::string out(text.substr(0, 300));
  std::replace_if(out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return out;
}

} // namespace

ErrorRow error_row(std::string_view s3_code, int status) {
  const auto* found =
      std::find_if(std::begin(k_rows), std::end(k_rows), [&](const auto& row) { return row.s3_code == s3_code; });
  return found == std::end(k_rows) ? by_status(status) : *found;
}

bool holds_error(const net::Response& response) {
  return response.ok() && response.body.size() < 64 << 10 && response.body.find("<Error>") != std::string::npos;
}

Refusal refusal_of(const net::Response& response, const std::string& what) {
  Refusal refusal;
  refusal.status = response.ok() ? 500 : response.status; // a success that holds an error is none
  refusal.retry_after_ms = net::retry_after_ms(response.headers);
  auto reply = parse_reply(response.body, what);
  std::string message;
  if (reply && reply->root == "Error") {
    refusal.code = reply->top.value("Code");
    refusal.region = reply->top.value("Region");
    message = reply->top.value("Message");
  }
  auto region = net::header(response.headers, "x-amz-bucket-region");
  if (!region.empty()) refusal.region = region;
  auto row = error_row(refusal.code, refusal.status);
  refusal.trouble = row.trouble == Trouble::moved && refusal.region.empty() ? Trouble::final : row.trouble;
  refusal.error = {row.kind, std::string(row.code), fmt::format("cannot {}: {}", what, words_of(row.code)), {},
                   {},       hint_of(row.code)};
  auto answer = fmt::format("answer   {} {}", refusal.status, printable(refusal.code));
  if (!message.empty()) answer += ": " + printable(message);
  refusal.error.details.push_back(answer);
  for (const auto* name : {"x-amz-request-id", "x-amz-id-2"})
    if (auto id = net::header(response.headers, name); !id.empty())
      refusal.error.details.push_back(fmt::format("{}   {}", name, printable(id)));
  return refusal;
}

Refusal refusal_of(net::Failure failure, const std::string& what) {
  Refusal refusal;
  refusal.trouble = net::trouble_of(failure);
  refusal.doubtful = failure.sent;
  refusal.error = std::move(failure.error);
  refusal.error.context.push_back("while trying to " + what);
  return refusal;
}

} // namespace quarry::s3
