#include "names/entry_names.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "names/fold.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>

namespace quarry::names {

namespace {

struct Range {
  std::uint32_t first, last;
};
// Unicode category C as far as it will stay so: controls, format characters (invisible or reordering), private use,
// non-characters. Unassigned code points are left out: later versions of Unicode assign them.
constexpr std::array k_unprintable{
    Range{0x0000, 0x001F},   Range{0x007F, 0x009F},   Range{0x00AD, 0x00AD},    Range{0x0600, 0x0605},
    Range{0x061C, 0x061C},   Range{0x06DD, 0x06DD},   Range{0x070F, 0x070F},    Range{0x0890, 0x0891},
    Range{0x08E2, 0x08E2},   Range{0x180E, 0x180E},   Range{0x200B, 0x200F},    Range{0x2028, 0x202E},
    Range{0x2060, 0x206F},   Range{0xD800, 0xF8FF},   Range{0xFDD0, 0xFDEF},    Range{0xFEFF, 0xFEFF},
    Range{0xFFF0, 0xFFFB},   Range{0xFFFE, 0xFFFF},   Range{0x110BD, 0x110BD},  Range{0x110CD, 0x110CD},
    Range{0x13430, 0x1345F}, Range{0x1BCA0, 0x1BCA3}, Range{0x1D173, 0x1D17A},  Range{0x1FFFE, 0x1FFFF},
    Range{0x2FFFE, 0x2FFFF}, Range{0x3FFFE, 0xE00FF}, Range{0xE01F0, 0x10FFFF},
};

bool is_unprintable(std::uint32_t c) {
  auto it = std::lower_bound(k_unprintable.begin(), k_unprintable.end(), c,
                             [](const Range& r, std::uint32_t v) { return r.last < v; });
  return it != k_unprintable.end() && c >= it->first;
}

// Reads one code point. The text must be valid UTF-8.
std::uint32_t next_code_point(std::string_view text, std::size_t& at) {
  auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  auto lead = byte(at++);
  if (lead < 0x80) return lead;
  unsigned more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
  auto c = lead & (0x3Fu >> more);
  for (unsigned i = 0; i < more; ++i) c = c << 6 | (byte(at++) & 0x3F);
  return c;
}

void put_code_point(std::string& out, std::uint32_t c) {
  auto tail = [&](unsigned shift) { out += static_cast<char>(0x80 | ((c >> shift) & 0x3F)); };
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6), tail(0);
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12), tail(6), tail(0);
  } else {
    out += static_cast<char>(0xF0 | c >> 18), tail(12), tail(6), tail(0);
  }
}

void put_folded(std::string& out, std::uint32_t c) {
  constexpr std::uint32_t s_base = 0xAC00, l_base = 0x1100, v_base = 0x1161, t_base = 0x11A7, t_count = 28,
                          n_count = 588;
  if (c >= s_base && c <= 0xD7A3) { // Hangul syllables decompose by arithmetic (Unicode §3.12)
    auto s = c - s_base;
    put_code_point(out, l_base + s / n_count);
    put_code_point(out, v_base + s % n_count / t_count);
    if (s % t_count) put_code_point(out, t_base + s % t_count);
    return;
  }
  auto folded = fold_of(c);
  if (folded.empty()) return put_code_point(out, c);
  for (auto f : folded) put_code_point(out, f);
}

std::optional<NameDefect> check_component(std::string_view part) {
  if (part.empty()) return NameDefect{"Z014", "name has an empty component"};
  if (part == "." || part == "..") return NameDefect{"Z014", fmt::format("name has a component \"{}\"", part)};
  if (part.size() > k_component_bytes_max)
    return NameDefect{
        "Z013", fmt::format("name has a component of {} bytes, more than {}", part.size(), k_component_bytes_max)};
  return std::nullopt;
}

std::optional<NameDefect> check_components(std::string_view name) {
  std::size_t depth = 1;
  for (;; ++depth) {
    auto slash = name.find('/');
    if (auto defect = check_component(name.substr(0, slash))) return defect;
    if (slash == std::string_view::npos) break;
    name.remove_prefix(slash + 1);
  }
  if (depth > k_depth_max)
    return NameDefect{"Z013", fmt::format("name nests {} deep, more than {}", depth, k_depth_max)};
  return std::nullopt;
}

} // namespace

bool has_drive_letter(std::string_view name) {
  return name.size() >= 2 && name[1] == ':' && ((name[0] | 32) >= 'a' && (name[0] | 32) <= 'z');
}

