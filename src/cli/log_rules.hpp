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
/// All logs of the operands, in their order. An operand that cannot be read (D001, X502, Zxxx) is an error finding with
/// its code; find_logs() fails if that is so for all of them.
Result<std::vector<buildlog::Input>> find_logs(const Arguments& arguments, Findings& findings);
/// An error as the finding of a log that is left out.
Finding unread_log(const std::string& name, const Error& error);
/// Runs `read(i)` for each log on the threads of --jobs, with progress.
Result<void> read_logs(Context& context, const std::vector<buildlog::Input>& logs,
                       const std::function<Result<void>(std::size_t)>& read);
/// What `read` makes of each log. One that cannot be read to its end, such as a damaged member of a zip, is left out
/// with an error finding. Fails if that is so for all of them.
template <class Report, class Read>
Result<std::vector<Report>> reports_of(Context& context, const std::vector<buildlog::Input>& logs, const Read& read,
                                       Findings& findings) {
  std::vector<Result<Report>> made(logs.size());
  TRY_DO(read_logs(context, logs, [&](std::size_t i) -> Result<void> {
    made[i] = read(logs[i]);
    bool ends = !made[i] && (made[i].error().kind == ErrorKind::cancelled || logs.size() == 1);
    return ends ? Result<void>(fail(std::move(made[i]).error())) : Result<void>();
  }));
  std::vector<Report> reports;
  for (std::size_t i = 0; i < logs.size(); ++i)
    if (made[i])
      reports.push_back(std::move(*made[i]));
    else
      findings.push_back(unread_log(logs[i].name, made[i].error()));
  if (reports.empty() && !made.empty()) return fail(std::move(made.front()).error());
  return reports;
}
/// The sections on standard output in the form of `--format`; the findings there too as Markdown, else on standard
/// error.
void print_report(Context& context, const Arguments& arguments, const std::vector<Section>& sections,
                  const Findings& findings);
/// "1 h 08 min", "12 min 04 s", "3.1 s".
std::string duration_text(double seconds);

} // namespace quarry::cli
