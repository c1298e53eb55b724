#include "cli/log_rules.hpp"

#include "base/units.hpp"
#include "buildlog/lines.hpp"
#include "sys/file.hpp"
#include "thread/pool.hpp"
#include <atomic>
#include <cmath>
#include <fmt/core.h>
#include <iterator>

namespace quarry::cli {

namespace {
constexpr const char* k_shipped = "data/log-rules.toml";
}

Flag log_rules_flag() {
  return {"--rules", "FILE", "what lines mean (default: data/log-rules.toml of the repository, else the one inside)"};
}

Result<buildlog::Rules> load_log_rules(const Context& context, const Arguments& arguments) {
  if (auto file = arguments.find("--rules")) {
    TRY(auto text, sys::read_file(*file, buildlog::k_rules_bytes_max + 1), "while reading --rules");
    return buildlog::parse_rules({text, *file});
  }
  auto text = context.resources.read(k_shipped);
  if (!text) return fail(ErrorKind::internal, "X500", fmt::format("{} is missing from the program", k_shipped));
  auto origin = context.resources.origin(k_shipped);
  return buildlog::parse_rules({*text, origin == "embedded" ? k_shipped : origin});
}

Result<std::string> today_of(const Context& context, const Arguments& arguments) {
  auto today = arguments.find("--today").value_or(sys::rfc3339(context.clock.now_us()).substr(0, 10));
  if (buildlog::days_of(today) >= 0) return today;
  return fail(ErrorKind::invalid_argument, "X505", fmt::format("--today {} is not a date", today),
              "write it as 2026-02-24");
}

Finding unread_log(const std::string& name, const Error& error) {
  auto prefix = name + ": "; // the finding says the place
  auto message = error.message.starts_with(prefix) ? error.message.substr(prefix.size()) : error.message;
  return {error.code, Severity::error, name, message, error.hint};
}

Result<std::vector<buildlog::Input>> find_logs(const Arguments& arguments, Findings& findings) {
  std::vector<buildlog::Input> logs;
  std::size_t failures = 0;
  for (const auto& operand : arguments.operands) {
    auto found = buildlog::find_inputs(operand, findings);
    if (found) {
      std::move(found->begin(), found->end(), std::back_inserter(logs));
      continue;
    }
    auto& error = found.error();
    bool last = ++failures == arguments.operands.size();
    if (error.kind == ErrorKind::cancelled || last) return fail(std::move(error));
    findings.push_back(unread_log(operand, error));
  }
  buildlog::tell_apart(logs);
  return logs;
}

Result<void> read_logs(Context& context, const std::vector<buildlog::Input>& logs,
                       const std::function<Result<void>(std::size_t)>& read) {
  std::uint64_t total = 0;
  for (const auto& log : logs) total += log.size;
  auto progress = context.out.progress("reading", total);
  std::atomic<std::uint64_t> done = 0;
  TRY_DO(parallel_for(logs.size(), context.jobs, [&](std::size_t i) -> Result<void> {
    TRY_DO(read(i));
    progress->update(done += logs[i].size);
    return {};
  }));
  progress->finish();
  return {};
}

void print_report(Context& context, const Arguments& arguments, const std::vector<Section>& sections,
                  const Findings& findings) {
  if (arguments.get("--format") == "markdown") {
    context.out.data(sections_markdown(sections) + findings_markdown(findings));
    return;
  }
  context.out.data(sections_text(sections, context.out.data_look()));
  context.out.findings(findings);
}

std::string duration_text(double seconds) {
  if (seconds < 3600) return units::seconds(seconds);
  auto minutes = std::llround(seconds / 60);
  return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
}

} // namespace quarry::cli
