#include "release/shown.hpp"

#include "registry/verdicts.hpp"
#include "registry/waived.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace quarry::release {

namespace {

constexpr std::size_t k_verdicts_looked_at = 64; // moves of one channel

/// The set of the release that a set of a channel is, or is a part of.
const registry::SealedSet* set_of(const Shown& release, const registry::SealedSet& shown) {
  auto found = std::find_if(release.sets.begin(), release.sets.end(), [&](const registry::SealedSet& sealed) {
    return sealed.digest == shown.digest || sealed.digest == shown.set.subset_of;
  });
  return found == release.sets.end() ? nullptr : &*found;
}

bool is_of(const Shown& release, const registry::SetDigest& set) {
  return std::any_of(release.sets.begin(), release.sets.end(),
                     [&](const registry::SealedSet& sealed) { return sealed.digest == set; });
}

bool brings(const Shown& release, const registry::EmptyExtra& extra) {
  auto is_it = [&](const registry::FileRecord& file) {
    return file.project == extra.project && file.version == extra.version;
  };
  return std::any_of(release.sets.begin(), release.sets.end(), [&](const registry::SealedSet& sealed) {
    return std::any_of(sealed.set.files.begin(), sealed.set.files.end(), is_it);
  });
}

/// What one verdict says about the sets of the release.
void add_cells(const registry::VerdictDocument& verdict, const std::string& channel, Shown& release,
               std::set<registry::WaiverDigest>& waivers) {
  auto of_it = [&](const registry::VerdictCell& cell) { return is_of(release, cell.set); };
  if (std::ranges::none_of(verdict.cells, of_it)) return; // a cell that names no set is of another release
  for (const auto& one : verdict.cells) {
    if (!one.ready() || (!one.set.empty() && !is_of(release, one.set))) continue;
    const auto& cell = one.cell;
    release.cells.push_back(
        {channel, std::string(cell.platform.text()), cell.family, cell.python, cell.framework, one.waived});
    waivers.insert(one.waivers.begin(), one.waivers.end());
  }
}

Finding unread(const std::string& channel, const registry::VerdictDigest& verdict, const Error& error) {
  return {
      error.code, Severity::warning, "channel " + channel,
      fmt::format("verdict {} let sets into this channel and cannot be read, so what it tested and waived is missing "
                  "here: {}",
                  verdict.short_hex(), error.message),
      error.hint};
}

/// The verdicts by which sets of the release came into a channel.
Result<void> add_verdicts(store::ObjectReader& store, const registry::ChannelRecord& channel, Shown& release,
                          std::set<registry::WaiverDigest>& waivers) {
  auto digest = channel.ledger;
  for (std::size_t i = 0; i < k_verdicts_looked_at && !digest.empty(); ++i) {
    TRY(auto entry, registry::load_ledger(store, digest), "while reading the ledger of channel " + channel.name);
    digest = entry.previous;
    if (entry.verdict.empty() || entry.action != registry::Action::promote) continue;
    auto record = registry::load_verdict(store, entry.verdict);
    auto document = record ? registry::read_verdict(*record) : fail(std::move(record).error());
    if (document)
      add_cells(*document, channel.name, release, waivers);
    else if (document.error().kind == ErrorKind::not_found || document.error().kind == ErrorKind::corrupt)
      release.unread.push_back(unread(channel.name, entry.verdict, document.error()));
    else
      return fail(std::move(document).error());
  }
  return {};
}

Result<void> add_channel(store::ObjectReader& store, const std::string& name, Shown& release,
                         std::set<registry::WaiverDigest>& waivers) {
  TRY(auto channel, registry::read_channel(store, name));
  if (!channel) return {};
  TRY(auto view, registry::load_view(store, channel->record.view), "while reading channel " + name);
  ShownIn to{name, channel->record.generation, {}};
  for (const auto& digest : view.sets) {
    auto whole =
        std::any_of(release.sets.begin(), release.sets.end(), [&](const auto& s) { return s.digest == digest; });
    if (whole) {
      to.sets.push_back(digest);
      continue;
    }
    TRY(auto record, registry::load_set(store, digest));
    if (record.subset_of.empty()) continue;
    if (const auto* sealed = set_of(release, {digest, std::move(record), {}})) to.sets.push_back(sealed->digest);
  }
  if (to.sets.empty()) return {};
  for (auto& one : registry::empty_extras_of(view))
    if (brings(release, one)) to.empty_extras.push_back(std::move(one));
  for (const auto& one : registry::waived_of(view)) // also of moves further back than those that are looked at
    if (is_of(release, one.set)) waivers.insert(one.waiver);
  release.channels.push_back(std::move(to));
  return add_verdicts(store, channel->record, release, waivers);
}

} // namespace

Result<Shown> load_shown(store::ObjectReader& store, const std::string& word) {
  Shown release;
  TRY(release.digest, registry::find_release(store, word));
  TRY(release.record, registry::load_release(store, release.digest));
  TRY(release.sets, registry::load_all_sealed(store, release.record.sets));
  TRY(auto names, registry::list_channels(store));
  std::set<registry::WaiverDigest> waivers;
  for (const auto& name : names) TRY_DO(add_channel(store, name, release, waivers));
  TRY(auto revocations, registry::load_revocations(store));
  for (const auto& digest : waivers) {
    auto loaded = registry::load_waiver(store, digest);
    if (!loaded && loaded.error().kind != ErrorKind::not_found) return fail(std::move(loaded).error());
    ShownWaiver shown{digest, {}, {}};
    if (loaded) shown.record = std::move(*loaded);
    if (auto revoked = revocations.find(digest); revoked != revocations.end()) shown.revoked = revoked->second;
    release.waivers.push_back(std::move(shown));
  }
  return release;
}

} // namespace quarry::release
