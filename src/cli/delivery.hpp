#pragma once
// `promote --to-store`: what was promoted, copied to another store as a repository.
#include "base/json.hpp"
#include "cli/command.hpp"
#include "promote/promote.hpp"
#include "publish/distribute.hpp"
#include <memory>
#include <string>
#include <vector>

namespace quarry::cli {

/// Where the promoted sets go besides; no store: nowhere.
struct Destination {
  std::string locator, prefix;
  std::shared_ptr<store::ObjectStore> store;
};
/// From `--to-store`, `--prefix`, `--distributions` and `--to`. invalid_argument O008, O010, R030; P040, P042 of the
/// rules; those of the store.
Result<Destination> destination_of(Context& context, const Arguments& arguments);

/// What the channel shows of the source's sets, whole or in part: the plan's new ones, and those of an earlier run that
/// died.
Result<std::vector<registry::SealedSet>> promoted_sets(store::ObjectStore& store, const promote::Request& request,
                                                       const promote::Plan& plan);

struct Delivery {
  std::vector<publish::Distributed> sets;
  publish::DistributeReceipt receipt;
  std::vector<std::string> urls;       ///< of the repositories
  std::vector<std::string> find_links; ///< of their pages of links, where nothing answers under `urls`
  std::vector<std::string> merged;     ///< of their merged indexes
};
/// Copies, or with `options.dry_run` looks whether it could. `without_looking`: a target that does not let this user
/// look is a note (P072) instead of an error.
Result<Delivery> deliver(Context& context, store::ObjectStore& source, const Destination& to,
                         const std::vector<registry::SealedSet>& sets, const promote::Options& options,
                         bool without_looking = false);
/// Whether the gate lets everything go that the other store lacks. What the plan moves was judged with it; what the
/// channel showed before may have come there without a verdict. held O017, which names the cells.
Result<void> judge_delivery(store::ObjectStore& store, const promote::Request& request, const promote::Plan& plan,
                            const Destination& to, const std::vector<registry::SealedSet>& sets);
/// What would stop the copy, for before the channel moves. Reads no package.
Result<void> check_delivery(const Context& context, const Destination& to,
                            const std::vector<registry::SealedSet>& sets);

std::string delivery_text(const Destination& to, const Delivery& done, bool dry_run);
Json delivery_json(const Destination& to, const Delivery& done);

} // namespace quarry::cli
