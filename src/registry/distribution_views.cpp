#include "registry/distribution_views.hpp"

#include "registry/keys.hpp"
#include "registry/record_text.hpp"
#include <algorithm>

namespace quarry::registry {

namespace {

/// The digest in such a key; empty for any other key.
DistributionViewDigest digest_in_view_key(const std::string& directory, const std::string& key) {
  auto below = (directory + "/views/").size();
  if (key.size() < below + k_json.size()) return {};
  auto digest = DistributionViewDigest::parse(key.substr(below, key.size() - below - k_json.size()));
  return digest && key == distribution_view_key(directory, *digest) ? *digest : DistributionViewDigest();
}

} // namespace

Result<std::vector<Stored<DistributionView>>>
other_distribution_views(ObjectReader& store, const std::string& directory,
                         const std::vector<DistributionViewDigest>& known) {
  std::vector<Stored<DistributionView>> found;
  TRY(auto objects, store.children(directory + "/views/"));
  for (const auto& object : objects.objects) {
    auto digest = digest_in_view_key(directory, object.key);
    if (digest.empty() || std::ranges::find(known, digest) != known.end()) continue;
    TRY(auto bytes, store.get(object.key, k_record_bytes_max));
    if (!bytes || sha256(*bytes) != *digest.sha256()) continue;
    auto view = parse_distribution_view({*bytes, object.key});
    if (view && view->directory == directory) found.push_back({digest, std::move(*view)});
  }
  return found;
}

} // namespace quarry::registry
