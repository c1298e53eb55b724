#include "sdk/view.hpp"

#include "base/text.hpp"
#include "names/entry_names.hpp"
#include "sys/path.hpp"
#include "thread/pool.hpp"
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
  if (a.type != sys::EntryType::file || a.place == b.place) return true;
  TRY(auto left, content::sha256_of(a.data), "while reading " + a.place);
  TRY(auto right, content::sha256_of(b.data), "while reading " + b.place);
  return left == right;
}

Result<void> add(View& view, const std::string& path, const SourceEntry& entry) {
  auto [it, fresh] = view.entries.try_emplace(path, entry);
  if (fresh) return {};
  TRY(bool same, same_content(it->second, entry));
  if (same) {
    auto& kept = it->second;
    if (entry.type == sys::EntryType::file && kept.executable != entry.executable) {
      const auto& yes = kept.executable ? kept : entry;
      const auto& no = kept.executable ? entry : kept;
      view.executable_in_some.emplace(path, fmt::format("{}, not {}", yes.artifact, no.artifact));
      kept.executable = true;
    }
    return {};
  }
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

std::optional<std::string> View::resolve(const std::string& path) const { return walk(path).end; }

bool View::leads_in_a_circle(const std::string& path) const { return walk(path).circle; }

View::Walk View::walk(const std::string& path) const {
  std::vector<std::string> todo = path::components(path), done;
  std::reverse(todo.begin(), todo.end());
  for (int hops = 0; !todo.empty();) {
    auto part = std::move(todo.back());
    todo.pop_back();
    if (part == "..") {
      if (done.empty()) return {};
      done.pop_back();
      continue;
    }
    done.push_back(part);
    const auto* entry = find(text::join(done, "/"));
    if (!entry) return {};
    if (entry->type != sys::EntryType::symlink) continue;
    if (path::is_absolute(entry->link)) return {};
    if (++hops > k_link_hops_max) return {std::nullopt, true};
    done.pop_back();
    auto target = path::components(entry->link);
    todo.insert(todo.end(), target.rbegin(), target.rend());
  }
  return done.empty() ? Walk{} : Walk{text::join(done, "/")};
}

ArtifactTrees::ArtifactTrees(const artifact::Catalogue& catalogue, artifact::TreeOptions options)
    : catalogue_(catalogue), reader_(std::move(options)) {
  for (const auto& a : catalogue.artifacts) names_.push_back(a.name);
  for (const auto& a : catalogue.archives) names_.push_back(a.name);
  std::sort(names_.begin(), names_.end());
}

Result<std::vector<artifact::TreeFile>> ArtifactTrees::read(const artifact::Name& name) const {
  auto named = [&](const auto& a) { return a.name == name; };
  auto exploded = std::find_if(catalogue_.artifacts.begin(), catalogue_.artifacts.end(), named);
  if (exploded != catalogue_.artifacts.end()) return reader_.read(*exploded);
  return reader_.read(*std::find_if(catalogue_.archives.begin(), catalogue_.archives.end(), named));
}

Result<void> ArtifactTrees::read_ahead(const std::vector<artifact::Name>& wanted, unsigned workers) {
  auto names = wanted;
  std::erase_if(names, [&](const artifact::Name& name) { return cache_.contains(name); });
  std::vector<std::vector<artifact::TreeFile>> trees(names.size());
  TRY_DO(parallel_for(names.size(), workers, [&](std::size_t i) -> Result<void> {
    TRY(trees[i], read(names[i]));
    return {};
  }));
  for (std::size_t i = 0; i < names.size(); ++i) keep(names[i], std::move(trees[i]));
  return {};
}

Result<std::vector<ArtifactTrees::File>*> ArtifactTrees::of(const artifact::Name& name) {
  auto it = cache_.find(name);
  if (it != cache_.end()) return &it->second;
  TRY(auto files, read(name));
  return keep(name, std::move(files));
}

std::vector<ArtifactTrees::File>* ArtifactTrees::keep(const artifact::Name& name,
                                                      std::vector<artifact::TreeFile> files) {
  auto& out = cache_[name];
  for (auto& f : files)
    out.push_back(
        {std::move(f.path),
         {f.type, f.size, f.executable, std::move(f.link), std::move(f.data), std::move(f.place), name.text()}});
  return &out;
}

Finding circle(const std::string& path, const SourceEntry& entry, const std::string& place) {
  return {
      "S045", Severity::error, place + "!" + path,
      fmt::format("the link to {} leads in a circle or through too many links (from {})", entry.link, entry.artifact),
      "fix the link where the artifact is made"};
}

void check_names(const View& view, const std::string& place, Findings& findings) {
  std::map<std::string, const std::pair<const std::string, SourceEntry>*> seen; // by folded name
  for (const auto& item : view.entries) {
    const auto& [path, entry] = item;
    if (auto defect = names::check_name(path)) {
      findings.push_back({"S047", Severity::error, place + "!" + names::printable(path),
                          fmt::format("{} (from {})", defect->message, entry.artifact),
                          "rename it where the artifact is made"});
      continue;
    }
    auto [it, fresh] = seen.try_emplace(names::folded_name(path), &item);
    const auto& [other, first] = *it->second;
    if (fresh || (entry.type == sys::EntryType::directory && first.type == entry.type)) continue;
    findings.push_back({"S047", Severity::error, place + "!" + path,
                        fmt::format("and {} are one name on Windows and macOS (from {} and {})", other, entry.artifact,
                                    first.artifact),
                        "one of the two must be renamed where the artifact is made"});
  }
}

bool selects(const SelectionContext& context, const Selection& selection, const artifact::Name& name) {
  bool named =
      contains(selection.artifacts, name.name) || (selection.runtime && taken_by_runtime(context.recipe, name.name));
  return named && !contains(selection.except, name.name) && contains(selection.components, name.component) &&
         target_matches(selection.targets, std::string(name.target_base()), context.family);
}

Result<View> merged_view(const SelectionContext& context, ArtifactTrees& trees) {
  View view;
  for (const auto& selection : context.package.select)
    for (const auto& name : trees.names()) {
      if (!selects(context, selection, name)) continue;
      TRY(auto* files, trees.of(name));
      for (auto& file : *files) {
        if (file.entry.type != sys::EntryType::directory && !globs_take(selection, file.path)) continue;
        file.taken = true;
        TRY_DO(add(view, file.path, file.entry));
      }
    }
  return view;
}

} // namespace quarry::sdk
