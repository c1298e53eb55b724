#pragma once
// What the jobs of two runs handed on: step outputs (the text of GITHUB_OUTPUT and GITHUB_ENV), and whether the
// packages go on to a release. Pure.
#include "base/data_text.hpp"
#include "shadow/difference.hpp"
#include <map>
#include <string>

namespace quarry::shadow {

using Outputs = std::map<std::string, std::string>;
struct JobOutputs {
  Outputs ours, theirs;
};

/// Adds the lines of a file to `outputs`: "NAME=VALUE", and "NAME<<END" with lines up to END. A URL that names the
/// run's directory `run` ("42-linux") is cut there: "{run}/python/index.html". Fails with invalid_argument Q502 for
/// other lines, for an END that is missing, and for a name that has another value already.
Result<void> read_outputs(NamedText source, const std::string& run, Outputs& outputs);

/// Compares outputs but `upload`: "NAME", "NAME!ours" or "NAME!theirs".
Section compare_outputs(const JobOutputs& outputs, const Table& table);

/// Compares whether the packages go on: their output `upload` ("true"), and our gate's verdict ("ready", "held";
/// without one our own output `upload`). The place is "upload". Nothing is compared if neither side says anything.
Section compare_verdicts(const JobOutputs& outputs, const std::string& verdict, const Table& table);

} // namespace quarry::shadow
