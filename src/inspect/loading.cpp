#include "inspect/loading.hpp"

#include "base/text.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace quarry::inspect {

namespace {
struct Place {
  std::size_t wheel = 0;
  const MachineFile* file = nullptr;
};

/// The files of all wheels by where they are installed.
struct Tree {
  std::unordered_map<std::string, Place> files;
  std::unordered_map<std::string, std::string> by_name; ///< base name -> a place that has it
};

bool is_host_library(const MachineFile& file) { return file.elf && file.elf->facts.has_dynamic; }

Tree tree_of(std::span<const WheelContents* const> wheels) {
  Tree tree;
  for (std::size_t i = 0; i < wheels.size(); ++i)
    for (const auto& file : wheels[i]->files) {
      if (!is_host_library(file)) continue;
      tree.files.try_emplace(file.installed, Place{i, &file});
      tree.by_name.try_emplace(std::string(path::basename(file.installed)), file.installed);
    }
  return tree;
}

std::vector<std::string> directories(const MachineFile& file) {
  auto own = path::dirname(file.installed);
  std::vector<std::string> out;
  for (const auto& entry : run_path(file.elf->facts)) out.push_back(path::normal(from_origin(entry, own)));
  return out;
}

/// One walk: what the loader does for one program or extension module.
class Walk {
public:
  /// `needs_left` is shared by all walks.
  Walk(const Tree& tree, std::size_t& needs_left) : tree_(tree), needs_left_(needs_left) {}

  /// Adds what is not found; `reached` gets all files.
  void from(const Place& root, std::map<std::pair<const MachineFile*, std::string>, Place>& unmet,
            std::set<const MachineFile*>& reached) {
    auto first = directories(*root.file);
    std::vector<Place> open{root};
    std::set<std::string_view> seen;
    while (!open.empty() && needs_left_ > 0) {
      auto here = open.back();
      open.pop_back();
      reached.insert(here.file);
      auto own = directories(*here.file);
      for (const auto& library : here.file->elf->facts.needed) {
        if (needs_left_ == 0) return;
        --needs_left_;
        if (is_loader(library) || !seen.insert(library).second) continue;
        const auto* found = find(library, here, first);
        if (!found) found = find(library, here, own);
        if (found)
          open.push_back(*found);
        else
          unmet.try_emplace({here.file, library}, here);
      }
    }
  }

private:
  const Place* find(const std::string& library, const Place& here, const std::vector<std::string>& directories) const {
    for (const auto& directory : directories) {
      auto found = tree_.files.find(directory == "." ? library : path::join(directory, library));
      if (found == tree_.files.end()) continue;
      if (found->second.file->elf->facts.machine == here.file->elf->facts.machine) return &found->second;
    }
    return nullptr;
  }

  const Tree& tree_;
  std::size_t& needs_left_;
};
} // namespace

std::vector<std::string> run_path(const elf::Facts& facts) {
  const auto& text = facts.runpath ? facts.runpath : facts.rpath;
  return text && !text->empty() ? text::split(*text, ':') : std::vector<std::string>();
}

std::string from_origin(std::string_view entry, std::string_view directory) {
  for (std::string_view name : {"$ORIGIN", "${ORIGIN}"})
    if (entry.starts_with(name) && (entry.size() == name.size() || entry[name.size()] == '/'))
      return std::string(directory) + std::string(entry.substr(name.size()));
  return std::string(entry);
}

bool is_loader(std::string_view soname) { return soname.starts_with("ld-linux") || soname.starts_with("ld64.so"); }

Search unmet_needs(std::span<const WheelContents* const> wheels, std::size_t needs_max) {
  auto tree = tree_of(wheels);
  std::set<std::string_view> needed;
  for (const auto* wheel : wheels)
    for (const auto& file : wheel->files)
      if (is_host_library(file)) needed.insert(file.elf->facts.needed.begin(), file.elf->facts.needed.end());
  std::map<std::pair<const MachineFile*, std::string>, Place> found;
  std::set<const MachineFile*> reached;
  auto needs_left = needs_max;
  // First what nothing needs; then what is still left: libraries that need each other in a circle.
  for (bool circles : {false, true})
    for (std::size_t i = 0; i < wheels.size(); ++i)
      for (const auto& file : wheels[i]->files)
        if (is_host_library(file) && !reached.contains(&file) &&
            (circles || !needed.contains(path::basename(file.installed))))
          Walk(tree, needs_left).from({i, &file}, found, reached);
  Search out;
  out.complete = needs_left > 0;
  for (const auto& [key, place] : found) {
    auto held = tree.by_name.find(key.second);
    out.unmet.push_back(
        {place.wheel, key.first, key.second, held == tree.by_name.end() ? std::string() : held->second});
  }
  std::ranges::sort(out.unmet, [](const Unmet& a, const Unmet& b) {
    return std::tie(a.wheel, a.file->member, a.library) < std::tie(b.wheel, b.file->member, b.library);
  });
  return out;
}

} // namespace quarry::inspect
