#include "registry/fields.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::registry {

Writer::Writer(Json& object) : object_(object) { object_ = Json::object(); }

void Writer::keep(const std::string& unknown) {
  if (unknown.empty()) return;
  if (auto kept = json::parse({unknown, "kept fields"}); kept && kept->is_object()) object_ = std::move(*kept);
}
void Writer::text(const char* key, const std::string& value, Need) {
  if (!value.empty()) object_[key] = value;
}
void Writer::time(const char* key, const sys::Timestamp& value) { text(key, value.text()); }
void Writer::number(const char* key, std::uint64_t value, Need need) {
  if (value != 0 || need == Need::required) object_[key] = value;
}
void Writer::real(const char* key, double value) { object_[key] = value; }
void Writer::flag(const char* key, bool value) { object_[key] = value; }
void Writer::digest(const char* key, const Sha256& value) { object_[key] = value.hex(); }
void Writer::digest(const char* key, const std::optional<Sha256>& value) {
  if (value) object_[key] = value->hex();
}
void Writer::texts(const char* key, const std::vector<std::string>& values) {
  if (!values.empty()) object_[key] = values;
}
void Writer::entry(const char* key, const std::string& name, std::string value) {
  object_[key][name] = std::move(value);
}
void Writer::map(const char* key, const std::map<std::string, std::string>& values) {
  if (!values.empty()) object_[key] = values;
}
Json& Writer::member(const char* key) { return object_[key]; }
Json& Writer::begin_list(const char* key) { return object_[key] = Json::array(); }
Json& Writer::append(Json& array) { return array.emplace_back(); }
void Writer::drop_empty(const char* key) {
  if (object_[key].empty()) object_.erase(key);
}

std::string Place::text() const {
  if (!parent) return std::string(what);
  if (!index) return fmt::format("\"{}\" of {}", key, parent->text());
  return fmt::format("\"{}\" number {} of {}", key, *index + 1, parent->text());
}

Reader::Reader(const Json& object, Place place) : object_(object), place_(place) {
  if (!object.is_object()) defect(fmt::format("{} is not an object", place_.text()));
}

void Reader::text(const char* key, std::string& value, Need need) {
  const Json* found = look(key, need);
  if (!found) return;
  if (!found->is_string()) return defect(fmt::format("{} is not text", name_of(key)));
  value = found->get<std::string>();
  if (value.empty() && need == Need::required) defect(fmt::format("{} is empty", name_of(key)));
}

void Reader::time(const char* key, sys::Timestamp& value) {
  std::string said;
  text(key, said);
  if (error_) return;
  auto parsed = sys::Timestamp::parse(said);
  if (!parsed) return defect(fmt::format("{} is not a time in UTC", name_of(key)));
  value = std::move(*parsed);
}

void Reader::number(const char* key, std::uint64_t& value, Need need) {
  const Json* found = look(key, need);
  if (!found) return;
  if (!found->is_number_unsigned()) return defect(fmt::format("{} is not a whole number", name_of(key)));
  value = found->get<std::uint64_t>();
}

void Reader::real(const char* key, double& value) {
  const Json* found = look(key, Need::optional);
  if (!found) return;
  if (!found->is_number()) return defect(fmt::format("{} is not a number", name_of(key)));
  value = found->get<double>();
}

void Reader::flag(const char* key, bool& value) {
  const Json* found = look(key, Need::required);
  if (!found) return;
  if (!found->is_boolean()) return defect(fmt::format("{} is neither true nor false", name_of(key)));
  value = found->get<bool>();
}

void Reader::digest(const char* key, Sha256& value) {
  std::string hex;
  text(key, hex);
  if (error_) return;
  auto parsed = Sha256::from_hex(hex);
  if (!parsed) return defect(fmt::format("{} is not a sha256", name_of(key)));
  value = *parsed;
}

void Reader::digest(const char* key, std::optional<Sha256>& value) {
  if (!object_.contains(key)) return known_.push_back(key);
  Sha256 parsed;
  digest(key, parsed);
  value = parsed;
}

void Reader::not_a_digest(const std::string& hex, const char* key, const std::string* name) {
  defect(name ? fmt::format("the digest of `{}` in {} is not a sha256: {}", *name, name_of(key), hex)
              : fmt::format("{} is not a sha256: {}", name_of(key), hex));
}

void Reader::each_text(const char* key, const std::function<void(const std::string&)>& take) {
  const Json* found = look(key, Need::optional);
  if (!found) return;
  if (!found->is_array()) return defect(fmt::format("{} is not a list", name_of(key)));
  for (const auto& item : *found) {
    if (!item.is_string()) return defect(fmt::format("{} holds something that is not text", name_of(key)));
    take(item.get_ref<const std::string&>());
  }
}

void Reader::map(const char* key, std::map<std::string, std::string>& values) {
  entries(key, [&](const std::string& name, const std::string& value) {
    values.emplace_hint(values.end(), name, value); // in order, as the object has them
  });
}

void Reader::entries(const char* key, const std::function<void(const std::string&, const std::string&)>& take) {
  const Json* found = look(key, Need::optional);
  if (!found) return;
  if (!found->is_object()) return defect(fmt::format("{} is not an object", name_of(key)));
  for (const auto& [name, item] : found->items()) {
    if (!item.is_string()) return defect(fmt::format("{} holds something that is not text", name_of(key)));
    take(name, item.get_ref<const std::string&>());
  }
}

std::size_t Reader::begin_list(const char* key, Need need) {
  const Json* found = look(key, need);
  if (!found) return 0;
  if (found->is_array()) return found->size();
  defect(fmt::format("{} is not a list", name_of(key)));
  return 0;
}

const Json& Reader::item(const char* key, std::size_t index) const { return object_.at(key).at(index); }
std::string Reader::name_of(const char* key) const { return Place{{}, &place_, key}.text(); }

const Json* Reader::look(const char* key, Need need) {
  known_.push_back(key);
  if (error_) return nullptr;
  if (auto it = object_.find(key); it != object_.end()) {
    ++found_;
    return &*it;
  }
  if (need == Need::required) defect(fmt::format("{} has no \"{}\"", place_.text(), key));
  return nullptr;
}

void Reader::defect(std::string message) {
  if (!error_) error_ = Error::of(ErrorKind::corrupt, "R012", std::move(message));
}

std::string Reader::unknown() const {
  if (!object_.is_object() || object_.size() == found_) return {};
  auto is_known = [&](const std::string& key) {
    return key == "schema" || std::find(known_.begin(), known_.end(), key) != known_.end();
  };
  Json rest = Json::object();
  for (const auto& [key, value] : object_.items())
    if (!is_known(key)) rest[key] = value;
  return rest.empty() ? std::string() : rest.dump();
}

std::string write_object(const char* schema, const std::function<void(Json&)>& write) {
  Json object;
  write(object);
  object["schema"] = schema;
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<void> read_object(std::string_view text, const Place& place, const char* schema,
                         const std::function<Result<void>(const Json&)>& read) {
  TRY(auto object, json::parse({text, place.what}));
  TRY_DO(json::require_schema({object, place.what}, schema));
  return read(object);
}

} // namespace quarry::registry
