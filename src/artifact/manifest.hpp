#pragma once
// Private to the room.
// artifact_manifest.txt: the small file that says what an artifact holds.
#include "base/result.hpp"
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::artifact {

constexpr std::uint64_t k_manifest_bytes_max = 1u << 20; ///< 300 times the largest manifest seen
constexpr std::size_t k_bases_max = 10'000;

/// Base directories in the manifest's order: relative, normal ('/' only, no "." or ".."), no control characters, each
/// named once. Blank lines, CRLF and a trailing '/' are accepted. corrupt A004.
Result<std::vector<std::string>> parse_manifest(std::string_view text, std::string_view what);
/// What parse_manifest reads: one a line.
std::string manifest_text(const std::vector<std::string>& bases);
/// The first base that is `path` or one of its parents; nullptr when there is none.
const std::string* base_of(const std::vector<std::string>& bases, std::string_view path);

} // namespace quarry::artifact
