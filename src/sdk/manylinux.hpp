#pragma once
// Private to the room.
// What a manylinux tag promises (PEP 600) and whether the files of a package keep it. Numbers: data/manylinux.toml.
#include "base/result.hpp"
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::sdk {

struct ManylinuxPolicy {
  std::string glibc, machine;                ///< "2.28", "x86_64"
  std::map<std::string, std::string> newest; ///< symbol family -> newest version: "GLIBCXX" -> "3.4.24"
  std::set<std::string> also, libraries;     ///< versions that are no numbers: "CXXABI_TM_1"; SONAMEs of every system
  std::string tag() const;                   ///< "manylinux_2_28_x86_64"
};

struct Manylinux {
  std::string machine;
  std::vector<ManylinuxPolicy> policies; ///< oldest first
};

/// invalid_argument S001, S002 with file, line and key.
Result<Manylinux> parse_manylinux(std::string_view text, const std::string& file);

/// The policy of a tag: its own row, or the bounds of the row below with the glibc it names. Legacy names (manylinux1,
/// 2010, 2014) are understood. invalid_argument S038 for a tag about which nothing is known here.
Result<ManylinuxPolicy> policy_of(const Manylinux& manylinux, std::string_view platform_tag);

/// Whether files under the policy may ask for this version; families that PEP 600 does not bound always may.
bool allows(const ManylinuxPolicy& policy, std::string_view symbol_version);

/// The oldest policy that allows all of them; null when none does.
const ManylinuxPolicy* oldest_that_allows(const Manylinux& manylinux, const std::set<std::string>& symbol_versions);

} // namespace quarry::sdk
