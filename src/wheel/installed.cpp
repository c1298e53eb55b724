#include "wheel/installed.hpp"

#include "base/text.hpp"
#include "dist/family.hpp"
#include "dist/script_name.hpp"
#include "names/entry_names.hpp"
#include "names/windows_names.hpp"
#include "wheel/dist_info.hpp"
#include "wheel/installed_place.hpp"
#include "wheel/shown.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <unordered_map>

namespace quarry::wheel {

namespace {

struct InstalledMember {
  std::string_view name; ///< in the archive, without a trailing '/'
  bool directory;
  InstalledPlace place;
};

std::string_view without_slash(std::string_view path) {
  if (path.ends_with('/')) path.remove_suffix(1);
  return path;
}

/// The wheel, its members below `.data` by their places, and where findings go.
class Installation {
public:
  Installation(const DistInfoCheck& wheel, const std::vector<dist::EntryPoint>& entry_points, Findings& findings)
      : check(wheel), windows(installs_on_windows(wheel.name.tags)),
        placing{data_directory(wheel.dist_info), wheel.name.project.str(), windows}, findings_(findings) {
    for (const auto& path : check.paths) take(path, false);
    for (const auto& path : check.directories) take(path, true);
    for (const auto& point : entry_points)
      if (point.group == "console_scripts" || point.group == "gui_scripts") scripts.push_back(point.name);
  }

  void report(const std::string& code, Severity severity, std::string_view member, std::string message,
              std::string fix) {
    if (++reported_[code] <= k_shown_max)
      findings_.push_back({code, severity, place_of(check.file_name, member), std::move(message), std::move(fix)});
  }
  void error(const std::string& code, std::string_view member, std::string message, std::string fix) {
    report(code, Severity::error, member, std::move(message), std::move(fix));
  }

  const DistInfoCheck& check;
  const bool windows;
  const Placing placing;
  std::vector<InstalledMember> from_data;
  std::vector<std::string> scripts; ///< of entry points
  std::string entry_points_file() const { return check.dist_info + "/entry_points.txt"; }

private:
  void take(std::string_view path, bool directory) {
    auto place = installed_place(without_slash(path), placing);
    if (place && place->from_data) from_data.push_back({without_slash(path), directory, std::move(*place)});
  }
  Findings& findings_;
  std::map<std::string, std::size_t> reported_;
};

// importlib.metadata ignores the case of the endings, so pip lists `x.DIST-INFO` as well.
bool is_project_metadata(std::string_view top) {
  auto lower = text::lower(top);
  return lower.ends_with(".dist-info") || lower.ends_with(".egg-info");
}

/// What pip lists as a project beside the dist-info directories.
bool is_egg(std::string_view top) {
  auto lower = text::lower(top);
  return lower.ends_with(".egg-info") || lower.ends_with(".egg-link") || lower.ends_with(".egg");
}

void check_projects(Installation& wheel) {
  std::set<std::string, std::less<>> reported;
  for (const auto& member : wheel.from_data) {
    auto top = top_directory(member.place.path);
    // `uv pip install --target` puts `.data/data` into the directory of the packages.
    bool site = member.place.tree == Tree::site_packages || member.place.tree == Tree::data;
    if (site && is_project_metadata(top) && reported.emplace(top).second)
      wheel.error("W019", member.name,
                  fmt::format("{} is installed beside the wheel's own {}, or over it", top, wheel.check.dist_info),
                  "remove it: tools would read its METADATA");
  }
  for (const auto& path : wheel.check.paths) {
    auto top = top_directory(path);
    if (!is_egg(top) || !reported.emplace(top).second) continue;
    auto stem = top.substr(0, std::min(top.find('-'), top.rfind('.')));
    bool own = dist::family_key(stem) == dist::family_key(wheel.placing.project);
    wheel.report("W019", own ? Severity::error : Severity::warning, top,
                 own ? "tools read it instead of the wheel's own METADATA"
                     : "tools list it as an installed project of its own",
                 "remove it from the wheel");
  }
}

/// A file where every environment has a directory, or a directory where it has its interpreter.
bool replaces_part_of_environment(const InstalledMember& member) {
  if (member.directory) return false;
  auto lower = text::lower(member.place.path);
  bool in_data = member.place.tree == Tree::data &&
                 (lower == "bin" || lower == "lib" || lower == "lib64" || lower == "include" || lower == "scripts");
  bool below = member.place.path.find('/') != std::string::npos;
  return in_data ||
         (member.place.tree == Tree::scripts && below && dist::is_interpreter_name(top_directory(member.place.path)));
}

void check_script_member(Installation& wheel, const InstalledMember& member) {
  const auto& path = member.place.path;
  bool by_key = member.name.starts_with(wheel.placing.data + "/scripts/");
  if (by_key && (member.directory || path.find('/') != path.npos))
    wheel.error("W011", member.name, "uv refuses a directory below .data/scripts, pip installs it",
                "put scripts directly into .data/scripts");
  if (dist::is_interpreter_name(path))
    wheel.error("W020", member.name, "it would replace an interpreter of the environment", "choose another name");
  if (dist::is_activation_name(path))
    wheel.report("W020", Severity::warning, member.name, "it replaces a file that activates the environment",
                 "choose another name");
}

void check_environment(Installation& wheel) {
  for (const auto& member : wheel.from_data) {
    if (member.place.tree == Tree::scripts) check_script_member(wheel, member);
    if (replaces_part_of_environment(member))
      wheel.error("W020", member.name, "it would replace a directory or an interpreter of the environment",
                  "choose another name");
    bool settings = member.place.tree == Tree::scripts && dist::is_interpreter_settings(member.place.path);
    if (settings || (member.place.tree == Tree::data && text::lower(member.place.path) == "pyvenv.cfg"))
      wheel.error("W020", member.name, "it would replace the settings of the virtual environment",
                  "install it under another name");
  }
  for (const auto& script : wheel.scripts)
    if (dist::is_activation_name(script))
      wheel.report("W020", Severity::warning, wheel.entry_points_file(),
                   fmt::format("the script {} replaces a file that activates the environment", script),
                   "choose another name");
}

/// The names of one installed tree, and which member brings each.
class TreeNames {
public:
  TreeNames(Installation& wheel, Tree tree) : wheel_(wheel), tree_(tree) {}

