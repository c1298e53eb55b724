#pragma once
// Which platform tag the files of a wheel keep (PEP 600), as `auditwheel show` says it, from the wheel's own files
// alone: libraries of the machine that looks at it count for nothing. Pure.
#include "dist/manylinux.hpp"
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

enum class Judged : std::uint8_t {
  yes,
  pure,  ///< no file for the host
  musl,  ///< its files are linked against musl, for which there is no table
  other, ///< its files are for a machine for which there is no table
};

struct PlatformVerdict {
  Judged judged = Judged::pure;
  std::string machine;                 ///< "x86_64", "aarch64"; as a number if it has no name here
  std::string tag;                     ///< the oldest that holds: "manylinux_2_28_x86_64"; "linux_x86_64" if none does
  std::string symbols_tag;             ///< the same, with symbol versions alone
  std::vector<Demand> decided_by;      ///< the newest version of each family that an older tag would not allow
  std::vector<Demand> versions;        ///< all of them
  std::vector<Demand> foreign;         ///< libraries that neither the wheel holds nor the newest policy promises
  std::vector<Demand> private_symbols; ///< those that the policy of `symbols_tag` forbids
  std::vector<Demand> levels;          ///< files for newer processors: "x86-64-v3"
};

/// The verdict of one wheel. Names of private symbols are known only if they were looked for (LookOptions::imports).
PlatformVerdict platform_verdict(const WheelContents& wheel, const dist::Manylinux& manylinux);

/// All symbols that some policy forbids: what LookOptions::imports should be.
std::set<std::string> private_symbols(const dist::Manylinux& manylinux);

/// "x86_64" of EM_X86_64; the number if it is not known.
std::string machine_name(std::uint16_t elf_machine);

} // namespace quarry::inspect
