#pragma once
// A recipe says what the packages of an SDK hold (docs/formats/recipe.md). Pure values; parsing names file, line and
// key.
#include "base/data_text.hpp"
#include "base/platform.hpp"
#include "base/result.hpp"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quarry::sdk {

enum class Role : std::uint8_t {
  meta,    ///< sdist only; chooses the others on the user's machine
  runtime, ///< libraries and programs, without links
  device,  ///< the device code of one GPU target, laid into the tree of a runtime package
  devel,   ///< everything else, as a link farm in an inner tar
};

/// Where a build keeps its device code (docs/formats/artifact.md).
enum class Form : std::uint8_t {
  whole, ///< inside the libraries, which are built for a family of GPUs
  split, ///< apart from them (kpack): generic artifacts hold the libraries, those of a target only its device code
};
std::string_view to_string(Form form); ///< "whole", "split"

enum class TargetRule : std::uint8_t { any, generic, family, family_or_generic };

struct Selection {
  std::vector<std::string> artifacts; ///< names; empty only with `runtime`
  bool runtime = false;               ///< also the names that the runtime packages select
  std::vector<std::string> components;
  TargetRule targets = TargetRule::any;
  std::vector<std::string> include; ///< globs; empty: everything
  std::vector<std::string> exclude;
  std::vector<std::string> except; ///< names of artifacts that are left out, for `runtime`
};

struct RpathEdge {
  std::string package; ///< logical name
  std::string path;    ///< directory in that package's platform tree
};

struct Script {
  std::string name, program, expect;
  std::vector<std::string> arguments, needs;
  std::vector<Platform> platforms; ///< empty: all
  std::vector<std::pair<std::string, std::string>>
      environment; ///< variable -> path in the platform tree, set where the user has not
  bool required = false;
};

struct Package {
  std::string name; ///< logical: "core"
  Role role = Role::runtime;
  bool per_family = false, required = false;
  bool never_empty = false;        ///< without files it is an error
  std::vector<Platform> platforms; ///< those that it is made for; empty: all
  std::optional<Form> form;        ///< only for artifacts in this form
  std::string overlays;            ///< device: the logical name of the package whose tree its files belong to
  std::string dist, pure, platform, tree, summary, readme, payload;
  std::vector<std::string> requires_packages, links_into; ///< logical names
  std::map<std::string, std::vector<std::string>> extras; ///< meta: extra -> logical names
  std::vector<Selection> select;
  std::vector<RpathEdge> rpath;
  std::vector<Script> scripts;
  int line = 0;                     ///< of the table in the file
  std::map<std::string, int> lines; ///< of its keys
};

struct MetadataDefaults {
  std::string requires_python, license, author;
  std::vector<std::string> license_files, keywords, classifiers;
  std::vector<std::pair<std::string, std::string>> urls;
  int license_files_line = 0;
};

struct Recipe {
  std::string name, file, digest; ///< digest: sha256 of the text
  MetadataDefaults metadata;
  std::vector<Form> forms;       ///< of artifacts that it can package
  std::vector<Package> packages; ///< in the order of the file
  const Package* find(std::string_view logical) const;
  const Package* meta() const;
  const Package* device() const; ///< nullptr: it has none
  bool takes(Form form) const;
  /// With the packages for artifacts in `form` alone. A package name occurs once in it.
  Recipe in(Form form) const;
  /// "file:line: package.NAME.KEY", for messages; the table's line where the key is absent.
  std::string place(const Package& package, const std::string& key) const;
};

/// invalid_argument S001 (syntax), S002 (unknown key, wrong type, missing key), S003 (a reference to a package that is
/// not there, a role that lacks what it needs, a name that cannot be one or that two packages share); each with
/// "file:line: key".
Result<Recipe> parse_recipe(NamedText named);

/// The attribute of `_cli.py` behind a console script: python/README.md "Entry points".
std::string entry_point_attribute(const std::string& script);

struct FamilyPattern {
  std::string_view pattern; ///< with "{family}" in it
  std::string_view family;
};
enum class NameForm : std::uint8_t { as_written, importable }; ///< importable: a name that Python can import
/// "{family}" in a name of the recipe; NameForm::importable also turns '-' into '_'.
std::string for_family(const FamilyPattern& wanted, NameForm form);

} // namespace quarry::sdk
