#include "promote/waived.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace quarry::promote {

namespace {

/// The projects of what moves for a cell, by judged set: of the cell's set, or of several parts of it. A cell that no
/// set brings was waived for everything that moves.
std::map<registry::SetDigest, std::set<std::string>> moving_projects(const Plan& plan, const gate::CellVerdict& cell) {
  std::map<registry::SetDigest, std::set<std::string>> projects;
  for (const auto& sealed : plan.sets) {
    const auto& whole = sealed.set.subset_of;
    bool is_of_cell = cell.set.empty() || sealed.digest == cell.set || whole == cell.set;
    if (!is_of_cell) continue;
    auto judged = !cell.set.empty() ? cell.set : whole.empty() ? sealed.digest : whole;
    for (const auto& file : sealed.set.files)
      if (cell.set.empty() || std::ranges::binary_search(cell.files, file.filename))
        projects[judged].insert(file.project);
  }
  return projects;
}

void add_words(const std::set<std::string>& words, std::vector<std::string>& to) {
  std::set<std::string> all(to.begin(), to.end());
  all.insert(words.begin(), words.end());
  to.assign(all.begin(), all.end());
}

/// The entry of the list for this set and waiver: one that is there if a part of the set came by the waiver before.
registry::Waived& entry_of(const registry::SetDigest& set, const registry::Stored<registry::WaiverRecord>& waiver,
                           std::vector<registry::Waived>& list) {
  auto known = std::ranges::find_if(
      list, [&](const registry::Waived& one) { return one.set == set && one.waiver == waiver.digest; });
  if (known != list.end()) return *known;
  const auto& record = waiver.record;
  list.push_back({set, waiver.digest, record.suite, record.approver, record.reason, record.expires.text()});
  return list.back();
}

} // namespace

void note_waived(const std::vector<registry::Stored<registry::WaiverRecord>>& waivers, Plan& plan) {
  auto list = registry::waived_of(plan.view.record);
  bool changed = false;
  for (const auto& cell : plan.judgement.verdict.cells) {
    if (cell.verdict != gate::Decision::ready || cell.waivers.empty()) continue;
    auto words = registry::words_of(cell.cell);
    for (const auto& [set, projects] : moving_projects(plan, cell))
      for (const auto& waiver : waivers) {
        if (!std::ranges::binary_search(cell.waivers, waiver.digest)) continue;
        auto& one = entry_of(set, waiver, list);
        if (!words.empty()) add_words({words}, one.cells);
        add_words(projects, one.projects);
        changed = true;
      }
  }
  if (changed) registry::set_waived(plan.view.record, std::move(list));
}

} // namespace quarry::promote
