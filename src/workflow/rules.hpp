#pragma once
// Private to the room.
// The rules of `workflow lint`: each looks across files for defects that checkers of single files do not see. Private
// to the room; lint.hpp is the way in.
#include "workflow/lint.hpp"
#include "workflow/model.hpp"
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::workflow {

/// Begins a comment that accepts findings.
inline constexpr std::string_view k_suppression = "# quarry: ignore";

/// What a rule works on and writes to.
struct Rules {
  const Repository& repository;
  const std::map<std::string, Tree*>& others; ///< OWNER/REPO in lower case, as given by --with
  const RefSource* refs;                      ///< nullptr: nobody can be asked
  Tree* base;                                 ///< the state that this one is compared with, or nullptr
  Report& report;
  const std::map<std::string, Tree*>& given;       ///< the others as they were given, OWNER/REPO with its capitals
  std::vector<std::unique_ptr<File>>& build_files; ///< of this repository, those with suppressions: path and text

  void add(const File& file, Position at, std::string code, Severity severity, std::string message,
           std::string fix = {}, std::optional<Edit> edit = {}) const {
    report.findings.push_back(
        {file.path, at, std::move(code), severity, std::move(message), std::move(fix), std::move(edit)});
  }
  void not_looked_at(const std::string& what) const { ++report.not_looked_at[what]; }
};

/// One checkout: a step of actions/checkout.
struct Checkout {
  int job = 0, step = 0;
  Position at;
  std::string repository; ///< as written; empty: this repository
  std::string ref;
  std::string path;
  Position ref_at;                    ///< of the value, or of the step
  bool has_ref = false, ours = false; ///< ours: this repository, or what an input puts in its place
};
std::vector<Checkout> checkouts_of(const File& file);

/// Whether a ref is the whole id of a commit: 40 hexadecimal digits.
bool is_commit(std::string_view ref);

/// For messages: "job `build`, step `Checkout JAX`"; in an action "step `Checkout JAX`".
std::string step_name(const File& file, int job, int step);
/// So many names fit into a message; text::first says how many more there are.
inline constexpr std::size_t k_names_shown = 5;

/// Whether an expression of the file reads the input, alone or with all others.
bool is_read(const File& file, std::string_view name);

void check_interfaces(const Rules& rules); ///< Y118 - Y122, Y124, Y128
void check_calls(const Rules& rules);      ///< Y110 - Y117
void check_graph(const Rules& rules);      ///< Y129, Y133, Y135, Y144
void check_matrices(const Rules& rules);   ///< Y132
void check_checkouts(const Rules& rules);  ///< Y125 - Y127, Y136, Y137, Y141
void check_clones(const Rules& rules);     ///< Y126, Y141 of scripts
void check_steps(const Rules& rules);      ///< Y134, Y138
void check_downloads(const Rules& rules);  ///< Y140
void check_paths(const Rules& rules);      ///< Y139, Y143
void check_refs(const Rules& rules);       ///< Y142
void check_targets(const Rules& rules);    ///< Y123, Y130, Y131, Y145

} // namespace quarry::workflow
