#pragma once
// Wheels of one set that compete: two files of one project and version that fit the same interpreter and machine. Codes
// Q241 and Q242. Pure.
#include "base/finding.hpp"
#include "digest/sha256.hpp"
#include "dist/name.hpp"
#include <optional>
#include <string>
#include <vector>

namespace quarry::inspect {

struct Competitor {
  std::string file, path; ///< base name; how errors call it where two have one base name
  dist::WheelName name;
  std::optional<Sha256> sha256; ///< if it is known: two files of one name and one content do not compete
};

/// One finding for each wheel that competes with one before it; the message names both and says which of them pip and
/// uv install, as pip 22.3, pip 26.3 and uv 0.13.9 were seen to choose. At most 100 findings. Memory and time follow
/// the number of expanded tags.
Findings check_set(const std::vector<Competitor>& wheels);

} // namespace quarry::inspect
