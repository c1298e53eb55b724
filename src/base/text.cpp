#include "base/text.hpp"

#include "base/ascii.hpp"
#include <algorithm>
#include <charconv>
#include <cstring>
#include <fmt/core.h>

namespace quarry::text {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0;;) {
    auto end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end == text.npos ? text.npos : end - begin));
    if (end == text.npos) return parts;
    begin = end + 1;
  }
}

std::vector<std::string> split_any(std::string_view text, std::string_view separators) {
  std::vector<std::string> parts;
  for (std::size_t begin = text.find_first_not_of(separators); begin != text.npos;) {
    auto end = text.find_first_of(separators, begin);
    parts.emplace_back(text.substr(begin, end == text.npos ? text.npos : end - begin));
    begin = end == text.npos ? text.npos : text.find_first_not_of(separators, end);
  }
  return parts;
}

std::vector<std::string> lines(std::string_view text) {
  auto parts = split(text, '\n');
  if (!parts.empty() && parts.back().empty()) parts.pop_back();
  for (auto& part : parts)
    if (!part.empty() && part.back() == '\r') part.pop_back();
  return parts;
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i) text += separator;
    text += parts[i];
  }
  return text;
}

std::string first(std::span<const std::string> all, std::size_t shown, std::string_view separator) {
  auto text = join(all.first(std::min(shown, all.size())), separator);
  return all.size() > shown ? fmt::format("{} and {} more", text, all.size() - shown) : text;
}

std::vector<std::string> first_lines(std::vector<std::string> all, std::size_t shown) {
  if (all.size() <= shown) return all;
  auto more = fmt::format("and {} more", all.size() - shown);
  all.resize(shown);
  all.push_back(std::move(more));
  return all;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (ascii::is_upper(c)) c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view k_space = " \t\r\n\f\v";
  auto begin = text.find_first_not_of(k_space);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(k_space) - begin + 1);
}

bool starts_with_ignore_case(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && lower(text.substr(0, prefix.size())) == lower(prefix);
}

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  if (from.empty()) return std::string(text);
  std::string out;
  for (std::size_t at = 0;;) {
    auto hit = text.find(from, at);
    out += text.substr(at, hit == text.npos ? text.npos : hit - at);
    if (hit == text.npos) return out;
    out += to;
    at = hit + from.size();
  }
}

std::string hex(std::span<const std::uint8_t> bytes) {
  constexpr char k_digits[] = "0123456789abcdef";
  std::string out(bytes.size() * 2, '0');
  auto at = out.begin();
  for (auto b : bytes) {
    *at++ = k_digits[b >> 4];
    *at++ = k_digits[b & 15];
  }
  return out;
}

std::optional<std::vector<std::uint8_t>> from_hex(std::string_view text) {
  if (text.size() % 2) return std::nullopt;
  std::vector<std::uint8_t> out;
  out.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    int high = ascii::hex_value(text[i]), low = ascii::hex_value(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out.push_back(static_cast<std::uint8_t>(high << 4 | low));
  }
  return out;
}

namespace {
constexpr std::string_view k_base64url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
}

std::string base64url(std::span<const std::uint8_t> bytes) {
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (auto b : bytes) {
    bits = bits << 8 | b;
    count += 8;
    while (count >= 6) out += k_base64url[bits >> (count -= 6) & 63];
  }
  if (count) out += k_base64url[bits << (6 - count) & 63];
  return out;
}

std::optional<std::vector<std::uint8_t>> from_base64url(std::string_view text) {
  std::vector<std::uint8_t> out;
  std::uint32_t bits = 0;
  int count = 0;
  for (char c : text) {
    auto value = k_base64url.find(c);
    if (value == k_base64url.npos) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out.push_back(static_cast<std::uint8_t>(bits >> count));
  }
  if (count == 6 || (bits & ((1u << count) - 1)))
    return std::nullopt; // a lone digit or bits that a second text would share
  return out;
}

std::string percent_encode(std::string_view path) {
  constexpr char k_digits[] = "0123456789ABCDEF";
  std::string out;
  for (char c : path) {
    bool plain = ascii::is_alnum(c) || c == '-' || c == '_' || c == '.' || c == '~' || c == '/';
    if (plain) {
      out += c;
      continue;
    }
    auto b = static_cast<unsigned char>(c);
    out += '%';
    out += k_digits[b >> 4];
    out += k_digits[b & 15];
  }
  return out;
}

