#include "mirror/upstream.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "index/pages.hpp"
#include "net/fetch.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "wheel/look.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::mirror {

std::string without_query(const std::string& url) { return url.substr(0, url.find('?')); }

namespace {

/// The limit for a file whose size is not on the page. The largest wheels have 4 GB; more would only fill the disk.
constexpr std::uint64_t k_unsized_bytes_max = 16ull << 30;
constexpr int k_download_attempts = 3; ///< a connection that is cut in the middle; what came before is read again

Unexpected bad_answer(const std::string& url, const std::string& why, ErrorKind kind = ErrorKind::unavailable) {
  return fail(kind, "U006", fmt::format("{} {}", url, why), "look at it with curl; --index-url names another index");
}

Unexpected other_bytes(const index::PageFile& file, const std::string& promised, const std::string& got) {
  auto error =
      Error::of(ErrorKind::corrupt, "U007", fmt::format("{} is not what the index says", without_query(file.url)))
          .with_detail("promised  " + promised)
          .with_detail("got       " + got)
          .with_hint("nothing of it was stored; run it again, and ask who runs the index if it stays so");
  return fail(std::move(error));
}

/// RFC 3986 §5.2.4: `/simple/x/../../files/a` is `/files/a`.
std::string without_dots(std::string_view url_path) {
  std::vector<std::string> parts;
  for (auto& part : text::split(url_path, '/')) {
    if (part == "..") {
      if (parts.size() > 1) parts.pop_back();
    } else if (part != ".") {
      parts.push_back(std::move(part));
    }
  }
  return text::join(parts, "/");
}

} // namespace

Result<void> require_provable(const index::PageFile& file) {
  if (file.sha256()) return {};
  return bad_answer(without_query(file.url),
                    "is listed without a sha256, so nobody could tell whether it is the right file",
                    ErrorKind::corrupt);
}

Result<net::Response> Upstream::get(const std::string& url, std::uint64_t bytes_max, bool page, net::Url* final_url) {
  net::Request request;
  TRY(request.url, net::parse_url(url));
  if (page) request.headers.emplace_back("accept", fmt::format("{}, text/html;q=0.1", index::k_json_type));
  request.response_bytes_max = bytes_max;
  net::Places places;
  auto response = net::fetch(*transport_, std::move(request), {}, clock_, &places);
  if (final_url) *final_url = places.final;
  return response;
}

Result<const index::IndexPage*> Upstream::page(const std::string& project) {
  if (auto known = pages_.find(project); known != pages_.end()) return &known->second;
  auto url = options_.index;
  if (!url.path.ends_with('/')) url.path += '/';
  url.path += project + "/";
  net::Url final_url;
  TRY(auto response, get(url.text(), index::k_json_page_bytes_max, true, &final_url), "while asking for " + project);
  if (response.status == 404 || response.status == 410)
    return fail(ErrorKind::not_found, "U003", fmt::format("{} has no project {}", options_.index.text(), project),
                "correct the name, or name the index that has it with --index-url");
  if (!response.ok()) return bad_answer(url.text(), fmt::format("answers with status {}", response.status));
  TRY(auto read, index::read_page({response.body, url.text()}));
  if (read.has_base)
    return bad_answer(url.text(), "has a <base>, which installers read differently", ErrorKind::corrupt);
  for (auto& file : read.files) {
    auto absolute = net::redirected(final_url, file.url);
    if (absolute) absolute->path = without_dots(absolute->path);
    file.url = absolute ? absolute->text() : std::string(); // only a file that is chosen needs one
  }
  return &pages_.emplace(project, std::move(read)).first->second;
}

Result<std::string> Upstream::metadata_text(const index::PageFile& file) {
  TRY(auto known, known_(file));
  if (known) return std::move(*known);
  if (file.core_metadata.empty()) {
    // Not describe(): a wheel that installers cannot read is left out of the mirror, and is not an error of the sync.
    TRY(auto path, fetch_once(file, {}), "which is served without its METADATA");
    TRY(auto rope, content::Rope::file(path));
    TRY(auto look, wheel::look_at_metadata(rope, file.filename));
    return std::move(look.text);
  }
  auto url = index::metadata_address(file.url);
  TRY(auto response, get(url, dist::k_metadata_bytes_max, false));
  if (!response.ok()) return bad_answer(without_query(url), fmt::format("answers with status {}", response.status));
  auto promised = file.core_metadata.starts_with("sha256=") ? file.core_metadata.substr(7) : std::string();
  auto got = sha256(response.body).hex();
  if (!promised.empty() && text::lower(promised) != got)
    return other_bytes(file, "METADATA sha256 " + promised, "METADATA sha256 " + got);
  return std::move(response.body);
}

