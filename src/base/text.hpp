#pragma once
// Small text helpers, ASCII only unless said otherwise. Pure, thread-safe.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::text {

std::vector<std::string> split(std::string_view text, char separator);                  ///< keeps empty parts
std::vector<std::string> split_any(std::string_view text, std::string_view separators); ///< drops empty parts
std::vector<std::string> lines(std::string_view text); ///< splits at \n, drops a trailing \r and a last empty line
std::string join(std::span<const std::string> parts, std::string_view separator);
/// The first `shown` of them: "a, b and 3 more".
std::string first(std::span<const std::string> all, std::size_t shown, std::string_view separator = ", ");
/// The first `shown` of them as lines of an error's details; the last line is then "and 3 more".
std::vector<std::string> first_lines(std::vector<std::string> all, std::size_t shown);
std::string lower(std::string_view text);
std::string_view trim(std::string_view text);
bool starts_with_ignore_case(std::string_view text, std::string_view prefix);
std::string replace_all(std::string_view text, std::string_view from, std::string_view to);
std::string hex(std::span<const std::uint8_t> bytes);
std::optional<std::vector<std::uint8_t>> from_hex(std::string_view text);
std::string base64url(std::span<const std::uint8_t> bytes); ///< RFC 4648 §5 without padding, as RECORD wants it
std::optional<std::vector<std::uint8_t>> from_base64url(std::string_view text);
std::string percent_encode(std::string_view path); ///< RFC 3986 unreserved and '/' stay; '+' becomes %2B
std::string percent_decode(std::string_view text); ///< a malformed escape stays as it is
std::string html_escape(std::string_view text);    ///< & < > " '
std::string shell_word(std::string_view text);     ///< one word of a POSIX shell (and of zsh), quoted where it must be
/// Returns how many bytes at the start of the text are valid UTF-8 (RFC 3629 §4): text.size() if the whole text is.
std::size_t utf8_prefix(std::string_view text);
bool is_valid_utf8(std::string_view text);
std::optional<std::uint64_t> parse_u64(std::string_view text); ///< the whole text, decimal digits only

/// Whole-path glob: `*` any run without '/', `?` one character but '/', `**/` zero or more directories, a trailing
/// `/**` the directory itself or anything below it. No character classes.
bool glob_match(std::string_view pattern, std::string_view path);

} // namespace quarry::text
