#include "buildlog/tests.hpp"

#include "buildlog/variants.hpp"
#include "sys/file.hpp"
#include "sys/stream.hpp"
#include "sys/tree.hpp"
#include "trial/report.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>

namespace quarry::buildlog {

namespace {

using registry::Outcome;
struct Outcomes { // of one test in one variant
  std::uint64_t passed = 0, failed = 0, skipped = 0;
  std::string message;
  double seconds = 0;
};

std::string file_stem(std::string_view path) {
  auto name = path.substr(path.rfind('/') + 1); // npos + 1 is 0
  return std::string(name.substr(0, name.rfind('.')));
}

std::string shown_path(const std::string& path) { return path == "-" ? "standard input" : path; }

class Collector {
public:
  Result<void> add(const JunitFile& file) {
    bool stream = sys::is_stream(file.path);
    TRY(auto text, stream ? sys::read_stream(file.path, trial::k_report_bytes_max)
                          : sys::read_file(file.path, trial::k_report_bytes_max));
    TRY(auto report, trial::parse_junit({text, shown_path(file.path)}));
    auto number = variant(file.variant);
    auto& counts = out_.variants[number];
    ++counts.reports;
    counts.passed += report.passed;
    counts.failed += report.failed + report.errors;
    counts.skipped += report.skipped;
    counts.run += report.passed + report.failed + report.errors;
    counts.impossible_times += report.impossible_times;
    for (const auto& row : report.rows) {
      counts.seconds += row.seconds;
      auto& outcomes = tests_[row.name][number];
      outcomes.passed += row.outcome == Outcome::passed;
      outcomes.skipped += row.outcome == Outcome::skipped;
      outcomes.failed += row.outcome != Outcome::passed && row.outcome != Outcome::skipped;
      outcomes.seconds = std::max(outcomes.seconds, row.seconds);
      if (outcomes.message.empty()) outcomes.message = row.message;
    }
    return {};
  }

  TestsReport finish() {
    for (const auto& [test, by_variant] : tests_) judge(test, by_variant);
    std::stable_sort(slow_.begin(), slow_.end(), [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
    if (slow_.size() > k_slowest) slow_.resize(k_slowest);
    out_.slowest = std::move(slow_);
    return std::move(out_);
  }

private:
  std::size_t variant(const std::string& name) {
    auto at =
        std::find_if(out_.variants.begin(), out_.variants.end(), [&](const auto& v) { return v.variant == name; });
    if (at != out_.variants.end()) return static_cast<std::size_t>(at - out_.variants.begin());
    out_.variants.push_back({.variant = name});
    return out_.variants.size() - 1;
  }

  void judge(const std::string& test, const std::map<std::size_t, Outcomes>& by_variant) {
    TestInVariants failed{test, "", {}}, skipped{test, "", {}};
    const SlowTest* slowest = nullptr;
    SlowTest candidate;
    for (const auto& [number, outcomes] : by_variant) {
      const auto& name = out_.variants[number].variant;
      if (outcomes.failed > 0 && outcomes.passed > 0)
        out_.flaky.push_back({test, name, outcomes.passed, outcomes.failed});
      auto& list = outcomes.failed > 0 ? failed : skipped;
      bool counts = outcomes.passed == 0 && (outcomes.failed > 0 || outcomes.skipped > 0);
      if (counts) {
        list.variants.push_back(name);
        if (list.message.empty()) list.message = outcomes.message;
      }
      if (!slowest || outcomes.seconds > candidate.seconds) {
        candidate = {test, name, outcomes.seconds};
        slowest = &candidate;
      }
    }
    if (slowest && candidate.seconds > 0) slow_.push_back(candidate);
    if (slow_.size() > k_slow_kept) trim();
    if (!failed.variants.empty()) out_.failed.push_back(std::move(failed));
    if (skipped.variants.empty()) return;
    bool everywhere = skipped.variants.size() == out_.variants.size();
    (everywhere ? out_.skipped_everywhere : out_.skipped_in_some).push_back(std::move(skipped));
  }

  void trim() {
    std::stable_sort(slow_.begin(), slow_.end(), [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
    slow_.resize(k_slowest);
  }

  static constexpr std::size_t k_slow_kept = 1'000;
  TestsReport out_;
  std::map<std::string, std::map<std::size_t, Outcomes>> tests_;
  std::vector<SlowTest> slow_;
};
} // namespace

Result<std::vector<JunitFile>> find_reports(const std::vector<std::string>& named) {
  std::vector<JunitFile> files;
  std::vector<VariantName> names;
  auto add = [&](const std::string& path, const std::string& label) {
    auto variant = path == "-" ? "stdin" : file_stem(path);
    files.push_back({path, ""});
    names.push_back({path.substr(0, path.rfind('/') + 1), label.empty() ? variant : label, !label.empty()});
  };
  for (const auto& name : named) {
    auto path = name, label = std::string();
    if (auto equals = name.find('='); equals != name.npos && equals > 0 && !sys::exists(name)) {
      label = name.substr(0, equals);
      path = name.substr(equals + 1);
    }
    if (path.empty())
      return fail(ErrorKind::invalid_argument, "X502", fmt::format("\"{}\" does not name a file", name),
                  "write the path of a JUnit report, or LABEL=FILE");
    if (!sys::is_directory(path)) {
      add(path, label);
      continue;
    }
    TRY(auto entries, sys::list_tree(path));
    auto before = files.size();
    for (const auto& entry : entries)
      if (entry.type == sys::EntryType::file && entry.path.ends_with(".xml")) add(path + "/" + entry.path, label);
    if (files.size() == before)
      return fail(ErrorKind::invalid_argument, "X502", fmt::format("{}: no .xml file is below it", path),
                  "name JUnit reports, or a directory with them");
  }
  tell_apart(names);
  for (std::size_t i = 0; i < files.size(); ++i) files[i].variant = std::move(names[i].name);
  if (files.size() <= k_reports_max) return files;
  return fail(ErrorKind::invalid_argument, "X502",
              fmt::format("{} reports are more than {}", files.size(), k_reports_max), "report fewer at once");
}

Result<TestsReport> report_tests(const std::vector<JunitFile>& files, Findings& findings) {
  Collector collector;
  std::size_t unread = 0;
  for (const auto& file : files) {
    auto added = collector.add(file);
    if (added) continue;
    auto& error = added.error();
    if (error.kind == ErrorKind::cancelled || ++unread == files.size()) return fail(std::move(error));
    findings.push_back({error.code, Severity::error, shown_path(file.path), error.message, error.hint});
  }
  return collector.finish();
}

} // namespace quarry::buildlog
