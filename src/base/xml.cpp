#include "base/xml.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include <algorithm>
#include <charconv>
#include <fmt/core.h>
#include <optional>

namespace quarry {

namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_name_start(char c) {
  return ascii::is_letter(c) || c == '_' || c == ':' || static_cast<unsigned char>(c) >= 0x80;
}
bool is_name(char c) { return is_name_start(c) || ascii::is_digit(c) || c == '-' || c == '.'; }

// Char of XML 1.0, production [2].
bool is_character(std::uint32_t c) {
  return c == 9 || c == 10 || c == 13 || (c >= 0x20 && c <= 0xD7FF) || (c >= 0xE000 && c <= 0xFFFD) ||
         (c >= 0x10000 && c <= 0x10FFFF);
}

void append_utf8(std::string& out, std::uint32_t c) {
  auto byte = [&](std::uint32_t value) { out += static_cast<char>(value); };
  if (c < 0x80) return byte(c);
  if (c < 0x800)
    byte(0xC0 | c >> 6);
  else if (c < 0x10000)
    byte(0xE0 | c >> 12), byte(0x80 | (c >> 6 & 0x3F));
  else
    byte(0xF0 | c >> 18), byte(0x80 | (c >> 12 & 0x3F)), byte(0x80 | (c >> 6 & 0x3F));
  byte(0x80 | (c & 0x3F));
}

std::optional<std::uint32_t> character_reference(std::string_view body) { // "#10" or "#x1F"
  bool hex = body.starts_with("#x");
  auto digits = body.substr(hex ? 2 : 1);
  std::uint32_t value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
  bool whole = error == std::errc{} && end == digits.data() + digits.size();
  return whole && is_character(value) ? std::optional(value) : std::nullopt;
}

// Encodings that are UTF-8 as far as the bytes go, since those were checked.
bool is_utf8_name(std::string_view declaration) {
  auto lower = text::lower(declaration);
  auto at = lower.find("encoding");
  if (at == lower.npos) return true;
  auto value = lower.substr(at);
  return value.find("utf-8") != value.npos || value.find("utf8") != value.npos || value.find("us-ascii") != value.npos;
}

} // namespace

Result<XmlReader> XmlReader::open(std::string_view text, XmlSource source) {
  XmlReader reader(text, std::move(source));
  if (text.size() > k_xml_bytes_max) return reader.defect(fmt::format("it is larger than {} bytes", k_xml_bytes_max));
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) return reader.defect("it is UTF-16 and not UTF-8");
  reader.at_ = text::utf8_prefix(text);
  if (reader.at_ < text.size()) return reader.defect("it is not UTF-8");
  auto control = std::find_if(text.begin(), text.end(),
                              [](char c) { return static_cast<unsigned char>(c) < 0x20 && !is_space(c); });
  reader.at_ = static_cast<std::size_t>(control - text.begin());
  if (control != text.end()) return reader.defect("it holds a control character");
  reader.at_ = 0;
  reader.take("\xEF\xBB\xBF");
  if (reader.take("<?xml")) {
    auto begin = reader.at_;
    TRY_DO(reader.skip_past({"?>", "the XML declaration"}));
    if (!is_utf8_name(text.substr(begin, reader.at_ - begin))) return reader.defect("its encoding is not UTF-8");
  }
  return reader;
}

Unexpected XmlReader::defect(std::string_view why) const {
  auto before = text_.substr(0, at_);
  auto line = std::count(before.begin(), before.end(), '\n') + 1;
  auto column = before.size() - (before.rfind('\n') + 1) + 1; // npos + 1 is 0: the first line
  return fail(ErrorKind::corrupt, source_.code,
              fmt::format("{}:{}:{}: not {} that can be read: {}", source_.what, line, column, source_.kind, why),
              source_.hint);
}

bool XmlReader::take(std::string_view prefix) {
  if (!text_.substr(at_).starts_with(prefix)) return false;
  at_ += prefix.size();
  return true;
}

void XmlReader::skip_space() {
  while (at_ < text_.size() && is_space(text_[at_])) ++at_;
}

Result<void> XmlReader::skip_past(NamedText end) {
  auto found = text_.find(end.text, at_);
  if (found == text_.npos) return defect(fmt::format("{} does not end", end.name));
  at_ = found + end.text.size();
  return {};
}

Result<std::string> XmlReader::name() {
  auto begin = at_;
  if (at_ < text_.size() && is_name_start(text_[at_]))
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
  if (at_ == begin) return defect("a name is missing");
  if (at_ - begin > k_xml_name_bytes_max) return defect("a name is too long");
  return std::string(text_.substr(begin, at_ - begin));
}

