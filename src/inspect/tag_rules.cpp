#include "inspect/tag_rules.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <array>
#include <elf.h>
#include <fmt/core.h>
#include <optional>

namespace quarry::inspect {

namespace {
std::string_view take_digits(std::string_view& text) {
  auto end = std::ranges::find_if_not(text, ascii::is_digit);
  auto digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  return digits;
}

bool take(std::string_view& text, std::string_view begin) {
  if (!text.starts_with(begin)) return false;
  text.remove_prefix(begin.size());
  return true;
}

// Extension modules

/// The ending of an extension module: SOABI of sysconfig.
struct ModuleEnding {
  std::string python;       ///< "cp313", "pp310"
  std::string abi;          ///< "cp313t"; the same as `python` for a plain build
  std::string_view machine; ///< "x86_64-linux-gnu", "win_amd64"; empty if the name does not say it
};

std::optional<ModuleEnding> ending_of(std::string_view member) {
  auto name = path::basename(member);
  bool windows = name.ends_with(".pyd");
  if (!windows && !name.ends_with(".so")) return std::nullopt;
  name = name.substr(0, name.rfind('.'));
  auto dot = name.rfind('.');
  if (dot == name.npos) return std::nullopt;
  auto rest = name.substr(dot + 1);
  bool pypy = !windows && take(rest, "pypy");
  if (!pypy && !take(rest, windows ? "cp" : "cpython-")) return std::nullopt;
  auto digits = take_digits(rest);
  if (digits.size() < 2) return std::nullopt;
  ModuleEnding ending;
  ending.python = (pypy ? "pp" : "cp") + std::string(digits);
  auto flags = rest.substr(0, rest.find('-'));
  rest.remove_prefix(std::min(flags.size() + 1, rest.size()));
  if (pypy) { // "pp73-x86_64-linux-gnu"
    auto dash = rest.find('-');
    rest = dash == rest.npos ? std::string_view() : rest.substr(dash + 1);
  }
  ending.abi = ending.python;
  for (char flag : flags) // `m` and `u` of Python before 3.8 say what every build of that time had
    if (flag == 't' || flag == 'd') ending.abi += flag;
  ending.machine = rest;
  return ending;
}

/// The architecture of a platform tag for the first part of a multiarch name: PEP 3149 and `gcc -print-multiarch`.
std::string_view machine_of_name(std::string_view triplet) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> k_machines{
      {{"x86_64-linux", "x86_64"},
       {"i386-linux", "i686"},
       {"aarch64-linux", "aarch64"},
       {"powerpc64le-linux", "ppc64le"},
       {"s390x-linux", "s390x"},
       {"riscv64-linux", "riscv64"},
       {"loongarch64-linux", "loongarch64"}}};
  auto known = std::ranges::find_if(k_machines, [&](const auto& one) { return triplet.starts_with(one.first); });
  return known == k_machines.end() ? std::string_view() : known->second;
}

bool names_machine(const std::vector<std::string>& platforms, std::string_view triplet) {
  auto has = [&](auto test) { return std::ranges::any_of(platforms, test); };
  if (triplet.starts_with("win"))
    return has([&](const auto& tag) { return tag == "any" || tag == text::replace_all(triplet, "-", "_"); });
  auto machine = machine_of_name(triplet);
  return machine.empty() || has([&](const std::string& tag) {
           return tag == "any" || (tag.find("linux") != tag.npos && tag.ends_with(machine));
         });
}

/// Whether a Python of the ABI tags loads modules for `ending`. A debug build also loads those of the plain one.
bool names_abi(const std::vector<std::string>& abis, const ModuleEnding& ending) {
  return std::ranges::any_of(abis, [&](const std::string& abi) {
    if (abi == "none" || abi == ending.abi || abi == ending.abi + "d") return true;
    if (abi == "abi3t" && ending.abi == ending.python + "t") return true; // PEP 803
    bool plain = ending.abi == ending.python; // "abi3" is for builds with the GIL; "cp37m", "pypy310_pp73"
    return plain && (abi.starts_with("abi3") || abi.starts_with(ending.python + "m") || abi.starts_with("pypy"));
  });
}

// Tags

template <std::size_t N> bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, word) != words.end();
}

/// The fault of a tag that names neither glibc nor musl. The systems are the words that `sysconfig.get_platform()`
/// begins with where Python runs.
std::string_view fault_of_other_tag(std::string_view tag) {
  static constexpr std::array<std::string_view, 5> k_windows = {"win32", "win_amd64", "win_arm64", "win_arm32",
                                                                "win_ia64"};
  static constexpr std::array<std::string_view, 11> k_mac = {
      "x86_64", "arm64", "universal2", "intel", "fat", "fat32", "universal", "fat64", "i386", "ppc", "ppc64"};
  static constexpr std::array<std::string_view, 22> k_systems = {
      "linux",  "macosx",  "ios",    "android",   "pyodide", "emscripten", "wasi",  "freebsd",
      "netbsd", "openbsd", "cygwin", "mingw",     "msys",    "aix",        "sunos", "solaris",
      "haiku",  "darwin",  "gnu",    "dragonfly", "hp",      "midnightbsd"};
  if (tag == "any") return {};
  if (tag.starts_with("win")) return is_one_of(tag, k_windows) ? std::string_view() : "Windows has no such machine";
  auto system = tag.substr(0, tag.find('_'));
  if (!is_one_of(system, k_systems)) return "Python runs on no such system";
  if (system == tag && system != "linux") return {}; // "mingw", "haiku": whole names, too
  if (system == tag) return "the machine is missing";
  if (system != "macosx") return {};
  auto rest = tag.substr(system.size());
  for (int part = 0; part < 2; ++part)
    if (!take(rest, "_") || take_digits(rest).empty()) return "the version of macOS is not two numbers";
  bool known = take(rest, "_") && is_one_of(rest, k_mac);
  return known ? std::string_view() : "macOS has no such machine";
}

