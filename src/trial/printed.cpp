#include "trial/printed.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "trial/cut.hpp"
#include "trial/traceback.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace quarry::trial {

namespace {

using registry::Outcome;

Unexpected unreadable(std::string_view why) {
  return fail(ErrorKind::corrupt, "X030", fmt::format("what unittest printed cannot be believed: {}", why),
              "run the packages' own `rocm-sdk test` by hand to see what it says");
}

constexpr std::string_view k_dots = " ... "; // between a test and how it ended

bool is_name(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return c == '_' || c == '.' || c == '<' || c == '>' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
  });
}

/// A test as unittest names it: `name (module.Class)`, since Python 3.11 `name (module.Class.name)`, and behind it what
/// tells subtests apart, ` [message] (key=value)`.
struct Title {
  std::string name;        ///< `module.Class.name`
  std::string_view part;   ///< of a subtest, with the blank before it; else empty
  std::string_view rest;   ///< what follows ` ... `
  bool has_rest = false;   ///< else the line ends, and the next one begins with the first line of the docstring
  bool is_fixture = false; ///< setUpClass and the like, which do not count as tests
  std::string full() const { return name + std::string(part); }
};

std::string test_name_of(std::string_view name, std::string_view within) {
  if (within.ends_with(name) && within.size() > name.size() && within[within.size() - name.size() - 1] == '.')
    return std::string(within);
  return fmt::format("{}.{}", within, name);
}

std::optional<Title> title_of(std::string_view line) {
  if (line.starts_with("  ")) line.remove_prefix(2); // of a subtest, since Python 3.11
  auto open = line.find(" (");
  if (open == line.npos) return std::nullopt;
  auto close = line.find(')', open);
  if (close == line.npos) return std::nullopt;
  auto name = line.substr(0, open), within = line.substr(open + 2, close - open - 2);
  if (!is_name(name) || !is_name(within)) return std::nullopt;
  Title title{test_name_of(name, within), line.substr(close + 1), {}, false, false};
  for (const auto* fixture : {"setUpClass", "tearDownClass", "setUpModule", "tearDownModule"})
    title.is_fixture |= name == fixture;
  if (auto dots = title.part.find(k_dots); dots != title.part.npos) {
    title.rest = title.part.substr(dots + k_dots.size());
    title.part = title.part.substr(0, dots);
    title.has_rest = true;
  }
  bool parted = title.part.starts_with(" (") || title.part.starts_with(" [");
  if (!title.part.empty() && !parted) return std::nullopt;
  return title;
}

struct Status {
  Outcome::Kind outcome;
  std::string why;     ///< of a skipped test
  bool as_said = true; ///< false: `expected failure`, `unexpected success`
};

std::optional<Status> status_of(std::string_view line) {
  if (line == "ok") return Status{Outcome::passed, ""};
  if (line == "FAIL") return Status{Outcome::failed, ""};
  if (line == "ERROR") return Status{Outcome::error, ""};
  if (line == "expected failure") return Status{Outcome::passed, "", false};
  if (line == "unexpected success") return Status{Outcome::failed, "it passed, and is expected to fail", false};
  for (char quote : {'\'', '"'}) // repr() of the reason
    if (auto begin = fmt::format("skipped {}", quote);
        line.size() > begin.size() && line.starts_with(begin) && line.back() == quote)
      return Status{Outcome::skipped, std::string(line.substr(begin.size(), line.size() - begin.size() - 1))};
  return std::nullopt;
}

/// A status behind text that a test printed without a newline.
std::optional<Status> status_at_the_end_of(std::string_view line) {
  for (std::string_view word : {"unexpected success", "expected failure", "ok", "FAIL", "ERROR"})
    if (line.ends_with(word)) return status_of(word);
  auto skipped = line.rfind("skipped ");
  return skipped == line.npos ? std::nullopt : status_of(line.substr(skipped));
}

/// The last lines: how many tests ran, and how they ended.
struct Summary {
  std::uint64_t tests = 0, failures = 0, errors = 0, skipped = 0, expected = 0, unexpected = 0;
  bool ok = false;
  std::size_t line = 0; ///< of `Ran …`
};

struct Count {
  std::string_view name;
  std::uint64_t Summary::* of;
};
constexpr Count k_counts[] = {{"failures", &Summary::failures},
                              {"errors", &Summary::errors},
                              {"skipped", &Summary::skipped},
                              {"expected failures", &Summary::expected},
                              {"unexpected successes", &Summary::unexpected}};

std::optional<std::uint64_t> tests_run(std::string_view line) {
  if (!line.starts_with("Ran ") || !line.ends_with("s")) return std::nullopt;
  auto words = text::split(line, ' ');
  bool fits = words.size() == 5 && (words[2] == "test" || words[2] == "tests") && words[3] == "in";
  return fits ? text::parse_u64(words[1]) : std::nullopt;
}

