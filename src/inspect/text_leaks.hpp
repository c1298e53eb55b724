#pragma once
// What text files tell about the machine that built them, and secrets that were packaged by mistake. Pure.
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace quarry::inspect {

/// Text of more bytes is not searched: headers and modules that people write have less.
constexpr std::uint64_t k_searched_text_max = 1u << 20;

struct TextLeaks {
  std::set<std::string> build_paths; ///< "/home/runner/": each beginning that occurs in the text
  std::set<std::string> secrets;     ///< kinds: "a private key"; never the secret itself
  bool empty() const { return build_paths.empty() && secrets.empty(); }
};

struct TextFile {
  std::string_view member, text; ///< its path in the wheel
};

/// Whether find_text_leaks() looks into a file with this path: modules, build descriptions, settings, keys, and headers
/// that a build writes (`x_config.h`, `version.h`). A package may have 10,000 other headers, which would take time.
bool is_searched_text(std::string_view member);
/// Whether other programs take paths from such a file: `x.pc`, `x.cmake`, `x.la`, `x.pth`, `x-config`.
bool is_read_by_builds(std::string_view member);
/// Searches the text, and compares the file's name with those of files that hold credentials (`.netrc`, `id_rsa`).
/// Time: linear in the text, once for each of ten words.
TextLeaks find_text_leaks(const TextFile& file);

} // namespace quarry::inspect
