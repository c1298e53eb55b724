#include "inspect/machine_rules.hpp"

#include "base/text.hpp"
#include "base/toml.hpp"
#include "base/units.hpp"
#include "inspect/library_rules.hpp"
#include "inspect/loading.hpp"
#include "inspect/tag_rules.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <set>

namespace quarry::inspect {

namespace {
constexpr std::size_t k_members_named = 5;         // files or symbols in one message
constexpr std::uint64_t k_worth_saying = 1u << 20; // bytes: less debug or repeated content costs nobody anything
constexpr std::string_view k_manylinux = "manylinux", k_musllinux = "musllinux";

std::string joined(const std::vector<Demand>& asked) {
  std::vector<std::string> parts;
  for (const auto& one : asked) parts.push_back(fmt::format("{} ({})", one.what, one.member));
  return text::first(parts, k_members_named);
}

/// "what (file and 2 more)" for each.
std::vector<std::string> with_files(const std::map<std::string, std::vector<std::string>>& files) {
  std::vector<std::string> parts;
  for (const auto& [what, members] : files) parts.push_back(fmt::format("{} ({})", what, text::first(members, 1)));
  return parts;
}

/// The findings of one wheel.
class Report {
public:
  Report(const JudgedWheel& judged, Findings& findings)
      : wheel(*judged.wheel), verdict(judged.verdict), findings_(findings) {
    if (wheel.report.name) platforms = text::split(wheel.report.name->tags.platform, '.');
  }

  void add(std::string_view code, Severity severity, std::string message, std::string fix) {
    findings_.push_back({std::string(code), severity, wheel.file, std::move(message), std::move(fix)});
  }
  /// One finding for all files that have the same defect.
  void add(std::string_view code, const std::vector<std::string>& members, std::string_view what, std::string fix) {
    if (!members.empty())
      add(code, Severity::warning, fmt::format("{}: {}", what, text::first(members, k_members_named)), std::move(fix));
  }
  bool has_tag(std::string_view begin) const {
    return std::ranges::any_of(platforms, [&](const auto& tag) { return tag.starts_with(begin); });
  }

