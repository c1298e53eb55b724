#pragma once
// Extension modules that promise Python's stable ABI (PEP 384, PEP 803) and import what is not part of it. Codes Q121
// and Q122. Pure.
#include "base/data_text.hpp"
#include "base/finding.hpp"
#include "base/result.hpp"
#include "inspect/wheel_contents.hpp"
#include <map>
#include <string>

namespace quarry::inspect {

/// Functions and data of the stable ABI: data/python-stable-abi.toml.
struct StableAbi {
  std::map<std::string, int> added; ///< the version of Python 3 that added a symbol: 11 for Python 3.11
};
/// Fails with corrupt Q015, with file, line and key.
Result<StableAbi> parse_stable_abi(NamedText named);

/// Judges the extension modules of a wheel with an ABI tag `abi3` or `abi3t`, and those named `.abi3.so`. A module
/// whose name says one version of Python is not judged, and symbols that a file of the wheel defines are not Python's.
/// At most two findings. Time: linear in the imported symbols.
Findings check_stable_abi(const WheelContents& wheel, const StableAbi& abi);

} // namespace quarry::inspect
