#pragma once
// Parses S3's XML answers (docs.aws.amazon.com, Amazon S3 API Reference), with bounds on size and depth. Unknown
// elements are ignored. Every parse_… function and etag_of() fail with corrupt (K020). Pure.
#include "base/data_text.hpp"
#include "base/result.hpp"
#include "s3/bucket_key.hpp"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::s3 {

/// The leaf elements of one element, by path below it: "Key", "Owner/ID".
struct Record {
  std::map<std::string, std::string> values;
  std::string value(const std::string& key) const {
    auto it = values.find(key);
    return it == values.end() ? std::string() : it->second;
  }
};

struct Reply {
  std::string root;                                  ///< "ListBucketResult", "Error", …
  Record top;                                        ///< leaves directly below the root
  std::map<std::string, std::vector<Record>> groups; ///< elements with children, by name; deeper leaves as "Owner/ID"
  const std::vector<Record>& group(const std::string& name) const;
};

Result<Reply> parse_reply(NamedText body);
/// Returns the ETag in a document with this root, as it was sent (see unquoted()); some versions of Ceph send an empty
/// one. Fails with K020 if the document has another root.
Result<std::string> etag_of(NamedText body, std::string_view root);
/// Parses InitiateMultipartUploadResult. Never returns an empty id: a request with an empty upload id would be a
/// request about the object itself.
Result<std::string> parse_upload_id(NamedText body);

struct ListedObject {
  BucketKey key;    ///< decoded
  std::string etag; ///< unquoted
  std::uint64_t size = 0;
  std::int64_t modified_us = 0; ///< as time_of() gives it
};
struct ListPage {
  std::vector<ListedObject> objects;
  std::vector<BucketKey> prefixes; ///< common prefixes of a listing with a delimiter
  std::string next;                ///< continuation token; empty on the last page
};
Result<ListPage> parse_list(std::string_view body);

struct ListedPart {
  unsigned number = 0;
  std::uint64_t size = 0;
  std::string etag; ///< unquoted
};
struct PartPage {
  std::vector<ListedPart> parts;
  std::string next_marker; ///< empty: the last page
};
Result<PartPage> parse_parts(std::string_view body);

struct Upload {
  BucketKey key;  ///< as it was sent: request the list without encoding-type
  std::string id; ///< never empty, as that of parse_upload_id()
  std::int64_t initiated_us = 0;
};
struct UploadPage {
  std::vector<Upload> uploads;
  std::string next_key, next_id; ///< no next_key: the last page
};
Result<UploadPage> parse_uploads(std::string_view body);

/// Returns an ETag without its quotes and without the `W/` of a weak one.
std::string unquoted(std::string_view etag);
/// Parses "2013-05-24T00:00:00.000Z" or an HTTP date to microseconds since 1970; 0 if it is neither.
std::int64_t time_of(std::string_view text);
std::string xml_escape(std::string_view text);

} // namespace quarry::s3
