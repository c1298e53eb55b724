#include "registry/flat_json.hpp"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
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

/// Takes the events of the library's parser. Stops at what only json::parse() decides: errors, depth, and keys that are
/// out of order, which may stand twice.
class FlatBuilder final : public nlohmann::json_sax<Json> {
public:
  explicit FlatBuilder(std::size_t text_bytes) {
    constexpr std::size_t k_bytes_a_value = 32; // of a set's record it is 40
    made_.nodes_.reserve(text_bytes / k_bytes_a_value + 1);
    made_.texts_ = std::make_unique_for_overwrite<char[]>(text_bytes); // no escape is shorter than what it stands for
    free_ = made_.texts_.get();
  }
  FlatJson take() && { return std::move(made_); }

  void add(const Json& tree) {
    switch (tree.type()) {
    case Json::value_t::object:
      start_object(0);
      for (const auto& [name, value] : tree.items()) {
        key_ = kept(name);
        add(value);
      }
      close();
      return;
    case Json::value_t::array:
      start_array(0);
      for (const auto& item : tree) add(item);
      close();
      return;
    case Json::value_t::string: append(Kind::text).text = kept(tree.get_ref<const std::string&>()); return;
    case Json::value_t::boolean: boolean(tree.get<bool>()); return;
    case Json::value_t::number_integer: number_integer(tree.get<std::int64_t>()); return;
    case Json::value_t::number_unsigned: number_unsigned(tree.get<std::uint64_t>()); return;
    case Json::value_t::number_float: number_float(tree.get<double>(), {}); return;
    default: null();
    }
  }

  bool null() override { return number(Kind::null, 0); }
  bool boolean(bool value) override { return number(Kind::flag, value); }
  bool number_integer(number_integer_t value) override {
    return number(Kind::negative, std::bit_cast<std::uint64_t>(value));
  }
  bool number_unsigned(number_unsigned_t value) override { return number(Kind::whole, value); }
  bool number_float(number_float_t value, const string_t&) override {
    return number(Kind::real, std::bit_cast<std::uint64_t>(value));
  }
  bool string(string_t& value) override {
    append(Kind::text).text = kept(value);
    return true;
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Kind::object); }
  bool start_array(std::size_t) override { return open(Kind::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    auto& before = open_.back().last_key;
    if (before.data() && before >= name) return false;
    key_ = before = kept(name);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

private:
  struct Open {
    std::size_t node;
    std::string_view last_key = {};
  };
  std::string_view kept(const std::string& text) {
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
    constexpr std::size_t k_depth_max = 16; // records need 6; json::parse() says what is too deep
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
  FlatBuilder canonical(named.text.size());
  if (Json::sax_parse(named.text, &canonical)) return std::move(canonical).take();
  TRY(auto tree, json::parse(named));
  FlatBuilder any(named.text.size());
  any.add(tree);
  return std::move(any).take();
}

} // namespace quarry::registry
