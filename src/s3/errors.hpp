#pragma once
// S3's error codes as our kinds, and whether a retry helps: one table (docs.aws.amazon.com, "Error responses"; the
// codes of Ceph and other servers that are known). Pure.
#include "net/http.hpp"
#include "net/retry.hpp"
#include <string>
#include <string_view>

namespace quarry::s3 {

/// Why a call did not succeed.
struct Refusal {
  int status = 0;     ///< 0: no answer came
  std::string code;   ///< S3's, "NoSuchKey"; by status when the answer had no body
  std::string region; ///< where the bucket is, when that is what was wrong
  net::Trouble trouble = net::Trouble::final;
  std::optional<std::uint64_t> retry_after_ms = {}; ///< the server's wish
  bool doubtful = false;                            ///< a write may have happened all the same
  bool unanswered = false;                          ///< doubtful since a reply was lost: the server may still be at it
  Error error;
};

struct ErrorRow {
  std::string_view s3_code;
  ErrorKind kind;
  std::string_view code; ///< ours
  net::Trouble trouble;
};
/// The row of a code; of the status when the code is not known.
ErrorRow error_row(std::string_view s3_code, int status);

/// From an answer that is no success, or from a success that holds an <Error>. `what` names the action: "store `k` in
/// s3://b".
Refusal refusal_of(const net::Response& response, const std::string& what);
Refusal refusal_of(net::Failure failure, const std::string& what);
/// Is the body of a success in truth an error? CompleteMultipartUpload and CopyObject may answer so.
bool holds_error(const net::Response& response);
/// Something else than the store answered (corrupt K020); its status is 0, the answer's own stands in the details.
Refusal foreign_refusal(const net::Response& response, const std::string& what);
/// Does this begin like a page for people? S3 answers in XML, proxies and captive portals in HTML.
bool is_page(std::string_view body);
/// What to ask for after K003: the permission of the one request that was denied.
std::string hint_of_denial(const std::string& method, bool of_object, bool is_signed);

} // namespace quarry::s3
