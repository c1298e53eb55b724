#include "release/shown.hpp"

#include "base/json.hpp"
#include "registry/waived.hpp"
#include <algorithm>
#include <nlohmann/json.hpp>
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

std::string text_at(const Json& object, const char* key) {
  auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool is_of(const Shown& release, const std::string& set) {
  return std::any_of(release.sets.begin(), release.sets.end(),
                     [&](const registry::SealedSet& sealed) { return sealed.digest.hex() == set; });
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
void add_cells(const Json& verdict, const std::string& channel, Shown& release,
               std::set<registry::WaiverDigest>& waivers) {
  auto cells = verdict.find("cells");
  if (cells == verdict.end() || !cells->is_array()) return;
  auto of_it = [&](const Json& cell) { return is_of(release, text_at(cell, "set")); };
  if (std::none_of(cells->begin(), cells->end(), of_it)) return; // a cell that names no set is of another release
  for (const auto& cell : *cells) {
    auto where = cell.find("cell");
    if (where == cell.end() || !where->is_object() || text_at(cell, "verdict") != "ready") continue;
    auto set = text_at(cell, "set");
    if (!set.empty() && !is_of(release, set)) continue;
    auto waived = cell.find("waived");
    release.cells.push_back({channel, text_at(*where, "platform"), text_at(*where, "family"), text_at(*where, "python"),
                             text_at(*where, "framework"),
                             waived != cell.end() && waived->is_boolean() && waived->get<bool>()});
    if (auto by = cell.find("waivers"); by != cell.end() && by->is_array())
      for (const auto& waiver : *by)
        if (auto digest = registry::WaiverDigest::parse(waiver.is_string() ? waiver.get<std::string>() : ""))
          waivers.insert(*digest);
  }
}

/// The verdicts by which sets of the release came into a channel.
Result<void> add_verdicts(store::ObjectReader& store, const registry::ChannelRecord& channel, Shown& release,
                          std::set<registry::WaiverDigest>& waivers) {
  auto digest = channel.ledger;
  for (std::size_t i = 0; i < k_verdicts_looked_at && !digest.empty(); ++i) {
    TRY(auto entry, registry::load_ledger(store, digest), "while reading the ledger of channel " + channel.name);
    digest = entry.previous;
    if (entry.verdict.empty() || entry.action != registry::Action::promote) continue;
    auto verdict = registry::load_verdict(store, entry.verdict);
    if (!verdict) continue; // older programs named verdicts that they did not store
    TRY(auto document, json::parse({verdict->json, "a verdict"}));
    add_cells(document, channel.name, release, waivers);
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
    if (is_of(release, one.set.hex())) waivers.insert(one.waiver);
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
