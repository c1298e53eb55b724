#include "release/plan.hpp"
#include "release/stored_plan.hpp"

namespace quarry::release {

using store::ObjectStore;

namespace {

constexpr std::size_t k_moves_looked_at = 64; // as `--execute` looks for a move that was made

enum class State : std::uint8_t { moved, waiting, overtaken };

Result<State> state_of(ObjectStore& store, const StoredChannel& planned) {
  TRY(auto now, registry::read_channel(store, planned.name));
  auto generation = now ? now->record.generation : 0;
  auto digest = now ? now->record.ledger : registry::LedgerDigest();
  for (std::size_t i = 0; i < k_moves_looked_at && !digest.empty() && generation > planned.generation; ++i) {
    TRY(auto entry, registry::load_ledger(store, digest), "while reading the ledger of channel " + planned.name);
    if (entry.plan == planned.plan) return State::moved;
    generation = entry.generation - 1;
    digest = entry.previous;
  }
  bool same = (now ? now->record.generation : 0) == planned.generation;
  return same ? State::waiting : State::overtaken;
}

} // namespace

Result<std::vector<Unfinished>> unfinished(ObjectStore& store) {
  TRY(auto plans, list_plans(store));
  std::vector<Unfinished> found;
  for (const auto& [digest, plan] : plans) {
    Unfinished one{digest, plan.source, {}, {}};
    for (const auto& channel : plan.channels) {
      if (!channel.moves) continue;
      TRY(auto state, state_of(store, channel));
      if (state == State::moved) one.moved.push_back(channel.name);
      if (state == State::waiting) one.waiting.push_back(channel.name);
    }
    if (!one.moved.empty() && !one.waiting.empty()) found.push_back(std::move(one));
  }
  return found;
}

} // namespace quarry::release
