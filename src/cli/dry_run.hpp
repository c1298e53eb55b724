#pragma once
// What a dry run does where it may not look: it plans as if nothing were there, and says so.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "cli/command.hpp"
#include "publish/publish.hpp"
#include "release/plan.hpp"
#include "store/object_store.hpp"
#include <memory>
#include <string>

namespace quarry::cli {

/// The store did not answer this user: no credentials, no permission, or no network. A dry run goes on without it.
bool could_not_look(const Error& error);

/// The store as everybody may read it: requests are not signed.
Result<std::unique_ptr<store::ObjectStore>> open_unsigned(const Context& context, const std::string& locator);

/// P072, a warning: `unknown` is what the plan cannot know, such as "which names are there with other bytes".
Finding not_looked(const std::string& store, const Error& error, const std::string& unknown);

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

/// What publishing would give, as far as it is known before: without the digest of a set that is not sealed yet, and
/// where the store cannot be asked, with the addresses of an index that answers.
Result<publish::Receipt> expected_receipt(store::ObjectReader& store, const publish::Plan& plan,
                                          const pages::PublicUrl& public_url);

/// publish::make_plan(); where the store cannot be asked, as if it were empty, with not_looked() among the notes.
Result<publish::Plan> plan_without_credentials(store::ObjectReader& store, const publish::Target& target,
                                               publish::Collected collected, const sys::Timestamp& now);

} // namespace quarry::cli
