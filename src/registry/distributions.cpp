#include "registry/distributions.hpp"

#include "base/codes.hpp"
#include "base/json.hpp"
#include "registry/fields.hpp"
#include "registry/history.hpp"
#include "registry/keys.hpp"
#include "registry/record_text.hpp"
#include "registry/revocations.hpp"
#include "store/put_once.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::registry {

namespace {

constexpr std::string_view k_pointer_name = "distribution.json";
constexpr const char* k_found_hint = "`quarry promote … --to-store` makes one; a prefix is named with its store: "
                                     "s3://BUCKET/v2/gfx94X-dcgpu";
constexpr std::uint64_t k_overtaken_by_max = 1024; // moves of others while one write was on its way

Result<DistributionView> load_view_of(ObjectReader& store, const std::string& directory,
                                      const DistributionViewDigest& digest) {
  auto key = distribution_view_key(directory, digest);
  TRY(auto bytes, store.get(key, k_record_bytes_max));
  if (!bytes) return fail(ErrorKind::not_found, "R010", fmt::format("{} holds no record {}", store.describe(), key));
  if (sha256(*bytes) != *digest.sha256())
    return fail(ErrorKind::corrupt, "R011", fmt::format("the record {} was altered", key),
                "restore it from a copy of the store");
  return parse_distribution_view({*bytes, key});
}

Result<DistributionViewDigest> put_view_of(ObjectStore& store, const DistributionView& view) {
  auto bytes = to_json(view);
  auto digest = sha256(bytes);
  DistributionViewDigest name(digest);
  TRY_DO(store::put_once(
      store, distribution_view_key(view.directory, name),
      {content::Rope::literal(std::move(bytes)), digest, "application/json", "public, max-age=31536000, immutable"}));
  return name;
}

store::PutOptions pointer_options(store::Precondition precondition) {
  store::PutOptions options;
  options.precondition = std::move(precondition);
  options.content_type = "application/json";
  options.cache_control = "public, max-age=60"; // as the pages: a mirror may lag behind by a minute
  return options;
}

/// Sets that are sealed in the directory and that the pointer does not name yet, by digest.
Result<void> add_sealed(ObjectReader& store, DistributionRecord& record) {
  auto place = record.directory + "/seals/";
  TRY(auto listed, store.children(place));
  for (const auto& object : listed.objects) {
    auto name = object.key.substr(place.size());
    if (!name.ends_with(k_json)) continue;
    auto digest = SetDigest::parse(name.substr(0, name.size() - k_json.size()));
    auto same = [&](const ShownSet& one) { return one.set == digest; };
    if (digest && std::none_of(record.shown.sets.begin(), record.shown.sets.end(), same))
      record.shown.sets.push_back({*digest, {}});
  }
  return {};
}

/// Whether the move to `next` happened: the pointer names its record, or later records lead back to it.
bool has_moved_to(ObjectReader& store, const DistributionRecord& now, const DistributionRecord& next) {
  if (now.generation < next.generation || now.generation - next.generation > k_overtaken_by_max) return false;
  auto digest = now.view;
  for (auto generation = now.generation; generation > next.generation && !digest.empty(); --generation) {
    auto later = load_view_of(store, now.directory, digest);
    if (!later) return false;
    digest = later->previous;
  }
  return digest == next.view;
}

/// A pointer of the first format has no record of its state; going back to it needs one.
Result<DistributionViewDigest> recorded_state(ObjectStore& store, const DistributionRecord& now,
                                              const DistributionMove& next) {
  if (!now.view.empty() || now.generation == 0) return now.view;
  DistributionView first{now.directory, now.generation, {}, now.shown, {}};
  first.move.action = Action::read("found"); // kept and shown as a word; never counts as a rollback
  first.move.when = next.when;
  TRY(first.move.history, history_digests(store, now.directory));
  return put_view_of(store, first);
}

} // namespace

std::string distribution_key(const std::string& directory) { return directory + "/" + std::string(k_pointer_name); }

std::string distribution_view_key(const std::string& directory, const DistributionViewDigest& digest) {
  return fmt::format("{}/views/{}{}", directory, digest.hex(), k_json);
}

