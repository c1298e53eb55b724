#include "base/ascii.hpp"
#include "base/text.hpp"
#include "index/pages.hpp"
#include "index/read_page.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>

namespace quarry::index {

namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }
using ascii::is_letter;

void append_utf8(std::string& out, std::uint32_t code) {
  if (code == 0 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) code = 0xFFFD; // as HTML's tokenizer does
  if (code < 0x80)
    out += static_cast<char>(code);
  else if (code < 0x800)
    (out += static_cast<char>(0xC0 | code >> 6)) += static_cast<char>(0x80 | (code & 63));
  else {
    if (code < 0x10000)
      out += static_cast<char>(0xE0 | code >> 12);
    else
      (out += static_cast<char>(0xF0 | code >> 18)) += static_cast<char>(0x80 | (code >> 12 & 63));
    (out += static_cast<char>(0x80 | (code >> 6 & 63))) += static_cast<char>(0x80 | (code & 63));
  }
}

std::optional<std::uint32_t> numeric_reference(std::string_view body) {
  bool hex = body.size() > 1 && (body[1] == 'x' || body[1] == 'X');
  auto digits = body.substr(hex ? 2 : 1);
  if (digits.empty() || digits.size() > 7) return std::nullopt;
  std::uint32_t value = 0;
  for (char c : digits) {
    int digit = ascii::is_digit(c)            ? c - '0'
                : hex && c >= 'a' && c <= 'f' ? c - 'a' + 10
                : hex && c >= 'A' && c <= 'F' ? c - 'A' + 10
                                              : -1;
    if (digit < 0) return std::nullopt;
    value = value * (hex ? 16 : 10) + static_cast<std::uint32_t>(digit);
  }
  return value;
}

/// The references that generators of index pages write; another one stays as it is.
bool decode_reference(std::string& out, std::string_view body) {
  static constexpr std::array<std::pair<std::string_view, char>, 5> k_named{
      {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}}};
  if (body.starts_with('#')) {
    auto code = numeric_reference(body);
    if (code) append_utf8(out, *code);
    return code.has_value();
  }
  for (auto [name, c] : k_named)
    if (body == name) return out += c, true;
  return false;
}

std::string unescaped(std::string_view text) {
  constexpr std::size_t k_reference_bytes_max = 12; // "&#x0010FFFF;"
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '&')
      if (auto end = text.substr(i, k_reference_bytes_max).find(';');
          end != text.npos && decode_reference(out, text.substr(i + 1, end - 1))) {
        i += end;
        continue;
      }
    out += text[i];
  }
  return out;
}

using Attributes = std::map<std::string, std::string, std::less<>>;

struct Tag {
  std::string name; // lower case; "/a" for an end tag
  Attributes attributes;
};

/// HTML's tokenizer as far as index pages need it: text, tags, comments; the content of script and style is skipped.
class Tokenizer {
public:
  explicit Tokenizer(std::string_view text) : text_(text) {}

