#pragma once
// What a dry run does where it may not look: it plans as if nothing were there, and says so.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "cli/command.hpp"
#include "publish/unseen.hpp"
#include "release/plan.hpp"
#include "store/object_store.hpp"
#include <memory>
#include <string>

namespace quarry::cli {

using publish::could_not_look;
using publish::not_looked;

/// The store as everybody may read it: requests are not signed.
Result<std::unique_ptr<store::ObjectStore>> open_unsigned(const Context& context, const std::string& locator);

struct Moving {
  std::string locator; ///< of the store
  bool dry_run = false;
};
/// release::refuse_what_expires(), whose warnings are shown. A dry run that cannot look there says so instead of
/// failing (P072).
Result<void> refuse_what_expires(Context& context, const Moving& moving, store::ObjectReader& store,
                                 const std::vector<release::ChannelSets>& channels);

/// With `--pin`: the rules that the plan has to mind. Unset without it; then refuse_what_expires() is asked.
Result<std::optional<std::vector<s3::ExpiryRule>>> rules_to_pin(Context& context, const Arguments& arguments,
                                                                const Moving& moving, store::ObjectReader& store,
                                                                const std::vector<release::ChannelSets>& channels);

} // namespace quarry::cli
