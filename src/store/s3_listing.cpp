#include "store/s3_listing.hpp"

#include "store/counting.hpp"
#include <fmt/core.h>
#include <utility>

namespace quarry::store {

namespace {

constexpr std::string_view k_private_prefix = ".quarry/"; // capabilities and probes; check_key keeps objects out of it
constexpr std::uint64_t k_page_bytes_max = 16u << 20;     // 1000 keys of 1 KiB, percent-encoded, and their frame
constexpr std::uint64_t k_pages_max = 100'000;            // 100 million objects: more is a server that repeats itself

Unexpected repeats_itself(const std::string& place, std::string_view what) {
  return fail(ErrorKind::corrupt, "K020", fmt::format("{} lists the same {} again and again", place, what),
              "the server is not sound: ask who runs it");
}

void add_own(s3::ListPage page, const S3ListRequest& request, Children& found) {
  for (auto& object : page.objects)
    if (auto key = own_key(object.key, request); check_key(key, SlashKeys::allowed) && !is_marker(key, object.size))
      found.objects.push_back({key, object.size, object.etag, object.modified_us});
  for (auto& common : page.prefixes)
    if (auto key = own_key(common, request); key.ends_with('/') && check_key(key, SlashKeys::allowed))
      found.directories.push_back(std::move(key));
}

} // namespace

std::string own_key(const s3::BucketKey& full, const S3ListRequest& request) {
  auto key = full.text().starts_with(request.root) ? full.text().substr(request.root.size()) : std::string();
  return key.starts_with(k_private_prefix) || !key.starts_with(request.prefix) ? std::string() : key;
}

Result<Children> list_bucket(s3::Bucket& bucket, const S3ListRequest& request) {
  Children found;
  std::string token;
  for (std::uint64_t page_number = 0; page_number < k_pages_max; ++page_number) {
    s3::Call call{.action = "list objects"};
    call.query = {{"list-type", "2"}, {"encoding-type", "url"}, {"prefix", request.root + request.prefix}};
    if (request.one_level) call.query.emplace_back("delimiter", "/");
    if (!token.empty()) call.query.emplace_back("continuation-token", token);
    call.answer_bytes_max = k_page_bytes_max;
    auto done = bucket.call(call);
    if (!done) return fail(std::move(done.error().error));
    TRY(auto page, s3::parse_list(done->response.body), "while listing " + request.place);
    auto next = page.next;
    add_own(std::move(page), request, found);
    if (next.empty()) return found;
    if (next == token) break;
    token = std::move(next);
  }
  return repeats_itself(request.place, "objects");
}

Result<std::vector<s3::Upload>> list_unfinished(s3::Bucket& bucket, const std::string& root, const std::string& place) {
  std::vector<s3::Upload> uploads;
  s3::UploadPage page;
  std::pair<std::string, std::string> last;
  for (std::uint64_t page_number = 0; page_number < k_pages_max; ++page_number) {
    s3::Call call{.action = "list unfinished uploads"};
    call.query = {{"uploads", ""}, {"prefix", root}};
    if (!page.next_key.empty()) call.query.emplace_back("key-marker", page.next_key);
    if (!page.next_id.empty()) call.query.emplace_back("upload-id-marker", page.next_id);
    call.answer_bytes_max = k_page_bytes_max;
    auto done = bucket.call(call);
    if (!done) return fail(std::move(done.error().error));
    TRY(page, s3::parse_uploads(done->response.body), "while listing " + place);
    // A server that ignores the prefix names uploads of other places, which are not ours to end.
    for (auto& upload : page.uploads)
      if (upload.key.text().starts_with(root)) uploads.push_back(std::move(upload));
    if (page.next_key.empty()) return uploads;
    if (std::pair next{page.next_key, page.next_id}; next == std::exchange(last, next)) break;
  }
  return repeats_itself(place, "unfinished uploads");
}

} // namespace quarry::store
