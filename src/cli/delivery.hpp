#pragma once
// `promote --to-store`: what was promoted, copied to another store as a repository.
#include "base/json.hpp"
#include "cli/command.hpp"
#include "promote/promote.hpp"
#include "publish/distribute.hpp"
#include "release/delivery.hpp"
#include <memory>
#include <string>
#include <vector>

namespace quarry::cli {

using release::Destination;
/// `--distributions FILE`
Flag distributions_flag();
/// From `--to-store`, `--prefix` and `--distributions`, for what this channel feeds. invalid_argument O008, O010, R030;
/// P040, P042 of the rules; those of the store.
Result<Destination> destination_of(Context& context, const Arguments& arguments, const std::string& channel);
/// The same for a promotion `--to` a channel of `source`, with `--replace`. A protected channel copies hashed bytes; of
/// a pattern such as `stable-{family}` its caller knows the channels.
Result<Destination> promotion_destination(Context& context, const Arguments& arguments, store::ObjectStore& source);

struct Delivery {
  std::vector<publish::Distributed> sets;
  publish::DistributeReceipt receipt;
  std::vector<publish::HistoryPlan> histories; ///< what was taken over of other tools, or would be
  std::vector<std::string> urls;               ///< of the repositories
  std::vector<std::string> find_links;         ///< of their pages of links, where nothing answers under `urls`
  std::vector<std::string> merged;             ///< of their merged indexes
};
/// Copies, or with `options.dry_run` looks whether it could; then a target that does not let this user look is a note
/// (P072) instead of an error.
Result<Delivery> deliver(Context& context, store::ObjectStore& source, const Destination& to,
                         const std::vector<registry::SealedSet>& sets, const promote::Options& options);
/// What would stop the copy, for before the channel moves; what it would take over of other tools goes to `to.found`.
/// Reads no package of ours.
Result<void> check_delivery(const Context& context, const Destination& to,
                            const std::vector<registry::SealedSet>& sets);

std::string delivery_text(const Destination& to, const Delivery& done, bool dry_run);
Json delivery_json(const Destination& to, const Delivery& done);

} // namespace quarry::cli
