#include "release/source.hpp"

#include "base/text.hpp"
#include "publish/resolve.hpp"
#include "registry/releases.hpp"
#include "run/locator.hpp"
#include <algorithm>

namespace quarry::release {

namespace {

Result<void> add_expectation(store::ObjectReader& store, const registry::ReleaseDigest& release, Source& source) {
  if (release.empty()) return {};
  TRY(auto record, registry::load_release(store, release));
  const auto& expect = record.expect;
  if (!expect.empty())
    source.expectations.push_back(
        {expect.platforms, expect.families, expect.pythons, expect.projects, expect.frameworks});
  return {};
}

} // namespace

Result<Source> resolve(store::ObjectReader& store, const std::vector<std::string>& locators) {
  Source source;
  std::vector<std::string> names;
  for (const auto& text : locators) {
    TRY(auto locator, run::parse_locator(text));
    TRY(auto resolved, publish::resolve(store, locator));
    TRY_DO(add_expectation(store, resolved.release, source));
    names.push_back(resolved.source);
    if (locators.size() == 1) {
      source.resolved = std::move(resolved);
      return source;
    }
    for (auto& sealed : resolved.sets) {
      auto same = [&](const registry::SealedSet& known) { return known.digest == sealed.digest; };
      auto& sets = source.resolved.sets;
      if (std::none_of(sets.begin(), sets.end(), same)) sets.push_back(std::move(sealed));
    }
  }
  source.resolved.source = text::join(names, ", ");
  auto files = registry::union_of(source.resolved.sets);
  if (files) source.resolved.files = std::move(*files);
  return source;
}

} // namespace quarry::release
