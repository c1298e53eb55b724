#pragma once
// Findings for programs that read what a CI job prints: shared by the commands with `--format github`, `sarif` or
// `junit`.
#include "cli/annotations.hpp"
#include "cli/command.hpp"
#include <string>
#include <vector>

namespace quarry::cli {

struct FindingFormat {
  std::string format; ///< the value of --format
  std::string suite;  ///< "quarry set check"
  std::string counts; ///< "3 errors, 1 warning"
};

/// `--format` of a command that prints findings, with its values. Those for programs (`github`, `sarif`, `junit`) are
/// refused beside --json when the command line is read.
Flag findings_format_flag(std::vector<std::string> formats, std::string help = "how findings are written");

/// Writes the findings if the format is `github`, `sarif` or `junit`, and nothing otherwise. In a GitHub job, `github`
/// adds all findings to the step summary, since GitHub shows only ten annotations of a kind. Fails with C030 if the
/// explanations of codes cannot be read, and with D002 or D004 if the summary cannot be written.
Result<void> print_for_programs(Context& context, const std::vector<PlacedFinding>& findings,
                                const FindingFormat& format);

} // namespace quarry::cli
