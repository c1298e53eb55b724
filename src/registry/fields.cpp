#include "registry/fields.hpp"

#include "base/json.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace quarry::registry {

namespace {
void append_quoted(std::string& out, std::string_view text) {
  bool as_it_is = true; // without an early end, so that the compiler can look at several bytes at once
  for (unsigned char c : text) as_it_is &= (c >= 0x20) & (c < 0x80) & (c != '"') & (c != '\\');
  if (as_it_is)
    out.append("\"").append(text).append("\"");
  else
    out += json::lossy_text(Json(text));
}
} // namespace

void Writer::begin(std::string key, char bracket) {
  auto begin = text_.size();
  append_quoted(text_, key);
  text_ += ':';
  if (bracket) text_ += bracket;
  members_.push_back({std::move(key), begin, 0});
}
void Writer::end(char bracket) {
  if (bracket) text_ += bracket;
  members_.back().end = text_.size();
}
void Writer::next_item() {
  if (text_.back() != '[' && text_.back() != '{') text_ += ',';
}
void Writer::keep(const std::string& unknown) {
  if (unknown.empty()) return;
  auto kept = json::parse({unknown, "kept fields"});
  if (!kept || !kept->is_object()) return;
  for (const auto& [key, value] : kept->items()) begin(key), text_ += json::lossy_text(value), end();
}
void Writer::text(const char* key, std::string_view value, Need) {
  if (!value.empty()) begin(key), append_quoted(text_, value), end();
}
void Writer::time(const char* key, const sys::Timestamp& value) { text(key, value.text()); }
void Writer::number(const char* key, std::uint64_t value, Need need) {
  if (value != 0 || need == Need::required) begin(key), text_ += std::to_string(value), end();
}
void Writer::real(const char* key, double value) { begin(key), text_ += json::lossy_text(value), end(); }
void Writer::flag(const char* key, bool value) { begin(key), text_ += value ? "true" : "false", end(); }
void Writer::digest(const char* key, const Sha256& value) {
  begin(key);
  text_.append("\"").append(value.hex()).append("\"");
  end();
}
void Writer::digest(const char* key, const std::optional<Sha256>& value) {
  if (value) digest(key, *value);
}
void Writer::texts(const char* key, const std::vector<std::string>& values) {
  if (values.empty()) return;
  begin(key, '[');
  for (const auto& value : values) next_item(), append_quoted(text_, value);
  end(']');
}
void Writer::entry(const std::string& name, const std::string& value) {
  next_item();
  append_quoted(text_, name);
  text_ += ':';
  append_quoted(text_, value);
}
void Writer::map(const char* key, const std::map<std::string, std::string>& values) {
  if (values.empty()) return;
  begin(key, '{');
  for (const auto& [name, value] : values) entry(name, value);
  end('}');
}
void Writer::append_to(std::string& out) {
  std::ranges::sort(members_, [](const Member& a, const Member& b) {
    auto by_key = a.key <=> b.key;
    return by_key != 0 ? by_key < 0 : a.begin < b.begin;
  });
  out += '{';
  bool first = true;
  for (auto at = members_.begin(); at != members_.end(); ++at) {
    if (std::next(at) != members_.end() && std::next(at)->key == at->key) continue; // it is written again
    if (!std::exchange(first, false)) out += ',';
    out.append(text_, at->begin, at->end - at->begin);
  }
  out += '}';
}
std::string Writer::object() {
  std::string out;
  out.reserve(text_.size() + members_.size() + 2);
  append_to(out);
  return out;
}

Result<void> require_schema(Value document, const Place& place, const char* schema) {
  auto found = document.find("schema");
  if (found && found->text() == schema) return {};
  return json::require_schema({document.json(), place.what}, schema);
}

std::string Place::text() const {
  if (!parent) return std::string(what);
  if (!index) return fmt::format("\"{}\" of {}", key, parent->text());
  return fmt::format("\"{}\" number {} of {}", key, *index + 1, parent->text());
}

Reader::Reader(Value object, Place place) : object_(object), place_(place) {
  constexpr std::size_t k_fields = 16; // most records have fewer
  known_.reserve(k_fields);
  if (!object.is_object()) defect(fmt::format("{} is not an object", place_.text()));
}

