#include "sdk/populate.hpp"

#include "base/text.hpp"
#include "elf/elf.hpp"
#include "elf/launcher.hpp"
#include "sdk/run_path.hpp"
#include "sdk/windows.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::sdk {

namespace {

// GPU code objects are ELF shared objects for a device: not ours to edit or to alias.
bool is_opaque(std::string_view path) {
  constexpr std::string_view k_endings[] = {".hsaco", ".co", ".txt", ".h", ".hpp", ".a", ".o", ".py"};
  return std::any_of(std::begin(k_endings), std::end(k_endings), [&](std::string_view e) { return path.ends_with(e); });
}

bool looks_like_library(std::string_view path) {
  auto name = path::basename(path);
  return name.ends_with(".so") || name.find(".so.") != name.npos;
}

// GNU ld's answer to a library that is a text: `INPUT(…)`, `GROUP(…)`, or a comment that says so.
Result<bool> is_linker_script(const SourceEntry& entry) {
  TRY(auto head, entry.data.slice(0, std::min<std::uint64_t>(entry.size, 512)).read_all(512));
  return head.find("INPUT") != head.npos || head.find("GROUP") != head.npos || head.find("GNU ld script") != head.npos;
}

std::string sibling(const std::string& path, const std::string& name) {
  auto directory = path::dirname(path);
  return directory == "." ? name : directory + "/" + name;
}

/// What a package takes from its view, before run paths are edited.
struct Taken {
  Population population;
  std::map<std::string, ElfLook> elfs;        ///< by path in the package
  std::map<std::string, std::string> windows; ///< programs and DLLs of Windows, and their artifacts
};

/// Decides for each entry of a view what the package holds of it.
class Taker {
public:
  Taker(const View& view, const PopulateOptions& options, Findings& findings)
      : view_(view), options_(options), findings_(findings) {}

  Result<Taken> run() {
    for (const auto& [path, entry] : view_.entries) {
      if (entry.type == sys::EntryType::symlink) TRY_DO(link(path, entry));
      if (entry.type == sys::EntryType::file) TRY_DO(file(path, entry));
    }
    return std::move(taken_);
  }

private:
  Result<const ElfLook*> look(const std::string& path, const SourceEntry& entry) {
    auto it = looks_.find(path);
    if (it == looks_.end()) {
      TRY(auto found, look_at(path, entry, options_.place, findings_));
      it = looks_.emplace(path, std::move(found)).first;
    }
    return &it->second;
  }

  Result<void> link(const std::string& path, const SourceEntry& entry) {
    auto target = view_.resolve(path);
    const auto* resolved = target ? view_.find(*target) : nullptr;
    if (!target && view_.leads_in_a_circle(path)) findings_.push_back(circle(path, entry, options_.place));
    if (!resolved || resolved->type != sys::EntryType::file) {
      ++taken_.population.dropped_links; // dangling, or a directory: a wheel cannot hold links, devel carries them
      return {};
    }
    TRY(const auto* elf, look(*target, *resolved));
    if (elf->is_library && !elf->soname.empty()) {
      if (path::basename(path) == elf->soname) return take(path, *resolved, *elf);
      taken_.population.aliases[path] = sibling(*target, elf->soname);
      return {};
    }
    if (elf->is_program) return launcher(path, entry, *target);
    return take(path, *resolved, *elf);
  }

  Result<void> file(const std::string& path, const SourceEntry& entry) {
    TRY(const auto* elf, look(path, entry));
    bool misnamed = elf->is_library && !elf->soname.empty() && path::basename(path) != elf->soname;
    if (misnamed && provided(sibling(path, elf->soname))) {
      taken_.population.aliases[path] = sibling(path, elf->soname);
      return {};
    }
    if (misnamed)
      findings_.push_back(
          {"S022", Severity::note, options_.place + "!" + path,
           fmt::format("its SONAME is {}, which is not in this directory: kept under its own name", elf->soname), ""});
    return take(path, entry, *elf);
  }

  // Is there an entry of that name that will carry this SONAME?
  bool provided(const std::string& path) const {
    auto target = view_.resolve(path);
    const auto* resolved = target ? view_.find(*target) : nullptr;
    return resolved && resolved->type == sys::EntryType::file;
  }

