#pragma once
// Which platform tag the files of a wheel keep (PEP 600, PEP 656), as `auditwheel show` says it, from the wheel's own
// files alone: libraries of the machine that looks at it count for nothing. Pure.
#include "dist/manylinux.hpp"
#include "dist/musllinux.hpp"
#include "inspect/wheel_contents.hpp"
#include <cstdint>
#include <string>
#include <vector>

namespace quarry::inspect {

/// What the files of a wheel ask for, and which of them asks first.
struct Demand {
  std::string what;    ///< "GLIBC_2.34", "libnuma.so.1", "inflate_fast"
  std::string library; ///< that gives it; empty for libraries
  std::string member;  ///< of the wheel
};

/// The C library that a file is linked against; a static program and a library that needs nothing name none.
enum class Libc : std::uint8_t { unknown, glibc, musl };
Libc libc_of(const MachineFile& file);

enum class Judged : std::uint8_t {
  yes,
  pure,  ///< no file for the host
  other, ///< its files are for a machine for which there is no table
};

struct PlatformTables {
  const dist::Manylinux& manylinux;
  const dist::Musllinux& musllinux;
};

struct PlatformVerdict {
  Judged judged = Judged::pure;
  std::string machine;                 ///< "x86_64", "aarch64"; as a number if it has no name here
  Libc libc = Libc::unknown;           ///< of the tag; else of the first file that names one; else glibc
  std::string tag;                     ///< the oldest that holds: "manylinux_2_28_x86_64"; "linux_x86_64" if none does
  std::string symbols_tag;             ///< the same, with symbol versions alone
  std::vector<Demand> decided_by;      ///< the newest version of each family that an older tag would not allow
  std::vector<Demand> versions;        ///< all of them
  std::vector<Demand> foreign;         ///< libraries that neither the wheel holds nor the newest policy promises
  std::vector<Demand> private_symbols; ///< those that the policy of `symbols_tag` or musl forbids
  std::vector<Demand> levels;          ///< files for newer processors: "x86-64-v3"
};

/// The verdict of one wheel. Files for another machine or another C library than the verdict's do not count. Names of
/// private symbols are known only if they were looked for (LookOptions::imports).
PlatformVerdict platform_verdict(const WheelContents& wheel, const PlatformTables& tables);

/// All symbols that some policy forbids: what LookOptions::imports should be.
std::set<std::string> private_symbols(const PlatformTables& tables);

/// "x86_64" of EM_X86_64; the number if it is not known.
std::string machine_name(std::uint16_t elf_machine);

} // namespace quarry::inspect
