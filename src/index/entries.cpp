#include "index/entries.hpp"

#include "base/text.hpp"
#include "sys/path.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace quarry::index {

using registry::FileRecord;

FilePointers in_page_order(FilePointers files) {
  std::unordered_map<std::string_view, std::optional<dist::Version>> versions;
  std::vector<const dist::Version*> version_of;
  version_of.reserve(files.size());
  for (const auto* file : files) {
    auto [it, fresh] = versions.try_emplace(file->version);
    if (fresh)
      if (auto parsed = dist::Version::parse(file->version)) it->second = std::move(*parsed);
    version_of.push_back(it->second ? &*it->second : nullptr);
  }
  std::vector<std::size_t> order(files.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto *left = version_of[a], *right = version_of[b];
    if (!left != !right) return !left;
    if (left != right)
      if (auto by_version = *left <=> *right; by_version != 0) return by_version < 0;
    return files[a]->filename < files[b]->filename;
  });
  FilePointers sorted;
  sorted.reserve(files.size());
  for (auto i : order) sorted.push_back(files[i]);
  return sorted;
}

std::string LinkMaker::operator()(std::string_view key) {
  auto slash = key.rfind('/');
  auto directory = slash == key.npos ? std::string_view() : key.substr(0, slash);
  auto name = slash == key.npos ? key : key.substr(slash + 1);
  if (directory != directory_) {
    directory_ = directory;
    auto way = path::relative(directory, page_directory_);
    prefix_ = way == "." ? "" : text::percent_encode(way) + "/";
  }
  return prefix_ + text::percent_encode(name);
}

Entries entries_of(const FilePointers& files, std::string_view page_directory) {
  LinkMaker link(page_directory);
  Entries entries;
  entries.reserve(files.size());
  for (const auto* file : files) entries.push_back({file, link(file->key)});
  return entries;
}

bool offers_metadata(const FileRecord& file) { return file.metadata_sha256 && file.filename.ends_with(".whl"); }

bool has_digest(const FileRecord& file) { return file.sha256 != Sha256(); }

} // namespace quarry::index
