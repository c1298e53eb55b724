#pragma once
// A requirements file as a list of requirements. Accepts the part of pip's format that names projects: one
// requirement per line, comments, continued lines. An option is refused, because to ignore it silently would be wrong.
#include "base/data_text.hpp"
#include "base/result.hpp"
#include "dist/requirement.hpp"
#include <string>
#include <string_view>
#include <vector>

namespace quarry::mirror {

constexpr std::uint64_t k_requirements_bytes_max = 4u << 20; ///< the locked closure of a large product has 500 kB
constexpr std::size_t k_requirements_max = 10'000;

struct Asked {
  dist::Requirement requirement;
  std::string by; ///< "requirements.txt:3", or "pandas 2.2.3" that has it as a dependency
};

/// invalid_argument U001 for an option, a URL, no project at all, too many; M010 for what is no
/// requirement; each with "file:line". `setuptools` and `wheel` are added when they are not named: source distributions
/// are built with them.
Result<std::vector<Asked>> parse_requirements(NamedText named);

} // namespace quarry::mirror
