#pragma once
// Private to the room.
// Files in the order of pages, with the links that one page has to them.
#include "dist/version.hpp"
#include "index/pages.hpp"
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::index {

using FilePointers = std::vector<const registry::FileRecord*>;

/// Sorts by version, then file name; invalid versions (of foreign records) come first. `files` must outlive the result.
FilePointers in_page_order(FilePointers files);

/// Makes the links of one page; what files in one directory share is computed once.
class LinkMaker {
public:
  explicit LinkMaker(std::string_view page_directory) : page_directory_(page_directory) {}
  std::string operator()(std::string_view key);

private:
  std::string page_directory_, directory_ = "\n",
                               prefix_; // no key has a line break, so the first one is never taken as known
};

struct Entry {
  const registry::FileRecord* file;
  std::string href;
};
using Entries = std::vector<Entry>;
Entries entries_of(const FilePointers& files, std::string_view page_directory);

/// What is above the files: the title, and the words of `pip install` for the index at `tree` (see frame.hpp).
struct Heading {
  std::string title;
  std::string_view tree;
  std::string install;
  std::vector<std::string> remarks = {}; ///< sentences
};
std::string html_of_entries(const Heading& heading, const Entries& entries);
std::string json_of_entries(std::string_view project, const Entries& entries);
bool offers_metadata(const registry::FileRecord& file); ///< wheels with a metadata file only
/// False for a file of untested history of which nobody has read all bytes: its sha256 is all zeros.
bool has_digest(const registry::FileRecord& file);

} // namespace quarry::index
