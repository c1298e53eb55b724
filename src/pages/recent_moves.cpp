#include "pages/recent_moves.hpp"

#include "dist/name.hpp"
#include <nlohmann/json.hpp>

namespace quarry::pages {

namespace {

using Moves = std::map<std::string, std::uint64_t>;

std::optional<Moves> moves_at(const Json& json, const char* key) {
  Moves moves;
  const auto object = json.value(key, Json::object());
  for (const auto& [project, move] : object.items()) {
    if (!is_project(project) || !move.is_number_unsigned()) return std::nullopt;
    moves[project] = move.get<std::uint64_t>();
  }
  return moves;
}

} // namespace

bool is_project(const std::string& name) {
  auto project = dist::ProjectName::parse(name);
  return project && project->str() == name;
}

RecentMoves RecentMoves::after(std::uint64_t move, const MovedProjects& changed) const {
  auto next = *this;
  for (const auto& project : changed.projects) {
    if (next.moved.contains(project) || changed.more_than_once.contains(project)) next.twice[project] = move;
    next.moved[project] = move;
  }
  for (auto* moves : {&next.moved, &next.twice})
    std::erase_if(*moves, [&](const auto& entry) { return entry.second + k_recent_moves <= move; });
  return next;
}

std::set<std::string> moved_between(const std::map<std::string, registry::ShardDigest>& before,
                                    const std::map<std::string, registry::ShardDigest>& now) {
  std::set<std::string> moved;
  for (const auto& [project, shard] : now) {
    auto found = before.find(project);
    if (found == before.end() || found->second != shard) moved.insert(project);
  }
  for (const auto& [project, shard] : before)
    if (!now.contains(project)) moved.insert(project);
  return moved;
}

void add_to(Json& json, const RecentMoves& recent) {
  json["recent"] = recent.moved;
  json["twice"] = recent.twice;
}

std::optional<RecentMoves> recent_moves_of(const Json& json) {
  auto moved = moves_at(json, "recent"), twice = moves_at(json, "twice");
  if (!moved || !twice) return std::nullopt;
  return RecentMoves{std::move(*moved), std::move(*twice)};
}

} // namespace quarry::pages