  /// The text before the next tag, and that tag; false at the end.
  bool next(std::string_view& before, Tag& tag) {
    for (auto begin = at_;;) {
      auto open = text_.find('<', at_);
      if (open == text_.npos) return false;
      before = text_.substr(begin, open - begin);
      at_ = open + 1;
      if (skip_comment()) continue;
      if (!at_tag()) continue;
      read_tag(tag);
      if (tag.name == "script" || tag.name == "style") skip_raw(tag.name);
      return true;
    }
  }

private:
  bool skip_comment() {
    if (text_.substr(at_, 3) == "!--") return skip_past("-->");
    if (text_.substr(at_, 1) == "!" || text_.substr(at_, 1) == "?") return skip_past(">");
    return false;
  }
  bool skip_past(std::string_view end) {
    auto found = text_.find(end, at_);
    at_ = found == text_.npos ? text_.size() : found + end.size();
    return true;
  }
  bool at_tag() const {
    auto first = text_.substr(at_, 1) == "/" ? at_ + 1 : at_;
    return first < text_.size() && is_letter(text_[first]);
  }
  void skip_raw(const std::string& name) {
    while (at_ < text_.size()) {
      skip_past("</");
      if (text::starts_with_ignore_case(text_.substr(at_, name.size()), name)) return;
    }
  }
  void skip_space() {
    while (at_ < text_.size() && (is_space(text_[at_]) || text_[at_] == '/')) ++at_;
  }
  template <class Stop> std::string_view take_until(Stop stop) {
    auto begin = at_;
    while (at_ < text_.size() && !stop(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  void read_tag(Tag& tag) {
    auto begin = at_++;
    take_until([](char c) { return is_space(c) || c == '>' || c == '/'; });
    tag.name = text::lower(text_.substr(begin, at_ - begin));
    tag.attributes.clear();
    for (skip_space(); at_ < text_.size() && text_[at_] != '>'; skip_space()) read_attribute(tag);
    if (at_ < text_.size()) ++at_;
  }

  void read_attribute(Tag& tag) {
    auto begin = at_++; // even a '=' may start a name, as in HTML
    take_until([](char c) { return is_space(c) || c == '>' || c == '/' || c == '='; });
    auto name = text::lower(text_.substr(begin, at_ - begin));
    auto after_name = at_;
    take_until([](char c) { return !is_space(c); });
    std::string_view value;
    if (at_ < text_.size() && text_[at_] == '=')
      value = read_value();
    else
      at_ = after_name;
    tag.attributes.emplace(std::move(name), unescaped(value)); // the first of two equal names counts
  }

  std::string_view read_value() {
    ++at_;
    take_until([](char c) { return !is_space(c); });
    if (at_ == text_.size()) return {};
    char quote = text_[at_];
    if (quote != '"' && quote != '\'') return take_until([](char c) { return is_space(c) || c == '>'; });
    ++at_;
    auto value = take_until([quote](char c) { return c == quote; });
    if (at_ < text_.size()) ++at_;
    return value;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string attribute(const Attributes& attributes, std::string_view name) {
  auto it = attributes.find(name);
  return it == attributes.end() ? "" : it->second;
}

void take_fragment(PageFile& file) {
  auto hash = file.url.find('#');
  if (hash == std::string::npos) return;
  for (const auto& part : text::split(std::string_view(file.url).substr(hash + 1), '&'))
    if (auto equals = part.find('=');
        equals != part.npos && part.substr(0, equals) != "egg" && part.substr(0, equals) != "subdirectory")
      file.hashes.emplace_back(part.substr(0, equals), part.substr(equals + 1));
  std::sort(file.hashes.begin(), file.hashes.end());
  file.url.resize(hash);
}

PageFile file_of(const Attributes& attributes) {
  PageFile file;
  file.url = attribute(attributes, "href");
  take_fragment(file);
  file.requires_python = attribute(attributes, "data-requires-python");
  file.core_metadata = attribute(attributes, "data-core-metadata");
  if (file.core_metadata == "false") file.core_metadata.clear();
  file.yanked = attributes.contains("data-yanked");
  file.yank_reason = attribute(attributes, "data-yanked");
  file.size = text::parse_u64(attribute(attributes, "data-size"));
  file.upload_time = attribute(attributes, "data-upload-time");
  file.untested = attributes.contains("data-untested");
  if (attributes.contains("data-dist-info-metadata")) file.nulls.push_back("legacy");
  return file;
}

void take_meta(IndexPage& page, const Attributes& attributes) {
  if (attribute(attributes, "name") == "pypi:repository-version") page.api_version = attribute(attributes, "content");
}

} // namespace

Result<IndexPage> read_html_page(NamedText named) {
  const auto [text, what] = named;
  if (text.size() > k_page_bytes_max)
    return fail(ErrorKind::corrupt, "I020", fmt::format("{} is larger than {} MiB", what, k_page_bytes_max >> 20));
  if (!text::is_valid_utf8(text)) return fail(ErrorKind::corrupt, "I020", fmt::format("{} is not UTF-8", what));
  IndexPage page;
  page.ours = text.find(k_generator_mark) != text.npos;
  Tokenizer tokens(text);
  std::string_view before;
  Tag tag;
  std::string* label = nullptr;
  while (tokens.next(before, tag)) {
    if (label) *label += unescaped(before);
    if (tag.name == "a" || tag.name == "/a") label = nullptr;
    if (tag.name == "meta") take_meta(page, tag.attributes);
    if (tag.name == "base" && tag.attributes.contains("href")) page.has_base = true;
    if (tag.name != "a" || !tag.attributes.contains("href")) continue;
    if (page.files.size() == k_page_links_max)
      return fail(ErrorKind::corrupt, "I020", fmt::format("{} has more than {} links", what, k_page_links_max));
    page.files.push_back(file_of(tag.attributes));
    label = &page.files.back().filename;
  }
  for (auto& file : page.files) file.filename = std::string(text::trim(file.filename));
  return page;
}

std::optional<Sha256> PageFile::sha256() const {
  for (const auto& [algorithm, digest] : hashes)
    if (algorithm == "sha256") return Sha256::from_hex(digest);
  return std::nullopt;
}

std::string PageFile::url_name() const {
  auto path = std::string_view(url).substr(0, url.find('?'));
  return text::percent_decode(path.substr(path.rfind('/') + 1));
}

Result<IndexPage> read_page(NamedText named) {
  return text::trim(named.text.substr(0, 64)).starts_with('{') ? read_json_page(named) : read_html_page(named);
}

} // namespace quarry::index
