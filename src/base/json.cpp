#include "base/json.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <vector>

namespace quarry::json {

namespace {
constexpr std::size_t k_token_shown = 40; // bytes of the last word
constexpr std::size_t k_depth_max = 64;   // our deepest record nests 6 levels; more is an attack on the stack

// Builds the value as the library would, in one pass, and stops at what we refuse: depth is bounded before recursion
// can hurt, and a key that stands twice means one thing to one reader and another to the next (the library takes the
// last).
class Builder final : public nlohmann::json_sax<Json> {
public:
  explicit Builder(std::string_view text) : text_(text) {}
  Json root;
  std::string error; ///< why it stopped

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return stop("is not valid JSON"); }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    auto& members = open_.back()->get_ref<Json::object_t&>();
    auto before = members.size();
    auto it = members.emplace_hint(members.end(), name, nullptr); // canonical text has its keys in order
    if (members.size() == before) return stop(fmt::format("holds the key \"{}\" twice", name));
    member_ = &it->second;
    return true;
  }
  bool parse_error(std::size_t position, const std::string& token, const nlohmann::detail::exception&) override {
    return stop(syntax_error(position, token));
  }

private:
  /// `position` counts the bytes that were read, `token` is the last word of them, control bytes as <U+0000>.
  std::string syntax_error(std::size_t position, const std::string& token) const {
    auto before = text_.substr(0, std::min(position == 0 ? 0 : position - 1, text_.size()));
    auto line = 1 + std::count(before.begin(), before.end(), '\n');
    auto column = before.size() - (before.rfind('\n') + 1) + 1; // npos + 1 is 0: the first line
    if (position > text_.size())
      return text_.empty() ? "is not valid JSON: it is empty"
                           : fmt::format("is not valid JSON: it ends too early, at line {}, column {}", line, column);
    auto shown = token.size() > k_token_shown ? token.substr(token.size() - k_token_shown) : token;
    return fmt::format("is not valid JSON: line {}, column {} is not expected, at the end of `{}`", line, column,
                       shown);
  }

  bool stop(std::string why) {
    if (error.empty()) error = std::move(why);
    return false;
  }
  template <class T> bool add(T&& value) {
    place(Json(std::forward<T>(value)));
    return true;
  }
  Json* place(Json value) {
    if (open_.empty()) return &(root = std::move(value));
    if (open_.back()->is_object()) return &(*member_ = std::move(value));
    auto& items = open_.back()->get_ref<Json::array_t&>();
    return &items.emplace_back(std::move(value));
  }
  bool open(Json container) {
    if (open_.size() >= k_depth_max) return stop(fmt::format("nests deeper than {} levels", k_depth_max));
    // Where it is stays valid: nothing is added beside a container before it is closed.
    open_.push_back(place(std::move(container)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  std::vector<Json*> open_;
  Json* member_ = nullptr;
};
} // namespace

Result<std::string> canonical(const Json& value) {
  try {
    return value.dump(-1, ' ', false, Json::error_handler_t::strict);
  } catch (const Json::exception& e) {
    return fail(ErrorKind::invalid_argument, "B001", fmt::format("a value cannot be written as JSON: {}", e.what()));
  }
}

std::string text(const Json& value) { return value.dump(); }
std::string lossy_text(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }
std::string pretty(const Json& value) { return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

Result<Json> parse(NamedText named) {
  constexpr const char* k_again = "name the right file, or make it again: it must be one whole JSON document";
  Builder builder(named.text);
  try {
    if (Json::sax_parse(named.text, &builder)) return std::move(builder.root);
  } catch (const Json::exception& e) {
    return fail(ErrorKind::corrupt, "B002", fmt::format("{} is not valid JSON: {}", named.name, e.what()), k_again);
  }
  return fail(ErrorKind::corrupt, "B002", fmt::format("{} {}", named.name, builder.error), k_again);
}

namespace {
Result<const Json*> member(NamedJson object, std::string_view key) {
  if (object.value.is_object())
    if (auto it = object.value.find(std::string(key)); it != object.value.end()) return &*it;
  return fail(ErrorKind::corrupt, "B003", fmt::format("{} has no \"{}\"", object.name, key));
}
} // namespace

Result<std::string> string_at(NamedJson object, std::string_view key) {
  TRY(const Json* value, member(object, key));
  if (!value->is_string())
    return fail(ErrorKind::corrupt, "B003", fmt::format("\"{}\" of {} is not a string", key, object.name));
  return value->get<std::string>();
}

Result<std::uint64_t> unsigned_at(NamedJson object, std::string_view key) {
  TRY(const Json* value, member(object, key));
  bool whole = value->is_number_unsigned() || (value->is_number_integer() && value->get<std::int64_t>() >= 0);
  if (!whole)
    return fail(ErrorKind::corrupt, "B003", fmt::format("\"{}\" of {} is not a whole number", key, object.name));
  return value->get<std::uint64_t>();
}

std::string string_or(const Json& object, std::string_view key, std::string fallback) {
  if (object.is_object())
    if (auto it = object.find(std::string(key)); it != object.end() && it->is_string()) return it->get<std::string>();
  return fallback;
}

Result<void> require_schema(NamedJson object, std::string_view schema) {
  TRY(auto found, string_at(object, "schema"));
  if (found == schema) return {};
  return fail(ErrorKind::corrupt, "B004", fmt::format("{} has schema {}, expected {}", object.name, found, schema),
              "a newer quarry may have written it: compare `quarry version`");
}

} // namespace quarry::json
