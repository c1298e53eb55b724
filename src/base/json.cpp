#include "base/json.hpp"

#include <fmt/core.h>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

namespace quarry::json {

namespace {
constexpr int k_depth_max = 64; // our deepest record nests 6 levels; more is an attack on the stack

// The callback of nlohmann's parser sees each container as it opens, so depth is bounded before recursion can hurt.
// A key that stands twice means one thing to one reader and another to the next, so it is refused (the library takes
// the last).
struct Guard {
  bool too_deep = false;
  std::string repeated;
  std::vector<std::set<std::string>> keys; // of the open objects
  bool operator()(int depth, Json::parse_event_t event, Json& value) {
    if (depth > k_depth_max) too_deep = true;
    if (too_deep) return false;
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end && !keys.empty()) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.empty() && !keys.back().insert(value.get<std::string>()).second &&
        repeated.empty())
      repeated = value.get<std::string>();
    return true;
  }
};
} // namespace

Result<std::string> canonical(const Json& value) {
  try {
    return value.dump(-1, ' ', false, Json::error_handler_t::strict);
  } catch (const Json::exception& e) {
    return fail(ErrorKind::invalid_argument, "B001", fmt::format("a value cannot be written as JSON: {}", e.what()));
  }
}

std::string pretty(const Json& value) { return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

Result<Json> parse(std::string_view text, std::string_view what) {
  Guard guard;
  try {
    auto value = Json::parse(text, std::ref(guard), true, false);
    if (!guard.repeated.empty())
      return fail(ErrorKind::corrupt, "B002", fmt::format("{} holds the key \"{}\" twice", what, guard.repeated));
    if (guard.too_deep)
      return fail(ErrorKind::corrupt, "B002", fmt::format("{} nests deeper than {} levels", what, k_depth_max));
    return value;
  } catch (const Json::exception& e) {
    return fail(ErrorKind::corrupt, "B002", fmt::format("{} is not valid JSON: {}", what, e.what()));
  }
}

namespace {
Result<const Json*> member(const Json& object, std::string_view key, std::string_view what) {
  if (object.is_object())
    if (auto it = object.find(std::string(key)); it != object.end()) return &*it;
  return fail(ErrorKind::corrupt, "B003", fmt::format("{} has no \"{}\"", what, key));
}
} // namespace

Result<std::string> string_at(const Json& object, std::string_view key, std::string_view what) {
  TRY(const Json* value, member(object, key, what));
  if (!value->is_string())
    return fail(ErrorKind::corrupt, "B003", fmt::format("\"{}\" of {} is not a string", key, what));
  return value->get<std::string>();
}

Result<std::uint64_t> unsigned_at(const Json& object, std::string_view key, std::string_view what) {
  TRY(const Json* value, member(object, key, what));
  bool whole = value->is_number_unsigned() || (value->is_number_integer() && value->get<std::int64_t>() >= 0);
  if (!whole) return fail(ErrorKind::corrupt, "B003", fmt::format("\"{}\" of {} is not a whole number", key, what));
  return value->get<std::uint64_t>();
}

std::string string_or(const Json& object, std::string_view key, std::string fallback) {
  if (object.is_object())
    if (auto it = object.find(std::string(key)); it != object.end() && it->is_string()) return it->get<std::string>();
  return fallback;
}

Result<void> require_schema(const Json& object, std::string_view schema, std::string_view what) {
  TRY(auto found, string_at(object, "schema", what));
  if (found == schema) return {};
  return fail(ErrorKind::corrupt, "B004", fmt::format("{} has schema {}, expected {}", what, found, schema),
              "a newer quarry may have written it: compare `quarry version`");
}

} // namespace quarry::json
