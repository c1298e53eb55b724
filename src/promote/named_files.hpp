#pragma once
// Private to the room.
// Blocked files as people name them.
#include "base/result.hpp"
#include "registry/registry.hpp"
#include "store/object_store.hpp"
#include <string>
#include <vector>

namespace quarry::promote {

/// Removes from `blocked` what `word` names and returns it, nothing if it names no blocked file: "set:1f2e…" the files
/// of that set, else a file's name or sha256. Fails as registry::load_sealed() for a set.
Result<std::vector<registry::BlockedFile>> take_named(store::ObjectReader& store, const std::string& word,
                                                      std::vector<registry::BlockedFile>& blocked);

/// not_found O024: the channel shows nothing that `word` names.
Unexpected not_shown(const registry::ChannelRecord& channel, const std::string& word);

} // namespace quarry::promote
