#pragma once
// What a musllinux tag promises (PEP 656), as auditwheel's tables say it: data/musllinux.toml. Pure, thread-safe.
#include "base/data_text.hpp"
#include "base/result.hpp"
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace quarry::dist {

struct Musllinux {
  std::string newest;                      ///< "1.2": files do not say which musl they were built for
  std::map<std::string, std::string> libc; ///< machine -> SONAME of musl: "libc.musl-x86_64.so.1"
  std::set<std::string> libraries;         ///< SONAMEs of every such system, without musl's own
  std::map<std::string, std::set<std::string>> private_symbols; ///< library -> what may not be imported from it

  bool knows(std::string_view machine) const { return libc.contains(std::string(machine)); }
  std::string tag(std::string_view machine) const; ///< "musllinux_1_2_x86_64"
  /// Libraries of every system with this machine; empty for a machine without a table.
  std::set<std::string> libraries_of(std::string_view machine) const;
};

/// invalid_argument M015 with file, line and key.
Result<Musllinux> parse_musllinux(NamedText named);

} // namespace quarry::dist
