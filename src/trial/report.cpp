#include "trial/report.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "base/xml.hpp"
#include "trial/cut.hpp"
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <optional>

namespace quarry::trial {

namespace {

using registry::Outcome;

constexpr double k_seconds_max = 366 * 86'400.0; // no test takes a year; more would not fit into a table
bool is_duration(double seconds) { return seconds >= 0 && seconds <= k_seconds_max; } // and NaN is not

std::optional<double> seconds_of(std::string_view text) {
  double value = 0;
  auto plain = text::replace_all(text, ",", ""); // Maven writes "1,234.5"
  auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  return error == std::errc{} && is_duration(value) ? std::optional(value) : std::nullopt;
}

struct Case {
  registry::TestRow row;
  std::string detail; // text inside failure, error or skipped
};

/// One testsuite element: what it admits and what its own test cases show.
struct SuiteElement {
  std::string name;
  std::uint64_t admitted = 0, shown = 0, outside = 0; // outside: errors that are not in a test case
  bool nested = false;
};

class JunitReader {
public:
  JunitReader(XmlReader xml, std::string what) : xml_(std::move(xml)), what_(std::move(what)) {}

  Result<Report> read() {
    while (true) {
      TRY(auto token, xml_.next());
      if (token.kind == XmlToken::Kind::finished) break;
      if (token.kind == XmlToken::Kind::start) TRY_DO(start(token));
      if (token.kind == XmlToken::Kind::end) TRY_DO(end());
      if (token.kind == XmlToken::Kind::text && in_outcome_ && case_ && case_->detail.size() < k_message_bytes_max)
        case_->detail += token.text;
    }
    return std::move(report_);
  }

private:
  Unexpected wrong(std::string_view why) const {
    return fail(ErrorKind::corrupt, "X011", fmt::format("{} is not a JUnit report: {}", what_, why),
                "let the test runner write JUnit XML: pytest --junit-xml=FILE, ctest --output-junit FILE, "
                "--gtest_output=xml:FILE");
  }

  Result<void> start(const XmlToken& token) {
    path_.push_back(token.name);
    if (path_.size() == 1 && token.name != "testsuites" && token.name != "testsuite")
      return wrong(fmt::format("its root is <{}>", token.name));
    if (token.name == "testsuite") start_suite(token);
    if (token.name == "testcase") return start_case(token);
    bool outcome = token.name == "failure" || token.name == "error" || token.name == "skipped";
    if (outcome && parent() == "testcase" && case_) start_outcome(token);
    if (outcome && parent() == "testsuite" && token.name != "skipped") ++suites_.back().outside;
    return {};
  }

  std::string_view parent() const { return path_.size() < 2 ? std::string_view{} : path_[path_.size() - 2]; }
  static std::string attribute(const XmlToken& token, const char* key) {
    auto at = token.attributes.find(key);
    return at == token.attributes.end() ? std::string() : at->second;
  }

  void start_suite(const XmlToken& token) {
    if (!suites_.empty()) suites_.back().nested = true;
    auto number = [&](const char* key) { return text::parse_u64(text::trim(attribute(token, key))).value_or(0); };
    suites_.push_back({attribute(token, "name"), number("failures") + number("errors")});
  }

  Result<void> start_case(const XmlToken& token) {
    if (case_) return wrong("a test case is inside another");
    if (report_.rows.size() >= k_rows_max)
      return fail(ErrorKind::corrupt, "X010", fmt::format("{} has more than {} test cases", what_, k_rows_max),
                  "write several reports, and name them all");
    auto name = attribute(token, "name"), group = attribute(token, "classname");
    auto time = attribute(token, "time");
    auto seconds = seconds_of(time);
    if (!seconds && !time.empty()) ++report_.impossible_times; // some writers give no time: that is not a defect
    case_ = Case{
        {cut(group.empty() ? name : group + "::" + name, k_name_bytes_max), Outcome::passed, "", seconds.value_or(0)},
        ""};
    if (attribute(token, "status") == "notrun" || attribute(token, "result") == "suppressed")
      case_->row.outcome = Outcome::skipped;                                        // gtest
    if (attribute(token, "status") == "fail") case_->row.outcome = Outcome::failed; // ctest
    return {};
  }

  static Outcome::Kind outcome_of(std::string_view element) {
    return element == "error" ? Outcome::error : element == "failure" ? Outcome::failed : Outcome::skipped;
  }

  // If there are several outcomes, the worst counts: error, failure, skipped.
  void start_outcome(const XmlToken& token) {
    auto& row = case_->row;
    in_outcome_ = true;
    auto outcome = outcome_of(token.name);
    bool worse = outcome == Outcome::error || (outcome == Outcome::failed && row.outcome != Outcome::error) ||
                 row.outcome == Outcome::passed;
    if (!worse) return;
    row.outcome = outcome;
    row.message = attribute(token, "message");
    case_->detail.clear();
  }

