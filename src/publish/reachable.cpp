#include "publish/reachable.hpp"

#include "publish/marks.hpp"
#include "thread/pool.hpp"
#include <fmt/core.h>
#include <optional>
#include <vector>

namespace quarry::publish {

namespace {
constexpr const char* k_clock_key = "gc/clock.json";

constexpr std::string_view k_shards = "views/shards/";

struct Step {
  registry::ViewDigest view;
  std::uint64_t generation = 0;
};
} // namespace

Result<void> Reachable::update(Findings& notes) {
  TRY(auto channels, registry::channel_names(store_));
  for (const auto& name : channels.without_record) TRY_DO(registry::refuse_lost(store_, name));
  for (const auto& name : channels.names) {
    TRY(auto channel, registry::require_channel(store_, name));
    auto& seen = ledgers_[name];
    if (seen == channel.record.ledger) continue;
    TRY_DO(follow(channel.record, notes), "while following channel " + name);
    seen = channel.record.ledger;
  }
  return {};
}

Result<bool> Reachable::has_moved() {
  TRY(auto names, registry::list_channels(store_));
  for (const auto& name : names) {
    TRY(auto channel, registry::read_channel(store_, name));
    if (channel && ledgers_[name] != channel->record.ledger) return true;
  }
  return false;
}

bool Reachable::names(const std::string& key) const {
  return keys_.contains(key) || (lost_a_view_ && key.starts_with(k_shards));
}

std::string Reachable::channel_of(const std::string& key) const {
  auto found = keys_.find(key);
  return found == keys_.end() ? std::string() : found->second;
}

Result<void> Reachable::follow(const registry::ChannelRecord& channel, Findings& notes) {
  TRY(auto moves, registry::ledger_chain(store_, channel));
  std::vector<Step> steps;
  for (const auto& move : moves) {
    keys_.emplace(registry::ledger_key(move.digest), channel.name);
    if (!registry::keeps_view_of(channel, move.record)) continue;
    if (keys_.emplace(registry::view_key(move.record.to_view), channel.name).second)
      steps.push_back({move.record.to_view, move.record.generation});
  }
  std::vector<std::optional<registry::ViewRecord>> views(steps.size());
  std::vector<std::string> lost(steps.size());
  TRY_DO(parallel_for(steps.size(), k_requests, [&](std::size_t i) -> Result<void> {
    auto view = registry::load_view(store_, steps[i].view);
    if (view) {
      views[i] = std::move(*view);
      return {};
    }
    bool gone = registry::is_lost(view.error());
    if (!gone || steps[i].view == channel.view) return fail(std::move(view).error());
    lost[i] = view.error().message;
    return {};
  }));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    lost_a_view_ = lost_a_view_ || !views[i];
    if (views[i])
      add(*views[i], channel.name);
    else
      notes.push_back({"P080", Severity::warning, fmt::format("{}@{}", channel.name, steps[i].generation),
                       lost[i] + ": the channel cannot go back there, and no shard of any view is removed",
                       "what installers see is not touched; restore the view from a copy of the store if you need it"});
  }
  return {};
}

void Reachable::add(const registry::ViewRecord& view, const std::string& channel) {
  for (const auto& set : view.sets) keys_.emplace(registry::set_key(set), channel);
  for (const auto& [project, shard] : view.shards) keys_.emplace(registry::shard_key(shard), channel);
}

Result<std::int64_t> time_of(store::ObjectStore& store) {
  TRY_DO(store.put(k_clock_key, content::Rope::literal("{}"), {}));
  TRY(auto objects, store.list(k_clock_key));
  TRY_DO(store.remove(k_clock_key));
  for (const auto& object : objects)
    if (object.key == k_clock_key) return object.modified_us;
  return std::int64_t{0}; // another run removed it: this one removes nothing
}

} // namespace quarry::publish
