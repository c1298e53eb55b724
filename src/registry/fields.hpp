#pragma once
// Private to the room.
// Writes and reads records field by field. Each record has one function fields(), which a Writer and a Reader walk, so
// that both always agree.
#include "base/json.hpp"
#include "base/result.hpp"
#include "digest/sha256.hpp"
#include "registry/digests.hpp"
#include "registry/words.hpp"
#include "sys/timestamp.hpp"
#include <concepts>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace quarry::registry {

enum class Need : std::uint8_t { required, optional };

template <class R, class T>
concept Either = std::same_as<std::remove_const_t<R>, T>;
template <class R>
concept KeepsUnknown = requires(R& record) { record.unknown; };

/// Writes fields into a JSON object. Empty texts, digests, maps and optional lists are left out, because absent and
/// empty mean the same in every record; numbers that are required, flags and required lists are always written.
class Writer {
public:
  explicit Writer(Json& object);         ///< makes it an object
  void keep(const std::string& unknown); ///< adds fields that a Reader did not know
  void text(const char* key, const std::string& value, Need need = Need::required);
  void number(const char* key, std::uint64_t value, Need need = Need::required); ///< optional: 0 is left out
  void real(const char* key, double value);
  void flag(const char* key, bool value);
  void digest(const char* key, const Sha256& value);
  void digest(const char* key, const std::optional<Sha256>& value);
  template <class R> void digest(const char* key, const DigestOf<R>& value, Need need = Need::required) {
    text(key, value.hex(), need);
  }
  void time(const char* key, const sys::Timestamp& value);
  template <class W> void word(const char* key, const WordOf<W>& value, Need need = Need::required) {
    text(key, std::string(value.text()), need);
  }
  template <class W> void words(const char* key, const std::vector<WordOf<W>>& values) {
    std::vector<std::string> written;
    for (const auto& value : values) written.emplace_back(value.text());
    texts(key, written);
  }
  template <class R> void digests(const char* key, const std::vector<DigestOf<R>>& values) {
    std::vector<std::string> written;
    written.reserve(values.size());
    for (const auto& value : values) written.push_back(value.hex());
    texts(key, written);
  }
  template <class R> void digests(const char* key, const std::map<std::string, DigestOf<R>>& values) {
    for (const auto& [name, value] : values) entry(key, name, value.hex());
  }
  void map(const char* key, const std::map<std::string, std::string>& values);
  void texts(const char* key, const std::vector<std::string>& values);
  template <class T> void nested(const char* key, const T& value) {
    write(member(key), value);
    drop_empty(key);
  }
  template <class T> void nested(const char* key, const std::optional<T>& value) {
    if (value) nested(key, *value);
  }
  template <class T> void list(const char* key, const std::vector<T>& values, Need need = Need::required) {
    if (values.empty() && need == Need::optional) return;
    Json& array = begin_list(key);
    for (const auto& value : values) write(append(array), value);
  }
  template <class R> static void write(Json& object, const R& record) {
    Writer writer(object);
    if constexpr (KeepsUnknown<const R>) writer.keep(record.unknown);
    fields(writer, record);
  }

private:
  void entry(const char* key, const std::string& name, std::string value);
  Json& member(const char* key);
  Json& begin_list(const char* key);
  static Json& append(Json& array);
  void drop_empty(const char* key);
  Json& object_;
};

/// The position of a value in a record. It is turned into text only for an error, because a record may have half a
/// million files.
struct Place {
  std::string_view what; ///< name of the record; only in the outermost place
  const Place* parent = nullptr;
  const char* key = nullptr;
  std::optional<std::size_t> index = {};
  std::string text() const; ///< `"files" number 3 of sets/….json`
};

