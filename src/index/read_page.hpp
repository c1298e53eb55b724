#pragma once
// Anybody's index pages as values: project page, find-links page and root, HTML or JSON. Lenient where pip and uv are
// (unknown attributes, keys and tags), strict about nothing: what is missing or odd stays visible in the value, for the
// caller to judge. Bounded: linear in the text. Pure, thread-safe.
#include "base/data_text.hpp"
#include "base/result.hpp"
#include "digest/sha256.hpp"
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quarry::index {

constexpr std::size_t k_page_bytes_max = 512u << 20; ///< half a million files as HTML are 250 MB
/// JSON becomes a tree ten times its size; 64 MiB are 150,000 files of one project.
constexpr std::size_t k_json_page_bytes_max = 64u << 20;
constexpr std::size_t k_page_links_max = 2'000'000;

struct PageFile {
  std::string filename; ///< the anchor's text, or "filename"
  std::string url;      ///< as written: HTML escapes undone, percent-encoding kept, without fragment
  std::vector<std::pair<std::string, std::string>> hashes; ///< algorithm, digest as written; sorted by algorithm
  std::string requires_python;
  std::string core_metadata; ///< "" absent or false, "true", or "sha256=…"
  bool yanked = false;
  bool untested = false; ///< the page itself says that nobody has read all bytes of this file
  std::string yank_reason;
  std::optional<std::uint64_t> size;
  std::string upload_time;
  std::vector<std::string> nulls; ///< JSON keys that are null and must not be; "legacy" for data-dist-info-metadata
  std::optional<Sha256> sha256() const;
  /// As the client asks for it: the last part of the url, percent-decoded.
  std::string url_name() const;
  bool operator==(const PageFile&) const = default;
};

struct IndexPage {
  std::string api_version, name;
  std::vector<std::string> versions; ///< JSON only
  std::vector<PageFile> files;       ///< in the order of the page; of a root: filename and url alone
  std::vector<std::string> projects; ///< of a JSON root
  bool has_base = false;             ///< HTML only: <base href>, which clients read differently
  bool ours = false;                 ///< HTML only: carries our generator mark
};

/// Every anchor with an href, in order. corrupt I020 for text that is not UTF-8 or exceeds a bound.
Result<IndexPage> read_html_page(NamedText named);
/// A project page or a root. corrupt I021 for what is not JSON of that shape.
Result<IndexPage> read_json_page(NamedText named);
/// By the first character: '{' is JSON.
Result<IndexPage> read_page(NamedText named);

} // namespace quarry::index
