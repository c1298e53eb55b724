#pragma once
// Maps S3's error codes to our kinds and codes, and says whether a retry helps: one table (docs.aws.amazon.com, "Error
// responses"; also codes of Ceph and other servers). Pure.
#include "net/http.hpp"
#include "net/retry.hpp"
#include <string>
#include <string_view>

namespace quarry::s3 {

/// Why a call did not succeed.
struct Refusal {
  /// 0: no answer, one not from S3, or our own error. A 2xx whose body is an <Error> has 500, or 412 if its code says
  /// that the condition does not hold.
  int status = 0;
  std::string code; ///< S3's, "NoSuchKey"; empty if the answer has none, as many answers to HEAD
  /// The region of the bucket, as the answer says; may be the region that was asked. Empty: the answer does not say it.
  std::string region;
  net::Trouble trouble = net::Trouble::final;
  std::optional<std::uint64_t> retry_after_ms = {}; ///< as the server asked (Retry-After)
  bool ambiguous = false;                           ///< an attempt may have written although the call failed
  /// An attempt may still write later, so an object that is unchanged when we look proves nothing. True if an attempt
  /// was sent and got no reply, got 502 or 504 (which a gateway sends), or was a PUT and got a success without an ETag
  /// whose body is not an HTML page (K020, bucket.hpp).
  bool unanswered = false;
  Error error;
};

struct ErrorRow {
  std::string_view s3_code;
  ErrorKind kind;
  std::string_view code; ///< ours
  net::Trouble trouble;
};
/// Returns the row of an S3 code, or of the status if the code is unknown.
ErrorRow error_row(std::string_view s3_code, int status);

/// Makes a Refusal of an answer that is not a success, or of a success whose body is an <Error>. `what` names the
/// action: "store `k` in s3://b". A status that is retried (408, 409, 429, 500, 502, 503, 504) is kept, whoever wrote
/// the answer. With any other status these are not from S3 and become a foreign_refusal():
///   - an HTML page;
///   - an answer without a body whose content type is HTML and that has no x-amz- header;
///   - a redirect with neither an x-amz- header nor an <Error>.
Refusal refusal_of(const net::Response& response, const std::string& what);
/// Makes a Refusal of a failure of the network.
Refusal refusal_of(net::Failure failure, const std::string& what);
/// Whether a write may have happened, or may still happen, although the answer has this status: a server's error, but
/// not "not implemented", "version not supported" and "insufficient storage" (501, 505, 507). Pure.
bool may_have_been_done(int status);
/// Whether the body of a success (2xx) is an <Error>. CompleteMultipartUpload and CopyObject may answer so.
bool holds_error(const net::Response& response);
/// Makes a Refusal for an answer that did not come from S3, such as a proxy's page (corrupt K020). Its status is 0; the
/// status of the answer is in the error's details.
Refusal foreign_refusal(const net::Response& response, const std::string& what);
/// Whether a body begins like an HTML page. S3 answers in XML, proxies and captive portals in HTML.
bool is_page(std::string_view body);
struct Denied { ///< a request that was denied
  std::string method;
  bool of_object = true; ///< or of the bucket
  bool is_signed = true;
};
/// Returns a hint for K003 that names the permission which such a request most often needs. Pure.
std::string hint_of_denial(const Denied& denied);

} // namespace quarry::s3
