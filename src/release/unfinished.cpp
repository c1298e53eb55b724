#include "release/plan.hpp"
#include "release/stored_plan.hpp"
#include <algorithm>
#include <map>

namespace quarry::release {

using store::ObjectReader;

namespace {

constexpr std::size_t k_moves_looked_at = 64; // as `--execute` looks for a move that was made

enum class State : std::uint8_t { moved, waiting, overtaken };

/// What the plans need to know of a channel, read once.
struct Moves {
  std::uint64_t generation = 0;                ///< 0: it does not exist
  std::vector<registry::LedgerRecord> entries; ///< the last 64, newest first
  std::optional<registry::ViewRecord> view;    ///< that it shows; read when it is needed
};

Result<Moves> moves_of(ObjectReader& store, const std::string& channel, std::uint64_t since) {
  Moves moves;
  TRY(auto now, registry::read_channel(store, channel));
  if (!now) return moves;
  moves.generation = now->record.generation;
  auto digest = now->record.ledger;
  for (auto at = moves.generation; moves.entries.size() < k_moves_looked_at && !digest.empty() && at > since;) {
    TRY(auto entry, registry::load_ledger(store, digest), "while reading the ledger of channel " + channel);
    at = entry.generation - 1;
    digest = entry.previous;
    moves.entries.push_back(std::move(entry));
  }
  return moves;
}

/// Whether the channel still shows the sets that this move brought; a rollback or a yank takes them out.
Result<bool> still_shown(ObjectReader& store, Moves& moves, const registry::LedgerRecord& move) {
  if (moves.generation == move.generation) return true;
  if (!moves.view) {
    TRY(moves.view, registry::load_view(store, moves.entries.front().to_view));
  }
  TRY(auto brought, registry::load_view(store, move.to_view));
  const auto& shown = moves.view->sets;
  return std::all_of(brought.sets.begin(), brought.sets.end(), [&](const registry::SetDigest& set) {
    return std::find(shown.begin(), shown.end(), set) != shown.end();
  });
}

const registry::LedgerRecord* move_by(const Moves& moves, const StoredChannel& planned) {
  for (const auto& entry : moves.entries)
    if (entry.generation > planned.generation && entry.plan == planned.plan) return &entry;
  return nullptr;
}

Result<State> state_of(ObjectReader& store, const StoredChannel& planned, Moves& moves) {
  if (const auto* move = move_by(moves, planned)) {
    TRY(bool shown, still_shown(store, moves, *move));
    return shown ? State::moved : State::overtaken;
  }
  return moves.generation == planned.generation ? State::waiting : State::overtaken;
}

} // namespace

Result<bool> moved_since(ObjectReader& store, const StoredChannel& planned) {
  TRY(auto moves, moves_of(store, planned.name, planned.generation));
  return move_by(moves, planned) != nullptr;
}

Result<std::vector<Unfinished>> unfinished(ObjectReader& store) {
  TRY(auto plans, list_plans(store));
  std::map<std::string, std::uint64_t> since; // what no plan knows need not be read
  for (const auto& [digest, plan] : plans)
    for (const auto& channel : plan.channels)
      if (channel.moves) {
        auto [known, first] = since.try_emplace(channel.name, channel.generation);
        known->second = std::min(known->second, channel.generation);
      }
  std::map<std::string, Moves> moves;
  for (const auto& [name, generation] : since) {
    TRY(moves[name], moves_of(store, name, generation));
  }
  std::vector<Unfinished> found;
  for (const auto& [digest, plan] : plans) {
    Unfinished one{digest, {plan.source, plan.pattern, plan.flags}, {}, {}};
    bool undone = false; // its `--execute` would refuse it
    for (const auto& channel : plan.channels) {
      if (!channel.moves) continue;
      TRY(auto state, state_of(store, channel, moves[channel.name]));
      if (state == State::moved) one.moved.push_back(channel.name);
      if (state == State::waiting) one.waiting.push_back(channel.name);
      undone |= state == State::overtaken;
    }
    if (!undone && !one.moved.empty() && !one.waiting.empty()) found.push_back(std::move(one));
  }
  return found;
}

std::vector<std::string> AskedFor::locators() const {
  constexpr std::string_view k_between = ", "; // as resolve() joins them
  std::vector<std::string> all;
  std::size_t begin = 0;
  for (auto end = source.find(k_between); end != source.npos; end = source.find(k_between, begin)) {
    all.push_back(source.substr(begin, end - begin));
    begin = end + k_between.size();
  }
  all.push_back(source.substr(begin));
  return all;
}

Result<std::optional<AskedFor>> release_of_last_move(ObjectReader& store, const std::string& channel) {
  TRY(auto now, registry::require_channel(store, channel));
  TRY(auto move, registry::load_ledger(store, now.record.ledger), "while reading channel " + channel);
  if (move.plan.empty()) return std::optional<AskedFor>();
  TRY(auto plans, list_plans(store));
  for (const auto& [digest, plan] : plans)
    if (const auto* part = channel_of(plan, channel); part && part->plan == move.plan)
      return std::optional(AskedFor{plan.source, plan.pattern, plan.flags});
  return std::optional<AskedFor>();
}

} // namespace quarry::release
