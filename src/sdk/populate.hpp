#pragma once
// Private to the room.
// From a view to the files of a runtime package: libraries under their SONAME only, no links, programs behind links as
// launchers, run paths as DT_RPATH (docs/formats/recipe.md, "What a runtime package holds").
#include "base/finding.hpp"
#include "content/rope.hpp"
#include "sdk/recipe.hpp"
#include "sdk/view.hpp"
#include <map>
#include <string>
#include <vector>

namespace quarry::sdk {

struct PlannedFile {
  content::Rope data;
  bool executable = false;
  std::string kind;   ///< "file", "elf" (edited), "launcher"
  std::string source; ///< artifact
};

struct Population {
  std::map<std::string, PlannedFile> files;    ///< by path in the platform tree
  std::map<std::string, std::string> aliases;  ///< path -> path of the library that carries its SONAME
  std::vector<std::string> libraries;          ///< of `files`, the shared objects of the host, sorted
  std::map<std::string, std::string> launches; ///< path of a launcher -> path of the program that it runs
  std::size_t elf_edits = 0, launchers = 0, dropped_links = 0;
  std::uint64_t bytes = 0;
};

struct PopulateOptions {
  std::vector<std::string> run_path; ///< to append, each relative to site-packages: "_rocm_sdk_core/lib"
  content::Rope launcher;
  std::string place;        ///< package name for findings
  std::string platform;     ///< this package's own tree: "_rocm_sdk_core"
  bool for_windows = false; ///< devel: nothing is edited, names and programs are checked (windows.hpp)
};

/// Findings of severity error (S020… and E0xx): the package must not be built.
Result<Population> populate(const View& view, const PopulateOptions& options, Findings& findings);

/// Where libraries of other packages stand.
struct Edges {
  std::string platform;                 ///< the tree of the file's own package, in site-packages
  std::vector<std::string> directories; ///< from site-packages: "_rocm_sdk_core/lib"
};
/// The run path that `file` (in a platform tree) needs for `edges`: its own first (as DroppedRunPaths leaves it), then
/// the edges as $ORIGIN/../…. A directory that an earlier part leads to is not repeated, however it is written.
std::string run_path_for(const std::string& file, const std::string& own, const Edges& edges);

/// S048 (error): a launcher's program is not in the package. S049 (warning): the program is not executable.
void check_launchers(const Population& population, const std::string& place, Findings& findings);

/// Reads an ELF file's facts; nullopt for everything else (text, archives, GPU code objects). A file that starts as ELF
/// and does not hold together is a finding.
struct ElfLook {
  bool is_elf = false, is_library = false, is_program = false, has_dynamic = false;
  std::string soname, run_path;
  std::vector<std::string> needed;
  bool uses_runpath = false;
};
Result<ElfLook> look_at(const std::string& path, const SourceEntry& entry, const std::string& place,
                        Findings& findings);
/// A file of a package, and what look_at() told about it.
struct LookedAt {
  const std::string& path;
  const content::Rope& data;
  const ElfLook& look;
};
/// The file with `wanted` as DT_RPATH and no DT_RUNPATH; the same rope when nothing changes. A shape that cannot be
/// proven is a finding.
Result<content::Rope> with_run_path(const LookedAt& file, const std::string& wanted, const std::string& place,
                                    Findings& findings);

/// Directories of this package that `file` needs and that `run_path` does not lead to: "$ORIGIN", "$ORIGIN/../x".
/// `holds` says for a SONAME which directories of the package hold it (sorted).
using Holders = std::map<std::string, std::vector<std::string>>;
std::vector<std::string> missing_directories(const std::string& file, const std::vector<std::string>& needed,
                                             const std::string& run_path, const std::string& platform,
                                             const Holders& holds);

} // namespace quarry::sdk