Result<dist::Metadata> Upstream::metadata(const index::PageFile& file) {
  auto served = served_.find(file.filename);
  if (served == served_.end()) {
    TRY_DO(require_provable(file));
    TRY(auto text, metadata_text(file), "while reading METADATA of " + file.filename);
    served = served_.emplace(file.filename, std::move(text)).first;
  }
  return dist::Metadata::parse(served->second);
}

Result<std::string> Upstream::place_for(const index::PageFile& file) const {
  if (file.filename.find_first_of("/\\") != file.filename.npos || file.url.empty())
    return bad_answer(file.filename, "is listed under a name or URL that cannot be one", ErrorKind::corrupt);
  auto directory = path::join(options_.directory, file.sha256()->hex());
  TRY_DO(sys::make_directories(directory));
  return path::join(directory, file.filename);
}

Result<void> Upstream::fetch_to(const index::PageFile& file, const std::string& path,
                                const std::function<void(std::uint64_t)>& on_bytes) {
  TRY(auto target, sys::File::create(path));
  Sha256Hasher hasher;
  std::uint64_t written = 0;
  net::Request request;
  TRY(request.url, net::parse_url(file.url));
  request.sink = [&](const net::Response& head, std::span<const std::byte> piece) -> Result<void> {
    auto promised = text::parse_u64(net::header(head.headers, "content-length")).value_or(0);
    auto largest = std::max<std::uint64_t>(promised, written + piece.size());
    if (!file.size && largest > k_unsized_bytes_max)
      return other_bytes(file, fmt::format("no size, and at most {} are taken", units::bytes(k_unsized_bytes_max)),
                         units::bytes(largest));
    TRY_DO(target.write_at(written, piece));
    hasher.update(piece);
    written += piece.size();
    bytes_fetched_ += piece.size();
    if (file.size && written > *file.size) return other_bytes(file, fmt::format("{} bytes", *file.size), "more");
    if (on_bytes) on_bytes(piece.size());
    return sys::check_interrupted();
  };
  TRY(auto response, net::fetch(*transport_, std::move(request), {}, clock_));
  if (!response.ok())
    return bad_answer(without_query(file.url), fmt::format("answers with status {}", response.status));
  auto digest = hasher.finish();
  if (digest != *file.sha256()) return other_bytes(file, "sha256 " + file.sha256()->hex(), "sha256 " + digest.hex());
  return {};
}

Result<std::string> Upstream::fetch_once(const index::PageFile& file,
                                         const std::function<void(std::uint64_t)>& on_bytes) {
  TRY_DO(require_provable(file));
  TRY(auto path, place_for(file));
  if (!sys::exists(path + ".right")) { // a whole wheel that was needed for its METADATA is not fetched twice
    auto fetched = fetch_to(file, path, on_bytes);
    for (int attempt = 1; !fetched && attempt < k_download_attempts && traits(fetched.error().kind).retry; ++attempt)
      fetched = fetch_to(file, path, on_bytes);
    if (!fetched) return fail(std::move(fetched).error());
    TRY_DO(sys::write_file(path + ".right", ""));
  }
  return path;
}

Result<Downloaded> Upstream::download(const index::PageFile& file, const std::function<void(std::uint64_t)>& on_bytes) {
  TRY(auto path, fetch_once(file, on_bytes));
  TRY(auto described, index::describe(path, options_.workers));
  auto served = served_.find(file.filename);
  if (served != served_.end() && served->second != described.sidecar)
    return fail(
        ErrorKind::corrupt, "U008",
        fmt::format("the METADATA that {} serves next to {} is not the one in it", options_.index.host, file.filename),
        "nothing of it was stored; another version may be sound: pin one in the requirements");
  return Downloaded{std::move(path), std::move(described)};
}

} // namespace quarry::mirror
