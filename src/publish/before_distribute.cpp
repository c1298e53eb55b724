#include "publish/before_distribute.hpp"

#include "base/codes.hpp"
#include "publish/shown.hpp"
#include <fmt/core.h>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace quarry::publish {

namespace {

/// Whether no two sets give one key two contents.
bool fit_together(const std::vector<Distributed>& sets) {
  std::unordered_map<std::string_view, const Sha256*> contents;
  for (const auto& one : sets)
    for (const auto& file : one.set.files)
      if (const auto& known = *contents.try_emplace(file.key, &file.sha256).first->second; known != file.sha256)
        return false;
  return true;
}

/// What two sets of one directory disagree about, as a channel would say it: by their keys in the source, which name
/// the family.
Result<void> disagreement_in(const std::vector<Distributed>& sets, const std::string& directory) {
  std::vector<registry::SealedSet> brought;
  for (const auto& one : sets) {
    if (one.set.directory != directory) continue;
    brought.push_back({one.source, one.set, {}});
    for (std::size_t i = 0; i < one.from.size(); ++i) brought.back().set.files[i].key = one.from[i];
  }
  auto fits = registry::check_extension({}, brought);
  if (fits) return {};
  auto error = std::move(fits).error();
  error.context.push_back("in the repository " + directory);
  error.hint = "nothing was moved; give each family a repository of its own, such as `--prefix 'v2/{family}'`, or "
               "promote one of these sets alone";
  return fail(std::move(error));
}

std::set<std::string> directories_of(const std::vector<Distributed>& sets) {
  std::set<std::string> directories;
  for (const auto& one : sets) directories.insert(one.set.directory);
  return directories;
}

/// Whether this role may write there. The condition of the write cannot hold.
Result<void> probe(store::ObjectStore& target, const std::string& prefix, const std::string& called) {
  store::PutOptions options;
  options.precondition = store::Precondition::if_match(std::string(64, '0'));
  auto put = target.put(prefix + "writable.json", content::Rope::literal("{}"), options);
  if (put || put.error().is(codes::overtaken)) return {};
  auto error = std::move(put).error();
  error.context.push_back(fmt::format("nothing was moved: {} cannot be written", called));
  return fail(std::move(error));
}

} // namespace

std::set<registry::PolicyDigest> policies_of(const Feeders& feeders) {
  std::set<registry::PolicyDigest> policies;
  for (const auto& [directory, channels] : feeders)
    for (const auto& feeder : channels)
      if (!feeder.policy.empty()) policies.insert(feeder.policy);
  return policies;
}

Result<void> refuse_two_contents(const std::vector<Distributed>& sets) {
  if (fit_together(sets)) return {};
  for (const auto& directory : directories_of(sets)) TRY_DO(disagreement_in(sets, directory));
  return {};
}

Result<void> check_writable(store::ObjectStore& target, const std::vector<Distributed>& sets, const Feeders& feeders,
                            bool signs) {
  for (const auto& directory : directories_of(sets)) {
    TRY_DO(registry::require_swappable(target, "distribution " + directory));
    TRY_DO(probe(target, directory + "/views/", address_of(target, directory)));
  }
  if (sets.empty()) return {};
  auto below = [&](const std::string& prefix) { return probe(target, prefix, address_of(target, prefix)); };
  TRY_DO(below("sets/"));
  auto policies = policies_of(feeders);
  for (const auto& policy : policies) {
    TRY(auto there, target.head(registry::policy_key(policy)));
    if (there) continue;
    TRY_DO(below("policies/"));
    break;
  }
  return signs && !policies.empty() ? below("signatures/") : Result<void>();
}

} // namespace quarry::publish
