#pragma once
// The files of a dist-info directory as values: METADATA (core metadata 2.4), WHEEL, RECORD, entry_points.txt.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "digest/sha256.hpp"
#include "dist/name.hpp"
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quarry::dist {

constexpr std::uint64_t k_metadata_bytes_max = 16u << 20, k_wheel_bytes_max = 1u << 20, k_record_bytes_max = 512u << 20,
                        k_entry_points_bytes_max = 16u << 20;

struct Metadata {
  std::string metadata_version = "2.4", name, version, summary, requires_python, license_expression;
  std::vector<std::string> license_files, requires_dist, provides_extra, classifiers, dynamic, keywords;
  std::vector<std::pair<std::string, std::string>> project_urls; ///< label, url
  std::string author, author_email, home_page;
  std::string description_content_type, description;
  std::vector<std::pair<std::string, std::string>> other; ///< headers not named above, in order
  /// As Python's email parser (compat32) sees it. corrupt M006; a repeated single-use field, a missing Name or Version
  /// too.
  static Result<Metadata> parse(std::string_view text);
  std::string render() const; ///< fixed field order, LF
};

struct WheelInfo { ///< the WHEEL file
  std::string wheel_version = "1.0", generator;
  bool root_is_purelib = false;
  std::vector<std::string> tags; ///< expanded
  std::string build;
  static Result<WheelInfo> parse(std::string_view text); ///< corrupt M007
  std::string render() const;
};

struct RecordRow {
  std::string path;
  std::optional<Sha256> sha256;
  std::string algorithm; ///< as written: "sha256", "md5"…; empty when the field is empty
  std::string raw_digest;
  std::optional<std::uint64_t> size;
};
Result<std::vector<RecordRow>> parse_record(std::string_view text); ///< CSV as Python's csv reads it; corrupt M008
std::string render_record(const std::vector<RecordRow>& rows); ///< in the order given; LF; quotes where csv needs them

struct EntryPoint {
  std::string group, name, module, attribute; ///< a value that is not a reference is in `module`, as written
  /// Whether importlib.metadata can load it: `module` or `module:attribute`, with extras or without. A script always
  /// is.
  bool is_reference() const;
  auto operator<=>(const EntryPoint&) const = default;
};
Result<std::vector<EntryPoint>> parse_entry_points(std::string_view text); ///< corrupt M009
std::string render_entry_points(const std::vector<EntryPoint>& points);

} // namespace quarry::dist
