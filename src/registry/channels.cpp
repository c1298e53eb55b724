#include "registry/registry.hpp"

#include "base/codes.hpp"
#include "base/text.hpp"
#include "registry/keys.hpp"
#include "store/denied.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::registry {

namespace {

constexpr std::size_t k_channel_name_max = 64;
constexpr std::size_t k_moves_max = 1'000'000;  // a move a minute for two years; a longer chain must be a loop
constexpr std::uint64_t k_overtaken_max = 1024; // moves of others while one write was on its way
constexpr std::size_t k_blocked_shown = 3;
constexpr std::string_view k_channels = "channels/";

Unexpected broken(const std::string& channel, const std::string& why) {
  return fail(ErrorKind::corrupt, "R017", fmt::format("the ledger of channel {} is broken: {}", channel, why),
              "somebody changed the store by hand: compare it with a copy before anything is promoted");
}

// Whether the move to `next` happened: the channel names its ledger entry, or later entries lead back to it. Returns
// false if an entry on the way cannot be read.
bool was_done(ObjectReader& store, const std::optional<Channel>& now, const ChannelRecord& next) {
  if (!now || now->record.generation < next.generation) return false;
  if (now->record.generation - next.generation > k_overtaken_max) return false;
  auto digest = now->record.ledger;
  for (auto generation = now->record.generation; generation > next.generation; --generation) {
    auto later = load_ledger(store, digest);
    if (!later) return false;
    digest = later->previous;
  }
  return digest == next.ledger;
}

} // namespace

std::string channel_directory(const std::string& name) { return std::string(k_channels) + name; }
std::string channel_key(const std::string& name) { return channel_directory(name) + std::string(k_json); }

Result<void> check_channel_name(const std::string& name) {
  constexpr std::string_view k_first = "abcdefghijklmnopqrstuvwxyz0123456789",
                             k_rest = "abcdefghijklmnopqrstuvwxyz0123456789._-";
  bool good = !name.empty() && name.size() <= k_channel_name_max &&
              k_first.find(name.front()) != std::string_view::npos &&
              name.find_first_not_of(k_rest) == std::string::npos && !name.ends_with(k_json);
  if (good) return {};
  return fail(
      ErrorKind::invalid_argument, "R016", fmt::format("`{}` cannot be the name of a channel", name.substr(0, 80)),
      "use lower-case letters, digits, `.`, `_` and `-`, a letter or digit first and not `.json` at the end: `stable`, "
      "`nightly`, `rocm-7.2`");
}

namespace {
Unexpected unreadable(Error error, const std::string& name) {
  if (!error.is(codes::other_schema)) // the parser's hints are about files that people write
    error.hint = fmt::format("nothing was changed; restore {} from a copy of the store", channel_key(name));
  return fail(std::move(error));
}

/// Reads the channel into `known`, unless that is what the store still holds. Returns false if it does not exist.
Result<bool> read_into(ObjectReader& store, const std::string& name, Channel& known) {
  TRY_DO(check_channel_name(name));
  std::string etag;
  TRY(auto bytes, store.get(channel_key(name), k_record_bytes_max, &etag));
  if (!bytes) return false;
  // An ETag never returns, because the generation grows with every move.
  bool same = !etag.empty() && known.etag == etag;
  if (same && known.record.name == name) return true;
  auto parsed = parse_channel({*bytes, channel_key(name)});
  if (!parsed) return unreadable(std::move(parsed).error(), name);
  auto record = *std::move(parsed);
  if (record.name != name)
    return fail(ErrorKind::corrupt, "R012",
                fmt::format("{} is the record of channel {}", channel_key(name), record.name));
  known = {std::move(record), std::move(etag)};
  return true;
}
} // namespace

Result<std::optional<Channel>> read_channel(ObjectReader& store, const std::string& name) {
  Channel channel;
  TRY(bool exists, read_into(store, name, channel));
  return exists ? std::optional(std::move(channel)) : std::nullopt;
}

Result<Channel> require_channel(ObjectReader& store, const std::string& name) {
  Channel channel;
  TRY_DO(update_channel(store, name, channel));
  return channel;
}

