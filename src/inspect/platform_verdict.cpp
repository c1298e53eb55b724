#include "inspect/platform_verdict.hpp"

#include "inspect/loading.hpp"
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

bool is_musl(const elf::Facts& facts) {
  auto names_it = [](std::string_view name) { return name.starts_with("libc.musl-") || name.starts_with("ld-musl-"); };
  return std::ranges::any_of(facts.needed, names_it) || facts.interpreter.find("/ld-musl-") != std::string::npos;
}

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

std::vector<Demand> forbidden(const Needs& needs, const dist::ManylinuxPolicy* policy) {
  std::vector<Demand> out;
  if (!policy) return out;
  for (const auto& [key, asked] : needs.imports) {
    auto known = policy->private_symbols.find(key.first);
    if (known != policy->private_symbols.end() && known->second.contains(key.second)) out.push_back(asked);
  }
  return out;
}
} // namespace

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

std::set<std::string> private_symbols(const dist::Manylinux& manylinux) {
  std::set<std::string> names;
  for (const auto& policy : manylinux.policies)
    for (const auto& [library, symbols] : policy.private_symbols) names.insert(symbols.begin(), symbols.end());
  return names;
}

PlatformVerdict platform_verdict(const WheelContents& wheel, const dist::Manylinux& manylinux) {
  PlatformVerdict verdict;
  verdict.machine = machine_of(wheel);
  Needs needs;
  bool any = false, musl = false;
  for (const auto& file : wheel.files) {
    if (!file.elf || machine_name(file.elf->facts.machine) != verdict.machine) continue;
    any = true;
    musl = musl || is_musl(file.elf->facts);
    add(file, needs);
  }
  if (!any) return verdict;
  const auto* newest = newest_of(manylinux, verdict.machine);
  verdict.judged = musl ? Judged::musl : newest ? Judged::yes : Judged::other;
  if (verdict.judged != Judged::yes) return verdict;
  const WheelContents* alone[] = {&wheel};
  for (const auto& unmet : unmet_needs(alone))
    if (!newest->libraries.contains(unmet.library))
      needs.libraries.try_emplace(unmet.library, Demand{unmet.library, "", unmet.file->member});
    else // an older policy may not promise it
      needs.libraries.try_emplace(unmet.library, Demand{unmet.library, "", ""});
  auto plain = "linux_" + verdict.machine;
  const auto* by_versions = dist::oldest_that_allows(manylinux, verdict.machine, versions_alone(needs));
  const auto* by_all = dist::oldest_that_allows(manylinux, verdict.machine, all_of(needs));
  verdict.symbols_tag = by_versions ? by_versions->tag() : plain;
  verdict.tag = by_all && needs.levels.empty() ? by_all->tag() : plain;
  // With no policy at all, what even the newest does not allow.
  verdict.decided_by = beyond(needs, by_versions ? older_than(manylinux, by_versions) : newest);
  verdict.versions = values_of(needs.versions);
  verdict.levels = values_of(needs.levels);
  verdict.private_symbols = forbidden(needs, by_versions);
  for (const auto& [library, asked] : needs.libraries)
    if (!asked.member.empty()) verdict.foreign.push_back(asked);
  return verdict;
}

} // namespace quarry::inspect
