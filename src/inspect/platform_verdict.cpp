#include "inspect/platform_verdict.hpp"

#include "base/text.hpp"
#include "dist/platform_parts.hpp"
#include "inspect/loading.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <elf.h>
#include <map>
#include <optional>

namespace quarry::inspect {

namespace {
/// What the files of a wheel ask for; the first file that asks is kept.
struct Needs {
  std::map<std::string, Demand> versions, libraries, levels;
  std::map<std::pair<std::string, std::string>, Demand> imports; ///< by library and symbol
};

void add(const MachineFile& file, Needs& needs) {
  const auto& linking = *file.elf;
  for (const auto& [library, version] : linking.versions)
    if (!is_loader(library)) needs.versions.try_emplace(version, Demand{version, library, file.member});
  for (const auto& library : linking.facts.needed)
    for (const auto& symbol : linking.imports)
      needs.imports.try_emplace({library, symbol}, Demand{symbol, library, file.member});
  if (linking.isa_level > 1) {
    auto level = "x86-64-v" + std::to_string(linking.isa_level);
    needs.levels.try_emplace(level, Demand{level, "", file.member});
  }
}

/// The machine in the wheel's tag, or else that of the first file.
std::string machine_of(const WheelContents& wheel) {
  if (wheel.report.name)
    for (const auto* machine : {"x86_64", "aarch64"})
      if (wheel.report.name->tags.platform.ends_with(machine)) return machine;
  for (const auto& file : wheel.files)
    if (file.elf) return machine_name(file.elf->facts.machine);
  return {};
}

/// A big-endian library or program, such as those for s390x: it is not read, and no table is about its machine.
bool is_unread_elf(const MachineFile& file) {
  return !file.elf && std::ranges::find(file.findings, "E011", &Finding::code) != file.findings.end();
}

/// "s390x" of "manylinux_2_17_s390x.manylinux2014_s390x"; empty if the tag names none.
std::string tagged_machine(const WheelContents& wheel) {
  if (!wheel.report.name) return {};
  auto platforms = text::split(wheel.report.name->tags.platform, '.');
  return std::string(dist::platform_parts(platforms.front()).machine);
}

template <class Map> std::vector<Demand> values_of(const Map& map) {
  std::vector<Demand> out;
  for (const auto& [key, asked] : map) out.push_back(asked);
  return out;
}

dist::MachineNeeds versions_alone(const Needs& needs) {
  dist::MachineNeeds out;
  for (const auto& [version, asked] : needs.versions) out.versions.insert(version);
  return out;
}

dist::MachineNeeds all_of(const Needs& needs) {
  auto out = versions_alone(needs);
  for (const auto& [library, asked] : needs.libraries) out.libraries.insert(library);
  for (const auto& [key, asked] : needs.imports) out.private_symbols[key.first].insert(key.second);
  return out;
}

const dist::ManylinuxPolicy* newest_of(const dist::Manylinux& manylinux, std::string_view machine) {
  const dist::ManylinuxPolicy* newest = nullptr;
  for (const auto& policy : manylinux.policies)
    if (policy.machine == machine) newest = &policy;
  return newest;
}

const dist::ManylinuxPolicy* older_than(const dist::Manylinux& manylinux, const dist::ManylinuxPolicy* policy) {
  if (!policy || policy == manylinux.policies.data() || (policy - 1)->machine != policy->machine) return nullptr;
  return policy - 1;
}

/// The newest version of each family that the policy does not allow.
std::vector<Demand> beyond(const Needs& needs, const dist::ManylinuxPolicy* policy) {
  std::set<std::string> all;
  for (const auto& [version, asked] : needs.versions)
    if (policy && !dist::allows(*policy, version)) all.insert(version);
  std::vector<Demand> out;
  for (const auto& version : dist::newest_of_families(all)) out.push_back(needs.versions.at(version));
  return out;
}

/// The C library that the file name's tags promise; unknown for none or for both.
Libc promised_libc(const WheelContents& wheel) {
  bool glibc = false, musl = false;
  if (wheel.report.name)
    for (const auto& tag : text::split(wheel.report.name->tags.platform, '.')) {
      glibc = glibc || tag.starts_with("manylinux");
      musl = musl || tag.starts_with("musllinux");
    }
  return glibc == musl ? Libc::unknown : musl ? Libc::musl : Libc::glibc;
}

/// What the tag promises, unless all files of the machine are for the other one.
Libc libc_of_wheel(const WheelContents& wheel, const std::string& machine) {
  auto promised = promised_libc(wheel);
  auto first = Libc::unknown;
  bool fits = false;
  for (const auto& file : wheel.files) {
    if (!file.elf || machine_name(file.elf->facts.machine) != machine) continue;
    auto libc = libc_of(file);
    fits = fits || libc == Libc::unknown || libc == promised;
    if (first == Libc::unknown) first = libc;
  }
  if (promised != Libc::unknown && fits) return promised;
  return first == Libc::unknown ? Libc::glibc : first;
}

using PrivateSymbols = std::map<std::string, std::set<std::string>>;
std::vector<Demand> forbidden(const Needs& needs, const PrivateSymbols& private_symbols) {
  std::vector<Demand> out;
  for (const auto& [key, asked] : needs.imports) {
    auto known = private_symbols.find(key.first);
    if (known != private_symbols.end() && known->second.contains(key.second)) out.push_back(asked);
  }
  return out;
}

/// The files that count, and what they need that the wheel does not hold.
Needs needs_of(const WheelContents& wheel, const PlatformVerdict& verdict, const std::set<std::string>& promised) {
  Needs needs;
  auto counts = [&](const MachineFile& file) {
    auto libc = libc_of(file);
    return file.elf && machine_name(file.elf->facts.machine) == verdict.machine &&
           (libc == Libc::unknown || libc == verdict.libc);
  };
  for (const auto& file : wheel.files)
    if (counts(file)) add(file, needs);
  const WheelContents* alone[] = {&wheel};
  auto search = unmet_needs(alone);
  for (const auto& unmet : search.unmet) {
    if (!counts(*unmet.file)) continue;
    // Without a file: a library that these systems have; an older policy may not promise it.
    auto member = promised.contains(unmet.library) ? std::string() : unmet.file->member;
    needs.libraries.try_emplace(unmet.library, Demand{unmet.library, "", std::move(member)});
  }
  return needs;
}

void judge_glibc(const Needs& needs, const dist::Manylinux& manylinux, PlatformVerdict& verdict) {
  auto plain = "linux_" + verdict.machine;
  const auto* by_versions = dist::oldest_that_allows(manylinux, verdict.machine, versions_alone(needs));
  const auto* by_all = dist::oldest_that_allows(manylinux, verdict.machine, all_of(needs));
  verdict.symbols_tag = by_versions ? by_versions->tag() : plain;
  verdict.tag = by_all && needs.levels.empty() ? by_all->tag() : plain;
  // With no policy at all, what even the newest does not allow.
  const auto* bound = by_versions ? older_than(manylinux, by_versions) : newest_of(manylinux, verdict.machine);
  verdict.decided_by = beyond(needs, bound);
  if (by_versions) verdict.private_symbols = forbidden(needs, by_versions->private_symbols);
}

/// musl has no versions of symbols, so they decide nothing.
void judge_musl(const Needs& needs, const dist::Musllinux& musllinux, PlatformVerdict& verdict) {
  verdict.symbols_tag = musllinux.tag(verdict.machine);
  verdict.private_symbols = forbidden(needs, musllinux.private_symbols);
  bool has_foreign = std::ranges::any_of(needs.libraries, [](const auto& one) { return !one.second.member.empty(); });
  bool holds = !has_foreign && verdict.private_symbols.empty() && needs.levels.empty();
  verdict.tag = holds ? verdict.symbols_tag : "linux_" + verdict.machine;
}
} // namespace

Libc libc_of(const MachineFile& file) {
  if (!file.elf) return Libc::unknown;
  const auto& facts = file.elf->facts;
  auto names_musl = [](std::string_view name) {
    return name.starts_with("libc.musl-") || name.starts_with("ld-musl-");
  };
  auto names_glibc = [](std::string_view name) { return name == "libc.so.6" || is_loader(name); };
  auto interpreter = path::basename(facts.interpreter);
  if (names_musl(interpreter) || std::ranges::any_of(facts.needed, names_musl)) return Libc::musl;
  if (names_glibc(interpreter) || std::ranges::any_of(facts.needed, names_glibc)) return Libc::glibc;
  return file.member.ends_with("-linux-musl.so") ? Libc::musl : Libc::unknown;
}

std::string machine_name(std::uint16_t elf_machine) {
  switch (elf_machine) {
  case EM_X86_64: return "x86_64";
  case EM_AARCH64: return "aarch64";
  case EM_386: return "i686";
  case EM_ARM: return "armv7l";
  case EM_PPC64: return "ppc64le";
  case EM_S390: return "s390x";
  case EM_RISCV: return "riscv64";
  default: return std::to_string(elf_machine);
  }
}

std::set<std::string> private_symbols(const PlatformTables& tables) {
  std::set<std::string> names;
  auto add_all = [&](const PrivateSymbols& hidden) {
    for (const auto& [library, symbols] : hidden) names.insert(symbols.begin(), symbols.end());
  };
  for (const auto& policy : tables.manylinux.policies) add_all(policy.private_symbols);
  add_all(tables.musllinux.private_symbols);
  return names;
}

PlatformVerdict platform_verdict(const WheelContents& wheel, const PlatformTables& tables) {
  PlatformVerdict verdict;
  verdict.machine = machine_of(wheel);
  bool any = std::ranges::any_of(wheel.files, [&](const MachineFile& file) {
    return file.elf && machine_name(file.elf->facts.machine) == verdict.machine;
  });
  if (!any) {
    if (std::ranges::any_of(wheel.files, is_unread_elf)) {
      verdict.judged = Judged::other;
      if (verdict.machine.empty()) verdict.machine = tagged_machine(wheel);
      // The tables are about little-endian machines, so that tag is not the file's.
      if (newest_of(tables.manylinux, verdict.machine) || tables.musllinux.knows(verdict.machine))
        verdict.machine.clear();
    }
    return verdict;
  }
  verdict.libc = libc_of_wheel(wheel, verdict.machine);
  bool musl = verdict.libc == Libc::musl;
  const auto* newest = newest_of(tables.manylinux, verdict.machine);
  bool known = musl ? tables.musllinux.knows(verdict.machine) : newest != nullptr;
  verdict.judged = known ? Judged::yes : Judged::other;
  if (!known) return verdict;
  auto needs = needs_of(wheel, verdict, musl ? tables.musllinux.libraries_of(verdict.machine) : newest->libraries);
  if (musl)
    judge_musl(needs, tables.musllinux, verdict);
  else
    judge_glibc(needs, tables.manylinux, verdict);
  verdict.versions = values_of(needs.versions);
  verdict.levels = values_of(needs.levels);
  for (const auto& [library, asked] : needs.libraries)
    if (!asked.member.empty()) verdict.foreign.push_back(asked);
  return verdict;
}

} // namespace quarry::inspect