  const WheelContents& wheel;
  const PlatformVerdict& verdict;
  std::vector<std::string> platforms; ///< of the file name

private:
  Findings& findings_;
};

// Tags

using SymbolsByLibrary = std::map<std::string, std::set<std::string>>;

/// Those that systems of a tag do not export; newer ones may.
std::vector<Demand> forbidden_by(const SymbolsByLibrary& hidden, const std::vector<Demand>& imported) {
  std::vector<Demand> out;
  for (const auto& one : imported)
    if (auto known = hidden.find(one.library); known != hidden.end() && known->second.contains(one.what))
      out.push_back(one);
  return out;
}

/// What every platform tag promises, whatever the C library.
void check_promise_of_all(Report& report, const std::string& tag, const SymbolsByLibrary& private_symbols) {
  const auto& verdict = report.verdict;
  if (!verdict.levels.empty())
    report.add("Q109", Severity::error,
               fmt::format("its files need a newer processor than {} promises: {}", tag, joined(verdict.levels)),
               "build without -march, or choose the code by the processor when it runs");
  auto hidden = forbidden_by(private_symbols, verdict.private_symbols);
  if (!hidden.empty())
    report.add(
        "Q110", Severity::error,
        fmt::format("its files import symbols that not every {} exports: {}", hidden.front().library, joined(hidden)),
        "link the library that defines them statically, or package it");
}

/// What the tag promises and the files do not keep.
void check_promise(Report& report, const dist::ManylinuxPolicy& policy) {
  const auto& verdict = report.verdict;
  std::set<std::string> versions;
  std::map<std::string, Demand> by_version;
  for (const auto& one : verdict.versions)
    if (!dist::allows(policy, one.what)) {
      versions.insert(one.what);
      by_version.emplace(one.what, one);
    }
  std::vector<Demand> newer;
  for (const auto& version : dist::newest_of_families(versions)) newer.push_back(by_version.at(version));
  if (!newer.empty())
    report.add(
        "Q101", Severity::error,
        fmt::format("its files need newer symbols than {} promises: {}", policy.tag(), joined(newer)),
        verdict.symbols_tag.starts_with(k_manylinux)
            ? fmt::format("`quarry wheel retag --platform-tag {}`, or build on an older system", verdict.symbols_tag)
            : "no manylinux tag holds: tag it linux, or build on an older system");
  check_promise_of_all(report, policy.tag(), policy.private_symbols);
}

/// Each tag of the file name once: a name may have several, "manylinux_2_17_x86_64.manylinux2014_x86_64".
void check_tags(Report& report, const PlatformTables& tables) {
  if (report.verdict.judged != Judged::yes) return;
  bool musl = report.verdict.libc == Libc::musl;
  std::set<std::string> said;
  for (const auto& tag : report.platforms) {
    if (musl && tag.starts_with(k_musllinux)) check_promise_of_all(report, tag, tables.musllinux.private_symbols);
    if (musl || !tag.starts_with(k_manylinux)) continue;
    auto policy = dist::policy_of(tables.manylinux, tag);
    if (policy && said.insert(policy->tag()).second) check_promise(report, *policy);
  }
}

/// Files for the C library that no tag of the name has. Without such a tag nothing is promised.
void check_libc(Report& report) {
  bool glibc = report.has_tag(k_manylinux), musl = report.has_tag(k_musllinux);
  if (glibc == musl) return;
  std::vector<std::string> other;
  bool any_fits = false;
  for (const auto& file : report.wheel.files) {
    auto libc = libc_of(file);
    if (libc == (glibc ? Libc::musl : Libc::glibc)) other.push_back(file.member);
    any_fits = any_fits || libc == (glibc ? Libc::glibc : Libc::musl);
  }
  std::string_view what = glibc ? "its tag says glibc, and these files are linked against musl"
                                : "its tag says musl, and these files are linked against glibc";
  if (!other.empty() && !any_fits)
    report.add("Q117", Severity::error, fmt::format("{}: {}", what, text::first(other, k_members_named)),
               "give it a tag of the C library of its files: `quarry wheel retag --platform-tag`");
  else
    report.add("Q117", other, what, "leave these files out, or build them for the C library of the tag");
}

bool fits_platform(std::string_view platform, const std::string& machine) {
  auto names = [&](std::string_view name) { return platform.ends_with(name); };
  if (machine == "x86_64" || machine == "x86-64") return names("x86_64") || names("amd64");
  if (machine == "aarch64" || machine == "ARM64") return names("aarch64") || names("arm64");
  return names(machine);
}

/// Whether such code is loaded where the tag installs it. A DLL may be data for Linux, such as an assembly of .NET.
bool fits_system(std::string_view platform, const MachineFile& file) {
  bool windows = platform.starts_with("win");
  return file.elf ? !windows : windows || !file.member.ends_with(".pyd");
}

void check_machines(Report& report) {
  bool any = std::ranges::find(report.platforms, "any") != report.platforms.end();
  std::vector<std::string> code, other;
  bool starts = false; // a program for Windows: other processors emulate it
  for (const auto& file : report.wheel.files) {
    bool launcher = any && file.pe && file.member.ends_with(".exe"); // as in setuptools: it is started, not loaded
    if ((!file.elf && !file.pe) || launcher) continue;
    code.push_back(file.member);
    starts = starts || (file.pe && file.member.ends_with(".exe"));
    auto machine = file.elf ? machine_name(file.elf->facts.machine) : pe::machine_name(file.pe->machine);
    bool fits = std::ranges::any_of(
        report.platforms, [&](const auto& tag) { return fits_system(tag, file) && fits_platform(tag, machine); });
    if (!fits) other.push_back(fmt::format("{} ({})", file.member, machine));
  }
  if (code.empty()) return;
  if (any)
    report.add(
        "Q107", Severity::error,
        fmt::format("its tag says `any` machine, and it holds machine code: {}", text::first(code, k_members_named)),
        fmt::format("give it the tag of the machine: `quarry wheel retag --platform-tag {}`",
                    report.verdict.tag.empty() ? "linux_x86_64" : report.verdict.tag));
  else if (other.size() == code.size() && !starts)
    report.add("Q106", Severity::error,
               fmt::format("none of its files is for the machine and system that its tag says: {}",
                           text::first(other, k_members_named)),
               "give it the tag of their machine: `quarry wheel retag --platform-tag`; or build it for this one");
  else
    report.add("Q106", other, "its files are for another machine or system than its tag says",
               "omit these files, or give the wheel the tag of their system and machine");
  if (report.wheel.report.wheel_info && report.wheel.report.wheel_info->root_is_purelib)
    report.add("Q108", code, "WHEEL says Root-Is-Purelib: true, and it holds machine code",
               "build it as a platform wheel: some systems keep pure and compiled packages apart");
}

// Libraries

bool is_allowed(const MachineRules& rules, const std::string& library) {
  return std::ranges::any_of(rules.allowed, [&](const auto& pattern) { return text::glob_match(pattern, library); });
}

/// The same of a DLL: the case of its letters does not count. `name` is in lower case.
bool is_allowed_dll(const MachineRules& rules, const std::string& name) {
  return std::ranges::any_of(rules.allowed,
                             [&](const auto& pattern) { return text::glob_match(text::lower(pattern), name); });
}

/// Libraries of every system by the wheel's own tag; those of the newest policy for a linux tag.
std::set<std::string> promised_libraries(const Report& report, const PlatformTables& tables) {
  if (report.verdict.libc == Libc::musl) return tables.musllinux.libraries_of(report.verdict.machine);
  for (const auto& tag : report.platforms)
    if (auto policy = dist::policy_of(tables.manylinux, tag)) return std::move(policy->libraries);
  std::set<std::string> newest;
  for (const auto& policy : tables.manylinux.policies)
    if (policy.machine == report.verdict.machine) newest = policy.libraries;
  return newest;
}

/// One finding for all libraries of a wheel; each with the first file that needs it.
void report_nowhere(Report& report, std::string_view code, Severity severity,
                    const std::map<std::string, std::vector<std::string>>& nowhere, std::string_view which) {
  constexpr std::size_t k_libraries_shown = 12;
  if (nowhere.empty()) return;
  report.add(code, severity,
             fmt::format("its files need {} {}: {}",
                         nowhere.size() == 1 ? "a library" : units::count(nowhere.size()) + " libraries", which,
                         text::first(with_files(nowhere), k_libraries_shown)),
             fmt::format("package them, or say that the machine has them: --allow-library {}", nowhere.begin()->first));
}

void check_libraries(Report& report, std::span<const Unmet> unmet, const MachineRules& rules) {
  if (report.verdict.judged != Judged::yes) return;
  auto every_system = promised_libraries(report, rules.platforms);
  std::map<std::string, std::vector<std::string>> nowhere, elsewhere;
  for (const auto& one : unmet) {
    if (every_system.contains(one.library) || is_allowed(rules, one.library)) continue;
    if (one.held_at.empty())
      nowhere[one.library].push_back(one.file->member);
    else
      elsewhere[one.held_at].push_back(one.file->member);
  }
  report.add("Q103", with_files(elsewhere), "no run path of these files leads to a library that they need",
             "add the directory to their run path: `quarry elf edit --rpath '$ORIGIN/…'`");
  report_nowhere(report, "Q102",
                 report.has_tag(k_manylinux) || report.has_tag(k_musllinux) ? Severity::error : Severity::warning,
                 nowhere, "that no wheel here holds and that not every system has");
}

// Run paths

/// Why an entry is not one that an installed wheel may have; empty if it is.
std::string_view fault_of(const std::string& entry, const MachineFile& file) {
  if (entry.empty()) return "is empty: the loader looks in the working directory";
  auto expanded = from_origin(entry, path::dirname(file.installed));
  if (expanded == entry && entry.front() == '/') return "is a directory of the machine that built it";
  if (expanded == entry && entry.front() != '$') return "is relative to the working directory";
  return {};
}

bool leaves_environment(const std::string& entry, const MachineFile& file) {
  constexpr std::ptrdiff_t k_depth = 3; // site-packages lies three levels below the environment: lib/python3.12/…
  auto parts = path::components(path::normal(from_origin(entry, path::dirname(file.installed))));
  return std::ranges::count(parts, "..") > k_depth;
}

void check_run_paths(Report& report) {
  std::map<std::string, std::vector<std::string>> unsafe, foreign;
  for (const auto& file : report.wheel.files) {
    if (!file.elf) continue;
    for (const auto& entry : run_path(file.elf->facts)) {
      auto fault = fault_of(entry, file);
      if (fault.empty() && leaves_environment(entry, file)) fault = "leads out of the environment";
      if (!fault.empty())
        (entry.starts_with('/') || entry.starts_with('$') ? foreign : unsafe)[fmt::format("`{}` {}", entry, fault)]
            .push_back(file.member);
    }
  }
  report.add("Q105", with_files(unsafe), "a run path depends on where the program is started",
             "remove these entries: `quarry elf edit --rpath`");
  report.add("Q104", with_files(foreign), "a run path leaves what is installed",
             "use entries that begin with $ORIGIN: `quarry elf edit --rpath`");
}

// What files carry

void check_protection(Report& report) {
  std::vector<std::string> relocated, unprotected;
  for (const auto& file : report.wheel.files) {
    if (!file.elf || !file.elf->facts.has_dynamic) continue;
    if (file.elf->text_relocations) relocated.push_back(file.member);
    if (!file.elf->has_relro) unprotected.push_back(file.member);
  }
  report.add("Q111", relocated, "the loader must write into their code (text relocations)", "compile them with -fPIC");
  report.add("Q112", unprotected, "their relocation tables stay writable (no RELRO)", "link them with -z relro");
}

void check_debug(Report& report) {
  std::uint64_t bytes = 0;
  std::vector<std::string> members;
  for (const auto& file : report.wheel.files)
    if (file.elf && file.elf->debug_bytes > 0) {
      bytes += file.elf->debug_bytes;
      members.push_back(fmt::format("{} ({})", file.member, units::bytes(file.elf->debug_bytes)));
    }
  if (bytes >= k_worth_saying)
    report.add("Q113", members, fmt::format("{} of debug information", units::bytes(bytes)),
               "strip the files before they are packaged, and keep the debug information elsewhere");
}

/// By RECORD's digests, which wheel::verify has compared with the files.
void check_repeated(Report& report) {
  std::map<std::string, std::vector<const dist::RecordRow*>> by_content;
  for (const auto& row : report.wheel.report.record)
    if (row.size.value_or(0) > 0) by_content[row.algorithm + row.raw_digest].push_back(&row);
  std::uint64_t wasted = 0;
  std::vector<std::string> groups;
  for (const auto& [digest, rows] : by_content) {
    if (rows.size() < 2 || digest.empty()) continue;
    auto bytes = *rows.front()->size * (rows.size() - 1);
    wasted += bytes;
    std::vector<std::string> paths;
    for (const auto* row : rows) paths.push_back(row->path);
    if (bytes >= k_worth_saying) groups.push_back(text::first(paths, k_members_named, " = "));
  }
  if (wasted >= k_worth_saying && !groups.empty())
    report.add("Q114", groups, fmt::format("{} are there more than once", units::bytes(wasted)),
               "keep one file, and load it by its SONAME");
}

// Windows

std::set<std::string> dlls_of(std::span<const JudgedWheel> wheels) {
  std::set<std::string> names;
  for (const auto& judged : wheels)
    for (const auto& file : judged.wheel->files) names.insert(text::lower(path::basename(file.member)));
  return names;
}

void check_dlls(Report& report, const std::set<std::string>& held, const MachineRules& rules) {
  std::map<std::string, std::vector<std::string>> nowhere;
  for (const auto& file : report.wheel.files) {
    if (!file.pe) continue;
    for (const auto& import : file.pe->imports) {
      auto name = text::lower(import);
      auto known = [&](const auto& pattern) { return text::glob_match(pattern, name); };
      if (!held.contains(name) && std::ranges::none_of(rules.windows.patterns, known) && !is_allowed_dll(rules, name))
        nowhere[name].push_back(file.member);
    }
  }
  report_nowhere(report, "Q116", Severity::warning, nowhere, "that no wheel here holds and that Windows does not have");
}
} // namespace

Result<WindowsLibraries> parse_windows_libraries(NamedText named) {
  TRY(auto root, TomlTable::parse({named.text, named.name}, {"Q007", "Q007", "data/windows-libraries.toml"}));
  WindowsLibraries out;
  std::string schema;
  TRY_DO(root.choice("schema", schema, {"quarry.windows-libraries/1"}, true));
  TRY_DO(root.texts("libraries", out.patterns));
  TRY_DO(root.finish());
  return out;
}

Findings check_machine_code(std::span<const JudgedWheel> wheels, const MachineRules& rules) {
  std::vector<const WheelContents*> all;
  for (const auto& judged : wheels) all.push_back(judged.wheel);
  auto needs_max = rules.needs_max.value_or(k_needs_max);
  auto search = unmet_needs(all, needs_max);
  auto dlls = dlls_of(wheels);
  Findings findings;
  for (std::size_t i = 0; i < wheels.size(); ++i) {
    for (const auto& file : wheels[i].wheel->files)
      findings.insert(findings.end(), file.findings.begin(), file.findings.end());
    for (auto& finding : tag_findings(*wheels[i].wheel)) findings.push_back(std::move(finding));
    for (auto& finding : library_findings(*wheels[i].wheel)) findings.push_back(std::move(finding));
    Report report(wheels[i], findings);
    check_tags(report, rules.platforms);
    check_libc(report);
    check_machines(report);
    auto own = std::ranges::equal_range(search.unmet, i, {}, &Unmet::wheel);
    if (!search.complete)
      report.add("Q118", Severity::warning,
                 fmt::format("its files, with those of the other wheels, need more than {} libraries: not all were "
                             "looked for",
                             units::count(needs_max)),
                 "check the wheels one by one");
    check_libraries(report, std::span(own.begin(), own.end()), rules);
    check_run_paths(report);
    check_protection(report);
    check_debug(report);
    check_repeated(report);
    check_dlls(report, dlls, rules);
  }
  return findings;
}

} // namespace quarry::inspect
