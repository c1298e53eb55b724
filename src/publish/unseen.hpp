#pragma once
// Dry runs of a user who may not look into the store: they plan as if nothing were there, and say so.
#include "base/error.hpp"
#include "base/finding.hpp"
#include "publish/publish.hpp"
#include "store/object_reader.hpp"
#include <string>

namespace quarry::publish {

/// Whether the store did not answer this user: no credentials, no permission, or no network. A dry run goes on without
/// it. Pure.
bool could_not_look(const Error& error);

/// Returns the warning P072: `unknown` is what the plan cannot know, such as "which names are there with other bytes".
/// Pure.
Finding not_looked(const std::string& store, const Error& error, const std::string& unknown);

/// Returns what publishing would give, as far as it is known before: without the digest of a set that is not sealed
/// yet, and where the store cannot be asked, with the addresses of an index that answers.
Result<Receipt> expected_receipt(store::ObjectReader& store, const Plan& plan, const pages::PublicUrl& public_url);

/// Returns what make_plan() does; where the store cannot be asked, as if it were empty, with not_looked() among the
/// notes.
Result<Plan> plan_without_credentials(store::ObjectReader& store, const Target& target, Collected collected,
                                      const sys::Timestamp& now);

} // namespace quarry::publish
