#pragma once
// A text together with the name that its parser's errors give it.
#include <string>
#include <string_view>

namespace quarry {

/// A text that is parsed, and what errors call it, such as the path of its file. Both must outlive the call.
struct NamedText {
  std::string_view text, name;
};

/// The text of a data file with the file's name, for parsers that name file and line in their errors.
struct DataText {
  std::string text, file;
};

} // namespace quarry
