// One level of a listing, for backends that cannot ask for it.
#include "store/counting.hpp"

#include <algorithm>

namespace quarry::store {

void sort_children(Children& children) {
  auto& directories = children.directories;
  std::sort(directories.begin(), directories.end());
  directories.erase(std::unique(directories.begin(), directories.end()), directories.end());
  std::sort(children.objects.begin(), children.objects.end(),
            [](const ObjectInfo& a, const ObjectInfo& b) { return a.key < b.key; });
}

Result<Children> ObjectStore::children(const std::string& prefix) {
  TRY(auto all, list(prefix));
  Children found;
  for (auto& object : all) {
    auto slash = object.key.find('/', prefix.size());
    if (slash == std::string::npos)
      found.objects.push_back(std::move(object));
    else
      found.directories.push_back(object.key.substr(0, slash + 1));
  }
  sort_children(found);
  return found;
}

} // namespace quarry::store
