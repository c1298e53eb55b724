#pragma once
// JSON in one place: the library's type by its forward header, canonical bytes, and parsing that returns errors.
// Include <nlohmann/json.hpp> in cpp files only: it is a second of compile time.
#include "base/data_text.hpp"
#include "base/result.hpp"
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace quarry {
using Json = nlohmann::json;

namespace json {
/// UTF-8, keys sorted, no spaces: the bytes whose sha256 is a record's digest. Fails on text that is not UTF-8 (B001).
Result<std::string> canonical(const Json& value);
/// For people and files that people read: two spaces, keys sorted, a newline at the end.
std::string pretty(const Json& value);
/// The value in one line. All its text must be UTF-8, as what parse() returns is: else the library throws. The
/// library's own dump() would be compiled again, 8 KB of code, wherever it is called.
std::string text(const Json& value);
/// As text(), for text from outside: U+FFFD replaces what is not UTF-8.
std::string lossy_text(const Json& value);
/// Parses the whole text; depth at most 64 (our records need 6), no key twice in an object. Failure: B002.
Result<Json> parse(NamedText named);

/// A part of a document, and what errors call it. Both must outlive the call.
struct NamedJson {
  const Json& value;
  std::string_view name;
};
/// Checked access to a member of an object: the error (B003) has the name and the key.
Result<std::string> string_at(NamedJson object, std::string_view key);
Result<std::uint64_t> unsigned_at(NamedJson object, std::string_view key);
std::string string_or(const Json& object, std::string_view key, std::string fallback);
/// Checks `"schema":"quarry.NAME/MAJOR"`: an unknown major is refused (B004).
Result<void> require_schema(NamedJson object, std::string_view schema);
} // namespace json
} // namespace quarry
