#include "registry/flat_json.hpp"

#include "base/text.hpp"

#ifdef __SSE2__
#define RAPIDJSON_SSE2
#endif
#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <rapidjson/reader.h>
#include <string>
#include <utility>

namespace quarry::registry {

using Kind = Value::Kind;

double Value::real() const {
  if (node_->kind == Kind::whole) return static_cast<double>(node_->bits);
  if (node_->kind == Kind::negative) return static_cast<double>(std::bit_cast<std::int64_t>(node_->bits));
  return std::bit_cast<double>(node_->bits);
}

std::size_t Value::size() const {
  std::size_t count = 0;
  for (auto at = begin(); at != end(); ++at) ++count;
  return count;
}

std::optional<Value> Value::find(std::string_view key) const {
  if (!is_object()) return std::nullopt;
  for (auto member : *this)
    if (member.key() == key) return member;
  return std::nullopt;
}

Json Value::json() const {
  switch (kind()) {
  case Kind::null: return nullptr;
  case Kind::flag: return node_->bits != 0;
  case Kind::whole: return node_->bits;
  case Kind::negative: return std::bit_cast<std::int64_t>(node_->bits);
  case Kind::real: return std::bit_cast<double>(node_->bits);
  case Kind::text: return std::string(node_->text);
  case Kind::array: break;
  case Kind::object: {
    auto object = Json::object();
    for (auto member : *this) object[std::string(member.key())] = member.json();
    return object;
  }
  }
  auto array = Json::array();
  for (auto item : *this) array.push_back(item.json());
  return array;
}

/// Takes the events of RapidJSON's reader, which parses the text in place. Stops at what only json::parse() decides:
/// errors, depth, and keys that are out of order, which may stand twice.
class FlatBuilder {
public:
  explicit FlatBuilder(std::string_view text) {
    constexpr std::size_t k_bytes_a_value = 32; // of a set's record it is 40
    made_.nodes_.reserve(text.size() / k_bytes_a_value + 1);
    made_.texts_ = std::make_unique_for_overwrite<char[]>(text.size() + k_read_beyond);
    std::fill_n(std::copy(text.begin(), text.end(), made_.texts_.get()), k_read_beyond, '\0');
    free_ = made_.texts_.get();
  }
  char* text() { return made_.texts_.get(); }
  FlatJson take() && { return std::move(made_); }

  /// Adds a tree instead: that of the builder's text.
  void add(const Json& tree) {
    switch (tree.type()) {
    case Json::value_t::object:
      StartObject();
      for (const auto& [name, value] : tree.items()) {
        key_ = kept(name);
        add(value);
      }
      close();
      return;
    case Json::value_t::array:
      StartArray();
      for (const auto& item : tree) add(item);
      close();
      return;
    case Json::value_t::string: append(Kind::text).text = kept(tree.get_ref<const std::string&>()); return;
    case Json::value_t::boolean: Bool(tree.get<bool>()); return;
    case Json::value_t::number_integer: Int64(tree.get<std::int64_t>()); return;
    case Json::value_t::number_unsigned: Uint64(tree.get<std::uint64_t>()); return;
    case Json::value_t::number_float: number(Kind::real, std::bit_cast<std::uint64_t>(tree.get<double>())); return;
    default: Null();
    }
  }

  // RapidJSON's names.
  bool Null() { return number(Kind::null, 0); }
  bool Bool(bool value) { return number(Kind::flag, value); }
  bool Int(int value) { return Int64(value); } // negative ones only, and -0
  bool Uint(unsigned value) { return number(Kind::whole, value); }
  bool Int64(std::int64_t value) { return number(Kind::negative, std::bit_cast<std::uint64_t>(value)); }
  bool Uint64(std::uint64_t value) { return number(Kind::whole, value); }
  bool Double(double) { return false; } // its last bit may differ; few records have a fraction
  bool RawNumber(const char*, unsigned, bool) { return false; }
  bool String(const char* text, unsigned size, bool) {
    append(Kind::text).text = {text, size};
    return true;
  }
  bool StartObject() { return open(Kind::object); }
  bool StartArray() { return open(Kind::array); }
  bool EndObject(unsigned) { return close(); }
  bool EndArray(unsigned) { return close(); }
  bool Key(const char* text, unsigned size, bool) {
    std::string_view name(text, size);
    auto& before = open_.back().last_key;
    if (before.data() && before >= name) return false;
    key_ = before = name;
    return true;
  }

private:
  static constexpr std::size_t k_read_beyond = 16; // the reader looks at 16 bytes at once; the first of these ends it
  struct Open {
    std::size_t node;
    std::string_view last_key = {};
  };
  std::string_view kept(const std::string& text) { // no escape is shorter than what it stands for: there is room
    auto* begin = free_;
    free_ = std::copy(text.begin(), text.end(), free_);
    return {begin, text.size()};
  }
  Value::Node& append(Kind kind) {
    auto& node = made_.nodes_.emplace_back();
    node.kind = kind;
    node.key = std::exchange(key_, {});
    return node;
  }
  bool number(Kind kind, std::uint64_t bits) {
    append(kind).bits = bits;
    return true;
  }
  bool open(Kind kind) {
    constexpr std::size_t k_depth_max = 64; // that of json::parse(), which says what is too deep
    append(kind);
    open_.push_back({made_.nodes_.size() - 1});
    return open_.size() <= k_depth_max;
  }
  bool close() {
    auto begin = open_.back().node;
    made_.nodes_[begin].count = static_cast<std::uint32_t>(made_.nodes_.size() - begin);
    open_.pop_back();
    return true;
  }

  FlatJson made_;
  char* free_ = nullptr;
  std::string_view key_;
  std::vector<Open> open_;
};

Result<FlatJson> FlatJson::parse(NamedText named) {
  // RapidJSON takes half of a surrogate pair. Canonical JSON escapes none.
  bool surrogates = named.text.find("\\ud") != named.text.npos || named.text.find("\\uD") != named.text.npos;
  // RapidJSON 1.1.0 with SSE2 takes the bytes 0x1A to 0x1F inside a text. JSON has them nowhere.
  bool control = std::ranges::any_of(named.text, [](char c) { return c >= '\x1a' && c <= '\x1f'; });
  if (!surrogates && !control && text::is_valid_utf8(named.text)) {
    FlatBuilder canonical(named.text);
    rapidjson::InsituStringStream stream(canonical.text());
    rapidjson::Reader reader;
    auto done = reader.Parse<rapidjson::kParseInsituFlag>(stream, canonical);
    // The reader ends at a byte of 0, also at one inside the text.
    if (!done.IsError() && stream.Tell() == named.text.size()) return std::move(canonical).take();
  }
  TRY(auto tree, json::parse(named));
  FlatBuilder any(named.text);
  any.add(tree);
  return std::move(any).take();
}

} // namespace quarry::registry
