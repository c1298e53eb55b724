#include "closure/resolve.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

namespace quarry::closure {

namespace {

/// Projects whose choices stand in each other's way; "" stands for the question itself.
using Conflict = std::set<std::string>;
using Outcome = std::optional<Conflict>; ///< nothing: it went well

struct Node { ///< what is asked of one project so far, and what was chosen
  std::vector<Demand> demands;
  std::set<std::string> extras;
  const Edition* chosen = nullptr;
  bool in_set = false;
};

bool asks_for_prereleases(const Node& node) {
  return std::ranges::any_of(node.demands,
                             [](const Demand& each) { return each.requirement.specifiers.name_prereleases(); });
}

bool allows(const std::vector<Demand>& demands, const Edition& edition) {
  return std::ranges::all_of(
      demands, [&](const Demand& each) { return each.requirement.specifiers.contains(edition.version, true); });
}

bool pins(const Demand& demand) { return demand.requirement.specifiers.pin(); }

bool is_stable(const Edition& edition) { return !edition.yanked && !edition.version.is_prerelease(); }

/// Newest first; then pre-releases, unless somebody names one; then yanked versions. Those behind count only if later
/// demands call for them (is_called_for).
std::vector<const Edition*> choices_of(const Project& project, const Node& node) {
  std::vector<const Edition*> choices;
  for (const auto& edition : project.editions)
    if (allows(node.demands, edition)) choices.push_back(&edition);
  auto first = [](auto begin, auto end, auto holds) { return std::stable_partition(begin, end, holds); };
  auto yanked = first(choices.begin(), choices.end(), [](const Edition* each) { return !each->yanked; });
  if (!asks_for_prereleases(node))
    first(choices.begin(), yanked, [](const Edition* each) { return !each->version.is_prerelease(); });
  return choices;
}

/// Once all demands are known: a yanked version needs a pin, a pre-release needs to be named, or no stable version
/// fits.
bool is_called_for(const Project& project, const Node& node) {
  const auto& chosen = *node.chosen;
  if (chosen.yanked) return std::ranges::any_of(node.demands, pins);
  if (!chosen.version.is_prerelease() || asks_for_prereleases(node)) return true;
  return std::ranges::none_of(project.editions,
                              [&](const Edition& each) { return is_stable(each) && allows(node.demands, each); });
}

/// Versions and demands so far, with what it takes to go back.
class Board {
public:
  Node& node(const std::string& name) { return nodes_[name]; }
  void ask(Node& node, const Demand& demand) {
    node.demands.push_back(demand);
    changes_.push_back({&node, {}, false});
  }
  /// Whether the extra is new.
  bool ask_extra(Node& node, const std::string& extra) {
    if (!node.extras.insert(extra).second) return false;
    changes_.push_back({&node, extra, false});
    return true;
  }
  void choose(Node& node, const Edition& edition) {
    node.chosen = &edition;
    changes_.push_back({&node, {}, true});
  }
  std::size_t mark() const { return changes_.size(); }
  void take_back(std::size_t mark) {
    for (; changes_.size() > mark; changes_.pop_back()) {
      auto& change = changes_.back();
      if (change.choice)
        change.node->chosen = nullptr;
      else if (change.extra.empty())
        change.node->demands.pop_back();
      else
        change.node->extras.erase(change.extra);
    }
  }
  /// Who has a part in a demand: the project that makes it and, if it makes it with an extra, who asked for the extra.
  void add_askers(const Demand& demand, Conflict& askers) const {
    SeenAskers seen;
    add_askers(demand, askers, seen);
  }
  Conflict askers_of(const Node& node) const {
    Conflict askers;
    SeenAskers seen; // of all demands: thousands may come from one project
    for (const auto& demand : node.demands) add_askers(demand, askers, seen);
    return askers;
  }
  const std::map<std::string, Node>& nodes() const { return nodes_; }
  /// What to choose next. Projects of the set come first: they have one version each, and what they ask for narrows
  /// the choice of all others.
  std::pair<const std::string, Node>* next() {
    std::pair<const std::string, Node>* open = nullptr;
    for (auto& each : nodes_) {
      if (each.second.chosen || each.second.demands.empty()) continue;
      if (each.second.in_set) return &each;
      if (!open) open = &each;
    }
    return open;
  }

private:
  using SeenAskers = std::set<std::pair<std::string, std::string>>; ///< project and extra
  void add_askers(const Demand& demand, Conflict& askers, SeenAskers& seen) const {
    if (seen.contains({demand.by, demand.extra})) return;
    std::vector<std::pair<std::string, std::string>> open{{demand.by, demand.extra}};
    while (!open.empty()) {
      auto asker = std::move(open.back());
      open.pop_back();
      if (!seen.insert(asker).second) continue;
      askers.insert(asker.first);
      auto place = nodes_.find(asker.first);
      if (asker.second.empty() || place == nodes_.end()) continue;
      for (const auto& each : place->second.demands)
        if (std::ranges::find(each.requirement.extras, asker.second) != each.requirement.extras.end())
          open.emplace_back(each.by, each.extra);
    }
  }

