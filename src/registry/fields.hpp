#pragma once
// One list of fields per record, walked by a Writer and by a Reader, so that the two can never disagree. Private to the
// room.
#include "base/json.hpp"
#include "base/result.hpp"
#include "digest/sha256.hpp"
#include <concepts>
#include <fmt/core.h>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

namespace quarry::registry {

enum class Need : std::uint8_t { required, optional };

template <class R, class T>
concept Either = std::same_as<std::remove_const_t<R>, T>;

/// Empty values are not written: absent and empty are the same thing in every record.
class Writer {
public:
  explicit Writer(const std::string& unknown) : object_(Json::object()) {
    if (!unknown.empty())
      if (auto kept = json::parse(unknown, "kept fields"); kept && kept->is_object()) object_ = std::move(*kept);
  }
  void text(const char* key, const std::string& value, Need = Need::required) {
    if (!value.empty()) object_[key] = value;
  }
  void number(const char* key, const std::uint64_t& value) { object_[key] = value; }
  void real(const char* key, const double& value) { object_[key] = value; }
  void flag(const char* key, const bool& value) { object_[key] = value; }
  void digest(const char* key, const Sha256& value) { object_[key] = value.hex(); }
  void digest(const char* key, const std::optional<Sha256>& value) {
    if (value) object_[key] = value->hex();
  }
  void texts(const char* key, const std::vector<std::string>& values) {
    if (!values.empty()) object_[key] = values;
  }
  void map(const char* key, const std::map<std::string, std::string>& values) {
    if (!values.empty()) object_[key] = values;
  }
  template <class T> void nested(const char* key, const T& value);
  template <class T> void list(const char* key, const std::vector<T>& values);
  Json take() && { return std::move(object_); }

private:
  Json object_;
};

/// Keeps the first defect; afterwards reading goes on without effect.
class Reader {
public:
  Reader(const Json& object, std::string what) : object_(object), what_(std::move(what)) {
    if (!object.is_object()) defect(fmt::format("{} is not an object", what_));
  }
  void text(const char* key, std::string& value, Need need = Need::required) {
    const Json* found = look(key, need);
    if (!found) return;
    if (!found->is_string()) return defect(fmt::format("\"{}\" of {} is not text", key, what_));
    value = found->get<std::string>();
    if (value.empty() && need == Need::required) defect(fmt::format("\"{}\" of {} is empty", key, what_));
  }
  void number(const char* key, std::uint64_t& value) {
    const Json* found = look(key, Need::required);
    if (!found) return;
    if (!found->is_number_unsigned()) return defect(fmt::format("\"{}\" of {} is not a whole number", key, what_));
    value = found->get<std::uint64_t>();
  }
  void real(const char* key, double& value) {
    const Json* found = look(key, Need::optional);
    if (!found) return;
    if (!found->is_number()) return defect(fmt::format("\"{}\" of {} is not a number", key, what_));
    value = found->get<double>();
  }
  void flag(const char* key, bool& value) {
    const Json* found = look(key, Need::required);
    if (!found) return;
    if (!found->is_boolean()) return defect(fmt::format("\"{}\" of {} is neither true nor false", key, what_));
    value = found->get<bool>();
  }
  void digest(const char* key, Sha256& value) {
    std::string hex;
    text(key, hex);
    if (error_) return;
    auto parsed = Sha256::from_hex(hex);
    if (!parsed) return defect(fmt::format("\"{}\" of {} is not a sha256", key, what_));
    value = *parsed;
  }
  void digest(const char* key, std::optional<Sha256>& value) {
    if (error_ || !object_.contains(key)) return;
    Sha256 parsed;
    digest(key, parsed);
    value = parsed;
  }
  void texts(const char* key, std::vector<std::string>& values) {
    const Json* found = look(key, Need::optional);
    if (!found) return;
    if (!found->is_array()) return defect(fmt::format("\"{}\" of {} is not a list", key, what_));
    for (const auto& item : *found) {
      if (!item.is_string()) return defect(fmt::format("\"{}\" of {} holds something that is not text", key, what_));
      values.push_back(item.get<std::string>());
    }
  }
  void map(const char* key, std::map<std::string, std::string>& values) {
    const Json* found = look(key, Need::optional);
    if (!found) return;
    if (!found->is_object()) return defect(fmt::format("\"{}\" of {} is not an object", key, what_));
    for (const auto& [name, item] : found->items()) {
      if (!item.is_string()) return defect(fmt::format("\"{}\" of {} holds something that is not text", key, what_));
      values[name] = item.get<std::string>();
    }
  }
  template <class T> void nested(const char* key, T& value);
  template <class T> void list(const char* key, std::vector<T>& values);

  /// The fields that nobody asked for, as canonical JSON; empty when there are none.
  std::string unknown() const {
    Json rest = Json::object();
    if (object_.is_object())
      for (const auto& [key, value] : object_.items())
        if (!known_.contains(key) && key != "schema") rest[key] = value;
    return rest.empty() ? std::string() : rest.dump();
  }
  Result<void> done() && {
    if (error_) return fail(std::move(*error_));
    return {};
  }

private:
  const Json* look(const char* key, Need need) {
    known_.insert(key);
    if (error_) return nullptr;
    if (auto it = object_.find(key); it != object_.end()) return &*it;
    if (need == Need::required) defect(fmt::format("{} has no \"{}\"", what_, key));
    return nullptr;
  }
  void defect(std::string message) {
    if (!error_) error_ = Error{ErrorKind::corrupt, "R012", std::move(message), {}, {}, {}};
  }
  template <class T> void read_one(const Json& item, std::string what, T& value);

  const Json& object_;
  std::string what_;
  std::set<std::string> known_;
  std::optional<Error> error_;
};

template <class R>
concept KeepsUnknown = requires(R& record) { record.unknown; };

template <class R> Json write_fields(const R& record) {
  static const std::string none;
  const std::string* unknown = &none;
  if constexpr (KeepsUnknown<const R>) unknown = &record.unknown;
  Writer writer(*unknown);
  fields(writer, record);
  return std::move(writer).take();
}

template <class R> Result<void> read_fields(const Json& object, std::string what, R& record) {
  Reader reader(object, std::move(what));
  fields(reader, record);
  if constexpr (KeepsUnknown<R>) record.unknown = reader.unknown();
  return std::move(reader).done();
}

template <class T> void Writer::nested(const char* key, const T& value) {
  auto written = write_fields(value);
  if (!written.empty()) object_[key] = std::move(written);
}
template <class T> void Writer::list(const char* key, const std::vector<T>& values) {
  auto array = Json::array();
  for (const auto& value : values) array.push_back(write_fields(value));
  object_[key] = std::move(array);
}
template <class T> void Reader::read_one(const Json& item, std::string what, T& value) {
  auto read = read_fields(item, std::move(what), value);
  if (!read && !error_) error_ = std::move(read).error();
}
template <class T> void Reader::nested(const char* key, T& value) {
  if (const Json* found = look(key, Need::optional)) read_one(*found, fmt::format("\"{}\" of {}", key, what_), value);
}
template <class T> void Reader::list(const char* key, std::vector<T>& values) {
  const Json* found = look(key, Need::required);
  if (!found) return;
  if (!found->is_array()) return defect(fmt::format("\"{}\" of {} is not a list", key, what_));
  for (const auto& item : *found) {
    if (error_) return;
    read_one(item, fmt::format("\"{}\" number {} of {}", key, values.size() + 1, what_), values.emplace_back());
  }
}

} // namespace quarry::registry
