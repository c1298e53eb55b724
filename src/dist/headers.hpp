#pragma once
// Private to the room.
// The header block that METADATA, PKG-INFO and WHEEL share: RFC 822 lines as Python's email parser (policy compat32)
// reads them, without what two honest readers read differently. Linear in the text. Pure, thread-safe.
#include "base/result.hpp"
#include <string>
#include <string_view>
#include <vector>

namespace quarry::dist {

/// The largest real METADATA has some thousand headers; each costs about 100 bytes of memory, however short its line.
constexpr std::size_t k_headers_max = 100'000;

struct Header {
  std::string name;  ///< as written
  std::string value; ///< leading blanks dropped; a folded value keeps its line breaks as LF with the blanks after them
  bool folded() const { return value.find('\n') != value.npos; }
  bool is(std::string_view other) const; ///< names compare without case
};

struct HeaderBlock {
  std::vector<Header> headers;
  std::string_view body; ///< everything after the first empty line; points into the text
};

/// corrupt `code` for: NUL, text that is not UTF-8, a bare CR among the headers, a line that is neither header nor
/// continuation (so also a body without the empty line before it), a nameless header, a `From ` line, too many headers.
Result<HeaderBlock> parse_headers(std::string_view text, const std::string& code, std::string_view what);

} // namespace quarry::dist
