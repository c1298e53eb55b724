#include "base/toml.hpp"

#include "base/edit_distance.hpp"
#include "base/json.hpp"
#include "base/toml_guard.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <optional>
#define TOML_EXCEPTIONS 0
// toml++ 3.3 asserts that a table's name begins like a key (`[.x]` does not) right before the code that reports it.
#define TOML_ASSERT(condition) static_cast<void>(0)
#include <toml++/toml.h>

namespace quarry {

struct TomlTable::Document {
  toml::parse_result parsed;
  std::string file, code, hint;
};

namespace {
const toml::table& as_table(const void* p) { return *static_cast<const toml::table*>(p); }
const toml::node* as_node(const void* p) { return static_cast<const toml::node*>(p); }
template <class T> std::optional<T> exact(const void* p) { return as_node(p)->value_exact<T>(); }

/// At most two typing errors away, of words that are long enough for that to mean something.
bool is_near(std::string_view wanted, std::string_view written) {
  constexpr std::size_t k_edits_max = 2, k_length_min = 4, k_length_max = 64;
  if (wanted.size() < k_length_min || wanted.size() > k_length_max || written.size() > k_length_max) return false;
  return text::edit_distance(wanted, written) <= k_edits_max;
}
} // namespace

Result<TomlTable> TomlTable::parse(std::string_view text, std::string file, std::string syntax_code, std::string code,
                                   std::string hint) {
  if (auto line = line_of_stray_character(text))
    return fail(ErrorKind::invalid_argument, std::move(syntax_code),
                fmt::format("{}:{}: a character beyond ASCII outside of strings and comments", file, *line),
                std::move(hint));
  auto document = std::make_shared<Document>(Document{toml::parse(text, file), file, std::move(code), hint});
  if (!document->parsed) {
    const auto& e = document->parsed.error();
    return fail(ErrorKind::invalid_argument, std::move(syntax_code),
                fmt::format("{}:{}: {}", file, e.source().begin.line, e.description()), std::move(hint));
  }
  const toml::table* root = &document->parsed.table();
  return TomlTable(document, root, "");
}

namespace {

bool append(toml::array& into, const Json& value);

bool insert(toml::table& into, const std::string& key, const Json& value) {
  if (value.is_string()) return into.insert_or_assign(key, value.get<std::string>()), true;
  if (value.is_boolean()) return into.insert_or_assign(key, value.get<bool>()), true;
  if (value.is_number_integer()) return into.insert_or_assign(key, value.get<std::int64_t>()), true;
  if (value.is_object()) {
    toml::table table;
    for (const auto& [name, member] : value.items())
      if (!insert(table, name, member)) return false;
    return into.insert_or_assign(key, std::move(table)), true;
  }
  if (!value.is_array()) return false;
  toml::array array;
  for (const auto& member : value)
    if (!append(array, member)) return false;
  return into.insert_or_assign(key, std::move(array)), true;
}

// Lists hold strings or tables; a list of lists is in no document of ours.
bool append(toml::array& into, const Json& value) {
  if (value.is_string()) return into.push_back(value.get<std::string>()), true;
  toml::table table;
  if (!value.is_object()) return false;
  for (const auto& [name, member] : value.items())
    if (!insert(table, name, member)) return false;
  return into.push_back(std::move(table)), true;
}

} // namespace

Result<TomlTable> TomlTable::of_json(std::string_view text, std::string file, std::string code, std::string hint) {
  TRY(auto object, json::parse(text, file));
  toml::table root;
  bool good = object.is_object();
  for (const auto& [key, value] : object.items()) good = good && insert(root, key, value);
  if (!good)
    return fail(ErrorKind::invalid_argument, std::move(code), fmt::format("{} is not a table of settings", file),
                std::move(hint));
  auto document = std::make_shared<Document>(
      Document{toml::parse_result(std::move(root)), std::move(file), std::move(code), std::move(hint)});
  const toml::table* table = &document->parsed.table();
  return TomlTable(document, table, "");
}

TomlTable::TomlTable(std::shared_ptr<const Document> document, const void* table, std::string key)
    : document_(std::move(document)), table_(table), key_(std::move(key)) {}

int TomlTable::line() const { return static_cast<int>(as_table(table_).source().begin.line); }
int TomlTable::line_of(const std::string& key) const {
  const auto* found = as_table(table_).get(key);
  return found ? static_cast<int>(found->source().begin.line) : line();
}
std::vector<std::string> TomlTable::keys() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : as_table(table_)) names.emplace_back(name.str());
  return names;
}
bool TomlTable::has(const std::string& key) const { return as_table(table_).get(key) != nullptr; }

Unexpected TomlTable::error_with(std::string code, const std::string& key, const std::string& text) const {
  auto place = key_.empty() ? key : key.empty() ? key_ : key_ + "." + key;
  auto wrong = Error::of(ErrorKind::invalid_argument, std::move(code),
                         fmt::format("{}:{}: {}: {}", document_->file, std::max(1, line_of(key)), place, text))
                   .with_hint(document_->hint);
  // A missing key is usually present under a misspelled name: report that.
  for (const auto& other : has(key) ? std::vector<std::string>() : keys())
    if (!seen_.contains(other) && is_near(key, other))
      wrong.details.push_back(
          fmt::format("line {}: \"{}\" is not a known key: did you mean {}?", line_of(other), other, key));
  return fail(std::move(wrong));
}
Unexpected TomlTable::error(const std::string& key, const std::string& text) const {
  return error_with(document_->code, key, text);
}

