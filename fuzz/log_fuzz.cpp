// Logs of builds and tests: a report is the same when the log arrives in blocks of any size.
#include "buildlog/difference.hpp"
#include "buildlog/report.hpp"
#include "buildlog/times.hpp"
#include "fuzzing.hpp"
#include <algorithm>

using namespace quarry;

namespace {
constexpr std::string_view k_rules = R"(schema = "quarry.log-rules/1"
device_actions = ['*.hip.cpp*']
[[noise]]
name = "Bazel progress"
kind = "bazel"
lines = ['[# / #] *', 'Loading: *']
hint = "h"
[[noise]]
name = "insecure requests"
kind = "insecure"
lines = ['*InsecureRequestWarning: *']
continues = ['  warnings.warn(*']
hint = "h"
[[noise]]
name = "compiler warnings"
kind = "compiler"
lines = ['*: warning: *[-W*]']
continues = ['# | *', '*: note: *']
hint = "h"
)";

buildlog::Input input_of(std::string_view text, std::size_t block) {
  return {"a.log", "a", text.size(), [=](const std::function<void(std::string_view)>& take) -> Result<void> {
            for (std::size_t at = 0; at < text.size(); at += block) take(text.substr(at, block));
            return {};
          }};
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto k_parsed = buildlog::parse_rules({k_rules, "rules"}).value();
  auto text = fuzzing::as_text(data, size);
  auto whole = input_of(text, buildlog::k_block_bytes), pieces = input_of(text, 7);
  auto report = buildlog::report_log(whole, k_parsed), same = buildlog::report_log(pieces, k_parsed);
  fuzzing::require(report && same && report->lines == same->lines && report->bytes == same->bytes);
  auto findings = buildlog::findings_of({*report}, k_parsed, {}), others = buildlog::findings_of({*same}, k_parsed, {});
  fuzzing::require(std::equal(findings.begin(), findings.end(), others.begin(), others.end(),
                              [](const auto& a, const auto& b) { return a.code == b.code && a.message == b.message; }));
  auto difference = buildlog::compare_logs(whole, pieces, k_parsed);
  fuzzing::require(difference.has_value());
  fuzzing::require(buildlog::report_times(whole, k_parsed).has_value() ==
                   buildlog::report_times(pieces, k_parsed).has_value());
  (void)buildlog::parse_rules({text, "rules"});
  return 0;
}
