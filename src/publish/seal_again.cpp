#include "publish/seal_again.hpp"

#include "publish/shown.hpp"
#include "registry/distributions.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>

namespace quarry::publish {

using registry::SealedSet;
using registry::ShownSet;
using store::ObjectReader;
using store::ObjectStore;

namespace {

bool shows(const registry::Shown& shown, const SealedSet& set) {
  return std::ranges::find(shown.sets, set.digest, &ShownSet::set) != shown.sets.end();
}

/// The newest generation that showed one of the sets; 0: none.
Result<std::uint64_t> last_shown_at(ObjectReader& store, const registry::DistributionRecord& record,
                                    const std::vector<SealedSet>& sets) {
  TRY(auto moves, registry::distribution_moves(store, record, registry::k_all_distribution_moves));
  for (const auto& move : moves)
    if (std::ranges::any_of(sets, [&](const SealedSet& set) { return shows(move.shown, set); })) return move.generation;
  return std::uint64_t{0};
}

} // namespace

Result<std::vector<SealedSet>> sealed_but_not_shown(ObjectReader& store, const std::string& directory) {
  std::vector<SealedSet> hidden;
  TRY(auto now, registry::read_distribution(store, directory));
  if (!now) return hidden;
  TRY(auto objects, store.list(directory + "/"));
  std::map<std::string_view, std::uint64_t> sizes;
  for (const auto& object : objects) sizes.emplace(object.key, object.size);
  auto lies_there = [&](const registry::FileRecord& file) {
    auto at = sizes.find(file.key);
    return at != sizes.end() && at->second == file.size;
  };
  TRY(auto sets, registry::sealed_sets_below(store, directory));
  for (auto& one : sets) {
    bool sealed_here = one.set.directory == directory && one.set.origin.run_id.empty(); // a promotion copies a run's
    if (sealed_here && !shows(now->record.shown, one) && std::ranges::all_of(one.set.files, lies_there))
      hidden.push_back(std::move(one));
  }
  return hidden;
}

Result<void> refuse_blocked_seals(ObjectReader& store, const std::string& directory,
                                  const std::vector<SealedSet>& sets) {
  TRY(auto now, registry::require_distribution(store, directory));
  auto address = address_of(store, directory);
  auto free = registry::refuse_blocked(now.record, sets, address);
  if (free || free.error().kind != ErrorKind::held) return free;
  auto error = std::move(free).error();
  TRY(auto generation, last_shown_at(store, now.record, sets));
  std::string words;
  for (const auto& set : sets) words += fmt::format(" set:{}", set.digest.short_hex());
  error.hint = fmt::format("the files are sealed already; if they are good after all: `quarry channel unblock {}{} "
                           "--reason TEXT`, then seal again",
                           address, words);
  if (generation != 0)
    error.hint +=
        fmt::format("; or `quarry rollback {} --to {}`, which shows all of that generation", address, generation);
  return fail(std::move(error));
}

Result<Findings> show_sealed(ObjectStore& store, const std::string& directory, const std::vector<SealedSet>& sets,
                             const Sealing& sealing) {
  std::vector<ShownSet> shown;
  for (const auto& set : sets) shown.push_back({set.digest, {}});
  registry::DistributionMove move{registry::Action::read("adopt"), {}, sealing.who, sealing.now, sealing.why};
  TRY_DO(show_sets(store, directory, shown, move, {.key = sealing.completion.key}));
  return complete_adoption(store, directory, sealing.completion);
}

} // namespace quarry::publish