std::string percent_decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size())
      if (auto byte = from_hex(text.substr(i + 1, 2))) {
        out += static_cast<char>((*byte)[0]);
        i += 2;
        continue;
      }
    out += text[i];
  }
  return out;
}

std::string html_escape(std::string_view text) {
  if (text.find_first_of("&<>\"'") == text.npos) return std::string(text);
  std::string out;
  for (char c : text) switch (c) {
    case '&': out += "&amp;"; break;
    case '<': out += "&lt;"; break;
    case '>': out += "&gt;"; break;
    case '"': out += "&quot;"; break;
    case '\'': out += "&#x27;"; break;
    default: out += c;
    }
  return out;
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view k_plain = "@%+=:,./-_";
  bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return ascii::is_alnum(c) || k_plain.find(c) != k_plain.npos;
  });
  return plain ? std::string(text) : "'" + replace_all(text, "'", "'\\''") + "'";
}

std::size_t utf8_prefix(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    if (std::uint64_t eight = 0; i + sizeof eight <= text.size()) { // most text is ASCII
      std::memcpy(&eight, text.data() + i, sizeof eight);
      if ((eight & 0x8080808080808080) == 0) {
        i += sizeof eight;
        continue;
      }
    }
    auto b = static_cast<unsigned char>(text[i]);
    std::size_t length = b < 0x80                 ? 1
                         : b >= 0xC2 && b <= 0xDF ? 2
                         : (b & 0xF0) == 0xE0     ? 3
                         : b >= 0xF0 && b <= 0xF4 ? 4
                                                  : 0;
    if (!length || i + length > text.size()) return i;
    for (std::size_t k = 1; k < length; ++k)
      if ((static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) return i;
    auto second = length > 1 ? static_cast<unsigned char>(text[i + 1]) : 0;
    // Overlong forms, surrogates and values above U+10FFFF (RFC 3629 §4).
    if ((b == 0xE0 && second < 0xA0) || (b == 0xED && second > 0x9F) || (b == 0xF0 && second < 0x90) ||
        (b == 0xF4 && second > 0x8F))
      return i;
    i += length;
  }
  return i;
}

bool is_valid_utf8(std::string_view text) { return utf8_prefix(text) == text.size(); }

std::optional<std::uint64_t> parse_u64(std::string_view text) {
  std::uint64_t value = 0;
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

namespace {
// Backtracks over `**/` and `*` with an explicit bound: work is at most |pattern| x |path|, kept as one row of a table.
bool match_table(std::string_view p, std::string_view s) {
  std::vector<char> row(s.size() + 1), next(s.size() + 1);
  row[0] = 1;
  for (std::size_t i = 0; i < p.size();) {
    std::fill(next.begin(), next.end(), 0);
    bool at_start = i == 0 || p[i - 1] == '/';
    if (at_start && p.substr(i, 3) == "**/") {
      bool reach = false;
      for (std::size_t j = 0; j <= s.size(); ++j) {
        if (row[j]) next[j] = 1, reach = true;
        if (reach && j > 0 && s[j - 1] == '/') next[j] = 1;
      }
      i += 3;
    } else if (p.substr(i) == "/**") {
      for (std::size_t j = 0; j <= s.size(); ++j)
        if (row[j] && (j == s.size() || s[j] == '/')) next[s.size()] = 1;
      i += 3;
    } else if (p.substr(i) == "**" && at_start) {
      for (std::size_t j = 0; j <= s.size(); ++j)
        if (row[j]) next[s.size()] = 1;
      i += 2;
    } else if (p[i] == '*') {
      for (std::size_t j = 0; j <= s.size(); ++j)
        next[j] = static_cast<char>(row[j] || (j > 0 && next[j - 1] && s[j - 1] != '/'));
      ++i;
    } else {
      for (std::size_t j = 0; j < s.size(); ++j)
        if (row[j] && (p[i] == '?' ? s[j] != '/' : p[i] == s[j])) next[j + 1] = 1;
      ++i;
    }
    row.swap(next);
  }
  return row[s.size()] != 0;
}
} // namespace

bool glob_match(std::string_view pattern, std::string_view path) { return match_table(pattern, path); }

} // namespace quarry::text