std::string_view Reader::text_at(const char* key, Need need) {
  auto found = look(key, need);
  if (!found) return {};
  if (!found->is_text()) return defect(fmt::format("{} is not text", name_of(key))), std::string_view();
  if (found->text().empty() && need == Need::required) defect(fmt::format("{} is empty", name_of(key)));
  return found->text();
}

void Reader::text(const char* key, std::string& value, Need need) { value = text_at(key, need); }

void Reader::time(const char* key, sys::Timestamp& value) {
  auto said = text_at(key, Need::required);
  if (error_) return;
  auto parsed = sys::Timestamp::parse(std::string(said));
  if (!parsed) return defect(fmt::format("{} is not a time in UTC", name_of(key)));
  value = std::move(*parsed);
}

void Reader::number(const char* key, std::uint64_t& value, Need need) {
  auto found = look(key, need);
  if (!found) return;
  if (found->kind() != Value::Kind::whole) return defect(fmt::format("{} is not a whole number", name_of(key)));
  value = found->whole();
}

void Reader::real(const char* key, double& value) {
  auto found = look(key, Need::optional);
  if (!found) return;
  if (!found->is_number()) return defect(fmt::format("{} is not a number", name_of(key)));
  value = found->real();
}

void Reader::flag(const char* key, bool& value) {
  auto found = look(key, Need::required);
  if (!found) return;
  if (found->kind() != Value::Kind::flag) return defect(fmt::format("{} is neither true nor false", name_of(key)));
  value = found->whole() != 0;
}

void Reader::digest(const char* key, Sha256& value) {
  auto hex = text_at(key, Need::required);
  if (error_) return;
  auto parsed = Sha256::from_hex(hex);
  if (!parsed) return defect(fmt::format("{} is not a sha256", name_of(key)));
  value = *parsed;
}

void Reader::digest(const char* key, std::optional<Sha256>& value) {
  if (!object_.find(key)) return known_.push_back(key);
  Sha256 parsed;
  digest(key, parsed);
  value = parsed;
}

void Reader::not_a_digest(std::string_view hex, const char* key, const std::string_view* name) {
  defect(name ? fmt::format("the digest of `{}` in {} is not a sha256: {}", *name, name_of(key), hex)
              : fmt::format("{} is not a sha256: {}", name_of(key), hex));
}

void Reader::each_text(const char* key, const std::function<void(std::string_view)>& take) {
  auto found = list_at(key, Need::optional);
  if (!found) return;
  for (auto item : *found) {
    if (!item.is_text()) return defect(fmt::format("{} holds something that is not text", name_of(key)));
    take(item.text());
  }
}

void Reader::map(const char* key, std::map<std::string, std::string>& values) {
  entries(key, [&](std::string_view name, std::string_view value) {
    values.emplace_hint(values.end(), name, value); // in order, as the object has them
  });
}

void Reader::entries(const char* key, const std::function<void(std::string_view, std::string_view)>& take) {
  auto found = look(key, Need::optional);
  if (!found) return;
  if (!found->is_object()) return defect(fmt::format("{} is not an object", name_of(key)));
  for (auto item : *found) {
    if (!item.is_text()) return defect(fmt::format("{} holds something that is not text", name_of(key)));
    take(item.key(), item.text());
  }
}

std::optional<Value> Reader::list_at(const char* key, Need need) {
  auto found = look(key, need);
  if (found && !found->is_array()) return defect(fmt::format("{} is not a list", name_of(key))), std::nullopt;
  return found;
}

std::string Reader::name_of(const char* key) const { return Place{{}, &place_, key}.text(); }

std::optional<Value> Reader::look(const char* key, Need need) {
  known_.push_back(key);
  if (error_) return std::nullopt;
  auto found = object_.find(key);
  if (found) ++found_;
  if (!found && need == Need::required) defect(fmt::format("{} has no \"{}\"", place_.text(), key));
  return found;
}

void Reader::defect(std::string message) {
  if (!error_) error_ = Error::of(ErrorKind::corrupt, "R012", std::move(message));
}

std::string Reader::unknown() const {
  if (!object_.is_object() || object_.size() == found_) return {};
  auto is_known = [&](std::string_view key) {
    return key == "schema" || std::ranges::find(known_, key) != known_.end();
  };
  Json rest = Json::object();
  for (auto member : object_)
    if (!is_known(member.key())) rest[std::string(member.key())] = member.json();
  return rest.empty() ? std::string() : json::text(rest);
}

} // namespace quarry::registry
