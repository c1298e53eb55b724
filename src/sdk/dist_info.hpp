#pragma once
// Private to the room.
// The generated Python module `_dist_info.py`: facts about a build as plain literals (python/README.md lists the
// names).
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quarry::sdk {

/// A Python literal: a quoted string in which nothing can end the quotes. Any bytes; those that are not UTF-8 become
/// escapes.
std::string python_quote(std::string_view text);

class PythonModule { ///< `NAME = literal` lines in the order added
public:
  explicit PythonModule(std::string_view docstring);
  void text(std::string_view name, std::string_view value);
  void none(std::string_view name);
  void texts(std::string_view name, const std::vector<std::string>& values);
  void raw(std::string_view name, std::string literal); ///< `literal` is made of the functions below
  std::string str() const { return text_; }

private:
  std::string text_;
};

std::string python_list(const std::vector<std::string>& literals);
std::string python_texts(const std::vector<std::string>& values);
std::string python_dict(const std::vector<std::pair<std::string, std::string>>& name_and_literal);
std::string python_bool(bool value);

} // namespace quarry::sdk
