#pragma once
// The text of a data file with the file's name, for parsers that name file and line in their errors.
#include <string>

namespace quarry {

struct DataText {
  std::string text, file;
};

} // namespace quarry
