#pragma once
// What this machine and an environment have seen of a channel, so that a store that is frozen or set back is noticed: a
// channel's generation only grows, also by a rollback. One small file for each channel below $XDG_STATE_HOME, and the
// receipt in the environment. Two processes at the same time may each write; the file is replaced whole.
#include "base/result.hpp"
#include "registry/digests.hpp"
#include "venv/environment.hpp"
#include <cstdint>
#include <optional>
#include <string>

namespace quarry::venv {

struct Seen {
  std::string store;   ///< as ObjectStore::describe() says it
  std::string address; ///< URL of the channel's record: buckets of two services may have one name
  std::string channel; ///< its name
  std::uint64_t generation = 0;
  registry::ViewDigest view;
};

/// `quarry/channels` below $XDG_STATE_HOME or, if that is not set, ~/.local/state; empty if that is not absolute. Pure.
std::string seen_directory(const Variables& variables);
/// What the machine has seen; nullopt if nothing, or if `directory` is empty. B00x for a file that is not such a
/// record, with its path: a damaged memory is not taken for an empty one.
Result<std::optional<Seen>> last_seen(const std::string& directory, const Seen& channel);
/// What the environment's receipt says, if it can be read and is about this channel.
std::optional<Seen> seen_by_receipt(const std::string& environment, const Seen& channel);
/// What somebody has seen, and who: "this machine".
struct Memory {
  Seen seen;
  std::string who;
};
/// corrupt V040 if `now` is an older generation than what was seen, or the same generation with another view. Pure.
Result<void> refuse_older(const Memory& before, const Seen& now);
/// Keeps `now` for later; nothing if `directory` is empty.
Result<void> remember(const std::string& directory, const Seen& now);

} // namespace quarry::venv