  Result<void> take(const std::string& path, const SourceEntry& source, const ElfLook& elf) {
    taken_.population.files[path] = {source.data, source.executable, elf.has_dynamic ? "elf" : "file", source.artifact};
    TRY(bool windows, is_windows_image(path, source.data));
    if (windows) taken_.windows.emplace(path, source.artifact);
    if (elf.has_dynamic) taken_.elfs[path] = elf;
    return {};
  }

  // The link's own text may lead through links to directories, which the package does not hold.
  Result<void> launcher(const std::string& path, const SourceEntry& entry, const std::string& target) {
    TRY(auto data, elf::launcher_for(options_.launcher, path::relative(target, path::dirname(path))),
        "while planning " + path);
    taken_.population.files[path] = {std::move(data), true, "launcher", entry.artifact};
    taken_.population.launches[path] = target;
    ++taken_.population.launchers;
    return {};
  }

  const View& view_;
  const PopulateOptions& options_;
  Findings& findings_;
  std::map<std::string, ElfLook> looks_; ///< by path in the view
  Taken taken_;
};

/// A package of Linux may hold some programs for Windows, such as the launchers of Python's installers, but not those
/// alone.
void refuse_windows(const Taken& taken, const PopulateOptions& options, Findings& findings) {
  bool any = std::any_of(taken.elfs.begin(), taken.elfs.end(),
                         [](const auto& item) { return item.second.is_library || item.second.is_program; });
  if (any || taken.windows.empty()) return;
  const auto& [path, artifact] = *taken.windows.begin();
  auto more = taken.windows.size() == 1 ? std::string() : fmt::format("; so are {} more", taken.windows.size() - 1);
  findings.push_back({"S036", Severity::error, options.place + "!" + path,
                      fmt::format("is a program or DLL for Windows (from {}){}", artifact, more),
                      "name the artifacts of a Linux build, or build with --platform windows"});
}

/// Only now is it known what the package holds, so only now can a run path be complete.
Result<void> edit_run_paths(Taken& taken, const PopulateOptions& options, Findings& findings) {
  Holders holds;
  DroppedRunPaths dropped;
  for (const auto& [path, elf] : taken.elfs) {
    if (!elf.is_library) continue;
    holds[elf.soname.empty() ? std::string(path::basename(path)) : elf.soname].push_back(path::dirname(path));
    taken.population.libraries.push_back(path);
  }
  for (const auto& [path, elf] : taken.elfs) {
    auto wanted = run_path_for(path, dropped.portable(path, elf.run_path), {options.platform, options.run_path});
    for (const auto& directory : missing_directories(path, elf.needed, wanted, options.platform, holds)) {
      wanted += (wanted.empty() ? "" : ":") + directory;
      findings.push_back({"S025", Severity::note, options.place + "!" + path,
                          fmt::format("{} was added to its run path: it leads to libraries of this package", directory),
                          ""});
    }
    auto& planned = taken.population.files.at(path);
    TRY(planned.data, with_run_path({path, planned.data, elf}, wanted, options.place, findings));
    ++taken.population.elf_edits;
  }
  dropped.report(options.place, findings);
  return {};
}

} // namespace

Result<ElfLook> look_at(const std::string& path, const SourceEntry& entry, const std::string& place,
                        Findings& findings) {
  ElfLook out;
  if (is_opaque(path) || (entry.size == 0 && !looks_like_library(path))) return out;
  TRY(out.is_elf, elf::has_magic(entry.data), "while reading " + entry.place);
  if (!out.is_elf) {
    if (!looks_like_library(path)) return out;
    TRY(bool script, is_linker_script(entry));
    if (!script)
      findings.push_back(
          {"S020", Severity::error, place + "!" + path,
           fmt::format("is named like a shared library and is not an ELF file (from {})", entry.artifact),
           "rebuild the artifact; `file` on it tells what it is"});
    return out;
  }
  auto facts = elf::read_facts(entry.data, path);
  if (!facts) {
    findings.push_back({facts.error().code, Severity::error, place + "!" + path, facts.error().message,
                        "the artifact is damaged: build or fetch it again"});
    return out;
  }
  out.has_dynamic = facts->has_dynamic;
  out.is_library = facts->is_shared_object();
  out.is_program = facts->is_program();
  out.soname = facts->soname.value_or("");
  out.needed = facts->needed;
  out.uses_runpath = facts->runpath.has_value();
  out.run_path = facts->runpath ? *facts->runpath : facts->rpath.value_or("");
  return out;
}

