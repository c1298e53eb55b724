#include "promote/pin.hpp"

#include "promote/expiry.hpp"
#include "promote/planning.hpp"
#include "store/put_once.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::promote {

using registry::SealedSet;

namespace {

constexpr const char* k_pin_cache = "public, max-age=31536000, immutable";

bool expires(const SealedSet& sealed, const std::vector<s3::ExpiryRule>& rules) {
  return !refuse_expiring({sealed}, rules);
}

/// One directory for each set: not one that looks like a run's.
SealedSet pinned(const SealedSet& sealed) {
  SealedSet copy;
  copy.set = sealed.set;
  copy.set.subset_of = sealed.set.subset_of.empty() ? sealed.digest : sealed.set.subset_of;
  copy.set.directory = fmt::format("{}{}", registry::k_pinned, sealed.digest.short_hex());
  for (auto& file : copy.set.files) file.key = fmt::format("{}/dist/{}", copy.set.directory, file.filename);
  copy.digest = registry::digest_of(copy.set);
  return copy;
}

} // namespace

Result<void> pin_what_expires(const std::vector<s3::ExpiryRule>& rules, Plan& plan) {
  for (auto& sealed : plan.sets) {
    if (!expires(sealed, rules)) continue;
    auto copy = pinned(sealed);
    for (std::size_t i = 0; i < copy.set.files.size(); ++i)
      plan.preparation.pinned.push_back({sealed.set.files[i].key, copy.set.files[i]});
    std::erase_if(plan.preparation.subsets, [&](const auto& set) { return registry::digest_of(set) == sealed.digest; });
    plan.preparation.subsets.push_back(copy.set);
    sealed = std::move(copy);
  }
  return refuse_expiring(plan.sets, rules);
}

Result<void> copy_pinned(store::ObjectStore& store, const std::vector<PinnedFile>& files) {
  return parallel_for(files.size(), k_looks, [&](std::size_t i) -> Result<void> {
    const auto& [from, file] = files[i];
    TRY(auto info, store.head(from));
    store::Once once{{}, file.sha256, info ? info->content_type : std::string(), k_pin_cache, {}, file.size, true};
    TRY_DO(store::copy_once(store, from, store, file.key, once), "while copying " + from);
    if (!file.metadata_sha256) return {};
    once.sha256 = *file.metadata_sha256;
    once.content_type = "text/plain; charset=utf-8";
    once.size.reset();
    TRY_DO(store::copy_once(store, from + ".metadata", store, file.key + ".metadata", once), "while copying " + from);
    return {};
  });
}

} // namespace quarry::promote
