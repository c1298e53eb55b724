#include "artifact/listing.hpp"

#include "artifact/fetch_state.hpp"
#include "base/text.hpp"
#include "tar/paths.hpp"
#include <charconv>
#include <fmt/core.h>

namespace quarry::artifact {

using sys::EntryType;
using sys::TreeEntry;

namespace {
constexpr std::string_view k_link_mark = "->";

bool is_plain(std::string_view path) {
  auto checked = tar::checked_path(path);
  if (!checked || checked->empty() || *checked != path) return false;
  return path != k_fetch_directory && !path.starts_with(std::string(k_fetch_directory) + "/");
}

template <class Number> bool take_number(std::string_view& text, Number& number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (!text.starts_with(' ')) return false;
  text.remove_prefix(1);
  return true;
}
} // namespace

bool same_entry(const TreeEntry& recorded, const TreeEntry& found) {
  if (recorded.type != found.type) return false;
  if (recorded.type == EntryType::symlink) return recorded.link == found.link;
  return recorded.type != EntryType::file ||
         (recorded.size == found.size && recorded.modified_ns == found.modified_ns &&
          recorded.executable() == found.executable());
}

std::string listing_line(const TreeEntry& entry) {
  if (entry.type == EntryType::directory) return entry.path + "\t/";
  if (entry.type == EntryType::symlink) return fmt::format("{}\t{}{}", entry.path, k_link_mark, entry.link);
  return fmt::format("{}\t{} {} {}", entry.path, entry.size, entry.modified_ns, entry.executable() ? 'x' : '-');
}

std::optional<TreeEntry> parse_listing_line(std::string_view line) {
  auto tab = line.find('\t');
  if (tab == line.npos || !is_plain(line.substr(0, tab))) return std::nullopt;
  TreeEntry entry;
  entry.path = line.substr(0, tab);
  auto rest = line.substr(tab + 1);
  if (rest == "/") {
    entry.type = EntryType::directory;
  } else if (rest.starts_with(k_link_mark)) {
    entry.type = EntryType::symlink;
    entry.link = rest.substr(k_link_mark.size());
  } else {
    bool numbers = take_number(rest, entry.size) && take_number(rest, entry.modified_ns);
    if (!numbers || (rest != "x" && rest != "-")) return std::nullopt;
    entry.mode = rest == "x" ? 0755 : 0644;
  }
  return entry;
}

std::string listing_text(const Listing& listing) {
  std::string text;
  for (const auto& entry : listing) text += listing_line(entry) + "\n";
  return text;
}

std::optional<Listing> parse_listing(std::string_view text) {
  Listing listing;
  for (const auto& line : text::lines(text)) {
    auto entry = parse_listing_line(line);
    if (!entry) return std::nullopt;
    listing.push_back(std::move(*entry));
  }
  return listing;
}

} // namespace quarry::artifact
