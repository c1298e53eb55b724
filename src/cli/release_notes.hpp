#pragma once
// A release with where it is and what let it there, for `release show` and `release notes`.
#include "base/result.hpp"
#include "registry/empty_extras.hpp"
#include "registry/releases.hpp"
#include <string>
#include <vector>

namespace quarry::cli {

/// A cell as the verdict of a move decided it.
struct ReleasedCell {
  std::string channel, platform, family, python, framework;
  bool waived = false;
};
struct ReleasedWaiver {
  registry::WaiverDigest digest;
  std::string text;
};
struct ReleasedTo {
  std::string name;
  std::uint64_t generation = 0;
  std::vector<registry::SetDigest> sets;               ///< of the release, that the channel shows, whole or in part
  std::vector<registry::EmptyExtra> empty_extras = {}; ///< of packages of the release
};
struct ShownRelease {
  registry::ReleaseDigest digest;
  registry::ReleaseRecord record;
  std::vector<registry::SealedSet> sets;
  std::vector<ReleasedTo> channels;
  std::vector<ReleasedCell> cells;
  std::vector<ReleasedWaiver> waivers;
};

/// `word` is a digest, its first digits, or a name. Costs two reads for each set, and for each channel its view and its
/// last 64 moves. Errors: registry's.
Result<ShownRelease> load_shown_release(store::ObjectReader& store, const std::string& word);
/// Markdown. Pure.
std::string release_notes(const ShownRelease& release);

} // namespace quarry::cli
