#include "closure/resolve.hpp"

#include <algorithm>
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
  auto pins = [](const Demand& each) { return each.requirement.specifier_text.starts_with("=="); };
  if (edition.yanked && std::ranges::none_of(demands, pins)) return false;
  return std::ranges::all_of(
      demands, [&](const Demand& each) { return each.requirement.specifiers.contains(edition.version, true); });
}

/// Newest first; pre-releases behind all others, unless somebody names one.
std::vector<const Edition*> choices_of(const Project& project, const Node& node) {
  std::vector<const Edition*> choices;
  for (const auto& edition : project.editions)
    if (allows(node.demands, edition)) choices.push_back(&edition);
  if (!asks_for_prereleases(node))
    std::stable_partition(choices.begin(), choices.end(),
                          [](const Edition* each) { return !each->version.is_prerelease(); });
  return choices;
}

Conflict askers_of(const Node& node) {
  Conflict askers;
  for (const auto& demand : node.demands) askers.insert(demand.by);
  return askers;
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
  void note(Gap found) {
    if (gap && at <= depth) return;
    gap = std::move(found);
    at = depth;
  }
};

Gap gap_of(GapKind kind, const Project& project, const std::vector<Demand>& demands) {
  Gap gap{kind, demands.back().requirement.project.str(), demands, {}, project.in_set};
  for (const auto& edition : project.editions) gap.there.push_back(edition.version);
  return gap;
}

class Search {
public:
  Search(Shelf& shelf, const Assumed& assumed) : shelf_(shelf), assumed_(assumed) {}

  Result<Answer> run(const std::vector<Demand>& demands) {
    Outcome conflict;
    for (const auto& demand : demands) {
      TRY(conflict, add(demand));
      if (conflict) break;
    }
    if (!conflict) {
      TRY(conflict, solve(0));
    }
    Answer answer;
    if (conflict) answer.gap = std::move(found_.gap);
    for (const auto& missing : missing_extras_) answer.missing_extras.push_back(missing.second);
    return answer;
  }

private:
  /// One more demand. If the project has been chosen already, the choice must allow it, and new extras are followed.
  Result<Outcome> add(const Demand& demand) {
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
      found_.note(gap_of(kind, *project, kind == GapKind::from_url ? std::vector{demand} : node.demands));
      return Outcome(Conflict{demand.by});
    }
    std::vector<std::string> fresh;
    for (const auto& extra : demand.requirement.extras)
      if (board_.ask_extra(node, extra)) fresh.push_back(extra);
    if (!node.chosen) return Outcome();
    if (!allows(node.demands, *node.chosen)) {
      found_.note(gap_of(GapKind::no_match, *project, node.demands));
      auto conflict = askers_of(node);
      conflict.insert(name);
      return Outcome(std::move(conflict));
    }
    for (const auto& extra : fresh) {
      TRY(auto conflict, follow(name, node, extra));
      if (conflict) return conflict;
    }
    return Outcome();
  }

  /// What the chosen edition requires with an extra, or without one if it is empty.
  Result<Outcome> follow(const std::string& name, const Node& node, const std::string& extra) {
    TRY(const auto* needs, shelf_.needs(*node.chosen));
    if (!extra.empty() && std::ranges::find(needs->extras, extra) == needs->extras.end())
      missing_extras_.try_emplace({name, extra}, MissingExtra{name, extra, node.demands.back().by});
    for (const auto& requirement : needs->requirements) {
      if (!shelf_.target().holds(requirement.marker, extra)) continue;
      if (!extra.empty() && shelf_.target().holds(requirement.marker, {})) continue; // asked for already
      TRY(auto conflict, add({requirement, name, node.chosen->version.str(), extra}));
      if (!conflict) continue;
      conflict->insert(name);
      return conflict;
    }
    return Outcome();
  }

  Result<Outcome> give_up(const std::string& name, const Node& node) {
    found_.gap = Gap{GapKind::undecided, name, node.demands, {}, node.in_set};
    found_.at = 0;
    return Outcome(Conflict{});
  }

  Result<Outcome> solve(std::size_t depth) {
    found_.depth = depth;
    auto* open = board_.next();
    if (!open) return Outcome();
    const auto& name = open->first;
    auto& node = open->second;
    TRY(const auto* project, shelf_.project(name));
    auto choices = choices_of(*project, node);
    if (choices.empty()) found_.note(gap_of(GapKind::no_match, *project, node.demands));
    auto all = askers_of(node);
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
    if (!needs->readable) return Outcome(Conflict{name});
    board_.choose(node, edition);
    std::vector<std::string> extras{""};
    extras.insert(extras.end(), node.extras.begin(), node.extras.end());
    for (const auto& extra : extras) {
      TRY(auto conflict, follow(name, node, extra));
      if (conflict) return conflict;
    }
    return solve(depth + 1);
  }

  Shelf& shelf_;
  const Assumed& assumed_;
  Board board_;
  ShallowGap found_;
  std::map<std::pair<std::string, std::string>, MissingExtra> missing_extras_;
  std::size_t tries_ = 0;
};

} // namespace

Result<Answer> resolve(Shelf& shelf, const std::vector<Demand>& demands, const Assumed& assumed) {
  return Search(shelf, assumed).run(demands);
}

} // namespace quarry::closure
