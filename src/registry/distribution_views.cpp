#include "registry/distribution_views.hpp"

#include "base/codes.hpp"
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

/// Adds the record at this key, if it is one of a move of this directory and whole.
Result<void> add_view(ObjectReader& store, const std::string& directory, const std::string& key,
                      std::vector<Stored<DistributionView>>& found) {
  auto digest = digest_in_view_key(directory, key);
  auto bytes = store.get(key, k_record_bytes_max);
  if (!bytes && bytes.error().is(codes::too_large)) return {};
  if (!bytes) return fail(std::move(bytes).error());
  if (!*bytes || sha256(**bytes) != *digest.sha256()) return {};
  auto view = parse_distribution_view({**bytes, key});
  if (view && view->directory == directory) found.push_back({digest, std::move(*view)});
  return {};
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
    TRY_DO(add_view(store, directory, object.key, found));
  }
  return found;
}

Result<std::vector<Stored<DistributionView>>> views_to_follow(ObjectReader& store, const DistributionRecord& now) {
  std::vector<Stored<DistributionView>> found;
  TRY(auto objects, store.children(now.directory + "/views/"));
  auto last =
      std::ranges::find(objects.objects, distribution_view_key(now.directory, now.view), &store::ObjectInfo::key);
  auto since_us = now.view.empty() || last == objects.objects.end() ? 0 : last->modified_us;
  for (const auto& object : objects.objects) {
    auto digest = digest_in_view_key(now.directory, object.key);
    if (digest.empty() || digest == now.view || object.modified_us < since_us) continue;
    TRY_DO(add_view(store, now.directory, object.key, found));
  }
  std::erase_if(found, [&](const Stored<DistributionView>& one) {
    return one.record.generation != now.generation + 1 || one.record.previous != now.view;
  });
  return found;
}

} // namespace quarry::registry