  void add(std::string_view member, const std::string& path, bool directory) {
    if (directory && !directories_.insert(path).second) return; // two members for one directory make one directory
    auto defect = names_.add(path, directory);
    if (!defect) return keep(member, path);
    wheel_.error(
        "W018", member,
        fmt::format("{} and it are installed as one file in {}: {}", owner_of(path), to_string(tree_), defect->message),
        "keep one of them: installers differ in which of them they keep");
  }

  void add_entry_points() {
    auto file = wheel_.entry_points_file();
    for (const auto& script : wheel_.scripts) {
      if (auto defect = names_.add(script))
        wheel_.error("W018", file, fmt::format("two entry points make one script: {}", defect->message),
                     "rename one of them");
      keep(file, script);
      scripts_.insert(names::folded_name(script));
    }
    if (!wheel_.windows) return;
    std::map<std::string, std::string> made;
    for (const auto& script : wheel_.scripts) {
      auto program = dist::windows_script(script);
      auto [other, added] = made.emplace(names::folded_name(program), script);
      if (!added && names::folded_name(other->second) != names::folded_name(script))
        wheel_.error("W018", file, fmt::format("{} and {} both make {} on Windows", other->second, script, program),
                     "rename one of them");
      if (!names_.add(program)) keep(file, program);
    }
  }

  // What setuptools made for an entry point on Windows. pip and uv skip it, `installer` installs it.
  void check_wrapper(const InstalledMember& member) {
    auto folded = names::folded_name(member.place.path);
    for (std::string_view ending : {".exe", "-script.py", "-script.pyw", ".pya"}) {
      if (!folded.ends_with(ending) || !scripts_.contains(folded.substr(0, folded.size() - ending.size()))) continue;
      if (wheel_.windows && ending == ".exe") continue; // add() told that they are two files for one place
      wheel_.error("W018", member.name, "some installers skip it because an entry point makes the script", "remove it");
    }
  }

private:
  // Most files are at the archive's root. Their place is their name, which is not kept a second time.
  void keep(std::string_view member, const std::string& path) {
    if (path != member) owners_.try_emplace(names::folded_name(path), member);
  }
  std::string owner_of(const std::string& path) const {
    auto owner = owners_.find(names::folded_name(path));
    if (owner != owners_.end()) return owner->second;
    return wheel_.check.paths.contains(path) ? path : "another member";
  }

