#include "publish/adoption.hpp"

#include "publish/adopt_notes.hpp"
#include "publish/history.hpp"
#include "publish/shown.hpp"
#include "registry/distributions.hpp"
#include "registry/rounds.hpp"
#include "sys/path.hpp"
#include <algorithm>

namespace quarry::publish {

using registry::DistributionView;
using registry::HistoryRecord;
using store::ObjectReader;
using store::ObjectStore;

namespace {

constexpr std::size_t k_moves_max = 100'000;

Result<std::vector<HistoryRecord>> taken_over(ObjectReader& store, const std::string& directory) {
  std::vector<HistoryRecord> records;
  TRY(auto there, store.children(registry::history_prefix(directory)));
  for (const auto& object : there.objects) {
    auto name = path::basename(object.key);
    if (!name.ends_with(".json") || !registry::HistoryDigest::parse(name.substr(0, name.size() - 5))) continue;
    TRY(auto record, registry::read_history(store, object.key));
    records.push_back(std::move(record));
  }
  std::ranges::stable_sort(records, {}, &HistoryRecord::time);
  return records;
}

bool answers_for(const DistributionView& move, const HistoryRecord& record) {
  if (move.move.action == registry::Action::read("found")) return record.time <= move.move.when;
  return move.move.when == record.time && move.move.who == record.who;
}

Result<void> record_adoption(ObjectStore& target, const HistoryRecord& record,
                             const std::optional<Ed25519PrivateKey>& key) {
  registry::DistributionMove adopted{registry::Action::read("adopt"), {}, record.who, record.time, record.why};
  for (registry::Rounds rounds("distribution " + record.directory);;) {
    TRY(auto now, registry::require_distribution(target, record.directory));
    auto moved = move_signed(target, now, now.record.shown, adopted, key);
    if (moved) return {};
    TRY_DO(rounds.another(std::move(moved).error()));
  }
}

} // namespace

Result<std::vector<HistoryRecord>> without_move(ObjectReader& store, const std::string& directory) {
  TRY(auto records, taken_over(store, directory));
  if (records.empty()) return records;
  TRY(auto now, registry::read_distribution(store, directory));
  if (!now || now->record.generation == 0) return records;
  if (now->record.view.empty()) return std::vector<HistoryRecord>(); // an earlier version wrote no moves
  TRY(auto moves, registry::distribution_moves(store, now->record, k_moves_max));
  std::erase_if(records, [&](const HistoryRecord& record) {
    return std::ranges::any_of(moves, [&](const DistributionView& move) { return answers_for(move, record); });
  });
  return records;
}

Result<void> record_adoptions(ObjectStore& target, const std::string& directory,
                              const std::optional<Ed25519PrivateKey>& key) {
  TRY(auto records, without_move(target, directory));
  if (records.empty()) return {};
  TRY_DO(registry::claim_distribution(target, directory));
  for (const auto& record : records) TRY_DO(record_adoption(target, record, key));
  return {};
}

Result<void> record_first_adoptions(ObjectStore& target, const std::string& directory) {
  TRY(auto there, registry::read_distribution(target, directory));
  if (there && there->record.generation > 0) return {};
  return record_adoptions(target, directory);
}

Result<Findings> complete_adoption(ObjectStore& store, const std::string& directory,
                                   const std::optional<Ed25519PrivateKey>& key) {
  TRY_DO(record_adoptions(store, directory, key));
  TRY(auto shown, registry::read_distribution(store, directory));
  if (!shown) return Findings();
  TRY(auto notes, show_directory(store, directory));
  TRY_DO(remove_adopt_notes(store, directory));
  return notes;
}

} // namespace quarry::publish
