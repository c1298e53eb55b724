#include "registry/union.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <string_view>

namespace quarry::registry {

namespace {

using Files = std::vector<const FileRecord*>;

bool is_before(const FileRecord* a, const FileRecord* b) { return a->filename < b->filename; }

/// The first conflict in the order of the lists.
Unexpected two_contents(const Files& all) {
  std::map<std::string_view, const FileRecord*> known;
  const FileRecord *first = nullptr, *second = nullptr;
  for (const auto* file : all) {
    first = known.emplace(file->filename, file).first->second;
    second = file;
    if (first->sha256 != second->sha256) break;
  }
  auto error = Error::of(ErrorKind::already_exists, "R018",
                         fmt::format("{} would have two contents in one index", second->filename))
                   .with_hint("a published name never gets other bytes: give the new files another version");
  error.details = {fmt::format("first   sha256 {} at {}", first->sha256.hex(), first->key),
                   fmt::format("second  sha256 {} at {}", second->sha256.hex(), second->key)};
  return fail(std::move(error));
}

} // namespace

Result<Files> union_of(const std::vector<FileList>& lists) {
  Files all;
  for (const auto* list : lists)
    for (const auto& file : *list) all.push_back(&file);
  auto sorted = all;
  if (!std::ranges::is_sorted(sorted, is_before)) std::ranges::stable_sort(sorted, is_before);
  Files once;
  once.reserve(sorted.size());
  for (const auto* file : sorted) {
    bool again = !once.empty() && once.back()->filename == file->filename;
    if (again && once.back()->sha256 != file->sha256) return two_contents(all);
    if (!again) once.push_back(file);
  }
  return once;
}

} // namespace quarry::registry