Result<std::string> directory_of_distribution(ObjectReader& place) {
  std::string key(k_pointer_name);
  TRY(auto bytes, place.get(key, k_record_bytes_max));
  if (!bytes) return std::string();
  TRY(auto record, parse_distribution({*bytes, key}));
  return record.directory;
}

Result<std::optional<Distribution>> read_distribution(ObjectReader& store, const std::string& directory) {
  Distribution found;
  auto key = distribution_key(directory);
  TRY(auto bytes, store.get(key, k_record_bytes_max, &found.etag));
  if (!bytes) return std::optional<Distribution>();
  TRY(found.record, parse_distribution({*bytes, key}));
  if (found.record.directory != directory)
    return fail(ErrorKind::corrupt, "R012", fmt::format("{} is the pointer of {}", key, found.record.directory));
  found.named = found.record.shown.sets.size();
  if (found.record.view.empty() && found.record.generation == 1) TRY_DO(add_sealed(store, found.record));
  return std::optional(std::move(found));
}

Result<Distribution> require_distribution(ObjectReader& store, const std::string& directory) {
  TRY(auto found, read_distribution(store, directory));
  if (found) return std::move(*found);
  return fail(ErrorKind::not_found, "P120", fmt::format("{} holds no distribution {}", store.describe(), directory),
              k_found_hint);
}

Result<void> refuse_lost_pointer(ObjectReader& store, const std::string& directory) {
  auto below = directory + "/views/";
  TRY(auto objects, store.children(below));
  for (const auto& object : objects.objects) { // another tool's project may be called views
    std::string_view name(object.key);
    auto digits = name.substr(below.size(), name.size() - std::min(name.size(), below.size() + k_json.size()));
    auto digest = DistributionViewDigest::parse(std::string(digits));
    if (!digest || object.key != distribution_view_key(directory, *digest)) continue;
    return fail(ErrorKind::corrupt, "R010",
                fmt::format("{} is gone, and {} says that there was one", distribution_key(directory), object.key),
                "restore the pointer from a copy of the store, or an older version of the object");
  }
  return {};
}

Result<void> claim_distribution(ObjectStore& store, const std::string& directory) {
  auto key = distribution_key(directory);
  TRY(auto there, store.head(key));
  if (there) return {};
  TRY_DO(require_swappable(store, "distribution " + directory));
  TRY_DO(refuse_lost_pointer(store, directory)); // a new one would show again what was taken out, or hide what is shown
  DistributionRecord record;
  record.directory = directory;
  auto put = store.put(key, content::Rope::literal(to_json(record)), pointer_options(store::Precondition::if_absent()));
  if (put || put.error().is(codes::object_exists)) return {};
  return fail(std::move(put).error());
}

Result<DistributionRecord> move_distribution(ObjectStore& store, const Distribution& expected, const Shown& next,
                                             const DistributionMove& move, const BeforeSwap& before_swap) {
  const auto& now = expected.record;
  TRY_DO(require_swappable(store, "distribution " + now.directory));
  DistributionView view{now.directory, now.generation + 1, {}, next, move, now.fed_by};
  TRY(view.previous, recorded_state(store, now, move));
  DistributionRecord record{now.directory, now.generation + 1, {}, next, now.fed_by, now.unknown};
  TRY(record.view, put_view_of(store, view));
  if (before_swap) TRY_DO(before_swap(record.view));
  auto put = store.put(distribution_key(now.directory), content::Rope::literal(to_json(record)),
                       pointer_options(store::Precondition::if_match(expected.etag)));
  if (put) return record;
  auto error = std::move(put).error();
  if (error.kind != ErrorKind::outcome_unknown && error.kind != ErrorKind::precondition_failed)
    return fail(std::move(error));
  TRY(auto present, read_distribution(store, now.directory), "while looking whether the pointer was written");
  if (present && has_moved_to(store, present->record, record)) return record;
  bool unmoved = present && present->etag == expected.etag;
  if (unmoved && error.kind == ErrorKind::outcome_unknown) return fail(std::move(error)); // it may still arrive
  return fail(ErrorKind::precondition_failed, "R003",
              fmt::format("distribution {} moved while this was prepared", now.directory),
              "run the command again: it starts from the new state");
}