  Installation& wheel_;
  Tree tree_;
  names::NameSet names_;
  std::unordered_map<std::string, std::string> owners_; // folded path -> member
  std::set<std::string> directories_, scripts_;
};

// The container's rules compared the names of the archive, so a tree that only the archive's root fills needs no second
// look.
void check_tree(Installation& wheel, Tree tree) {
  TreeNames names(wheel, tree);
  if (tree == Tree::scripts) names.add_entry_points();
  const auto& members = wheel.from_data;
  if (std::none_of(members.begin(), members.end(), [&](const InstalledMember& m) { return m.place.tree == tree; }))
    return;
  auto add_root = [&](std::string_view path, bool directory) {
    auto place = installed_place(path, wheel.placing);
    if (place && !place->from_data) names.add(path, place->path, directory);
  };
  if (tree == Tree::site_packages) {
    for (const auto& path : wheel.check.paths) add_root(path, false);
    for (const auto& path : wheel.check.directories) add_root(without_slash(path), true);
  }
  for (const auto& member : members) {
    if (member.place.tree != tree) continue;
    names.add(member.name, member.place.path, member.directory);
    if (tree == Tree::scripts) names.check_wrapper(member);
  }
}

// With --target, pip and uv put `.data/data` beside the packages. Projects that name their package in setuptools'
// `data_files` have such copies, and they are harmless in every other installation.
void check_target_directory(Installation& wheel) {
  for (const auto& member : wheel.from_data) {
    if (member.place.tree != Tree::data || member.directory) continue;
    const auto& path = member.place.path;
    for (const auto& other : {path, wheel.placing.data + "/purelib/" + path, wheel.placing.data + "/platlib/" + path})
      if (wheel.check.paths.contains(other))
        wheel.report("W018", Severity::warning, member.name,
                     fmt::format("{} and it are one file for `pip install --target`", other), "keep one of them");
  }
}

class WindowsNames {
public:
  explicit WindowsNames(Installation& wheel) : wheel_(wheel) {}

  // `paths` are sorted, so the files of a directory follow each other and the directory is looked at once.
  void check(const std::set<std::string, std::less<>>& paths) {
    std::string_view previous;
    for (const auto& path : paths) {
      auto differ = std::mismatch(previous.begin(), previous.end(), path.begin(), path.end()).second - path.begin();
      auto slash = differ == 0 ? path.npos : path.rfind('/', static_cast<std::size_t>(differ) - 1);
      components(path, slash == path.npos ? 0 : slash + 1);
      previous = path;
    }
  }
  void check_scripts() {
    for (const auto& script : wheel_.scripts)
      if (!names::is_windows_name(script) || !names::is_windows_name(script + ".exe"))
        wheel_.error("W021", wheel_.entry_points_file(),
                     fmt::format("the wheel may be installed on Windows, which cannot have a script {}", script),
                     "choose another name");
  }

private:
  void components(std::string_view path, std::size_t at) {
    while (at < path.size()) {
      auto end = std::min(path.find('/', at), path.size());
      if (!names::is_windows_name(path.substr(at, end - at)))
        wheel_.error("W021", path.substr(0, end), "the wheel may be installed on Windows, which cannot have this name",
                     "rename it, or build wheels for single platforms");
      at = end + 1;
    }
  }
  Installation& wheel_;
};

} // namespace

bool installs_on_windows(const dist::WheelTags& tags) {
  auto platforms = text::split(text::lower(tags.platform), '.');
  return std::any_of(platforms.begin(), platforms.end(),
                     [](const std::string& tag) { return tag == "any" || tag.starts_with("win"); });
}

void check_installed(const DistInfoCheck& check, const std::vector<dist::EntryPoint>& entry_points,
                     Findings& findings) {
  Installation wheel(check, entry_points, findings);
  check_projects(wheel);
  check_environment(wheel);
  for (auto tree : k_trees) check_tree(wheel, tree);
  check_target_directory(wheel);
  if (!wheel.windows) return;
  WindowsNames names(wheel);
  names.check(check.paths);
  names.check(check.directories);
  names.check_scripts();
}

} // namespace quarry::wheel