Result<void> update_channel(ObjectReader& store, const std::string& name, Channel& known) {
  TRY(bool exists, read_into(store, name, known));
  if (exists) return {};
  // Who may not look at the pages of a channel is told that it does not exist, as the record's answer says.
  if (auto lost = refuse_lost(store, name); !lost && !store::is_denied(lost.error())) return lost;
  auto names = list_channels(store); // only for the hint: a web server, for one, cannot be listed
  auto others = !names           ? "`quarry channel list` with the store itself shows what it holds"
                : names->empty() ? "it holds no channel yet; `quarry publish DIR --channel NAME` makes one"
                                 : "it holds: " + text::join(*names, ", ");
  return fail(ErrorKind::not_found, "R015", fmt::format("{} has no channel {}", store.describe(), name), others);
}

Result<void> require_swappable(ObjectStore& store, const std::string& what) {
  TRY(bool swappable, store.conditional_writes());
  if (swappable) return {};
  return fail(ErrorKind::unsupported, "R031",
              fmt::format("{} cannot be kept in {}: it ignores conditional writes, so one job could overwrite "
                          "what another wrote",
                          what, store.describe()),
              "use a store that honours If-Match; a run may be published there without --channel, since its directory "
              "has one writer");
}

Result<Channel> swap_channel(ObjectStore& store, const std::optional<Channel>& expected, ChannelRecord next) {
  TRY_DO(require_swappable(store, "channel " + next.name));
  auto bytes = to_json(next);
  store::PutOptions options;
  options.precondition = expected ? store::Precondition::if_match(expected->etag) : store::Precondition::if_absent();
  options.content_type = "application/json";
  options.cache_control = "no-cache";
  auto put = store.put(channel_key(next.name), content::Rope::literal(bytes), options);
  if (put) return Channel{std::move(next), std::move(put->etag)};
  auto error = std::move(put).error();
  bool look = error.kind == ErrorKind::outcome_unknown || error.kind == ErrorKind::precondition_failed ||
              error.is(codes::object_exists);
  if (!look) return fail(std::move(error));
  TRY(auto now, read_channel(store, next.name), "while looking whether channel " + next.name + " was written");
  if (was_done(store, now, next)) {
    bool still = now->record.generation == next.generation;
    return Channel{std::move(next), still ? std::move(now->etag) : std::string()};
  }
  bool unmoved = now ? expected && now->etag == expected->etag : !expected;
  if (unmoved && error.kind == ErrorKind::outcome_unknown) return fail(std::move(error)); // the write may still arrive
  return fail(ErrorKind::precondition_failed, "R003",
              fmt::format("channel {} moved while this was prepared", next.name),
              "run the command again: it starts from the new state");
}

Result<void> refuse_blocked(const Blocking& blocking, const std::vector<SealedSet>& sets) {
  const auto& blocked = blocking.files;
  std::vector<std::string> details;
  for (const auto& sealed : sets)
    for (const auto& file : sealed.set.files) {
      auto at = std::lower_bound(blocked.begin(), blocked.end(), file.sha256,
                                 [](const BlockedFile& b, const Sha256& sha) { return b.sha256 < sha; });
      if (at == blocked.end() || at->sha256 != file.sha256) continue;
      details.push_back(fmt::format("set:{}  {}  taken out by generation {}{}", sealed.digest.short_hex(),
                                    file.filename, at->generation, at->reason.empty() ? "" : ": " + at->reason));
    }
  if (details.empty()) return {};
  auto count = details.size();
  details = text::first_lines(std::move(details), k_blocked_shown);
  return fail(
      Error::of(ErrorKind::held, "R022",
                fmt::format("{} blocks {} of these files: a rollback or a yank took them out", blocking.what, count))
          .with_details(std::move(details))
          .with_hint(fmt::format("publish a repaired version; if they are good after all: `quarry channel "
                                 "unblock {} SET-OR-FILE --reason TEXT`",
                                 blocking.operand)));
}

Result<void> refuse_blocked(const ChannelRecord& channel, const std::vector<SealedSet>& sets) {
  return refuse_blocked(Blocking{"channel " + channel.name, channel.name, channel.guard.blocked}, sets);
}

