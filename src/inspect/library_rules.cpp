#include "inspect/library_rules.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "inspect/loading.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <map>
#include <set>
#include <vector>

namespace quarry::inspect {

namespace {
constexpr std::size_t k_libraries_named = 5;

bool is_any_magic(std::string_view head, std::initializer_list<std::string_view> magics) {
  return std::ranges::any_of(magics, [&](std::string_view magic) { return head.starts_with(magic); });
}

/// Mach-O in both byte orders, for 32 and 64 bits, and several of them in one file.
bool is_mach_o(std::string_view head) {
  return is_any_magic(head, {"\xFE\xED\xFA\xCE", "\xFE\xED\xFA\xCF", "\xCE\xFA\xED\xFE", "\xCF\xFA\xED\xFE",
                             "\xCA\xFE\xBA\xBE", "\xCA\xFE\xBA\xBF"});
}

bool is_windows_library(std::string_view member) { return member.ends_with(".dll") || member.ends_with(".pyd"); }

/// Text that ld reads in place of a library: it begins with a comment or a command. GNU ld, "Scripts".
bool is_linker_script(std::string_view head) {
  constexpr std::array<std::string_view, 5> k_commands = {"GROUP", "INPUT", "OUTPUT_FORMAT", "AS_NEEDED", "SECTIONS"};
  return std::ranges::any_of(k_commands, [&](std::string_view word) {
    auto at = head.find(word);
    return at != head.npos && text::trim(head.substr(at + word.size())).starts_with('(');
  });
}

bool is_text(std::string_view head) {
  return std::ranges::all_of(head, [](char c) {
    auto byte = static_cast<unsigned char>(c);
    return byte >= ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f';
  });
}

// Run paths

bool depends_on_loader(std::string_view entry) {
  return std::ranges::any_of(std::array<std::string_view, 4>{"$LIB", "${LIB}", "$PLATFORM", "${PLATFORM}"},
                             [&](std::string_view name) { return entry.find(name) != entry.npos; });
}

struct RunPathFaults {
  std::vector<std::string> repeated, dependent; ///< "entry (file)"
};

void judge_run_path(const MachineFile& file, RunPathFaults& faults) {
  std::set<std::string> seen;
  bool repeats = false;
  for (const auto& entry : run_path(file.elf->facts)) {
    if (entry.empty()) continue; // Q105
    if (depends_on_loader(entry)) faults.dependent.push_back(fmt::format("`{}` ({})", entry, file.member));
    if (seen.insert(path::normal(from_origin(entry, path::dirname(file.installed)))).second || repeats) continue;
    faults.repeated.push_back(fmt::format("`{}` ({})", entry, file.member));
    repeats = true; // once for each file
  }
}

// Build IDs

std::map<std::string_view, const dist::RecordRow*> rows_by_path(const WheelContents& wheel) {
  std::map<std::string_view, const dist::RecordRow*> rows;
  for (const auto& row : wheel.report.record) rows.emplace(row.path, &row);
  return rows;
}

/// Groups of files with one build ID and different bytes: "a = b".
std::vector<std::string> shared_build_ids(const WheelContents& wheel) {
  auto rows = rows_by_path(wheel);
  std::map<std::string_view, std::map<std::string, std::string>> files; // build ID -> content -> its first file
  for (const auto& file : wheel.files) {
    if (!file.elf || file.elf->build_id.empty() || !file.elf->facts.has_dynamic) continue;
    if (file.member.ends_with(".debug")) continue; // has the build ID of the library that it was split from
    auto row = rows.find(file.member);
    auto content = row == rows.end() || row->second->raw_digest.empty() ? file.member : row->second->raw_digest;
    files[file.elf->build_id].emplace(std::move(content), file.member);
  }
  std::vector<std::string> groups;
  for (const auto& [id, by_content] : files) {
    std::vector<std::string> members;
    for (const auto& [content, member] : by_content) members.push_back(member);
    std::ranges::sort(members);
    if (members.size() > 1) groups.push_back(text::first(members, k_libraries_named, " = "));
  }
  std::ranges::sort(groups);
  return groups;
}

void add_if_any(Findings& findings, Finding blank, const std::vector<std::string>& members) {
  if (members.empty()) return;
  blank.message += ": " + text::first(members, k_libraries_named);
  findings.push_back(std::move(blank));
}
} // namespace

bool is_named_like_library(std::string_view member) {
  auto name = text::lower(path::basename(member));
  auto version = name.find(".so.");
  bool versioned = version != name.npos &&
                   std::ranges::all_of(name.substr(version + 4), [](char c) { return ascii::is_digit(c) || c == '.'; });
  return versioned || name.ends_with(".so") || name.ends_with(".dylib") || is_windows_library(name);
}

std::string_view fault_of_library(std::string_view member, std::string_view head) {
  auto name = text::lower(path::basename(member));
  if (head.empty()) return "is empty";
  bool windows = is_windows_library(name);
  if (head.starts_with("\177ELF")) return windows ? "is an ELF file" : std::string_view();
  if (head.starts_with("MZ")) return windows ? std::string_view() : "is a Windows file";
  if (is_mach_o(head)) return windows ? "is a Mach-O file" : std::string_view();
  if (head.starts_with(std::string_view("\0asm", 4)) && !windows) return {}; // WebAssembly: Pyodide, WASI
  if (std::ranges::all_of(head, [](char c) { return c == '\0'; })) return "begins with zeros";
  if (!is_text(head)) return "is not a library of any system";
  return is_linker_script(head) ? std::string_view() : "begins with text";
}

Findings library_findings(const WheelContents& wheel) {
  RunPathFaults faults;
  std::vector<std::string> nameless, wrong;
  for (const auto& file : wheel.files) {
    if (!file.elf || !file.elf->facts.has_dynamic) continue;
    judge_run_path(file, faults);
    if (file.elf->build_id.empty() && file.elf->facts.is_64) nameless.push_back(file.member);
  }
  for (const auto& [member, fault] : wheel.not_libraries) wrong.push_back(fmt::format("{} {}", member, fault));
  Findings findings;
  add_if_any(findings,
             {"Q123", Severity::warning, wheel.file, "files that are named like libraries and cannot be loaded",
              "package the libraries themselves; a link that became a file holds the path that it led to"},
             wrong);
  add_if_any(findings,
             {"Q124", Severity::note, wheel.file, "run paths name a directory more than once",
              "name it once: `quarry elf edit --rpath`"},
             faults.repeated);
  add_if_any(findings,
             {"Q125", Severity::warning, wheel.file,
              "run paths with $LIB or $PLATFORM lead to other directories on other systems",
              "name the directory of the wheel: `quarry elf edit --rpath '$ORIGIN/…'`"},
             faults.dependent);
  add_if_any(findings,
             {"Q126", Severity::note, wheel.file, "different libraries have the same build ID",
              "link each of them with --build-id: debuggers and symbol servers look for debug information by it"},
             shared_build_ids(wheel));
  add_if_any(findings,
             {"Q127", Severity::note, wheel.file,
              "libraries and programs without a build ID, so debug information that is kept elsewhere is not found",
              "link them with -Wl,--build-id"},
             nameless);
  return findings;
}

} // namespace quarry::inspect
