#pragma once
// Lifecycle rules of a bucket: what the server itself deletes, and when (GetBucketLifecycleConfiguration).
#include "base/result.hpp"
#include "s3/bucket.hpp"
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::s3 {

/// An enabled rule that deletes objects. Rules that end uploads, delete earlier versions or move objects to another
/// storage class are left out.
struct ExpiryRule {
  std::string id;     ///< as the owner called it; may be empty
  std::string prefix; ///< of the keys in the bucket; empty: all
  std::string when;   ///< "after 30 days", "on 2027-01-01"
  /// The rule covers tagged objects only. Quarry tags none, so the rule deletes none of Quarry's objects.
  bool tagged = false;
};

/// Reads a LifecycleConfiguration. A rule whose filter is not understood is read as one for its prefix, which covers
/// more than the filter. Fails with corrupt (K020). Pure.
Result<std::vector<ExpiryRule>> parse_lifecycle(std::string_view body);

/// Those of the rules that cover objects of a store with this prefix in the bucket ("" or "a/b"), with their prefixes
/// relative to the store's root. Pure.
std::vector<ExpiryRule> rules_below(const std::vector<ExpiryRule>& rules, const std::string& store_prefix);

/// Asks the bucket. No rules if it has no configuration. Fails as Bucket::call() does: K003 if the role may not read it
/// (s3:GetLifecycleConfiguration), K008 if the server does not know the request; also corrupt (K020). One request.
Result<std::vector<ExpiryRule>> lifecycle_of(Bucket& bucket);

} // namespace quarry::s3
