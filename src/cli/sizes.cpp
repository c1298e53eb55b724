#include "cli/sizes.hpp"

#include "content/rope.hpp"
#include "publish/collect.hpp"
#include "sys/path.hpp"

namespace quarry::cli {

std::uint64_t bytes_of_files(const std::vector<std::string>& paths) {
  std::uint64_t total = 0;
  for (const auto& path : paths)
    if (auto file = content::Rope::file(path)) total += file->size();
  return total;
}

std::uint64_t bytes_of_packages(const std::string& directory) {
  auto listing = publish::list_distributions(directory);
  if (!listing) return 0;
  std::vector<std::string> paths;
  for (const auto& name : listing->names) paths.push_back(path::join(listing->directory, name));
  return bytes_of_files(paths);
}

} // namespace quarry::cli
