#pragma once
// Private to the room.
// Writes and reads records field by field. Each record has one function fields(), which a Writer and a Reader walk, so
// that both always agree.
#include "base/json.hpp"
#include "base/result.hpp"
#include "digest/sha256.hpp"
#include "registry/digests.hpp"
#include "registry/flat_json.hpp"
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

/// Writes fields, given in any order, as an object of canonical JSON. Empty texts, digests, maps, objects and lists are
/// left out, because absent and empty mean the same in every record; but required numbers, real()s, required list()s
/// and flags are always written. A field that is written twice counts as it was written last. What is not UTF-8 becomes
/// U+FFFD: test output may hold any bytes.
class Writer {
public:
  void keep(const std::string& unknown); ///< adds the fields of a JSON object; any other text is ignored
  void text(const char* key, std::string_view value, Need need = Need::required);
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
    text(key, value.text(), need);
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
    if (values.empty()) return;
    begin(key, '{');
    for (const auto& [name, value] : values) entry(name, value.hex());
    end('}');
  }
  void map(const char* key, const std::map<std::string, std::string>& values);
  void texts(const char* key, const std::vector<std::string>& values);
  template <class T> void nested(const char* key, const T& value) {
    Writer inner;
    inner.write(value);
    if (!inner.members_.empty()) begin(key), inner.append_to(text_), end();
  }
  template <class T> void nested(const char* key, const std::optional<T>& value) {
    if (value) nested(key, *value);
  }
  template <class T> void list(const char* key, const std::vector<T>& values, Need need = Need::required) {
    if (values.empty() && need == Need::optional) return;
    begin(key, '[');
    Writer item;
    for (const auto& value : values) {
      item.write(value);
      next_item();
      item.append_to(text_);
    }
    end(']');
  }
  /// Writes the fields of a record instead of those that were written before.
  template <class R> void write(const R& record) {
    members_.clear();
    text_.clear();
    if constexpr (KeepsUnknown<const R>) keep(record.unknown);
    fields(*this, record);
  }
  std::string object(); ///< of what is written so far

private:
  /// `"key":value` in text_.
  struct Member {
    std::string key;
    std::size_t begin, end;
  };
  void begin(std::string key, char bracket = '\0');
  void end(char bracket = '\0');
  void next_item(); ///< a comma, unless it is the first
  void entry(const std::string& name, const std::string& value);
  void append_to(std::string& out); ///< the members in order of their keys
  std::string text_;
  std::vector<Member> members_;
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

/// Reads fields from an object into a new record. A missing optional field leaves the default. The first invalid field
/// becomes the error (corrupt R012); values that are read after it mean nothing.
class Reader {
public:
  Reader(Value object, Place place);
  void text(const char* key, std::string& value, Need need = Need::required);
  void number(const char* key, std::uint64_t& value, Need need = Need::required);
  void real(const char* key, double& value);
  void flag(const char* key, bool& value);
  void digest(const char* key, Sha256& value);
  void digest(const char* key, std::optional<Sha256>& value);
  template <class R> void digest(const char* key, DigestOf<R>& value, Need need = Need::required) {
    auto hex = text_at(key, need);
    if (!hex.empty()) value = digest_from<R>(hex, key, nullptr);
  }
  void time(const char* key, sys::Timestamp& value);
  template <class W> void word(const char* key, WordOf<W>& value, Need need = Need::required) {
    value = WordOf<W>::read(text_at(key, need));
  }
  template <class W> void words(const char* key, std::vector<WordOf<W>>& values) {
    each_text(key, [&](std::string_view text) { values.push_back(WordOf<W>::read(text)); });
  }
  template <class R> void digests(const char* key, std::vector<DigestOf<R>>& values) {
    each_text(key, [&](std::string_view hex) { values.push_back(digest_from<R>(hex, key, nullptr)); });
  }
  template <class R> void digests(const char* key, std::map<std::string, DigestOf<R>>& values) {
    entries(key, [&](std::string_view name, std::string_view hex) {
      values.emplace_hint(values.end(), name, digest_from<R>(hex, key, &name)); // in order, as the object has them
    });
  }
  void map(const char* key, std::map<std::string, std::string>& values);
  void texts(const char* key, std::vector<std::string>& values) {
    each_text(key, [&](std::string_view text) { values.emplace_back(text); });
  }
  template <class T> void nested(const char* key, T& value) {
    if (auto found = look(key, Need::optional)) read_one(*found, {{}, &place_, key}, value);
  }
  template <class T> void nested(const char* key, std::optional<T>& value) {
    if (auto found = look(key, Need::optional)) read_one(*found, {{}, &place_, key}, value.emplace());
  }
  template <class T> void list(const char* key, std::vector<T>& values, Need need = Need::required) {
    auto found = list_at(key, need);
    if (!found) return;
    values.reserve(found->size()); // 20,000 records of files would else be moved fifteen times
    for (auto item : *found) {
      if (error_) return;
      Place place{{}, &place_, key, values.size()};
      read_one(item, place, values.emplace_back());
    }
  }
  /// `aside` is the key of a field that fields() does not read and that `unknown` must not keep.
  template <class R>
  static Result<void> read(Value object, const Place& place, R& record, const char* aside = nullptr) {
    Reader reader(object, place);
    if (aside) reader.known_.push_back(aside);
    fields(reader, record);
    if constexpr (KeepsUnknown<R>) record.unknown = reader.unknown();
    if (reader.error_) return fail(std::move(*reader.error_));
    return {};
  }

private:
  template <class R> DigestOf<R> digest_from(std::string_view hex, const char* key, const std::string_view* name) {
    auto parsed = DigestOf<R>::parse(hex);
    if (!parsed) not_a_digest(hex, key, name);
    return parsed.value_or(DigestOf<R>());
  }
  void not_a_digest(std::string_view hex, const char* key, const std::string_view* name);
  void each_text(const char* key, const std::function<void(std::string_view)>& take);
  void entries(const char* key, const std::function<void(std::string_view, std::string_view)>& take);
  std::optional<Value> look(const char* key, Need need);
  std::string_view text_at(const char* key, Need need); ///< "" if it is missing or invalid
  std::optional<Value> list_at(const char* key, Need need);
  void defect(std::string message);
  std::string name_of(const char* key) const;
  std::string unknown() const; ///< the fields that were not asked for, as canonical JSON; empty if there are none
  template <class T> void read_one(Value object, const Place& place, T& value) {
    auto done = read(object, place, value);
    if (!done && !error_) error_ = std::move(done).error();
  }

  Value object_;
  Place place_;
  std::vector<const char*> known_; ///< keys asked for
  std::size_t found_ = 0;          ///< of these
  std::optional<Error> error_;
};

/// A record as canonical JSON with its schema.
template <class R> std::string write_document(const char* schema, const R& record) {
  Writer writer;
  writer.write(record);
  writer.text("schema", schema);
  return writer.object();
}

/// As json::require_schema(): B003 if `schema` is missing or not text, B004 if it is any other schema, also that of
/// another kind of record.
Result<void> require_schema(Value document, const Place& place, const char* schema);

/// Reads such a record; `place` names it in errors. Fails with corrupt B002 if it is not JSON, as require_schema(), and
/// with R012.
template <class R> Result<R> read_document(std::string_view text, const Place& place, const char* schema) {
  TRY(auto document, FlatJson::parse({text, place.what}));
  TRY_DO(require_schema(document.root(), place, schema));
  R record;
  TRY_DO(Reader::read(document.root(), place, record));
  return record;
}

} // namespace quarry::registry