  struct Change {
    Node* node;
    std::string extra; ///< that was added; empty: a demand or the choice was
    bool choice = false;
  };
  std::map<std::string, Node> nodes_;
  std::vector<Change> changes_;
};

/// The gap with the fewest chosen versions before it: the one that people can understand.
struct ShallowGap {
  std::optional<Gap> gap;
  std::size_t at = 0, depth = 0; ///< of the gap; of the search now
  /// `found` makes the gap, which copies all demands: only where it counts.
  void note(const std::function<Gap()>& found) {
    if (gap && at <= depth) return;
    gap = found();
    at = depth;
  }
};

Gap gap_of(GapKind kind, const Project& project, const std::vector<Demand>& demands) {
  Gap gap{kind,           demands.back().requirement.project.str(),     demands, {},
          project.in_set, project.has_source && project.without.empty()};
  for (const auto& edition : project.editions) gap.there.push_back(edition.version);
  return gap;
}

Result<std::vector<MissingExtra>> missing_extras(Shelf& shelf, const Board& board) {
  std::vector<MissingExtra> missing;
  for (const auto& [name, node] : board.nodes()) {
    if (!node.chosen) continue;
    TRY(const auto* needs, shelf.needs(*node.chosen));
    auto has = [&](const std::string& extra) { return std::ranges::binary_search(needs->extras, extra); };
    std::set<std::pair<std::string, std::string>> seen;
    for (const auto& demand : node.demands)
      for (const auto& extra : demand.requirement.extras)
        if (needs->extras_known && !has(extra) && seen.emplace(extra, demand.by).second)
          missing.push_back({name, extra, demand.by});
  }
  return missing;
}

/// The requirements that wait to be followed: of a chosen project, with one of its extras or without ("").
using Waiting = std::deque<std::pair<std::string, std::string>>;

/// What one search may still look at.
struct Bounds {
  SearchBudget& budget;
  std::size_t steps = 0, comparisons = 0;
  /// Takes a requirement with its extras.
  bool may_go_on(std::size_t looks) {
    if (steps >= k_steps_max || budget.left == 0 || comparisons >= k_comparisons_max || budget.comparisons == 0)
      return false;
    steps += looks;
    budget.left -= std::min(looks, budget.left);
    return true;
  }
  void compare(std::size_t count) {
    comparisons += count;
    budget.comparisons -= std::min(count, budget.comparisons);
  }
};

class Search {
public:
  Search(Shelf& shelf, const Assumed& assumed, SearchBudget& budget)
      : shelf_(shelf), assumed_(assumed), bounds_{budget} {}

  Result<Answer> run(const std::vector<Demand>& demands) {
    Outcome conflict;
    Waiting waiting;
    for (const auto& demand : demands) {
      TRY(conflict, add(demand, waiting));
      if (conflict) break;
    }
    if (!conflict) {
      TRY(conflict, solve(0));
    }
    Answer answer;
    if (!conflict) {
      TRY(answer.missing_extras, missing_extras(shelf_, board_));
      for (const auto& [name, node] : board_.nodes())
        if (node.chosen) answer.chosen.emplace(name, node.chosen);
      return answer;
    }
    answer.gap = std::move(found_.gap);
    if (!answer.gap)
      answer.gap = Gap{GapKind::undecided, demands.back().requirement.project.str(), demands, {}, false, false};
    return answer;
  }

private:
  /// One more demand. If the project has been chosen already, the choice must allow it, and new extras wait.
  Result<Outcome> add(const Demand& demand, Waiting& waiting) {
    const auto& name = demand.requirement.project.str();
    if (assumed_(name)) return Outcome();
    auto& node = board_.node(name);
    board_.ask(node, demand);
    TRY(const auto* project, shelf_.project(name));
    node.in_set = project->in_set;
    auto kind = !demand.requirement.url.empty() ? GapKind::from_url
                : !project->known               ? GapKind::unknown
                                                : GapKind::no_file;
    if (kind != GapKind::no_file || project->editions.empty()) {
      found_.note(
          [&] { return gap_of(kind, *project, kind == GapKind::from_url ? std::vector{demand} : node.demands); });
      Conflict conflict;
      board_.add_askers(demand, conflict);
      return Outcome(std::move(conflict));
    }
    for (const auto& extra : demand.requirement.extras)
      if (board_.ask_extra(node, extra) && node.chosen) waiting.emplace_back(name, extra);
    // What was asked for before allows the choice.
    if (!node.chosen || demand.requirement.specifiers.contains(node.chosen->version, true)) return Outcome();
    return no_match(name, node, *project);
  }