const void* TomlTable::node(const std::string& key) {
  seen_.insert(key);
  return as_table(table_).get(key);
}

Result<void> TomlTable::text(const std::string& key, std::string& into, bool required) {
  const void* found = node(key);
  if (!found) return required ? Result<void>(error(key, "is missing")) : Result<void>{};
  auto value = exact<std::string>(found);
  if (!value) return error(key, "must be a string");
  into = std::move(*value);
  return {};
}

Result<void> TomlTable::flag(const std::string& key, bool& into) {
  const void* found = node(key);
  if (!found) return {};
  auto value = exact<bool>(found);
  if (!value) return error(key, "must be true or false");
  into = *value;
  return {};
}

Result<void> TomlTable::integer(const std::string& key, std::int64_t& into, bool required) {
  const void* found = node(key);
  if (!found) return required ? Result<void>(error(key, "is missing")) : Result<void>{};
  auto value = exact<std::int64_t>(found);
  if (!value) return error(key, "must be a whole number");
  into = *value;
  return {};
}

Result<void> TomlTable::number(const std::string& key, double& into) {
  const void* found = node(key);
  if (!found) return {};
  if (auto whole = exact<std::int64_t>(found))
    into = static_cast<double>(*whole);
  else if (auto value = exact<double>(found))
    into = *value;
  else
    return error(key, "must be a number");
  return {};
}

Result<void> TomlTable::texts(const std::string& key, std::vector<std::string>& into) {
  const void* found = node(key);
  if (!found) return {};
  const auto* array = as_node(found)->as_array();
  if (!array) return error(key, "must be an array of strings");
  for (const auto& item : *array) {
    auto value = item.value_exact<std::string>();
    if (!value) return error(key, "must be an array of strings");
    into.push_back(std::move(*value));
  }
  return {};
}

Result<void> TomlTable::choice(const std::string& key, std::string& into, const std::vector<std::string>& choices,
                               bool required) {
  TRY_DO(text(key, into, required));
  if (!has(key) || std::find(choices.begin(), choices.end(), into) != choices.end()) return {};
  std::string list;
  for (const auto& c : choices) list += (list.empty() ? "" : ", ") + c;
  return error(key, fmt::format("\"{}\" is not one of {}", into, list));
}

Result<void> TomlTable::text_map(const std::string& key, std::vector<std::pair<std::string, std::string>>& into) {
  const void* found = node(key);
  if (!found) return {};
  const auto* table = as_node(found)->as_table();
  if (!table) return error(key, "must be a table of strings");
  for (const auto& [name, value] : *table) {
    auto text = value.value_exact<std::string>();
    if (!text) return error(key, "must be a table of strings");
    into.emplace_back(std::string(name.str()), std::move(*text));
  }
  return {};
}

Result<void> TomlTable::texts_map(const std::string& key, std::map<std::string, std::vector<std::string>>& into) {
  const void* found = node(key);
  if (!found) return {};
  const auto* table = as_node(found)->as_table();
  if (!table) return error(key, "must be a table of arrays of strings");
  TomlTable child(document_, table, key_.empty() ? key : key_ + "." + key);
  for (const auto& [name, value] : *table) {
    std::string text(name.str());
    TRY_DO(child.texts(text, into[text]));
  }
  return {};
}

Result<void> TomlTable::table(const std::string& key, const std::function<Result<void>(TomlTable&)>& read) {
  const void* found = node(key);
  if (!found) return {};
  const auto* inner = as_node(found)->as_table();
  if (!inner) return error(key, "must be a table");
  TomlTable child(document_, inner, key_.empty() ? key : key_ + "." + key);
  TRY_DO(read(child));
  return child.finish();
}

Result<void> TomlTable::tables(const std::string& key, const std::function<Result<void>(TomlTable&)>& each) {
  const void* found = node(key);
  if (!found) return {};
  const auto* array = as_node(found)->as_array();
  if (!array) return error(key, "must be an array of tables");
  for (const auto& item : *array) {
    const auto* table = item.as_table();
    if (!table) return error(key, "must be an array of tables");
    TomlTable child(document_, table, key_.empty() ? key : key_ + "." + key);
    TRY_DO(each(child));
    TRY_DO(child.finish());
  }
  return {};
}

Result<void> TomlTable::named_tables(const std::string& key,
                                     const std::function<Result<void>(const std::string&, TomlTable&)>& each) {
  const void* found = node(key);
  if (!found) return {};
  const auto* parent = as_node(found)->as_table();
  if (!parent) return error(key, "must be a table");
  // toml++ keeps keys sorted; people read a file in the order of its lines.
  std::vector<std::pair<std::string, const toml::node*>> children;
  for (const auto& [name, value] : *parent) children.emplace_back(std::string(name.str()), &value);
  std::stable_sort(children.begin(), children.end(), [](const auto& a, const auto& b) {
    return a.second->source().begin.line < b.second->source().begin.line;
  });
  for (const auto& [name, value] : children) {
    const auto* table = value->as_table();
    if (!table) return error(key, fmt::format("{} must be a table", name));
    TomlTable child(document_, table, (key_.empty() ? key : key_ + "." + key) + "." + name);
    TRY_DO(each(name, child));
    TRY_DO(child.finish());
  }
  return {};
}

Result<void> TomlTable::finish() const {
  if (tolerant_) return {};
  for (const auto& [name, value] : as_table(table_)) {
    std::string key(name.str());
    if (!seen_.contains(key)) return error(key, "is not a known key");
  }
  return {};
}

} // namespace quarry