/// Reads fields from a JSON object. The first invalid field becomes the error (corrupt R012); later calls have no
/// effect.
class Reader {
public:
  Reader(const Json& object, Place place);
  void text(const char* key, std::string& value, Need need = Need::required);
  void number(const char* key, std::uint64_t& value, Need need = Need::required);
  void real(const char* key, double& value);
  void flag(const char* key, bool& value);
  void digest(const char* key, Sha256& value);
  void digest(const char* key, std::optional<Sha256>& value);
  template <class R> void digest(const char* key, DigestOf<R>& value, Need need = Need::required) {
    std::string hex;
    text(key, hex, need);
    if (!hex.empty()) value = digest_from<R>(hex, key, nullptr);
  }
  void time(const char* key, sys::Timestamp& value);
  template <class W> void word(const char* key, WordOf<W>& value, Need need = Need::required) {
    std::string read;
    text(key, read, need);
    value = WordOf<W>::read(read);
  }
  template <class W> void words(const char* key, std::vector<WordOf<W>>& values) {
    each_text(key, [&](const std::string& text) { values.push_back(WordOf<W>::read(text)); });
  }
  template <class R> void digests(const char* key, std::vector<DigestOf<R>>& values) {
    each_text(key, [&](const std::string& hex) { values.push_back(digest_from<R>(hex, key, nullptr)); });
  }
  template <class R> void digests(const char* key, std::map<std::string, DigestOf<R>>& values) {
    entries(key, [&](const std::string& name, const std::string& hex) {
      values.emplace_hint(values.end(), name, digest_from<R>(hex, key, &name)); // in order, as the object has them
    });
  }
  void map(const char* key, std::map<std::string, std::string>& values);
  void texts(const char* key, std::vector<std::string>& values) {
    each_text(key, [&](const std::string& text) { values.push_back(text); });
  }
  template <class T> void nested(const char* key, T& value) {
    if (const Json* found = look(key, Need::optional)) read_one(*found, {{}, &place_, key}, value);
  }
  template <class T> void nested(const char* key, std::optional<T>& value) {
    if (const Json* found = look(key, Need::optional)) read_one(*found, {{}, &place_, key}, value.emplace());
  }
  template <class T> void list(const char* key, std::vector<T>& values, Need need = Need::required) {
    auto count = begin_list(key, need);
    for (std::size_t i = 0; i < count && !error_; ++i)
      read_one(item(key, i), {{}, &place_, key, i}, values.emplace_back());
  }
  template <class R> static Result<void> read(const Json& object, const Place& place, R& record) {
    Reader reader(object, place);
    fields(reader, record);
    if constexpr (KeepsUnknown<R>) record.unknown = reader.unknown();
    if (reader.error_) return fail(std::move(*reader.error_));
    return {};
  }

private:
  template <class R> DigestOf<R> digest_from(const std::string& hex, const char* key, const std::string* name) {
    auto parsed = DigestOf<R>::parse(hex);
    if (!parsed) not_a_digest(hex, key, name);
    return parsed.value_or(DigestOf<R>());
  }
  void not_a_digest(const std::string& hex, const char* key, const std::string* name);
  void each_text(const char* key, const std::function<void(const std::string&)>& take);
  void entries(const char* key, const std::function<void(const std::string&, const std::string&)>& take);
  const Json* look(const char* key, Need need);
  void defect(std::string message);
  std::size_t begin_list(const char* key, Need need);
  const Json& item(const char* key, std::size_t index) const;
  std::string name_of(const char* key) const;
  std::string unknown() const; ///< the fields that were not asked for, as canonical JSON; empty if there are none
  template <class T> void read_one(const Json& object, const Place& place, T& value) {
    auto done = read(object, place, value);
    if (!done && !error_) error_ = std::move(done).error();
  }

  const Json& object_;
  Place place_;
  std::vector<const char*> known_; ///< keys asked for
  std::size_t found_ = 0;          ///< of these
  std::optional<Error> error_;
};

/// A record as canonical JSON with its schema. What is not UTF-8 becomes U+FFFD: test output may hold any bytes.
std::string write_object(const char* schema, const std::function<void(Json&)>& write);
template <class R> std::string write_document(const char* schema, const R& record) {
  return write_object(schema, [&](Json& object) { Writer::write(object, record); });
}

/// Reads such a record; `what` names it in errors. corrupt B002 to B004 if it is not JSON of this schema, R012.
Result<void> read_object(std::string_view text, const Place& place, const char* schema,
                         const std::function<Result<void>(const Json&)>& read);
template <class R> Result<R> read_document(std::string_view text, const Place& place, const char* schema) {
  R record;
  TRY_DO(read_object(text, place, schema, [&](const Json& object) { return Reader::read(object, place, record); }));
  return record;
}

} // namespace quarry::registry