  Result<void> end() {
    auto name = path_.back();
    path_.pop_back();
    if (name == "failure" || name == "error" || name == "skipped") in_outcome_ = false;
    if (name == "testcase") end_case();
    if (name == "testsuite") end_suite();
    return {};
  }

  void end_case() {
    auto& row = case_->row;
    auto said = text::trim(row.message).empty() ? text::trim(case_->detail) : text::trim(row.message);
    row.message = row.outcome == Outcome::passed ? "" : cut(said, k_message_bytes_max);
    if (!suites_.empty() && (row.outcome == Outcome::failed || row.outcome == Outcome::error)) ++suites_.back().shown;
    report_.add(std::move(row));
    case_.reset();
  }

  void end_suite() {
    auto suite = std::move(suites_.back());
    suites_.pop_back();
    // The attributes count those outside, too; those of a suite that holds suites may also count theirs.
    auto failures = suite.shown + suite.outside;
    if (!suite.nested) failures = std::max(suite.admitted, failures);
    if (failures > suite.shown)
      report_.add({cut("suite " + suite.name, k_name_bytes_max), Outcome::error,
                   fmt::format("the suite counts {}, and its test cases show {}", units::things(failures, "failure"),
                               suite.shown),
                   0});
  }

  XmlReader xml_;
  std::string what_;
  Report report_;
  std::vector<std::string> path_;
  std::vector<SuiteElement> suites_;
  std::optional<Case> case_;
  bool in_outcome_ = false;
};

Unexpected no_report(const std::string& what, std::string_view why) {
  return fail(ErrorKind::corrupt, "X012", fmt::format("{} is not a report of rocm-sdk test: {}", what, why),
              "run `rocm-sdk test` by hand to see what it says");
}

Result<registry::TestRow> read_row(const Json& item, const std::string& what) {
  if (!item.is_object()) return no_report(what, "a row is not an object");
  TRY(auto name, json::string_at({item, what}, "name"));
  TRY(auto said, json::string_at({item, what}, "outcome"));
  auto seconds = item.find("seconds");
  double value = seconds != item.end() && seconds->is_number() ? seconds->get<double>() : 0;
  if (!is_duration(value)) return no_report(what, fmt::format("the seconds of {} are {}", name, value));
  auto outcome = Outcome::read(said);
  if (!outcome.kind() || outcome == Outcome::timed_out)
    return no_report(what, fmt::format("the outcome of {} is \"{}\"", name, said));
  return registry::TestRow{cut(name, k_name_bytes_max), outcome,
                           cut(json::string_or(item, "message", ""), k_message_bytes_max),
                           std::isfinite(value) && value >= 0 ? value : 0};
}

} // namespace

void Report::add(registry::TestRow row) {
  if (row.outcome == Outcome::passed)
    ++passed;
  else if (row.outcome == Outcome::failed)
    ++failed;
  else if (row.outcome == Outcome::skipped)
    ++skipped;
  else
    ++errors, row.outcome = Outcome::error;
  rows.push_back(std::move(row));
}

Result<Report> parse_junit(NamedText named) {
  const auto text = named.text;
  const std::string what(named.name);
  TRY(auto xml,
      XmlReader::open(
          text, {what, "X010", "a report",
                 "make the report again: whole, in UTF-8 (`iconv -t UTF-8` converts it), without a document type and "
                 "entities of its own"}));
  return JunitReader(std::move(xml), what).read();
}

Result<Report> parse_rocm_sdk_report(NamedText named) {
  const auto text = named.text;
  const std::string what(named.name);
  auto document = json::parse({text, what});
  if (!document) return no_report(what, document.error().message);
  if (!document->is_object() || json::string_or(*document, "schema", "") != "rocm-sdk.test/1")
    return no_report(what, "its schema is not rocm-sdk.test/1");
  Report report;
  report.version = cut(json::string_or(*document, "version", ""), k_name_bytes_max);
  auto rows = document->find("rows");
  if (rows == document->end() || !rows->is_array()) return no_report(what, "it has no rows");
  if (rows->size() > k_rows_max) return no_report(what, fmt::format("it has more than {} rows", k_rows_max));
  for (const auto& item : *rows) {
    TRY(auto row, read_row(item, what));
    report.add(std::move(row));
  }
  auto counts = document->find("counts");
  if (counts == document->end() || !counts->is_object()) return no_report(what, "it has no counts");
  for (const auto& [key, have] : {std::pair{"passed", report.passed},
                                  {"failed", report.failed},
                                  {"skipped", report.skipped},
                                  {"errors", report.errors}}) {
    auto stated = json::unsigned_at({*counts, what}, key);
    if (!stated || *stated != have)
      return no_report(what, fmt::format("it counts {} as {} in all, and has rows for {}", key,
                                         stated ? std::to_string(*stated) : "nothing", have));
  }
  return report;
}

} // namespace quarry::trial
