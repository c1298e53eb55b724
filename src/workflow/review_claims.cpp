// What people say about a change, against the change.
#include "workflow/review_parts.hpp"

#include "base/text.hpp"
#include "workflow/claims.hpp"
#include "workflow/rules.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <set>
#include <utility>

namespace quarry::workflow {

namespace {

/// Words of file names that say nothing about the subject of a change.
bool is_general(std::string_view word) {
  static constexpr std::array<std::string_view, 30> k_words = {
      "release", "build", "test", "tests",   "publish", "copy",     "update",   "setup",  "main",    "run",
      "linux",   "win",   "ci",   "windows", "wheels",  "wheel",    "package",  "native", "multi",   "arch",
      "check",   "dev",   "unit", "images",  "image",   "portable", "packages", "rocm",   "nightly", "summary"};
  return word.size() < 3 || std::find(k_words.begin(), k_words.end(), word) != k_words.end();
}

std::string quoted_names(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (const auto& name : names) quoted.push_back("`" + name + "`");
  return text::first(quoted, k_names_shown);
}

class Claims {
public:
  Claims(const Sides& sides, Review& review) : sides_(sides), review_(review) {}

  void check() {
    const auto& description = sides_.options.description;
    if (description)
      for (const auto& claim : read_claims(*description)) statement(claim, sides_.options.description_name, {});
    else
      review_.not_looked_at.push_back("the description (give it by --description)");
    for (const auto& commit : review_.history.commits) title(commit);
    mentions();
  }

private:
  void note(Located finding) { review_.findings.push_back({std::move(finding), "new"}); }

  void statement(const Claim& claim, const std::string& file, const std::string& who) {
    auto judged = judge(claim, review_.changes, review_.history, sides_.before);
    Position at{claim.line, claim.line == 0 ? 0u : 1u};
    auto said = fmt::format("{}\"{}\"", who, claim.text);
    bool certain = claim.verb != Claim::Verb::changed || !claim.from.empty();
    if (!judged.before.empty()) {
      auto what = claim.from.empty() ? std::string("before the change")
                                     : fmt::format("before the change, and no line goes from `{}` to it", claim.from);
      note({file, at, "Y161", Severity::error,
            fmt::format("{} claims {}, which {} there {}", said, quoted_names(judged.before),
                        judged.before.size() == 1 ? "was" : "were", what),
            judged.holds.empty() ? "correct the text"
                                 : fmt::format("name only what changes: {}", quoted_names(judged.holds))});
    }
    if (!judged.nowhere.empty())
      note({file, at, "Y161", certain ? Severity::error : Severity::warning,
            fmt::format("{} names {}, and no changed line has it", said, quoted_names(judged.nowhere)),
            "correct the text, or add the change"});
    if (!judged.holds.empty() && judged.before.empty() && judged.nowhere.empty())
      review_.right.push_back(fmt::format("{} has a change behind it", said));
  }

  /// Subjects of workflows, such as pytorch, that neither a changed path nor a changed line has.
  std::vector<std::string> untouched_subjects(const std::string& title) const {
    std::set<std::string> subjects, touched;
    for (const auto* repository : {&sides_.before, &sides_.after})
      for (const auto& file : repository->files) subjects.merge(topics_of(file->path));
    for (const auto& file : review_.history.files) touched.merge(topics_of(file.path));
    std::vector<std::string> found;
    for (const auto& subject : subjects) {
      if (is_general(subject) || touched.contains(subject) || !has_word(title, subject)) continue;
      if (!on_changed_line(subject)) found.push_back(subject);
    }
    return found;
  }

  bool on_changed_line(const std::string& word) const {
    for (const auto& file : review_.history.files) {
      auto has = [&](const ChangedLine& line) { return has_word(line.text, Topic{word}); };
      if (std::any_of(file.added.begin(), file.added.end(), has)) return true;
      if (std::any_of(file.removed.begin(), file.removed.end(), has)) return true;
    }
    return false;
  }

  void title(const Commit& commit) {
    auto subjects = untouched_subjects(commit.title);
    auto who = fmt::format("the title of {} ", commit.id.substr(0, 9));
    if (!subjects.empty()) {
      std::vector<std::string> undone;
      for (const auto& file : commit.files)
        if (!review_.history.find(file)) undone.push_back(file);
      note({"commit " + commit.id.substr(0, 9),
            {},
            "Y162",
            Severity::error,
            fmt::format(
                "{}\"{}\" names {}, which the change does not touch{}", who, commit.title, quoted_names(subjects),
                undone.empty() ? ""
                               : fmt::format(": its edit of {} is undone later", text::first(undone, k_names_shown))),
            "reword the title, or squash the commits under one that says what remains"});
      return;
    }
    for (const auto& claim : read_claims(commit.title)) {
      auto timed = claim;
      timed.line = 0;
      statement(timed, "commit " + commit.id.substr(0, 9), who);
    }
  }

  /// "Drop pytorch 2.7" names `release/2.7`.
  static bool names_value(const std::string& said, const std::string& value) {
    constexpr std::size_t k_value_min = 3; // `1` or `no` would be found in any text
    auto last = value.substr(value.rfind('/') + 1);
    return value.size() >= k_value_min &&
           (has_word(said, value) || (last.size() >= k_value_min && has_word(said, last)));
  }

  bool is_mentioned(const std::string& said, const Change& change) const {
    const auto* file = sides_.after.find(change.file);
    auto name = file ? file->basename() : change.file;
    if (change.kind == Change::Kind::file) return said.find(name.substr(0, name.find('.'))) != std::string::npos;
    for (const auto& [values, others] : {std::pair(change.after, change.before), {change.before, change.after}})
      for (const auto& value : text::split_any(values, ", "))
        if (!has_word(others, value) && names_value(said, value)) return true;
    auto target = change.name.substr(change.name.rfind('/') + 1);
    return has_word(said, change.name) || has_word(said, target.substr(0, target.find('.')));
  }

  /// One note for each file: its changes that no text mentions.
  void mentions() {
    auto said = sides_.options.description.value_or("");
    for (const auto& commit : review_.history.commits) said += "\n" + commit.title;
    std::map<std::string, std::vector<const Change*>> silent;
    for (const auto& change : review_.changes.list)
      if (!is_mentioned(said, change)) silent[change.file].push_back(&change);
    for (const auto& [file, changes] : silent) {
      std::vector<std::string> sentences;
      for (const auto* change : changes) sentences.push_back(sentence(*change));
      note({file, changes.front()->at, "Y163", Severity::note,
            fmt::format("no description or commit title mentions: {}", text::first(sentences, 3)),
            "say it, so that reviewers look at it"});
    }
  }

  const Sides& sides_;
  Review& review_;
};
} // namespace

void review_claims(const Sides& sides, Review& review) { Claims(sides, review).check(); }

} // namespace quarry::workflow
