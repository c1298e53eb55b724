#pragma once
// Answering for a past move that lacks the signature which its policy demanded.
#include "base/finding.hpp"
#include "promote/guard.hpp"

namespace quarry::promote {

struct Acknowledged {
  registry::ChannelRecord channel;
  Findings findings; ///< what was wrong with the move
};
/// Records, as a move of its own that shows the same view, that somebody answers for the move that made `generation`:
/// verify_moves() reports it as a note from then on. It makes nothing else good: what the move let in stays in, a
/// policy that it bound stays bound and is not the lawful one, and a channel whose record its moves did not make stays
/// O044. It counts if whoever may sign `protect`, by the last policy that was bound lawfully, has signed it. Fails with
/// not_found O052 if nothing is wrong with that move, held O041 without such a key, R003 if somebody moved the channel
/// meanwhile, and as verify_moves() does. Costs what verify_moves() does, a few requests, and the channel's pages.
struct ToAcknowledge {
  const std::string& channel;
  std::uint64_t generation = 0;
};
Result<Acknowledged> acknowledge(store::ObjectStore& store, const ToAcknowledge& move, const Author& author);

} // namespace quarry::promote
