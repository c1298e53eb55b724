#include "s3/upload.hpp"

#include "s3/replies.hpp"
#include "s3/writes.hpp"
#include <fmt/core.h>

namespace quarry::s3 {

tl::expected<std::string, Refusal> start_upload(const UploadTarget& target, Pairs headers) {
  auto created = target.bucket.call({.action = target.action,
                                     .method = "POST",
                                     .key = target.key,
                                     .query = {{"uploads", ""}},
                                     .headers = std::move(headers),
                                     .body = content::Rope()});
  if (!created) {
    created.error().ambiguous = false; // whatever the server did: without Complete there is no object
    return tl::unexpected(std::move(created.error()));
  }
  auto id = parse_upload_id({created->response.body, "the start of an upload"});
  if (!id) return tl::unexpected(refused(std::move(id).error()));
  return std::move(*id);
}

bool end_upload(const UploadTarget& target, const std::string& id) {
  auto ended =
      target.bucket.call({.action = target.action, .method = "DELETE", .key = target.key, .query = {{"uploadId", id}}});
  return ended || ended.error().code == "NoSuchUpload";
}

std::string completion_body(const std::vector<std::string>& etags) {
  std::string body = "<CompleteMultipartUpload>";
  for (std::size_t i = 0; i < etags.size(); ++i)
    body +=
        fmt::format("<Part><PartNumber>{}</PartNumber><ETag>&quot;{}&quot;</ETag></Part>", i + 1, xml_escape(etags[i]));
  return body + "</CompleteMultipartUpload>";
}

} // namespace quarry::s3
