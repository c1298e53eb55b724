#include "buildlog/variants.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <map>
#include <set>
#include <span>

namespace quarry::buildlog {

namespace {
using Parts = std::vector<std::string>;

Parts parts_of(const std::string& directory) {
  auto parts = text::split_any(directory, "/");
  std::erase(parts, ".");
  return parts;
}

/// The parts of each directory that are neither at the begin nor at the end of all of them.
std::map<Parts, std::string> differences(const std::set<Parts>& directories) {
  const auto& one = *directories.begin();
  auto shortest = std::ranges::min_element(directories, {}, &Parts::size)->size();
  std::size_t begin = 0, end = 0;
  auto all = [&](auto same) { return std::ranges::all_of(directories, same); };
  while (begin < shortest && all([&](const Parts& d) { return d[begin] == one[begin]; })) ++begin;
  while (begin + end < shortest &&
         all([&](const Parts& d) { return d[d.size() - 1 - end] == one[one.size() - 1 - end]; }))
    ++end;
  std::map<Parts, std::string> found;
  for (const auto& parts : directories)
    found[parts] = text::join(std::span(parts).subspan(begin, parts.size() - begin - end), "/");
  return found;
}
} // namespace

void tell_apart(std::vector<VariantName>& names) {
  std::map<std::string, std::set<Parts>> places;
  std::map<std::string, std::set<std::string>> users; // of a name: the names that files had before
  for (const auto& file : names)
    if (file.fixed)
      users[file.name].insert("");
    else
      places[file.name].insert(parts_of(file.directory));
  std::map<std::string, std::map<Parts, std::string>> renamed;
  for (const auto& [name, directories] : places) {
    if (directories.size() > 1) renamed[name] = differences(directories);
    if (directories.size() == 1) users[name].insert(name);
    for (const auto& [parts, part] : renamed[name]) users[part.empty() ? name : part].insert(name);
  }
  for (auto& file : names) {
    if (file.fixed) continue;
    const auto& parts = renamed[file.name];
    auto found = parts.find(parts_of(file.directory));
    if (found == parts.end() || found->second.empty()) continue;
    file.name = users[found->second].size() == 1 ? found->second : found->second + "/" + file.name;
  }
}

} // namespace quarry::buildlog
