#include "venv/strangers.hpp"

#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include <fmt/core.h>

namespace quarry::venv {

namespace {

/// August's `_devel.py` holds it while it adds links to device code.
constexpr std::string_view k_lock = ".devel_reconcile.lock";

bool is_empty_file(const std::string& path) {
  auto file = sys::File::open_read(path);
  auto size = file ? file->size() : Result<std::uint64_t>(fail(file.error()));
  return size && *size == 0;
}

Result<void> strangers_below(const std::string& site_packages, const std::string& top, const Listed& listed,
                             Defects& defects) {
  auto directory = path::join(site_packages, top);
  if (!sys::is_directory(directory)) return {};
  TRY(auto entries, sys::list_tree(directory));
  for (const auto& entry : entries) {
    auto path = top + "/" + entry.path;
    if (entry.type == sys::EntryType::directory || listed.paths.contains(path) || is_bytecode(path)) continue;
    bool may_lock = entry.type == sys::EntryType::file && listed.locks.contains(path);
    if (may_lock && is_empty_file(path::join(site_packages, path))) continue;
    defects.push_back(fmt::format("{} belongs to no installed distribution", path));
  }
  return {};
}

/// What Python runs or obeys by itself at start. uv puts `_virtualenv.pth` there.
bool runs_at_start(const std::string& name) {
  bool runs = name.ends_with(".pth") || name.starts_with("sitecustomize") || name.starts_with("usercustomize");
  return runs && name != "_virtualenv.pth";
}

} // namespace

Listed listed_by(const std::vector<Distribution>& distributions, const std::set<std::string>& projects) {
  Listed listed;
  for (const auto& distribution : distributions) {
    bool ours = projects.contains(distribution.project);
    for (const auto& [path, row] : distribution.record) {
      listed.paths.insert(path);
      auto slash = path.find('/');
      if (ours && is_devel_expansion(distribution, path))
        listed.locks.insert(fmt::format("{}/{}", path.substr(0, slash), k_lock));
      if (ours && slash != path.npos && !path.starts_with("..")) listed.tops.insert(path.substr(0, slash));
    }
  }
  return listed;
}

Result<Defects> find_strangers(const std::string& site_packages, const Listed& listed) {
  Defects defects;
  for (const auto& top : listed.tops) TRY_DO(strangers_below(site_packages, top, listed, defects));
  TRY(auto entries, sys::list_directory(site_packages));
  for (const auto& entry : entries)
    if (runs_at_start(entry.path) && !listed.paths.contains(entry.path))
      defects.push_back(fmt::format("{} belongs to no installed distribution, and Python runs it", entry.path));
  return defects;
}

} // namespace quarry::venv