std::optional<NameDefect> check_characters(std::string_view name) {
  if (!text::is_valid_utf8(name)) return NameDefect{"Z013", "name is not UTF-8"};
  for (std::size_t at = 0; at < name.size();)
    if (auto c = next_code_point(name, at); is_unprintable(c))
      return NameDefect{"Z013", fmt::format("name holds the invisible or control character U+{:04X}", c)};
  if (name.find('\\') != std::string_view::npos)
    return NameDefect{"Z014", "name holds a backslash, a separator on Windows"};
  return std::nullopt;
}

std::optional<NameDefect> check_name(std::string_view name, bool directory) {
  if (directory && name.ends_with('/')) name.remove_suffix(1);
  if (name.empty()) return NameDefect{"Z013", "name is empty"};
  if (name.size() > k_name_bytes_max)
    return NameDefect{"Z013", fmt::format("name has {} bytes, more than {}", name.size(), k_name_bytes_max)};
  if (auto defect = check_characters(name)) return defect;
  if (name.front() == '/') return NameDefect{"Z014", "name is an absolute path"};
  if (has_drive_letter(name)) return NameDefect{"Z014", "name starts with a drive letter"};
  return check_components(name);
}

std::string printable(std::string_view name) {
  constexpr std::size_t k_shown = 200;
  std::string out;
  bool utf8 = text::is_valid_utf8(name);
  for (std::size_t at = 0; at < name.size() && out.size() < k_shown;) {
    auto c = utf8 ? next_code_point(name, at) : static_cast<unsigned char>(name[at++]);
    if (is_unprintable(c) || (!utf8 && c >= 0x80))
      out += c < 0x100 ? fmt::format("\\x{:02x}", c) : fmt::format("\\u{{{:x}}}", c);
    else
      put_code_point(out, c);
  }
  return out;
}

std::string folded_name(std::string_view name) {
  std::string out;
  out.reserve(name.size());
  auto end_component = [&] {
    while (!out.empty() && (out.back() == '.' || out.back() == ' ')) out.pop_back();
  };
  for (std::size_t at = 0; at < name.size();) {
    auto c = next_code_point(name, at);
    if (c == '/') end_component();
    if (c < 0x80)
      out += static_cast<char>(ascii::is_upper(c) ? c | 32 : c);
    else
      put_folded(out, c);
  }
  end_component();
  return out;
}

NameDefect NameSet::alike(NameTree::Id id) const {
  return {"Z017", fmt::format("\"{}\" and \"{}\" are one name on Windows or macOS",
                              printable(tree_.path(tree_[id].first_alike)), printable(tree_.path(id)))};
}

std::optional<NameDefect> NameSet::insert(NameTree::Id parent, std::string_view name, Kind kind) {
  if (auto excess = tree_.exhausted(); !excess.empty()) return NameDefect{"Z016", "the archive " + excess};
  auto id = tree_.add(parent, name, static_cast<std::uint8_t>(kind), kind == Kind::implied_directory);
  if (tree_[id].first_alike != id) return alike(id);
  return std::nullopt;
}

std::optional<NameDefect> NameSet::add(std::string_view name, bool directory) {
  if (directory && name.ends_with('/')) name.remove_suffix(1);
  auto both = [](std::string_view path) {
    return NameDefect{"Z018", fmt::format("\"{}\" is both a file and a directory", printable(path))};
  };
  auto at = NameTree::k_root;
  std::size_t begin = 0;
  for (std::size_t slash = 0; (slash = name.find('/', begin)) != name.npos; begin = slash + 1) {
    auto part = name.substr(begin, slash - begin);
    if (tree_.find(at, part) == NameTree::k_none)
      if (auto defect = insert(at, part, Kind::implied_directory)) return defect;
    at = tree_.find(at, part);
    if (kind_of(at) == Kind::file) return both(name.substr(0, slash));
  }
  auto known = tree_.find(at, name.substr(begin));
  auto kind = directory ? Kind::directory : Kind::file;
  if (known == NameTree::k_none) return insert(at, name.substr(begin), kind);
  if ((kind_of(known) == Kind::file) != (kind == Kind::file)) return both(name);
  if (kind_of(known) != Kind::implied_directory)
    return NameDefect{"Z001", fmt::format("\"{}\" occurs twice", printable(name))};
  tree_[known].kind = static_cast<std::uint8_t>(kind);
  tree_.set_named(known);
  return std::nullopt;
}

} // namespace quarry::names