Result<std::string> XmlReader::decode(std::string_view raw) const {
  static constexpr std::pair<std::string_view, char> k_entities[] = {
      {"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
  std::string out;
  out.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size();) {
    if (raw[i] != '&') {
      out += raw[i++];
      continue;
    }
    auto end = raw.find(';', i);
    if (end == raw.npos || end - i > 12) return defect("an & is alone");
    auto body = raw.substr(i + 1, end - i - 1);
    i = end + 1;
    if (body.starts_with("#")) {
      auto value = character_reference(body);
      if (!value) return defect(fmt::format("&{}; is not a character", body));
      append_utf8(out, *value);
      continue;
    }
    auto known =
        std::find_if(std::begin(k_entities), std::end(k_entities), [&](const auto& e) { return e.first == body; });
    if (known == std::end(k_entities)) return defect(fmt::format("the entity &{}; is not one of XML's five", body));
    out += known->second;
  }
  return out;
}

Result<void> XmlReader::attribute(std::map<std::string, std::string>& into) {
  TRY(auto key, name());
  skip_space();
  if (!take("=")) return defect(fmt::format("the attribute {} has no value", key));
  skip_space();
  if (at_ == text_.size()) return defect(fmt::format("it is cut off before the value of {}", key));
  char quote = at_ < text_.size() ? text_[at_] : '\0';
  if (quote != '"' && quote != '\'') return defect(fmt::format("the value of {} is not quoted", key));
  auto end = text_.find(quote, at_ + 1);
  if (end == text_.npos)
    return defect(fmt::format("the value of {} does not end: a quote is missing, or it is cut off", key));
  auto raw = text_.substr(at_ + 1, end - at_ - 1);
  if (raw.find('<') != raw.npos) return defect(fmt::format("the value of {} holds a <", key));
  TRY(auto value, decode(raw));
  at_ = end + 1;
  if (!into.emplace(key, std::move(value)).second) return defect(fmt::format("the attribute {} appears twice", key));
  if (into.size() > k_xml_attributes_max) return defect("an element has too many attributes");
  return {};
}

Result<XmlToken> XmlReader::start_tag() {
  XmlToken token;
  token.kind = XmlToken::Kind::start;
  if (open_.empty() && root_seen_) return defect("there is a second root element");
  root_seen_ = true;
  TRY(token.name, name());
  while (true) {
    bool spaced = at_ < text_.size() && is_space(text_[at_]);
    skip_space();
    if (take("/>")) {
      pending_end_ = true;
      break;
    }
    if (take(">")) break;
    if (!spaced) return defect("a tag is malformed");
    TRY_DO(attribute(token.attributes));
  }
  open_.push_back(token.name);
  if (open_.size() > k_xml_depth_max) return defect(fmt::format("its elements nest deeper than {}", k_xml_depth_max));
  return token;
}

Result<XmlToken> XmlReader::end_tag() {
  XmlToken token;
  token.kind = XmlToken::Kind::end;
  if (!pending_end_) {
    TRY(auto written, name());
    skip_space();
    if (!take(">")) return defect("an end tag is malformed");
    if (open_.empty() || open_.back() != written)
      return defect(fmt::format("</{}> closes nothing that is open", written));
  }
  pending_end_ = false;
  token.name = std::move(open_.back());
  open_.pop_back();
  return token;
}

Result<XmlToken> XmlReader::character_data() {
  auto end = std::min(text_.find('<', at_), text_.size());
  auto raw = text_.substr(at_, end - at_);
  if (open_.empty() && !std::all_of(raw.begin(), raw.end(), is_space))
    return defect("there is text outside the root element");
  XmlToken token;
  token.kind = XmlToken::Kind::text;
  TRY(token.text, decode(raw));
  at_ = end;
  return token;
}

Result<XmlToken> XmlReader::next() {
  if (pending_end_) return end_tag();
  while (at_ < text_.size()) {
    if (take("<!--")) {
      TRY_DO(skip_past({"-->", "a comment"}));
    } else if (take("<![CDATA[")) {
      auto begin = at_;
      TRY_DO(skip_past({"]]>", "a CDATA section"}));
      if (open_.empty()) return defect("there is text outside the root element");
      return XmlToken{XmlToken::Kind::text, {}, {}, std::string(text_.substr(begin, at_ - 3 - begin))};
    } else if (take("<?")) {
      TRY_DO(skip_past({"?>", "a processing instruction"}));
    } else if (take("<!")) {
      return defect("it has a document type or another declaration, which can define entities");
    } else if (take("</")) {
      return end_tag();
    } else if (take("<")) {
      return start_tag();
    } else {
      TRY(auto token, character_data());
      if (!open_.empty()) return token;
    }
  }
  if (!open_.empty()) return defect(fmt::format("<{}> is not closed: the file is cut short", open_.back()));
  if (!root_seen_) return defect("there is no element in it");
  return XmlToken{};
}

} // namespace quarry