std::string run_path_for(const std::string& file, const std::string& own, const Edges& edges) {
  std::vector<std::string> parts;
  std::vector<std::string> searched; // directories, from site-packages
  const auto origin = path::join(edges.platform, path::dirname(file));
  auto is_new = [&](const std::string& part) {
    if (part.empty() || std::ranges::find(parts, part) != parts.end()) return false;
    if (!part.starts_with("$ORIGIN/") && part != "$ORIGIN") return true;
    auto directory = path::normal(origin + part.substr(7));
    if (std::ranges::find(searched, directory) != searched.end()) return false;
    searched.push_back(std::move(directory));
    return true;
  };
  auto add = [&](const std::string& part) {
    if (is_new(part)) parts.push_back(part);
  };
  for (const auto& part : text::split(own, ':')) add(part);
  // Up to the directory that holds the platform package, so that it is valid once the packages are siblings in
  // site-packages.
  std::string up = "$ORIGIN/..";
  for (char c : file)
    if (c == '/') up += "/..";
  for (const auto& edge : edges.directories) add(up + "/" + edge);
  return text::join(parts, ":");
}

std::vector<std::string> missing_directories(const std::string& file, const std::vector<std::string>& needed,
                                             const std::string& run_path, const std::string& platform,
                                             const Holders& holds) {
  auto origin = path::normal(path::join(platform, path::dirname(file)));
  std::vector<std::string> searched, missing;
  for (const auto& part : text::split(run_path, ':'))
    if (part.starts_with("$ORIGIN")) searched.push_back(path::normal(origin + part.substr(7)));
  for (const auto& soname : needed) {
    auto it = holds.find(soname);
    if (it == holds.end()) continue;
    auto leads = [&](const std::string& directory) {
      return std::find(searched.begin(), searched.end(), path::normal(path::join(platform, directory))) !=
             searched.end();
    };
    if (std::any_of(it->second.begin(), it->second.end(), leads)) continue;
    auto own = path::dirname(file);
    auto chosen = std::find(it->second.begin(), it->second.end(), own) != it->second.end() ? own : it->second.front();
    auto relative = path::relative(chosen, own);
    missing.push_back(relative == "." ? "$ORIGIN" : "$ORIGIN/" + relative);
    searched.push_back(path::normal(path::join(platform, chosen)));
  }
  return missing;
}

Result<content::Rope> with_run_path(const LookedAt& file, const std::string& wanted, const std::string& place,
                                    Findings& findings) {
  const auto& [path, data, look] = file;
  if (wanted == look.run_path && !look.uses_runpath) return data;
  elf::Edit edit;
  edit.rpath = wanted;
  auto edited = elf::edit(data, edit, path);
  if (edited) return std::move(edited->file);
  if (edited.error().kind != ErrorKind::unsupported && edited.error().kind != ErrorKind::corrupt)
    return fail(std::move(edited).error());
  findings.push_back(
      {edited.error().code, Severity::error, place + "!" + path, edited.error().message, edited.error().hint});
  return data;
}

void check_launchers(const Population& population, const std::string& place, Findings& findings) {
  for (const auto& [path, target] : population.launches) {
    auto program = population.files.find(target);
    if (program == population.files.end())
      findings.push_back({"S048", Severity::error, place + "!" + path,
                          fmt::format("stands for a link to {}, which this package does not hold", target),
                          "let the recipe's `select` take the program as well, or exclude the link"});
    else if (!program->second.executable)
      findings.push_back({"S049", Severity::warning, place + "!" + path,
                          fmt::format("runs {}, which is not executable (from {})", target, program->second.source),
                          "set the mode where the artifact is made"});
  }
}

Result<Population> populate(const View& view, const PopulateOptions& options, Findings& findings) {
  TRY(auto taken, Taker(view, options, findings).run());
  refuse_windows(taken, options, findings);
  check_launchers(taken.population, options.place, findings);
  TRY_DO(edit_run_paths(taken, options, findings));
  auto population = std::move(taken.population);
  for (const auto& [path, planned] : population.files) population.bytes += planned.data.size();
  return population;
}

} // namespace quarry::sdk
