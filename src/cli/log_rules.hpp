#pragma once
// What the commands `log` and `time` share: the rules, and the logs that their operands name.
#include "buildlog/input.hpp"
#include "buildlog/rules.hpp"
#include "cli/command.hpp"
#include "cli/sections.hpp"
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace quarry::cli {

/// `--rules FILE`.
Flag log_rules_flag();
/// Those of `--rules`, else data/log-rules.toml of the repository or inside the program. Errors: D001, X500, X501.
Result<buildlog::Rules> load_log_rules(const Context& context, const Arguments& arguments);
/// `--today`, else the day of the clock, as YYYY-MM-DD. Fails with X505 for what is not a day since 1970.
Result<std::string> today_of(const Context& context, const Arguments& arguments);
enum class Unread : std::uint8_t { fails, is_finding };
/// All logs of the operands, in their order. Errors: D001, X502, Zxxx. With Unread::is_finding, an operand that cannot
/// be read is an error finding with its code, and find_logs() fails only if this is true for all of them.
Result<std::vector<buildlog::Input>> find_logs(const Arguments& arguments, Findings& findings,
                                               Unread unread = Unread::fails);
/// An error as the finding of a log that is left out.
Finding unread_log(const std::string& name, const Error& error);
/// Runs `read(i)` for each log on the threads of --jobs, with progress.
Result<void> read_logs(Context& context, const std::vector<buildlog::Input>& logs,
                       const std::function<Result<void>(std::size_t)>& read);
/// The sections on standard output in the form of `--format`; the findings there too as Markdown, else on standard
/// error.
void print_report(Context& context, const Arguments& arguments, const std::vector<Section>& sections,
                  const Findings& findings);
/// "1 h 08 min", "12 min 04 s", "3.1 s".
std::string duration_text(double seconds);

} // namespace quarry::cli
