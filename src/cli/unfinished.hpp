#pragma once
// Releases that were interrupted between two channels, for `status`.
#include "cli/command.hpp"
#include "release/plan.hpp"
#include <string>
#include <vector>

namespace quarry::cli {

struct UnfinishedReport {
  std::vector<Json> rows;
  std::vector<std::string> help;  ///< commands that complete them
  std::vector<std::string> notes; ///< what these commands must be given besides
};

/// Prints the channels that have not moved yet. Costs what release::unfinished() does, and two reads for each of these
/// channels.
Result<UnfinishedReport> tell_unfinished(Context& context, const Arguments& arguments, store::ObjectReader& store);

} // namespace quarry::cli
