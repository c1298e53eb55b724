#pragma once
// One plan moves a release to several channels: one channel for each family, because the packages `rocm` of two
// families have one name and different content. Planning only reads. Executing writes the plan, then moves channel
// after channel.
#include "base/result.hpp"
#include "promote/promote.hpp"
#include "release/source.hpp"
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace quarry::release {

/// Whether a channel's name is a pattern with `{family}` or `{platform}`. Pure.
bool is_pattern(const std::string& channel);

struct ChannelSets {
  std::string channel;
  std::vector<registry::SealedSet> sets;
};
/// Which sets go to which channel, sorted by channel. `{family}` is the run's group in lower case, if it begins with
/// "gfx"; a set of no family, such as a framework that is built for all of them, goes to the channel of each family.
/// Fails with invalid_argument O020 if no set has what the pattern asks for, or a name is not that of a channel. Pure.
Result<std::vector<ChannelSets>> by_channel(const std::vector<registry::SealedSet>& sets, const std::string& pattern);

struct Request {
  Source source;
  std::string pattern; ///< "stable-{family}"
  std::function<Result<gate::Policy>(const std::string& channel)> policy_of;
  bool policy_named = true; ///< by a person; else `policy_of` gives what is bound, and is asked again if that changes
  bool ready_cells_only = false;
  std::int64_t now_us = 0;
  unsigned workers = 1;
  std::string distribution = {};
  /// The flags of `promote` with which it is asked for, for who completes a plan that was interrupted. The digest of
  /// the plan covers them, so each value has one spelling; `--policy` is dropped if every channel has its own.
  std::map<std::string, std::vector<std::string>> flags = {};
  mirror::Candidates* base_index = nullptr; ///< as promote::Request has it
  std::string base_index_name = {};
  std::optional<std::vector<s3::ExpiryRule>> pin_from = {}; ///< likewise
  /// As promote::Options has it, for the plan of each channel that moves something.
  std::function<Result<void>(const promote::Request&, promote::Plan&)> along = {};
};

struct Part { ///< one channel
  promote::Request request;
  std::optional<promote::Plan> plan;       ///< unset: an earlier run has moved this channel
  std::optional<promote::Receipt> receipt; ///< once it is executed
  registry::PlanDigest digest;             ///< of the part's plan
};

struct Plan {
  std::vector<Part> parts;     ///< sorted by channel
  bool held = false;           ///< no channel may move
  std::string document;        ///< quarry.release-plan/1, as `plans/{digest}.json` holds it
  registry::PlanDigest digest; ///< sha256 of the document; equal as long as nothing moved
  bool moves() const;          ///< whether at least one channel moves
};

/// Plans every channel: errors and cost of promote::plan_promotion() for each of them.
Result<Plan> plan_all(store::ObjectReader& store, const Request& request);

struct Options {
  promote::Options each; ///< `execute` and `dry_run` count for the whole
  /// Called when the release is not held, before the first channel moves.
  std::function<Result<void>(const Plan&)> before_writing = {};
};

/// Plans, then stores the plan and executes it channel after channel, unless it is held or a dry run. With
/// `each.execute` it completes a plan that an earlier run began: it skips the channels that have moved, and fails with
/// O002 if the plan of another channel is not the reviewed one any more. Fails with precondition_failed O019 if some
/// channels have moved and another one could not; the error names those that have not moved, and the same `--execute`
/// completes the plan.
Result<Plan> promote_all(store::ObjectStore& store, const Request& request, const Options& options);

/// What was asked for when a release moved.
struct AskedFor {
  std::string source, pattern;
  std::map<std::string, std::vector<std::string>> flags = {}; ///< as Request has them
  std::vector<std::string> locators() const;                  ///< of `source`, as resolve() joined them
};

/// A plan that moved some of its channels and not yet the others.
struct Unfinished {
  registry::PlanDigest plan;
  AskedFor asked;
  std::vector<std::string> moved, waiting; ///< channels
};
/// Returns the plans that moved some of their channels and can still be completed. A channel that another move has
/// changed since does not count as waiting. A plan is left out if one of its channels was rolled back. Costs a listing
/// of `plans/`, one read for each plan, and one for each of the last 64 moves of the channels that they name.
Result<std::vector<Unfinished>> unfinished(store::ObjectReader& store);

/// Returns what was asked for with the plan that made the channel's last move; nullopt if that was not a move of a
/// release. Costs three reads, a listing of `plans/`, and a read for each plan.
Result<std::optional<AskedFor>> release_of_last_move(store::ObjectReader& store, const std::string& channel);

} // namespace quarry::release
