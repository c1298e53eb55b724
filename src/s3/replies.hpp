#pragma once
// What S3 answers in XML (docs.aws.amazon.com, Amazon S3 API Reference), read with bounds. Unknown elements are passed
// over. Errors: corrupt K020.
#include "base/result.hpp"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::s3 {

/// Leaf elements by path below the root, in order: "Contents/Key". Repeated elements are records.
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

Result<Reply> parse_reply(std::string_view body, std::string_view what);
/// The ETag below a root of this name, empty from a Ceph; K020 when another document was answered.
Result<std::string> etag_of(std::string_view body, std::string_view root, std::string_view what);
/// Of InitiateMultipartUploadResult: never empty, since a request with an empty upload id is one about the object.
Result<std::string> parse_upload_id(std::string_view body, std::string_view what);

struct ListedObject {
  std::string key, etag;
  std::uint64_t size = 0;
  std::int64_t modified_us = 0;
};
struct ListPage {
  std::vector<ListedObject> objects;
  std::vector<std::string> prefixes; ///< of a listing with a delimiter
  std::string next;                  ///< continuation token; empty: the last page
};
Result<ListPage> parse_list(std::string_view body);

struct ListedPart {
  unsigned number = 0;
  std::uint64_t size = 0;
  std::string etag;
};
struct PartPage {
  std::vector<ListedPart> parts;
  std::string next_marker; ///< empty: the last page
};
Result<PartPage> parse_parts(std::string_view body);

struct Upload {
  std::string key, id;
  std::int64_t initiated_us = 0;
};
struct UploadPage {
  std::vector<Upload> uploads;
  std::string next_key, next_id; ///< empty: the last page
};
Result<UploadPage> parse_uploads(std::string_view body);

/// An etag without its quotes.
std::string unquoted(std::string_view etag);
/// "2013-05-24T00:00:00.000Z" or an HTTP date; 0 when it is neither.
std::int64_t time_of(std::string_view text);
std::string xml_escape(std::string_view text);

} // namespace quarry::s3
