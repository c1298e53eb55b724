#include "base/codes.hpp"
#include "store/counting.hpp"
#include "store/object_store.hpp"
#include "store/ranged.hpp"
#include "store/spooled.hpp"

#include "base/text.hpp"
#include "net/fetch.hpp"
#include "s3/replies.hpp"
#include "sys/file.hpp"
#include <algorithm>
#include <atomic>
#include <cstring>
#include <fmt/core.h>
#include <iterator>

namespace quarry::store {

namespace {

struct Web { ///< shared by the store and the ropes from open(), which may outlive the store
  std::shared_ptr<net::Transport> transport;
  const sys::Clock& clock;
  std::string temporary;                    ///< a directory for what cannot be read in ranges
  std::shared_ptr<AtomicCounters> counters; ///< of the store
  std::atomic<bool> rangeless = false;      ///< the server answered a range request with the whole object
  std::shared_ptr<RangeShare> ranges = std::make_shared<RangeShare>();
};

struct Found {
  ObjectInfo info;
  std::string etag, modified; ///< ETag and Last-Modified as they came; empty: the server has none
  net::Url url;               ///< where to ask for its bytes

  bool strong() const { return !etag.empty() && !etag.starts_with("W/"); }
  bool pinned() const { return !etag.empty() || !modified.empty(); }
  /// Whether `head` describes another version. A weak ETag does not guarantee equal bytes, so Last-Modified must agree,
  /// too.
  bool differs(const net::Headers& head) const {
    return net::header(head, "etag") != etag || (!strong() && net::header(head, "last-modified") != modified);
  }
  net::Headers condition() const {
    if (strong()) return {{"if-match", etag}};
    return modified.empty() ? net::Headers() : net::Headers{{"if-unmodified-since", modified}};
  }
};

/// An object that no header pins is fetched in one piece: two ranges of it could be of two versions.
constexpr std::uint64_t k_unpinned_max = 16u << 20; // held in memory

Unexpected bad_status(const std::string& url, int status) {
  bool denied = status == 401 || status == 403;
  return fail(
      denied ? ErrorKind::unauthenticated : ErrorKind::unavailable, "H011",
      fmt::format("{} answers with status {}", url, status),
      denied ? "it wants a login, or hides what does not exist: look at the URL with curl, or read the bucket itself"
             : "look at the URL with curl or a browser");
}

class HttpStore final : public ObjectStore {
public:
  HttpStore(net::Url base, std::shared_ptr<net::Transport> transport, const sys::Clock& clock, std::string temporary)
      : base_(std::move(base)),
        web_(std::make_shared<Web>(std::move(transport), clock, std::move(temporary), tally())) {}

  std::string describe() const override { return base_.text(); }
  std::string url(const std::string& key) const override { return place_of(key).text(); }
  Result<bool> conditional_writes() override { return false; }

  Result<std::optional<ObjectInfo>> do_head(const std::string& key) override {
    TRY(auto found, look(key));
    return found ? std::optional(found->info) : std::nullopt;
  }
  Result<std::optional<std::string>> do_get(const std::string& key, std::uint64_t max_bytes,
                                            std::string* etag) override;
  Result<std::optional<std::string>> do_root_page(std::uint64_t max_bytes) override {
    return do_get({}, max_bytes, nullptr);
  }
  Result<content::Rope> do_open(const std::string& key) override;

  Result<ObjectInfo> do_put(const std::string&, const content::Rope&, const PutOptions&) override {
    return read_only();
  }
  Result<void> do_copy(const CopyRequest&) override { return read_only(); }
  Result<void> do_remove(const std::string&) override { return read_only(); }
  Result<std::vector<ObjectInfo>> do_list(const std::string&) override {
    return fail(ErrorKind::invalid_argument, "R030", fmt::format("{} is a web server: it cannot be listed", describe()),
                "to read, name the set by its digest or its channel; to write, use the store itself");
  }

private:
  Unexpected read_only() const {
    return fail(ErrorKind::invalid_argument, "R030",
                fmt::format("{} is a web server: stores there are read-only", describe()),
                "use the store itself, such as `--store s3://bucket/prefix`");
  }
  net::Url place_of(const std::string& key) const {
    auto place = base_;
    place.path += text::percent_encode(key);
    return place;
  }
  Result<std::optional<Found>> look(const std::string& key);
  Result<content::Rope> open_unpinned(const Found& object);

