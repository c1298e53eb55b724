#include "publish/adoption.hpp"

#include "publish/adopt_notes.hpp"
#include "publish/history.hpp"
#include "publish/shown.hpp"
#include "registry/distributions.hpp"
#include "registry/rounds.hpp"
#include <algorithm>
#include <map>
#include <utility>

namespace quarry::publish {

using registry::DistributionRecord;
using registry::DistributionView;
using registry::HistoryRecord;
using store::ObjectReader;
using store::ObjectStore;

namespace {

/// Which records the moves of a directory answer for.
class Answers {
public:
  Answers(std::vector<DistributionView> moves, const std::vector<StoredHistory>& records) : moves_(std::move(moves)) {
    for (const auto& move : moves_) named_.insert(move.move.history.begin(), move.move.history.end());
    for (const auto& one : records)
      if (!named_.contains(one.digest)) ++claims_[{one.record.time, one.record.who}];
  }

  bool has(const StoredHistory& one) const {
    if (named_.contains(one.digest)) return true;
    bool alone = claims_.at({one.record.time, one.record.who}) == 1;
    return std::ranges::any_of(moves_, [&](const DistributionView& move) {
      if (!move.move.history.empty()) return false;
      if (move.move.action == registry::Action::read("found")) return one.record.time <= move.move.when;
      return alone && move.move.when == one.record.time && move.move.who == one.record.who;
    });
  }

private:
  std::vector<DistributionView> moves_;
  std::set<registry::HistoryDigest> named_;
  std::map<std::pair<sys::Timestamp, std::string>, int> claims_;
};

Result<std::vector<StoredHistory>> without_move_since(ObjectReader& store, const std::string& directory,
                                                      const DistributionRecord* now) {
  TRY(auto records, registry::history_records(store, directory));
  std::ranges::stable_sort(records, {}, [](const StoredHistory& one) { return one.record.time; });
  if (records.empty() || !now || now->generation == 0) return records;
  if (now->view.empty()) return std::vector<StoredHistory>(); // an earlier version wrote no moves
  TRY(auto moves, registry::distribution_moves(store, *now, registry::k_all_distribution_moves));
  Answers answers(std::move(moves), records);
  std::erase_if(records, [&](const StoredHistory& one) { return answers.has(one); });
  return records;
}

void keep_confirmed(std::vector<StoredHistory>& records, const Completion& completion) {
  if (!completion.key) return;
  std::erase_if(records, [&](const StoredHistory& one) { return !completion.confirmed.contains(one.digest); });
}

/// Writes the move of the oldest record. Returns whether there was one. Another run may have written it, so all is read
/// again in each round.
Result<bool> record_next(ObjectStore& target, const std::string& directory, const Completion& completion) {
  TRY(auto now, registry::require_distribution(target, directory));
  TRY(auto records, without_move_since(target, directory, &now.record));
  keep_confirmed(records, completion);
  if (records.empty()) return false;
  if (completion.may) TRY_DO(completion.may(now.record));
  const auto& [digest, record] = records.front();
  registry::DistributionMove move{registry::Action::read("adopt"), {}, record.who, record.time, record.why};
  move.history.push_back(digest);
  TRY_DO(move_signed(target, now, now.record.shown, move, completion.key));
  return true;
}

} // namespace

Result<std::vector<StoredHistory>> without_move(ObjectReader& store, const std::string& directory) {
  TRY(auto now, registry::read_distribution(store, directory));
  return without_move_since(store, directory, now ? &now->record : nullptr);
}

Result<void> record_adoptions(ObjectStore& target, const std::string& directory, const Completion& completion) {
  TRY(auto records, without_move(target, directory));
  keep_confirmed(records, completion);
  if (records.empty()) return {};
  TRY_DO(registry::claim_distribution(target, directory));
  for (bool more = true; more;) {
    for (registry::Rounds rounds("distribution " + directory);;) {
      auto moved = record_next(target, directory, completion);
      if (moved) {
        more = *moved;
        break;
      }
      TRY_DO(rounds.another(std::move(moved).error()));
    }
  }
  return {};
}

Result<void> record_first_adoptions(ObjectStore& target, const std::string& directory) {
  TRY(auto there, registry::read_distribution(target, directory));
  if (there && there->record.generation > 0) return {};
  return record_adoptions(target, directory);
}

Result<Findings> complete_adoption(ObjectStore& store, const std::string& directory, const Completion& completion) {
  TRY_DO(record_adoptions(store, directory, completion));
  TRY(auto shown, registry::read_distribution(store, directory));
  if (!shown) return Findings();
  TRY(auto notes, show_directory(store, directory));
  TRY_DO(remove_adopt_notes(store, directory));
  return notes;
}

} // namespace quarry::publish