Result<ChannelNames> channel_names(ObjectReader& store) {
  TRY(auto found, store.children(std::string(k_channels))); // not their pages, which are many
  ChannelNames channels;
  for (const auto& object : found.objects) {
    auto name = object.key.substr(k_channels.size());
    if (name.ends_with(k_json)) channels.names.push_back(name.substr(0, name.size() - k_json.size()));
  }
  for (const auto& directory : found.directories) {
    auto name = directory.substr(k_channels.size(), directory.size() - k_channels.size() - 1);
    if (std::ranges::find(channels.names, name) == channels.names.end()) channels.without_record.push_back(name);
  }
  return channels;
}

Result<std::vector<std::string>> list_channels(ObjectReader& store) {
  TRY(auto channels, channel_names(store));
  return std::move(channels.names);
}

// Pages before record: a writer makes the record first, so it is there unless it was lost.
Result<void> refuse_lost(ObjectReader& store, const std::string& name) {
  TRY(auto pages, store.head(channel_directory(name) + "/pages.json"));
  if (!pages) return {};
  TRY(auto record, store.head(channel_key(name)));
  if (record) return {};
  return fail(ErrorKind::corrupt, "R026",
              fmt::format("the record {} is gone, and channel {} has pages", channel_key(name), name),
              fmt::format("nothing was changed; restore the record from a copy; only if nobody installs from the "
                          "channel any more, remove {}/",
                          channel_directory(name)));
}

Result<Resolved> resolve_channel(ObjectReader& store, const std::string& name) {
  TRY(auto channel, require_channel(store, name));
  TRY(auto view, load_whole_view(store, channel.record.view), "while reading channel " + name);
  Resolved resolved{"channel:" + name, {}, files_of(view), view.digest, channel.record.generation};
  TRY(resolved.sets, load_all_sealed(store, view.record.sets), "while reading channel " + name);
  return resolved;
}

bool begins_anew(const LedgerRecord& move) {
  return move.action == Action::protect && move.previous.empty() && !move.acknowledges.empty();
}

Result<std::vector<Stored<LedgerRecord>>> ledger_chain(ObjectReader& store, const ChannelRecord& channel,
                                                       std::size_t newest) {
  std::vector<Stored<LedgerRecord>> chain;
  auto digest = channel.ledger;
  auto view = channel.view;
  auto generation = channel.generation;
  while (!digest.empty()) {
    if (chain.size() >= newest) return chain;
    if (chain.size() >= k_moves_max) return broken(channel.name, "it has no end");
    TRY(auto entry, load_ledger(store, digest), "while reading the ledger of channel " + channel.name);
    if (entry.channel != channel.name)
      return broken(channel.name, digest.hex() + " is a move of channel " + entry.channel);
    if (entry.generation != generation)
      return broken(channel.name,
                    fmt::format("{} made generation {}, expected {}", digest, entry.generation, generation));
    if (entry.to_view != view) return broken(channel.name, digest.hex() + " does not lead to the view that follows it");
    view = entry.from_view;
    --generation;
    auto previous = entry.previous;
    chain.push_back({digest, std::move(entry)});
    digest = previous;
  }
  bool anew = !chain.empty() && begins_anew(chain.back().record);
  if (!view.empty() || (generation != 0 && !anew)) return broken(channel.name, "its first move is missing");
  return chain;
}

bool keeps_view_of(const ChannelRecord& channel, const LedgerRecord& move) {
  return move.generation >= channel.guard.keeps_from || move.action == Action::protect ||
         move.to_view == channel.view || move.to_view == channel.previous;
}

Result<void> refuse_pruned(const ChannelRecord& channel, const std::vector<Stored<LedgerRecord>>& moves,
                           std::uint64_t generation) {
  auto at =
      std::find_if(moves.begin(), moves.end(), [&](const auto& move) { return move.record.generation == generation; });
  if (at == moves.end() || keeps_view_of(channel, at->record)) return {};
  auto pruned =
      std::find_if(moves.begin(), moves.end(), [](const auto& move) { return move.record.action == Action::prune; });
  auto when = pruned == moves.end() ? std::string("an unknown time") : pruned->record.when.text();
  return fail(
      ErrorKind::not_found, "O047",
      fmt::format("what channel {} showed at generation {} is not kept: its history was pruned at {} to what it "
                  "showed from generation {} on",
                  channel.name, generation, when, channel.guard.keeps_from),
      fmt::format("`quarry channel log {}` shows its moves; promote the sets of that time again", channel.name));
}

} // namespace quarry::registry
