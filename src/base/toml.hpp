#pragma once
// Reviewed data files (recipes, policies, families) as checked tables: every key that is not asked for is a typo, and
// every error names file, line and key. The TOML library stays in the cpp file: it is two seconds of compile time.
#include "base/data_text.hpp"
#include "base/result.hpp"
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quarry {

/// How the errors of one kind of document look.
struct TomlErrors {
  std::string syntax; ///< the code when the text is not TOML
  std::string table;  ///< the code when a key or a value is wrong
  std::string hint;
};

class TomlTable {
public:
  /// The root of a document. Errors are invalid_argument.
  static Result<TomlTable> parse(NamedText named, TomlErrors errors);
  /// The same of a JSON object of objects, lists, strings, whole numbers and booleans: a document that is stored in
  /// canonical form. `errors.table` for anything else. It has no lines: errors say line 1.
  static Result<TomlTable> of_json(NamedText named, TomlErrors errors);

  Result<void> text(const std::string& key, std::string& into, bool required = false);
  Result<void> flag(const std::string& key, bool& into);
  Result<void> integer(const std::string& key, std::int64_t& into, bool required = false);
  Result<void> number(const std::string& key, double& into); ///< an integer or a float
  Result<void> texts(const std::string& key, std::vector<std::string>& into);
  Result<void> choice(const std::string& key, std::string& into, const std::vector<std::string>& choices,
                      bool required = false);
  Result<void> text_map(const std::string& key, std::vector<std::pair<std::string, std::string>>& into);
  Result<void> texts_map(const std::string& key, std::map<std::string, std::vector<std::string>>& into);
  Result<void> tables(const std::string& key,
                      const std::function<Result<void>(TomlTable&)>& each); ///< an array of tables
  /// The tables below `key`, in the order of the document: [package.core], [package.devel].
  Result<void> named_tables(const std::string& key,
                            const std::function<Result<void>(const std::string&, TomlTable&)>& each);
  Result<void> table(const std::string& key,
                     const std::function<Result<void>(TomlTable&)>& read); ///< one table, may be absent
  /// Allows keys that nobody asks for: the document belongs to another project, which may add some.
  void tolerate_other_keys() { tolerant_ = true; }
  bool has(const std::string& key) const;
  std::vector<std::string> keys() const; ///< sorted; for documents whose keys are data
  /// invalid_argument for the first key that nobody asked for. Called for children by tables() and named_tables().
  Result<void> finish() const;
  int line() const;
  int line_of(const std::string& key) const;
  /// "file:line: key: text", at the key when it is there, else at the table.
  Unexpected error(const std::string& key, const std::string& text) const;
  Unexpected error_with(std::string code, const std::string& key, const std::string& text) const;

private:
  struct Document;
  TomlTable(std::shared_ptr<const Document> document, const void* table, std::string key);
  const void* node(const std::string& key);
  std::shared_ptr<const Document> document_;
  const void* table_;
  std::string key_;
  std::set<std::string> seen_;
  bool tolerant_ = false;
};

} // namespace quarry