/// Why no system has this platform tag; empty if one may have it: PEP 513, 571, 599, 600 and 656 for Linux.
std::string_view fault_of_platform_tag(std::string_view tag) {
  static constexpr std::array<std::string_view, 11> k_machines = {
      "x86_64", "i686", "aarch64", "armv7l", "armv6l", "ppc64", "ppc64le", "s390x", "riscv64", "loongarch64", "mips64"};
  auto rest = tag;
  bool musl = take(rest, "musllinux");
  if (!musl && !take(rest, "manylinux")) return fault_of_other_tag(tag);
  if (auto year = musl ? std::string_view() : take_digits(rest); !year.empty()) {
    if (year != "1" && year != "2010" && year != "2014")
      return "only 1, 2010 and 2014 are names without a version of glibc";
  } else {
    for (int part = 0; part < 2; ++part)
      if (!take(rest, "_") || take_digits(rest).empty()) return "the version of the C library is not two numbers";
  }
  if (rest.size() < 2 || rest.front() != '_') return "the machine is missing";
  if (ascii::is_digit(rest[1])) return "the version of the C library has more than two numbers";
  return is_one_of(rest.substr(1), k_machines) ? std::string_view() : "no Linux is published for such a machine";
}

struct ModuleFault {
  bool python = false, machine = false;
};
/// Whether a Python that installs a wheel with these tags looks for the extension module. A name without such an ending
/// has no fault.
ModuleFault fault_of_module(std::string_view member, const dist::WheelTags& tags) {
  auto ending = ending_of(member);
  if (!ending) return {};
  auto pythons = text::split(tags.python, '.');
  bool python = std::ranges::find(pythons, ending->python) != pythons.end();
  bool fits = python && names_abi(text::split(tags.abi, '.'), *ending);
  return {!fits, fits && !names_machine(text::split(tags.platform, '.'), ending->machine)};
}

// Headers

/// Why the loader refuses this library whatever it holds; empty if its header is right. Only the loader of glibc looks
/// at EI_OSABI.
std::string fault_of_header(const elf::Facts& facts, bool glibc) {
  if (facts.machine != EM_X86_64 && facts.machine != EM_AARCH64) return {};
  if (!facts.is_64) return "32-bit code for a 64-bit machine (ELFCLASS32)";
  if (facts.type == ET_REL) return "an object file that was not linked (ET_REL)";
  if (facts.type == ET_EXEC) return "a program for a fixed address (ET_EXEC)";
  if (facts.type != ET_DYN) return fmt::format("of the type {} (e_type)", facts.type);
  if (glibc && facts.os_abi != ELFOSABI_SYSV && facts.os_abi != ELFOSABI_GNU)
    return fmt::format("for another operating system (EI_OSABI {})", facts.os_abi);
  return {};
}

bool is_named_library(std::string_view member) {
  auto name = path::basename(member);
  return name.ends_with(".so") || name.find(".so.") != name.npos;
}

void add(Findings& findings, Finding blank, const std::vector<std::string>& members) {
  constexpr std::size_t k_tag_members_named = 5;
  if (members.empty()) return;
  blank.message += ": " + text::first(members, k_tag_members_named);
  findings.push_back(std::move(blank));
}
} // namespace

Findings tag_findings(const WheelContents& wheel) {
  if (!wheel.report.name) return {};
  const auto& tags = wheel.report.name->tags;
  std::vector<std::string> nowhere, other_python, other_machine, refused;
  auto platforms = text::split(tags.platform, '.');
  for (const auto& tag : platforms)
    if (auto fault = fault_of_platform_tag(tag); !fault.empty()) nowhere.push_back(fmt::format("{} ({})", tag, fault));
  bool musl = std::ranges::any_of(platforms, [](const auto& tag) { return tag.starts_with("musllinux"); });
  for (const auto& file : wheel.files) {
    if (!file.elf && !file.pe) continue;
    auto fault = fault_of_module(file.member, tags);
    if (fault.python) other_python.push_back(file.member);
    if (fault.machine) other_machine.push_back(file.member);
    if (!file.elf || !is_named_library(file.member)) continue;
    if (auto why = fault_of_header(file.elf->facts, !musl); !why.empty())
      refused.push_back(fmt::format("{} ({})", file.member, why));
  }
  Findings findings;
  add(findings,
      {"Q119", Severity::error, wheel.file, "no system has these platform tags",
       "give it the tag that its files keep: `quarry wheel inspect` says it, `quarry wheel retag --platform-tag` "
       "writes it"},
      nowhere);
  add(findings,
      {"Q115", Severity::warning, wheel.file, "extension modules for a Python that the wheel's tag does not name",
       "build the wheel for one Python, or name all of them in its tag"},
      other_python);
  add(findings,
      {"Q115", Severity::warning, wheel.file,
       "extension modules whose names say another machine or system than the wheel's tag",
       "build the modules for the platform of the tag: no Python there looks for these names"},
      other_machine);
  add(findings,
      {"Q120", Severity::warning, wheel.file, "named like libraries, and the loader refuses them by their header",
       "link them as shared libraries for the wheel's platform, or omit them"},
      refused);
  return findings;
}

} // namespace quarry::inspect
