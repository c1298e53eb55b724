#pragma once
// A release with the channels that show it and what let it there.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "registry/empty_extras.hpp"
#include "registry/releases.hpp"
#include "registry/revocations.hpp"
#include <optional>
#include <string>
#include <vector>

namespace quarry::release {

/// A cell as the verdict of a move decided it.
struct ShownCell {
  std::string channel, platform, family, python, framework;
  bool waived = false;
};
struct ShownWaiver {
  registry::WaiverDigest digest;
  std::optional<registry::WaiverRecord> record; ///< nullopt: it is gone
  std::optional<registry::RevocationRecord> revoked;
};
struct ShownIn {
  std::string channel;
  std::uint64_t generation = 0;
  std::vector<registry::SetDigest> sets;               ///< of the release, that the channel shows, whole or in part
  std::vector<registry::EmptyExtra> empty_extras = {}; ///< of packages of the release
};
struct Shown {
  registry::ReleaseDigest digest;
  registry::ReleaseRecord record;
  std::vector<registry::SealedSet> sets;
  std::vector<ShownIn> channels;
  std::vector<ShownCell> cells;
  std::vector<ShownWaiver> waivers; ///< that the verdicts of these cells used
  Findings unread;                  ///< verdicts that cannot be read: their cells and waivers are missing here
};

/// `word` is a digest, its first digits, or a name. Costs two reads for each set, and for each channel its view and its
/// last 64 moves. A verdict that is lost or altered is listed in `unread`. Fails as registry::find_release() and the
/// loads of these records do. Thread-safe as the store.
Result<Shown> load_shown(store::ObjectReader& store, const std::string& word);

} // namespace quarry::release
