#pragma once
// What each error and finding code means: data/codes/ROOM.toml. Errors: C030 (a file of explanations cannot be read),
// C031 (no such code).
#include "base/resources.hpp"
#include "base/result.hpp"
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::cli {

struct Explanation {
  std::string code, title, about, fix;
  std::string room; ///< the file that explains it: "artifact"
};

/// All codes by name. A code that two files explain is C030.
Result<std::map<std::string, Explanation>> load_codes(const Resources& resources);

/// Only those of data/codes/ROOM.toml: parsing one file instead of all saves 20 ms in a debug build. C030 when it
/// cannot be read.
Result<std::map<std::string, Explanation>> load_codes_of(const Resources& resources, const std::string& room);

/// Case does not matter, `error[A012]` is A012. not_found C031 with near codes in the hint.
Result<Explanation> find_code(const std::map<std::string, Explanation>& codes, std::string_view asked);

/// Whether a glob ("Q4*") fits one of the codes, which must outlive what is returned.
std::function<bool(const std::string&)> fits_code_of(const std::map<std::string, Explanation>& codes);

/// Codes of the same room that stand beside it, at most six.
std::vector<std::string> neighbours(const std::map<std::string, Explanation>& codes, const Explanation& of);

} // namespace quarry::cli
