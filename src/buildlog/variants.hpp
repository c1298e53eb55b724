#pragma once
// Private to the room.
// What tables call files of one name that are in different directories. Pure.
#include <string>
#include <vector>

namespace quarry::buildlog {

struct VariantName {
  std::string directory; ///< of the file, with `/`; a zip counts as a directory
  std::string name;      ///< "junit"
  bool fixed = false;    ///< a LABEL: it stays
};

/// Names that files of several directories share become what differs between the directories: `py3.11/junit` and
/// `py3.12/junit` become `py3.11` and `py3.12`; with `gpu` and `cpu` in each, `py3.11/gpu` and so on. Files of one name
/// in one directory keep one name. A file above the others keeps its own name. Cost: n log n.
void tell_apart(std::vector<VariantName>& names);

} // namespace quarry::buildlog