Result<std::vector<DistributionView>> distribution_moves(ObjectReader& store, const DistributionRecord& record,
                                                         std::size_t at_most) {
  std::vector<DistributionView> moves;
  auto digest = record.view;
  for (auto generation = record.generation; moves.size() < at_most && !digest.empty(); --generation) {
    TRY(auto view, load_view_of(store, record.directory, digest), "while reading the moves of " + record.directory);
    if (view.generation != generation || view.directory != record.directory)
      return fail(ErrorKind::corrupt, "R017",
                  fmt::format("the moves of {} are broken: {} does not fit the one after it", record.directory, digest),
                  "somebody changed the store by hand: compare it with a copy");
    digest = view.previous;
    moves.push_back(std::move(view));
  }
  return moves;
}

std::set<Sha256> yanked_there(const Shown& shown, const std::vector<DistributionView>& moves) {
  std::set<Sha256> out;
  for (const auto& file : shown.blocked) {
    auto by = std::ranges::find(moves, file.generation, &DistributionView::generation);
    if (by == moves.end() || by->move.action != Action::rollback) out.insert(file.sha256);
  }
  return out;
}

Result<std::vector<SealedSet>> sealed_of(ObjectReader& store, const Shown& shown) {
  std::vector<std::optional<SealedSet>> found(shown.sets.size());
  TRY_DO(parallel_for(found.size(), k_requests, [&](std::size_t i) -> Result<void> {
    auto sealed = load_sealed(store, shown.sets[i].set);
    if (!sealed && !is_gone(sealed.error())) return fail(std::move(sealed).error());
    if (sealed) found[i] = std::move(*sealed);
    return {};
  }));
  std::vector<SealedSet> sets;
  for (auto& one : found)
    if (one) sets.push_back(std::move(*one));
  return sets;
}

Result<Resolved> resolve_directory(ObjectReader& store, const std::string& directory) {
  TRY_DO(store::check_key(directory));
  TRY(auto distribution, read_distribution(store, directory));
  if (!distribution) return resolve_run(store, directory);
  TRY(auto sets, sealed_of(store, distribution->record.shown));
  if (sets.empty())
    return fail(ErrorKind::not_found, "R013", fmt::format("distribution {} shows no set", directory),
                "`quarry promote … --to-store` adds to it");
  TRY(auto files, union_of(sets));
  return Resolved{"run:" + directory, std::move(sets), std::move(files), {}, distribution->record.generation};
}

Result<void> note_revoked(ObjectReader& channels, Shown& shown) {
  std::set<WaiverDigest> asked;
  for (const auto& one : shown.sets)
    for (const auto& remark : one.remarks)
      if (!remark.waiver.empty()) asked.insert(remark.waiver);
  for (const auto& known : shown.revoked) asked.erase(known);
  if (asked.empty()) return {};
  TRY(auto revoked, list_revoked(channels));
  for (const auto& waiver : revoked)
    if (asked.contains(waiver)) shown.revoked.push_back(waiver);
  std::ranges::sort(shown.revoked);
  return {};
}

Result<std::vector<ShownSet>> revoked_since(ObjectReader& channels, const Shown& shown) {
  auto now = shown;
  TRY_DO(note_revoked(channels, now));
  auto is_new = [&](const Remark& remark) {
    return std::ranges::binary_search(now.revoked, remark.waiver) &&
           std::ranges::find(shown.revoked, remark.waiver) == shown.revoked.end();
  };
  std::erase_if(now.sets, [&](ShownSet& one) {
    std::erase_if(one.remarks, [&](const Remark& remark) { return !is_new(remark); });
    return one.remarks.empty();
  });
  return std::move(now.sets);
}

Result<void> refuse_blocked(const DistributionRecord& record, const std::vector<SealedSet>& sets,
                            const std::string& address) {
  return refuse_blocked(Blocking{"distribution " + record.directory, address, record.shown.blocked}, sets);
}

} // namespace quarry::registry
