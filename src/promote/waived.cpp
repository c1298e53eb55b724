#include "promote/waived.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace quarry::promote {

namespace {

/// What a waiver did for a set.
struct WaivedCells {
  std::set<std::string> cells, projects;
};

const registry::SealedSet* moving_of(const Plan& plan, const registry::SetDigest& judged) {
  auto found = std::ranges::find_if(plan.sets, [&](const registry::SealedSet& sealed) {
    return sealed.digest == judged || sealed.set.subset_of == judged;
  });
  return found == plan.sets.end() ? nullptr : &*found;
}

} // namespace

void note_waived(const std::vector<registry::Stored<registry::WaiverRecord>>& waivers, Plan& plan) {
  std::map<std::pair<registry::SetDigest, registry::WaiverDigest>, WaivedCells> by_waiver;
  for (const auto& cell : plan.judgement.verdict.cells) {
    if (cell.verdict != gate::Decision::ready || cell.waivers.empty() || cell.set.empty()) continue;
    const auto* moving = moving_of(plan, cell.set);
    if (!moving) continue;
    for (const auto& waiver : cell.waivers) {
      auto& did = by_waiver[{cell.set, waiver}];
      if (auto words = registry::words_of(cell.cell); !words.empty()) did.cells.insert(std::move(words));
      for (const auto& file : moving->set.files)
        if (std::ranges::binary_search(cell.files, file.filename)) did.projects.insert(file.project);
    }
  }
  if (by_waiver.empty()) return;
  auto list = registry::waived_of(plan.view.record);
  for (const auto& [key, did] : by_waiver) {
    auto known = std::ranges::find(waivers, key.second, &registry::Stored<registry::WaiverRecord>::digest);
    if (known == waivers.end()) continue;
    const auto& record = known->record;
    list.push_back({key.first,
                    key.second,
                    record.suite,
                    record.approver,
                    record.reason,
                    record.expires.text(),
                    {did.cells.begin(), did.cells.end()},
                    {did.projects.begin(), did.projects.end()}});
  }
  registry::set_waived(plan.view.record, std::move(list));
}

} // namespace quarry::promote
