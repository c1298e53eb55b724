#include "trial/traceback.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <iterator>

namespace quarry::trial {

namespace {

constexpr std::string_view k_header = "Traceback (most recent call last):";
constexpr std::string_view k_joints[] = {"During handling of the above exception, another exception occurred:",
                                         "The above exception was the direct cause of the following exception:"};
/// What unittest calls for a test beside its method.
constexpr std::string_view k_fixtures[] = {"setUp",         "tearDown",    "setUpClass",
                                           "tearDownClass", "setUpModule", "tearDownModule"};

bool is_frame(std::string_view line) { return line.starts_with("  "); }

/// Whether Python wrote the traceback at `at` as the next one of a chain.
bool follows_a_joint(const Lines& lines, std::size_t at) {
  return at >= lines.begin + 3 && lines.all[at - 1].empty() &&
         std::find(std::begin(k_joints), std::end(k_joints), lines.all[at - 2]) != std::end(k_joints) &&
         lines.all[at - 3].empty();
}

/// Whether the frame is that of the test's method, or of a fixture.
bool is_of_test(std::string_view frame, std::string_view method) {
  constexpr std::string_view k_in = ", in ";
  auto in = frame.rfind(k_in);
  if (!frame.starts_with("  File ") || in == frame.npos) return false;
  auto function = frame.substr(in + k_in.size());
  return function == method ||
         std::find(std::begin(k_fixtures), std::end(k_fixtures), function) != std::end(k_fixtures);
}

std::string text_of(const Lines& lines, std::size_t from) {
  std::string message;
  for (auto i = from; i < lines.end; ++i) message += lines.all[i] + "\n";
  return std::string(text::trim(message));
}

/// Without the traceback of a test: a module that could not be imported quotes why.
std::string last_of_all(const Lines& lines) {
  auto from = lines.begin;
  for (auto i = lines.begin; i < lines.end; ++i)
    if (is_rule(lines.all[i], '-') || is_frame(lines.all[i])) from = i + 1;
  return text_of(lines, from);
}

} // namespace

bool is_rule(std::string_view line, char c) { return line.size() == 70 && line.find_first_not_of(c) == line.npos; }

std::string exception_in(Lines lines, std::string_view test) {
  const auto& all = lines.all;
  while (lines.end > lines.begin && (all[lines.end - 1].empty() || is_rule(all[lines.end - 1], '-')))
    --lines.end; // before `Ran …`
  auto first = lines.begin;
  while (first < lines.end && !is_rule(all[first], '-')) ++first; // behind the docstring
  ++first;
  if (first >= lines.end || all[first] != k_header) return last_of_all(lines);
  auto method = test.substr(test.rfind('.') + 1); // npos + 1 is 0
  auto from = first;
  bool quoted = false; // what follows may be a program's
  for (auto at = first; at < lines.end;) {
    if (all[at] != k_header) {
      ++at;
      continue;
    }
    bool linked = at == first || follows_a_joint(lines, at), belongs = false;
    for (++at; at < lines.end && is_frame(all[at]); ++at) belongs = belongs || is_of_test(all[at], method);
    quoted = quoted || !linked;
    if (linked && (belongs || !quoted)) from = at;
  }
  return text_of(lines, from);
}

} // namespace quarry::trial