Result<void> read_counts(std::string_view inside, Summary& summary) {
  for (const auto& item : text::split(inside, ',')) {
    auto said = text::trim(item);
    auto equals = said.find('=');
    auto number = equals == said.npos ? std::nullopt : text::parse_u64(said.substr(equals + 1));
    auto known = std::find_if(std::begin(k_counts), std::end(k_counts),
                              [&](const auto& count) { return count.name == said.substr(0, equals); });
    if (!number || known == std::end(k_counts)) return unreadable(fmt::format("its last line counts `{}`", said));
    summary.*known->of = *number;
  }
  return {};
}

Result<Summary> summary_of(const std::vector<std::string>& lines) {
  Summary summary;
  bool found = false;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (auto tests = tests_run(lines[i])) {
      if (found) return unreadable("`Ran N tests in` stands there twice");
      found = true;
      summary.tests = *tests;
      summary.line = i;
    }
  if (!found) return unreadable("it does not say `Ran N tests in`");
  if (summary.tests == 0) return unreadable("no test ran");
  auto last = summary.line + 1;
  while (last < lines.size() && lines[last].empty()) ++last;
  auto said = last < lines.size() ? std::string_view(lines[last]) : std::string_view();
  auto word = said.substr(0, said.find(' '));
  if (word != "OK" && word != "FAILED") return unreadable("neither `OK` nor `FAILED` follows `Ran N tests in`");
  summary.ok = word == "OK";
  if (said != word) {
    if (!said.substr(word.size()).starts_with(" (") || !said.ends_with(")"))
      return unreadable(fmt::format("its last line is `{}`", said));
    TRY_DO(read_counts(said.substr(word.size() + 2, said.size() - word.size() - 3), summary));
  }
  if (summary.ok != (summary.failures + summary.errors + summary.unexpected == 0))
    return unreadable(fmt::format("it ends with `{}`", said));
  return summary;
}

/// A failure as it is listed behind the tests.
struct Listed {
  Outcome::Kind outcome;
  std::string name, whole; ///< whole: of a subtest, its test
  std::string message;
  bool unexpected = false;
};

std::optional<Listed> listed_at(const std::vector<std::string>& lines, std::size_t at) {
  if (!is_rule(lines[at], '=') || at + 1 >= lines.size()) return std::nullopt;
  const std::pair<std::string_view, Listed> forms[] = {{"FAIL: ", {Outcome::failed, {}, {}, {}}},
                                                       {"ERROR: ", {Outcome::error, {}, {}, {}}},
                                                       {"UNEXPECTED SUCCESS: ", {Outcome::failed, {}, {}, {}, true}}};
  std::string_view line = lines[at + 1];
  for (const auto& [begin, form] : forms)
    if (line.starts_with(begin)) {
      auto listed = form;
      auto title = title_of(line.substr(begin.size()));
      listed.name = title ? title->full() : std::string(line.substr(begin.size()));
      if (title) listed.whole = title->name;
      return listed;
    }
  return std::nullopt;
}

/// A row to be, in the order in which unittest showed them.
struct Shown {
  std::string name;
  std::optional<Outcome::Kind> outcome;
  std::string message;
  bool counts = false;    ///< in `Ran N tests`
  bool has_parts = false; ///< subtests with rows of their own, which say how it ended
};

bool is_worse(Outcome::Kind a, const std::optional<Outcome::Kind>& b) {
  auto rank = [](Outcome::Kind kind) {
    return kind == Outcome::error ? 3 : kind == Outcome::failed ? 2 : kind == Outcome::skipped ? 1 : 0;
  };
  return !b || rank(a) > rank(*b);
}

class PrintedReader {
public:
  PrintedReader(const std::vector<std::string>& lines, Summary summary) : lines_(lines), summary_(summary) {}

  Result<Report> read(int exit_code) {
    auto at = read_tests();
    close();
    read_listed(at);
    TRY_DO(compare(exit_code));
    Report report;
    for (auto& test : tests_)
      if (test.outcome)
        report.add({cut(test.name, k_name_bytes_max), *test.outcome, cut(test.message, k_message_bytes_max), 0});
    return report;
  }

private:
  /// Returns the line at which the list of failures begins.
  std::size_t read_tests() {
    std::size_t at = 0;
    for (; at < summary_.line && !listed_at(lines_, at); ++at) {
      std::string_view line = lines_[at];
      // Before Python 3.11 a test whose subtests failed has no status, and the next one begins in its line.
      while (auto title = title_in(line, at)) {
        open(*title);
        line = title->rest;
      }
      take(line);
    }
    return at;
  }

  /// The first line of a docstring is on a line of its own, between the name and the status.
  std::optional<Title> title_in(std::string_view line, std::size_t& at) const {
    auto title = title_of(line);
    if (!title || title->has_rest) return title;
    auto next = at + 1 < summary_.line ? std::string_view(lines_[at + 1]) : std::string_view();
    auto dots = next.find(k_dots);
    if (dots == next.npos) return std::nullopt;
    title->rest = next.substr(dots + k_dots.size());
    ++at;
    return title;
  }

