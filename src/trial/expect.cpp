#include "trial/expect.hpp"

#include "base/ascii.hpp"
#include "base/redact.hpp"
#include "base/text.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::trial {

namespace {

using registry::AttemptState;

bool is_word(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return ascii::is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

Unexpected not_a_cell(std::string_view text, std::string_view why) {
  return fail(ErrorKind::invalid_argument, "X018", fmt::format("\"{}\" is not a cell: {}", text.substr(0, 100), why),
              "write PLATFORM/FAMILY/PYTHON, such as linux/gfx94X-dcgpu/3.12, and /FRAMEWORK after it");
}

Unexpected cannot_expect(std::string message, std::string hint) {
  return fail(ErrorKind::invalid_argument, "X019", std::move(message), std::move(hint));
}

/// GitHub's words `success` and `failure` both mean `ended`: the result is in the evidence.
Result<AttemptState> state_of(const std::string& word) {
  auto state = AttemptState::read(word == "success" || word == "failure" ? "ended" : word);
  if (state.kind()) return state;
  return cannot_expect(fmt::format("\"{}\" is not the state of a job", word.substr(0, 40)),
                       "use one of: queued, started, ended, skipped, cancelled, timed_out, success, failure");
}

} // namespace

Result<registry::Cell> parse_cell(std::string_view text) {
  auto parts = text::split(text, '/');
  if (parts.size() < 2 || parts.size() > 5) return not_a_cell(text, "it must have two to five parts");
  for (const auto& part : parts)
    if (!is_word(part)) return not_a_cell(text, "its parts may hold only letters, digits, `.`, `-` and `_`");
  for (std::size_t i = 1; i < parts.size(); ++i)
    if (parts[i] == "any") parts[i] = {}; // as a verdict prints a cell without a family
  parts.resize(5);
  registry::Cell cell{Platform::read(parts[0]), std::string(parts[1]), std::string(parts[2]), std::string(parts[3]),
                      ""};
  if (!cell.platform.kind()) return not_a_cell(text, "it does not begin with a platform");
  if (!cell.python.empty() && !cell.python.starts_with("3.")) return not_a_cell(text, "its third part is not a Python");
  if (!parts[4].empty() && parts[4] != "cpu" && parts[4] != "gpu")
    return not_a_cell(text, "its fifth part is neither gpu nor cpu");
  if (parts[4] == "cpu") cell.backend = "cpu";
  return cell;
}

Result<Announced> expect(const Expected& expected, store::ObjectStore& store) {
  registry::AttemptRecord attempt;
  TRY(attempt.cell, parse_cell(expected.cell));
  if (expected.suite.empty() || !is_word(expected.suite))
    return cannot_expect("the suite must be a name without blanks", "policies name suites, such as rocm-sdk");
  if (text::trim(expected.job).empty())
    return cannot_expect("nobody knows which job it is", "give --job URL: the page of the job that tests");
  if (expected.sets.empty()) return cannot_expect("no set is to be tested", "name a sealed set with --from");
  attempt.suite = expected.suite;
  attempt.sets = expected.sets;
  std::sort(attempt.sets.begin(), attempt.sets.end());
  attempt.sets.erase(std::unique(attempt.sets.begin(), attempt.sets.end()), attempt.sets.end());
  attempt.job = redact::without_credentials(expected.job);
  attempt.runner = std::string(text::trim(expected.runner));
  TRY(attempt.state, state_of(expected.state));
  attempt.time = sys::Timestamp::from_us(expected.now_us);
  TRY(auto digest, registry::put_attempt(store, attempt));
  return Announced{std::move(attempt), digest};
}

} // namespace quarry::trial
