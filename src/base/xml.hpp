#pragma once
// The part of XML that test reports and replies of object stores need, from sources that nobody trusts: elements,
// attributes, text, CDATA, comments, the five entities and character references. No DTD, so nothing can be defined,
// expanded or fetched. Errors: corrupt, with the caller's code.
#include "base/data_text.hpp"
#include "base/result.hpp"
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace quarry {

constexpr std::uint64_t k_xml_bytes_max = 64u << 20; ///< 200,000 test cases of 300 bytes
constexpr std::size_t k_xml_depth_max = 64;          ///< reports nest 3 to 5 deep
constexpr std::size_t k_xml_name_bytes_max = 256;
constexpr std::size_t k_xml_attributes_max = 256; ///< of one element; real ones have fewer than 20

struct XmlToken {
  enum class Kind : std::uint8_t { start, end, text, finished } kind = Kind::finished;
  std::string name;                              ///< of start and end
  std::map<std::string, std::string> attributes; ///< of start, decoded
  std::string text;                              ///< of text, decoded; may come in several pieces
};

struct XmlSource {  ///< how errors speak of the document
  std::string what; ///< "report.xml"
  std::string code; ///< of malformed text, such as "X010"
  std::string kind; ///< "a report": completes "not … that can be read"
  std::string hint;
};

/// Reads the document piece by piece; `text` must outlive it. An empty element gives start and end.
class XmlReader {
public:
  static Result<XmlReader> open(std::string_view text, XmlSource source);
  Result<XmlToken> next();

private:
  XmlReader(std::string_view text, XmlSource source) : text_(text), source_(std::move(source)) {}
  Unexpected defect(std::string_view why) const;
  bool take(std::string_view prefix);
  void skip_space();
  Result<void> skip_past(NamedText end); ///< its name is that of what ends
  Result<std::string> name();
  Result<std::string> decode(std::string_view raw) const;
  Result<void> attribute(std::map<std::string, std::string>& into);
  Result<XmlToken> start_tag();
  Result<XmlToken> end_tag();
  Result<XmlToken> character_data();

  std::string_view text_;
  XmlSource source_;
  std::size_t at_ = 0;
  std::vector<std::string> open_;
  bool root_seen_ = false, pending_end_ = false;
};

} // namespace quarry
