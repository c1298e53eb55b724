#include "sdk/view.hpp"

#include "base/text.hpp"
#include "content/rope.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::sdk {

namespace {
constexpr int k_link_hops_max = 40; // what Linux follows before ELOOP

bool contains(const std::vector<std::string>& list, const std::string& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// The names that runtime packages take, for `runtime = true`.
bool taken_by_runtime(const Recipe& recipe, const std::string& name) {
  return std::any_of(recipe.packages.begin(), recipe.packages.end(), [&](const Package& p) {
    return p.role == Role::runtime && std::any_of(p.select.begin(), p.select.end(),
                                                  [&](const Selection& s) { return contains(s.artifacts, name); });
  });
}

bool target_matches(TargetRule rule, const std::string& target, const std::string& family) {
  bool generic = target == "generic", own = !family.empty() && target == family;
  switch (rule) {
  case TargetRule::any: return true;
  case TargetRule::generic: return generic;
  case TargetRule::family: return own;
  case TargetRule::family_or_generic: return generic || own;
  }
  return false;
}

bool globs_take(const Selection& s, const std::string& path) {
  auto any = [&](const std::vector<std::string>& globs) {
    return std::any_of(globs.begin(), globs.end(), [&](const std::string& g) { return text::glob_match(g, path); });
  };
  return (s.include.empty() || any(s.include)) && !any(s.exclude);
}

Result<bool> same_content(const SourceEntry& a, const SourceEntry& b) {
  if (a.type != b.type || a.link != b.link || a.size != b.size) return false;
  if (a.type != sys::EntryType::file || a.disk == b.disk) return true;
  TRY(auto left, content::sha256_of_file(a.disk));
  TRY(auto right, content::sha256_of_file(b.disk));
  return left == right;
}

Result<void> add(View& view, const std::string& path, const SourceEntry& entry) {
  auto [it, fresh] = view.entries.try_emplace(path, entry);
  if (fresh) return {};
  TRY(bool same, same_content(it->second, entry));
  if (same) return {};
  return fail(ErrorKind::corrupt, "S010",
              fmt::format("{} is brought by two artifacts with different content: {} and {}", path, it->second.artifact,
                          entry.artifact),
              "one of them must stop claiming the path; `quarry artifact list` shows what each holds");
}
} // namespace

const SourceEntry* View::find(const std::string& path) const {
  auto it = entries.find(path);
  return it == entries.end() ? nullptr : &it->second;
}

std::optional<std::string> View::resolve(const std::string& path) const {
  std::vector<std::string> todo = path::components(path), done;
  std::reverse(todo.begin(), todo.end());
  for (int hops = 0; !todo.empty();) {
    auto part = std::move(todo.back());
    todo.pop_back();
    if (part == "..") {
      if (done.empty()) return std::nullopt;
      done.pop_back();
      continue;
    }
    done.push_back(part);
    const auto* entry = find(text::join(done, "/"));
    if (!entry) return std::nullopt;
    if (entry->type != sys::EntryType::symlink) continue;
    if (++hops > k_link_hops_max || path::is_absolute(entry->link)) return std::nullopt;
    done.pop_back();
    auto target = path::components(entry->link);
    todo.insert(todo.end(), target.rbegin(), target.rend());
  }
  return done.empty() ? std::nullopt : std::optional(text::join(done, "/"));
}

Result<const std::vector<ArtifactTrees::File>*> ArtifactTrees::of(const artifact::ExplodedArtifact& artifact) {
  auto [it, fresh] = cache_.try_emplace(artifact.directory);
  if (!fresh) return &it->second;
  for (const auto& base : artifact.bases) {
    auto root = path::join(artifact.directory, base);
    TRY(auto listed, sys::list_tree(root), "while reading artifact " + artifact.name.text());
    for (auto& e : listed) {
      if (e.type == sys::EntryType::other)
        return fail(ErrorKind::corrupt, "S011",
                    fmt::format("{} is neither a file, a directory nor a link", path::join(root, e.path)));
      auto disk = path::join(root, e.path);
      it->second.push_back({e.path, {e.type, e.size, e.executable(), e.link, std::move(disk), artifact.name.text()}});
    }
  }
  return &it->second;
}

bool selects(const SelectionContext& context, const Selection& selection, const artifact::ExplodedArtifact& artifact) {
  const auto& name = artifact.name;
  bool named =
      contains(selection.artifacts, name.name) || (selection.runtime && taken_by_runtime(context.recipe, name.name));
  return named && contains(selection.components, name.component) &&
         target_matches(selection.targets, std::string(name.target_base()), context.family);
}

Result<View> merged_view(const SelectionContext& context, ArtifactTrees& trees) {
  View view;
  for (const auto& selection : context.package.select)
    for (const auto& artifact : context.catalogue.artifacts) {
      if (!selects(context, selection, artifact)) continue;
      TRY(const auto* files, trees.of(artifact));
      for (const auto& file : *files)
        if (file.entry.type == sys::EntryType::directory || globs_take(selection, file.path))
          TRY_DO(add(view, file.path, file.entry));
    }
  return view;
}

} // namespace quarry::sdk