  Outcome no_match(const std::string& name, const Node& node, const Project& project) {
    found_.note([&] { return gap_of(GapKind::no_match, project, node.demands); });
    bounds_.compare(node.demands.size());
    auto conflict = board_.askers_of(node);
    conflict.insert(name);
    return Outcome(std::move(conflict));
  }

  /// Everything that waits, and what begins to wait meanwhile.
  Result<Outcome> follow(Waiting& waiting) {
    for (; !waiting.empty(); waiting.pop_front()) {
      const auto& [name, extra] = waiting.front();
      const auto& node = board_.node(name);
      TRY(const auto* needs, shelf_.needs(*node.chosen));
      for (const auto& requirement : needs->requirements) {
        if (!bounds_.may_go_on(1 + requirement.extras.size())) return give_up(name, node);
        if (!shelf_.target().holds(requirement.marker, extra)) continue;
        if (!extra.empty() && shelf_.target().holds(requirement.marker, {})) continue; // asked for already
        TRY(auto conflict, add({requirement, name, node.chosen->version.str(), extra}, waiting));
        if (conflict) return conflict;
      }
    }
    return Outcome();
  }

  Result<Outcome> give_up(const std::string& name, const Node& node) {
    found_.gap = Gap{GapKind::undecided, name, node.demands, {}, node.in_set, false};
    found_.at = 0;
    return Outcome(Conflict{});
  }

  Result<Outcome> solve(std::size_t depth) {
    found_.depth = depth;
    auto* open = board_.next();
    if (!open) return judge_choices();
    const auto& name = open->first;
    auto& node = open->second;
    TRY(const auto* project, shelf_.project(name));
    bounds_.compare((project->editions.size() + 1) * node.demands.size());
    if (!bounds_.may_go_on(0)) return give_up(name, node);
    auto choices = choices_of(*project, node);
    if (choices.empty()) found_.note([&] { return gap_of(GapKind::no_match, *project, node.demands); });
    auto all = board_.askers_of(node);
    for (const auto* edition : choices) {
      if (++tries_ > k_tries_max || depth > k_choices_max) return give_up(name, node);
      auto mark = board_.mark();
      TRY(auto conflict, try_edition(name, node, *edition, depth));
      if (!conflict) return Outcome();
      board_.take_back(mark);
      found_.depth = depth;
      if (!conflict->contains(name)) return conflict; // another version of this project would not help
      conflict->erase(name);
      all.insert(conflict->begin(), conflict->end());
    }
    return Outcome(std::move(all));
  }

  Result<Outcome> try_edition(const std::string& name, Node& node, const Edition& edition, std::size_t depth) {
    TRY(const auto* needs, shelf_.needs(edition));
    if (!needs->readable) {
      found_.note([&] { return Gap{GapKind::unreadable, name, node.demands, {edition.version}, node.in_set, false}; });
      return Outcome(Conflict{name});
    }
    board_.choose(node, edition);
    Waiting waiting{{name, ""}};
    for (const auto& extra : node.extras) waiting.emplace_back(name, extra);
    TRY(auto conflict, follow(waiting));
    if (conflict) return conflict;
    return solve(depth + 1);
  }

  Result<Outcome> judge_choices() {
    for (const auto& [name, node] : board_.nodes()) {
      if (!node.chosen) continue;
      TRY(const auto* project, shelf_.project(name));
      bounds_.compare((project->editions.size() + 1) * node.demands.size());
      if (!is_called_for(*project, node)) return no_match(name, node, *project);
    }
    return Outcome();
  }

  Shelf& shelf_;
  const Assumed& assumed_;
  Bounds bounds_;
  Board board_;
  ShallowGap found_;
  std::size_t tries_ = 0;
};

} // namespace

Result<Answer> resolve(Shelf& shelf, const std::vector<Demand>& demands, const Assumed& assumed, SearchBudget& budget) {
  return Search(shelf, assumed, budget).run(demands);
}

} // namespace quarry::closure