  void open(const Title& title) {
    close();
    auto name = title.full();
    bool is_part = !title.part.empty();
    if (is_part && whole_ < tests_.size() && tests_[whole_].name == title.name) tests_[whole_].has_parts = true;
    // A test that failed, and whose tearDown failed, is shown twice.
    if (tests_.empty() || tests_.back().name != name) {
      tests_.push_back({std::move(name), {}, {}, !is_part && !title.is_fixture});
      if (!is_part) whole_ = tests_.size() - 1;
    }
    open_ = true;
    printed_.clear();
  }

  void take(std::string_view line) {
    auto status = status_of(line);
    if (open_ && status) return finish(*status);
    if (open_ && !line.empty()) printed_ = line;
    // Before Python 3.11 a class that is skipped, and each further subtest that is, has no name.
    if (!open_ && status && status->outcome == Outcome::skipped) {
      tests_.push_back({"skipped", {}, {}});
      finish(*status);
    }
  }

  void finish(const Status& status) {
    auto& test = tests_.back();
    if (is_worse(status.outcome, test.outcome)) {
      test.outcome = status.outcome;
      test.message = status.why;
    }
    seen_.skipped += status.outcome == Outcome::skipped;
    if (!status.as_said) ++(status.outcome == Outcome::passed ? seen_.expected : seen_.unexpected);
    open_ = false;
  }

  void close() {
    if (!open_) return;
    if (auto status = status_at_the_end_of(printed_)) finish(*status);
    open_ = false;
  }

  void read_listed(std::size_t at) {
    std::map<std::string, std::size_t> rows;
    for (std::size_t i = 0; i < tests_.size(); ++i) rows.emplace(tests_[i].name, i);
    while (at < summary_.line) {
      auto listed = listed_at(lines_, at);
      auto next = at + 1;
      while (next < summary_.line && !listed_at(lines_, next)) ++next;
      if (listed) {
        listed->message = exception_in({lines_, at + 2, next}, listed->whole);
        add_listed(std::move(*listed), rows);
      }
      at = next;
    }
  }

  void add_listed(Listed listed, const std::map<std::string, std::size_t>& rows) {
    if (listed.unexpected) return; // its own line has said so
    ++(listed.outcome == Outcome::failed ? seen_.failures : seen_.errors);
    auto same = rows.find(listed.name);
    if (same == rows.end()) {
      if (auto whole = rows.find(listed.whole); whole != rows.end()) tests_[whole->second].has_parts = true;
      tests_.push_back({std::move(listed.name), listed.outcome, std::move(listed.message)});
      return;
    }
    auto& test = tests_[same->second];
    if (is_worse(listed.outcome, test.outcome)) test.outcome = listed.outcome;
    if (test.message.empty()) test.message = std::move(listed.message);
  }

  Result<void> compare(int exit_code) const {
    if (tests_.size() > k_rows_max) return unreadable(fmt::format("it shows more than {} tests", k_rows_max));
    std::uint64_t shown = 0, skipped = 0;
    for (const auto& test : tests_) {
      if (summary_.ok && test.outcome && is_worse(*test.outcome, Outcome::skipped))
        return unreadable(fmt::format("it ends with `OK`, and {} did not pass", test.name));
      if (!test.outcome && !test.has_parts) return unreadable(fmt::format("it does not say how {} ended", test.name));
      shown += test.counts;
      skipped += test.counts && test.outcome == Outcome::skipped;
    }
    // Python 3.12.1 does not count tests that were skipped before they began.
    if (summary_.tests > shown || summary_.tests < shown - skipped)
      return unreadable(fmt::format("it says that {} ran, and shows {}", units::things(summary_.tests, "test"), shown));
    for (const auto& count : k_counts)
      if (summary_.*count.of != seen_.*count.of)
        return unreadable(
            fmt::format("it counts {} {}, and shows {}", summary_.*count.of, count.name, seen_.*count.of));
    if (!summary_.ok && exit_code == 0) return unreadable("it ends with `FAILED`, and the exit code is 0");
    return {};
  }

  const std::vector<std::string>& lines_;
  const Summary summary_;
  Summary seen_; // the counts only
  std::vector<Shown> tests_;
  std::size_t whole_ = 0; // the test that subtests belong to
  std::string printed_;   // by the open test: its last line without a status
  bool open_ = false;     // the last test has not ended
};

} // namespace

Result<Report> parse_unittest_output(std::string_view text, int exit_code) {
  auto lines = text::lines(text);
  TRY(auto summary, summary_of(lines));
  return PrintedReader(lines, summary).read(exit_code);
}

} // namespace quarry::trial
