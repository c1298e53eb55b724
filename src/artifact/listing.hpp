#pragma once
// The entries of a fetched tree as they were when the fetch completed, so that a later fetch notices what has changed
// since.
#include "base/result.hpp"
#include "sys/tree.hpp"
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::artifact {

/// Files, links and directories, sorted bytewise by path.
using Listing = std::vector<sys::TreeEntry>;

/// Reports whether an entry still is what was recorded: its type; of a file, size, modification time and executable
/// bit; of a link, its text. It does not read the file: a change that restores size and time goes unnoticed.
bool same_entry(const sys::TreeEntry& recorded, const sys::TreeEntry& found);

/// One line: "PATH", a tab, and "/" for a directory, "->TARGET" for a link, "SIZE MTIME_NS MODE" for a file (MODE is
/// "x" or "-"). Neither paths nor targets hold control characters.
std::string listing_line(const sys::TreeEntry& entry);
/// Returns nullopt for everything that listing_line() does not write, and for a path that is not plain and relative:
/// absolute, with "..", or below `.quarry-fetch`.
std::optional<sys::TreeEntry> parse_listing_line(std::string_view line);

std::string listing_text(const Listing& listing);
std::optional<Listing> parse_listing(std::string_view text);

} // namespace quarry::artifact
