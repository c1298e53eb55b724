#pragma once
// `promote --to-store`: what was promoted, copied to another store as a repository.
#include "base/json.hpp"
#include "cli/command.hpp"
#include "cli/next_command.hpp"
#include "promote/promote.hpp"
#include "release/deliver.hpp"
#include <memory>
#include <string>
#include <vector>

namespace quarry::cli {

using release::Delivery;
using release::Destination;
/// `--distributions FILE`
Flag distributions_flag();
/// The prefix that `--prefix` or `--distributions` gives to what this channel feeds. invalid_argument O010, P041; P040
/// and P042 for the rules of distributions.
Result<std::string> delivery_prefix(const Context& context, const Arguments& arguments, const std::string& channel);
/// From `--to-store`, `--prefix` and `--distributions`, for what this channel feeds. invalid_argument O008, O010, R030,
/// P041; P040 and P042 for the rules of distributions; errors of opening the store.
Result<Destination> destination_of(Context& context, const Arguments& arguments, const std::string& channel);
/// The same for a promotion `--to` a channel of `source`, with `--replace`. A protected channel copies hashed bytes; of
/// a pattern such as `stable-{family}` its caller knows the channels.
Result<Destination> promotion_destination(Context& context, const Arguments& arguments, store::ObjectStore& source);

/// release::deliver() with what this process has.
Result<Delivery> deliver(Context& context, store::ObjectStore& source, const Destination& to,
                         const std::vector<registry::SealedSet>& sets, const promote::Options& options);
/// release::check_delivery() with what this process has.
Result<void> check_delivery(const Context& context, const release::Consignment& what, const promote::Options& options);

/// What a copy failed with after these channels had moved: it says so, and names the command that completes the copy.
Error not_copied(Error error, const std::vector<std::string>& moved, const Destination& to, const NextCommand& again);

std::string delivery_text(const Destination& to, const Delivery& done, bool dry_run);
Json delivery_json(const Destination& to, const Delivery& done);

} // namespace quarry::cli
