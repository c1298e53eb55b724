#pragma once
// What a manylinux tag promises (PEP 600), as auditwheel's tables say it: data/manylinux.toml. Pure, thread-safe.
#include "base/data_text.hpp"
#include "base/result.hpp"
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::dist {

struct ManylinuxPolicy {
  std::string glibc, machine;                ///< "2.28", "x86_64"
  std::map<std::string, std::string> newest; ///< symbol family -> newest version: "GLIBCXX" -> "3.4.24"
  std::set<std::string> also, libraries;     ///< versions without numbers: "CXXABI_TM_1"; SONAMEs of every system
  std::map<std::string, std::set<std::string>> private_symbols; ///< library -> what may not be imported from it
  std::string tag() const;                                      ///< "manylinux_2_28_x86_64"
};

struct Manylinux {
  std::vector<std::string> machines;     ///< "x86_64", …
  std::vector<ManylinuxPolicy> policies; ///< of one machine after the other, oldest first
};

/// corrupt M012 with file, line and key.
Result<Manylinux> parse_manylinux(NamedText named);

/// The policy of a tag: its own row, or the bounds of the row below with the glibc it names. Legacy names (manylinux1,
/// 2010, 2014) are understood. invalid_argument M013 for a tag about which nothing is known here.
Result<ManylinuxPolicy> policy_of(const Manylinux& manylinux, std::string_view platform_tag);

/// Whether files under the policy may ask for this version; families that PEP 600 does not bound always may.
bool allows(const ManylinuxPolicy& policy, std::string_view symbol_version);

/// The newest version of each family: {"GLIBC_2.14", "GLIBC_2.28", "GCC_3.0"} gives {"GCC_3.0", "GLIBC_2.28"}. Versions
/// that are not numbers stay.
std::set<std::string> newest_of_families(const std::set<std::string>& symbol_versions);

/// What files ask of a machine beside instructions.
struct MachineNeeds {
  std::set<std::string> versions;                               ///< "GLIBC_2.28"
  std::set<std::string> libraries;                              ///< SONAMEs that no package holds
  std::map<std::string, std::set<std::string>> private_symbols; ///< library -> names that a policy forbids
};
/// The oldest policy of the machine that allows all of them; null if none does.
const ManylinuxPolicy* oldest_that_allows(const Manylinux& manylinux, std::string_view machine,
                                          const MachineNeeds& needs);

} // namespace quarry::dist
