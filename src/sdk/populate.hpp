#pragma once
// From a view to the files of a runtime package: libraries under their SONAME only, no links, programs behind links as launchers,
// run paths as DT_RPATH (docs/formats/recipe.md, "What a runtime package holds").
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
  std::string kind;    ///< "file", "elf" (edited), "launcher"
  std::string source;  ///< artifact
};

struct Population {
  std::map<std::string, PlannedFile> files;    ///< by path in the platform tree
  std::map<std::string, std::string> aliases;  ///< path -> path of the library that carries its SONAME
  std::size_t elf_edits = 0, launchers = 0, dropped_links = 0;
  std::uint64_t bytes = 0;
};

struct PopulateOptions {
  std::vector<std::string> run_path;  ///< to append, each relative to site-packages: "_rocm_sdk_core/lib"
  content::Rope launcher;
  std::string place;                  ///< package name for findings
  unsigned workers = 1;
};

/// Findings of severity error (S020… and E0xx): the package must not be built.
Result<Population> populate(const View& view, const PopulateOptions& options, Findings& findings);

/// The run path that `file` (in a platform tree) needs for `edges`: its own first, then the edges as $ORIGIN/../…, no repeats.
std::string run_path_for(const std::string& file, const std::string& own, const std::vector<std::string>& edges);

/// Reads an ELF file's facts; nullopt for everything else (text, archives, GPU code objects). A file that starts as ELF and
/// does not hold together is a finding.
struct ElfLook {
  bool is_elf = false, is_library = false, is_program = false, has_dynamic = false;
  std::string soname, run_path;
  bool uses_runpath = false;
};
Result<ElfLook> look_at(const std::string& path, const SourceEntry& entry, const std::string& place, Findings& findings);
/// The file with its run path as DT_RPATH (edges appended); the same rope when nothing changes.
Result<content::Rope> with_run_path(const std::string& path, const content::Rope& data, const ElfLook& look, const PopulateOptions& options, Findings& findings);

}  // namespace quarry::sdk
