#pragma once
// `{file}.sha256sum`: the small file that says which bytes an archive is. Pure.
#include "base/data_text.hpp"
#include "base/result.hpp"
#include "digest/sha256.hpp"
#include <cstdint>
#include <string>
#include <string_view>

namespace quarry::artifact {

constexpr std::uint64_t k_checksum_bytes_max = 4096; ///< one line: a digest and a file name

/// "DIGEST" or "DIGEST  NAME" (or " *NAME"), one line. A name other than `named.name`, that of the archive, is corrupt,
/// as is everything else: A011.
Result<Sha256> parse_checksum(NamedText named);
std::string checksum_line(const Sha256& digest, std::string_view file); ///< as sha256sum(1) prints it, with the newline

} // namespace quarry::artifact
