#pragma once
// Wheels as values, for the tests of the rules about machine code.
#include "base/text.hpp"
#include "inspect/machine_rules.hpp"
#include <algorithm>
#include <elf.h>
#include <fstream>
#include <iterator>

namespace quarry::inspect::made {

inline std::string shipped_text(const std::string& name) {
  std::ifstream file(std::string(QUARRY_SOURCE_DIR) + "/data/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline const dist::Manylinux& manylinux() {
  static const auto table = dist::parse_manylinux({shipped_text("manylinux.toml"), "manylinux.toml"}).value();
  return table;
}
inline const dist::Musllinux& musllinux() {
  static const auto table = dist::parse_musllinux({shipped_text("musllinux.toml"), "musllinux.toml"}).value();
  return table;
}
inline PlatformTables platforms() { return {manylinux(), musllinux()}; }
inline const WindowsLibraries& windows() {
  static const auto table = parse_windows_libraries({shipped_text("windows-libraries.toml"), "windows.toml"}).value();
  return table;
}

/// A library for x86-64 that is protected and needs nothing.
inline elf::Linking library(std::vector<std::string> needed = {}, std::optional<std::string> runpath = {}) {
  elf::Linking linking;
  linking.facts.machine = EM_X86_64;
  linking.facts.type = ET_DYN;
  linking.facts.has_dynamic = true;
  linking.facts.needed = std::move(needed);
  linking.facts.runpath = std::move(runpath);
  linking.has_relro = true;
  return linking;
}
inline MachineFile file(const std::string& member, elf::Linking linking = library()) {
  MachineFile made;
  made.member = made.installed = made.device.path = member;
  made.elf = std::move(linking);
  if (made.elf->build_id.empty())
    made.elf->build_id = text::hex({reinterpret_cast<const std::uint8_t*>(member.data()), member.size()});
  return made;
}
inline MachineFile dll(const std::string& member, std::vector<std::string> imports) {
  MachineFile made;
  made.member = made.installed = made.device.path = member;
  made.pe.emplace();
  made.pe->machine = pe::k_machine_amd64;
  made.pe->imports = std::move(imports);
  return made;
}

/// "x-1-py3-none-TAG.whl"; with a tag of three parts, "x-1-TAG.whl".
inline WheelContents wheel(const std::string& tag, std::vector<MachineFile> files) {
  WheelContents made;
  auto full = std::count(tag.begin(), tag.end(), '-') == 2 ? tag : "py3-none-" + tag;
  made.path = made.file = "x-1-" + full + ".whl";
  made.report.name = dist::WheelName::parse(made.file).value();
  made.report.wheel_info.emplace();
  std::ranges::sort(files, {}, &MachineFile::member);
  for (const auto& one : files) made.installed.insert(one.installed);
  made.files = std::move(files);
  return made;
}

} // namespace quarry::inspect::made
