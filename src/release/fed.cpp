#include "release/fed.hpp"

#include "pages/projection.hpp"
#include "promote/fed_moves.hpp"
#include "promote/verify_fed.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::release {

using registry::SetDigest;

namespace {

/// The sets that these channels show; nullopt if one of them is in another store.
Result<std::optional<std::set<SetDigest>>> shown_by(store::ObjectReader& source,
                                                    const std::set<std::string>& channels) {
  std::set<SetDigest> sets;
  for (const auto& name : channels) {
    TRY(auto channel, registry::read_channel(source, name));
    if (!channel) return std::optional<std::set<SetDigest>>();
    TRY(auto view, registry::load_view(source, channel->record.view), "while reading channel " + name);
    sets.insert(view.sets.begin(), view.sets.end());
  }
  return std::optional(std::move(sets));
}

bool blocks(const registry::DistributionRecord& now, const registry::SetRecord& set) {
  return std::ranges::any_of(set.files, [&](const registry::FileRecord& file) {
    return std::ranges::find(now.shown.blocked, file.sha256, &registry::BlockedFile::sha256) != now.shown.blocked.end();
  });
}

/// Sets of the channels that the distribution shows no copy of, each once, and which of them it blocks.
void add_lacking_sets(const registry::DistributionRecord& now, const Feeding& feeding, FedDistribution& found) {
  std::set<SetDigest> shown, named;
  for (const auto& one : now.shown.sets) shown.insert(one.set);
  for (const auto& [channel, copies] : feeding.sets)
    for (const auto& copy : copies) {
      if (shown.contains(copy.digest) || !named.insert(copy.source).second) continue;
      found.lacks.push_back(copy.source);
      if (blocks(now, copy.set)) found.blocked.push_back(copy.source);
    }
}

constexpr std::size_t k_moves_verified = 64; // the newest, as of a channel; `channel verify` looks at all

/// What is wrong with the newest moves. Moves that cannot be read are told, too: they must not hide the rest.
Result<Findings> bad_moves(store::ObjectReader& target, const registry::DistributionRecord& now,
                           store::ObjectReader* source) {
  auto verified = promote::verify_moves_there(target, now, source, k_moves_verified);
  if (!verified && !registry::is_lost(verified.error())) return fail(std::move(verified).error());
  if (!verified) {
    const auto& error = verified.error();
    return Findings{
        {error.code, Severity::error, registry::distribution_key(now.directory), error.message, error.hint}};
  }
  auto found = std::move(verified->findings);
  std::erase_if(found, [](const Finding& one) { return one.severity != Severity::error; });
  return found;
}

} // namespace

Result<std::optional<std::vector<SetDigest>>> strays_of(store::ObjectReader& source,
                                                        const registry::DistributionRecord& distribution,
                                                        const std::set<std::string>& channels) {
  TRY(auto shown, shown_by(source, channels));
  if (!shown) return std::optional<std::vector<SetDigest>>();
  std::vector<SetDigest> strays;
  for (const auto& one : distribution.shown.sets)
    if (!one.source.empty() && !shown->contains(one.source)) strays.push_back(one.source);
  return std::optional(std::move(strays));
}

void add_feeding(Feedings& feedings, const Given& given, const std::string& prefix) {
  for (const auto& set : given.sets)
    if (auto planned = publish::plan_distribution({set}, prefix)) {
      auto& copy = planned->front();
      feedings[copy.set.directory].sets[given.channel].push_back(std::move(copy));
    }
  for (const auto& set : given.taken_back)
    if (auto planned = publish::plan_distribution({set}, prefix)) {
      auto& feeding = feedings[planned->front().set.directory];
      feeding.sets.try_emplace(given.channel); // it may show nothing now
      feeding.taken_back[set.digest] = given.channel;
    }
}

Result<FedDistribution> look_at_distribution(store::ObjectReader& source, store::ObjectReader& target,
                                             const std::string& directory, const Feeding& feeding) {
  FedDistribution found;
  found.directory = directory;
  std::set<std::string> channels;
  for (const auto& [channel, sets] : feeding.sets) channels.insert(channel);
  auto read = registry::read_distribution(target, directory);
  if (!read && !registry::is_lost(read.error())) return fail(std::move(read).error());
  if (!read) found.lost = std::move(read).error();
  if (read && !*read) {
    auto whole = registry::refuse_lost_pointer(target, directory);
    if (!whole && whole.error().kind != ErrorKind::corrupt) return fail(std::move(whole).error());
    if (!whole) found.lost = std::move(whole).error();
  }
  registry::DistributionRecord now;
  if (read && *read) now = std::move((*read)->record);
  for (const auto& feeder : now.fed_by) channels.insert(feeder.channel);
  found.channels = {channels.begin(), channels.end()};
  found.sets = now.shown.sets.size();
  if (found.lost) return found;
  add_lacking_sets(now, feeding, found);
  if (!*read) return found;
  found.generation = now.generation;
  TRY(auto pages, pages::projected_distribution(target, directory));
  found.pages_current = pages >= now.generation;
  TRY(found.revoked, registry::revoked_since(source, now.shown));
  bool is_fed = !now.fed_by.empty();
  std::optional<std::vector<SetDigest>> strays;
  if (is_fed || feeding.all_channels) {
    TRY(strays, strays_of(source, now, channels));
  }
  // Ledgers of another store prove nothing about this one's channels.
  TRY(found.moves, bad_moves(target, now, is_fed && !strays ? nullptr : &source));
  if (is_fed && strays) found.other_policy = promote::with_another_policy_by_now(source, now);
  if (strays) found.strays = std::move(*strays);
  found.wants_signatures = !found.strays.empty() && promote::wants_signed_moves_there(target, now);
  return found;
}

} // namespace quarry::release
