#pragma once
// URLs of files (RFC 8089).
#include <optional>
#include <string>
#include <string_view>

namespace quarry::text {

/// The decoded path of `file://AUTHORITY/PATH`, empty without a path. nullopt if the text does not begin with
/// `file://`, or if the authority, the machine that has the file, is neither empty nor `localhost` in any case.
std::optional<std::string> path_of_file_url(std::string_view url);

} // namespace quarry::text