  net::Url base_; ///< its path ends with '/'
  std::shared_ptr<Web> web_;
};

Result<std::optional<Found>> HttpStore::look(const std::string& key) {
  net::Request request;
  request.method = "HEAD";
  request.url = place_of(key);
  Found found;
  net::Places places;
  TRY(auto response, net::fetch(*web_->transport, request, {}, web_->clock, &places), "while looking at " + key);
  found.url = places.lasting;
  if (response.status == 404 || response.status == 410) return std::optional<Found>();
  if (!response.ok()) return bad_status(found.url.shown(), response.status);
  auto length = text::parse_u64(net::header(response.headers, "content-length"));
  if (!length)
    return fail(ErrorKind::unsupported, "H011", fmt::format("{} does not say how long it is", found.url.shown()),
                "the server must send Content-Length");
  found.etag = net::header(response.headers, "etag");
  found.modified = net::header(response.headers, "last-modified");
  found.info = {key,
                *length,
                s3::unquoted(found.etag),
                s3::time_of(found.modified),
                net::header(response.headers, "content-type"),
                net::header(response.headers, "cache-control"),
                net::header(response.headers, "content-encoding")};
  return std::optional(std::move(found));
}

Result<std::optional<std::string>> HttpStore::do_get(const std::string& key, std::uint64_t max_bytes,
                                                     std::string* etag) {
  net::Request request;
  request.url = place_of(key);
  std::string bytes;
  request.sink = [&](const net::Response& head, std::span<const std::byte> piece) -> Result<void> {
    auto size = text::parse_u64(net::header(head.headers, "content-length")).value_or(bytes.size() + piece.size());
    if (size > max_bytes || bytes.size() + piece.size() > max_bytes) return too_large(key, size, max_bytes);
    bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    return {};
  };
  TRY(auto response, net::fetch(*web_->transport, request, {}, web_->clock), "while reading " + key);
  if (response.status == 404 || response.status == 410) return std::optional<std::string>();
  if (!response.ok()) return bad_status(request.url.shown(), response.status);
  TRY_DO(check_record(key, bytes, request.url.shown()));
  if (etag) *etag = s3::unquoted(net::header(response.headers, "etag"));
  return std::optional(std::move(bytes));
}

constexpr int k_continued_max = 5; // of cuts in one object

/// A range of a pinned object, continued from the last byte when the connection ends early.
Result<void> fetch_range(Web& web, const Found& object, std::uint64_t offset, std::span<std::byte> into) {
  std::size_t filled = 0;
  for (int attempt = 0; filled < into.size(); ++attempt) {
    auto begin = offset + filled, last = offset + into.size() - 1;
    auto expected = fmt::format("bytes {}-{}/{}", begin, last, object.info.size);
    net::Request request;
    request.url = object.url;
    request.headers = object.condition();
    request.headers.emplace_back("range", fmt::format("bytes={}-{}", begin, last));
    request.sink = [&](const net::Response& head, std::span<const std::byte> piece) -> Result<void> {
      bool whole = head.status == 200 && begin == 0 && last + 1 == object.info.size;
      if (object.differs(head.headers)) return replaced(object.info.key);
      if (!whole && head.status == 200) web.rangeless = true;
      if ((!whole && net::header(head.headers, "content-range") != expected) || piece.size() > into.size() - filled)
        return fail(ErrorKind::corrupt, "K021",
                    fmt::format("{} does not give the range that was asked for", request.url.shown()),
                    "the server must understand Range requests");
      std::memcpy(into.data() + filled, piece.data(), piece.size());
      filled += piece.size();
      return {};
    };
    auto before = filled;
    ++web.counters->ranges;
    auto response = net::fetch(*web.transport, request, {}, web.clock);
    bool cut = !response && !response.error().is(codes::wrong_range) && !response.error().is(codes::object_replaced) &&
               filled > before;
    if (cut && attempt < k_continued_max) continue;
    if (!response) return fail(std::move(response).error());
    constexpr int k_gone[] = {412, 404, 410, 416}; // 416: the object is shorter now
    if (std::ranges::find(k_gone, response->status) != std::end(k_gone)) return replaced(object.info.key);
    if (!response->ok()) return bad_status(request.url.shown(), response->status);
    if (filled != into.size() && filled == before)
      return fail(ErrorKind::corrupt, "K021", fmt::format("{} gives nothing for a range", request.url.shown()));
  }
  web.counters->bytes_read += into.size();
  return {};
}

/// Fetches a whole pinned object with one request, and starts over if the connection ends early.
Result<sys::File> fetch_whole(Web& web, const Found& object) {
  TRY(auto file, sys::File::create_unnamed(web.temporary));
  for (int attempt = 0;; ++attempt) {
    std::uint64_t written = 0;
    net::Request request;
    request.url = object.url;
    request.headers = object.condition();
    request.sink = [&](const net::Response& head, std::span<const std::byte> piece) -> Result<void> {
      if (object.differs(head.headers) || piece.size() > object.info.size - written) return replaced(object.info.key);
      TRY_DO(file.write_at(written, piece));
      written += piece.size();
      return {};
    };
    ++web.counters->ranges;
    auto response = net::fetch(*web.transport, request, {}, web.clock);
    web.counters->bytes_read += written;
    bool cut = !response && written > 0 && traits(response.error().kind).retry;
    if (cut && attempt < k_continued_max) continue;
    if (!response) return fail(std::move(response).error());
    if (response->status == 412 || response->status == 404 || response->status == 410) return replaced(object.info.key);
    if (!response->ok()) return bad_status(request.url.shown(), response->status);
    if (written != object.info.size) return replaced(object.info.key);
    return file;
  }
}

Result<content::Rope> HttpStore::open_unpinned(const Found& object) {
  const auto& key = object.info.key;
  if (object.info.size > k_unpinned_max)
    return fail(
        ErrorKind::unsupported, "H011",
        fmt::format(
            "{} has {} bytes and neither ETag nor Last-Modified, so its parts cannot be distinguished from those "
            "of another version",
            object.url.shown(), object.info.size),
        "the server must send one of them; or fetch the file with curl and use it from the disk");
  auto got = get(key, object.info.size, nullptr);
  if (!got && got.error().is(codes::too_large)) return replaced(key); // it has grown since we looked
  TRY(auto bytes, std::move(got));
  if (!bytes) return absent(*this, key);
  if (bytes->size() != object.info.size) return replaced(key);
  return content::Rope::literal(std::move(*bytes));
}

Result<content::Rope> HttpStore::do_open(const std::string& key) {
  TRY(auto found, look(key));
  if (!found) return absent(*this, key);
  auto size = found->info.size;
  if (!found->pinned()) return open_unpinned(*found);
  auto object = std::make_shared<const Found>(std::move(*found));
  auto in_ranges = make_ranged_source(
      size,
      [web = web_, object](std::uint64_t offset, std::span<std::byte> into) {
        return fetch_range(*web, *object, offset, into);
      },
      web_->ranges);
  return content::Rope::of(make_spooled_source(std::move(in_ranges),
                                               std::shared_ptr<std::atomic<bool>>(web_, &web_->rangeless),
                                               [web = web_, object] { return fetch_whole(*web, *object); }));
}

} // namespace

Result<std::unique_ptr<ObjectStore>> open_http_store(const std::string& url, const Surroundings& surroundings) {
  TRY(auto base, net::parse_url(url));
  if (!base.query.empty())
    return fail(ErrorKind::invalid_argument, "R006", fmt::format("{} has a query: a store is a path", url));
  if (!base.path.ends_with("/")) base.path += '/';
  auto settings = net::settings_from(surroundings.environment);
  settings.trace = surroundings.trace;
  auto transport = net::make_client(std::move(settings));
  auto said = surroundings.environment.find("TMPDIR");
  bool none = said == surroundings.environment.end() || said->second.empty();
  return std::unique_ptr<ObjectStore>(
      std::make_unique<HttpStore>(base, transport, surroundings.clock, none ? std::string("/tmp") : said->second));
}

} // namespace quarry::store
