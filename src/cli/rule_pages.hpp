#pragma once
// docs/rules from data/codes and data/profiles. Pure but for the data files.
#include "base/resources.hpp"
#include "base/result.hpp"
#include <map>
#include <string>

namespace quarry::cli {

/// File name -> content: README.md with each rule and what the profiles make of it, and one page per room that says
/// what a finding means and what to do. C030 and Q011 for data files that cannot be read.
Result<std::map<std::string, std::string>> rule_pages(const Resources& resources);

} // namespace quarry::cli
