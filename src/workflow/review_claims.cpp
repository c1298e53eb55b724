// What people say about a change, against the change.
#include "workflow/review_parts.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "sys/path.hpp"
#include "workflow/claims.hpp"
#include "workflow/rules.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <iterator>
#include <set>

namespace quarry::workflow {

namespace {
constexpr std::size_t k_lines_named = 12;

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

/// The ids of jobs that have a changed line, in lower case. A job reaches to the line before the next one.
std::set<std::string> jobs_with_changes(const Sides& sides, const History& history) {
  std::set<std::string> ids;
  auto add = [&](const File* file, const std::vector<ChangedLine>& lines) {
    for (const auto& line : lines) {
      const Job* inside = nullptr;
      if (file)
        for (const auto& job : file->jobs)
          if (job.at.line <= line.number) inside = &job;
      if (inside) ids.insert(text::lower(inside->id));
    }
  };
  for (const auto& file : history.files) {
    add(sides.before.find(file.path), file.removed);
    add(sides.after.find(file.path), file.added);
  }
  return ids;
}

/// Whether a workflow, job or input has the name.
bool is_known_name(const Sides& sides, const std::string& name) {
  for (const auto* repository : {&sides.before, &sides.after})
    for (const auto& file : repository->files) {
      auto base = file->basename();
      if (name == base || name == base.substr(0, base.rfind('.')) || file->job(name) || file->input(name)) return true;
    }
  return false;
}

bool on_changed_line(const History& history, const std::string& topic) {
  auto has = [&](const ChangedLine& line) { return has_word(line.text, Topic{topic}); };
  return std::any_of(history.files.begin(), history.files.end(), [&](const ChangedFile& file) {
    return std::any_of(file.added.begin(), file.added.end(), has) ||
           std::any_of(file.removed.begin(), file.removed.end(), has);
  });
}

/// Whether a workflow, a job or an input of this name is there after the change, and no line with the name was removed.
bool is_still_there(const Sides& sides, const History& history, const std::string& name) {
  bool there = std::ranges::any_of(sides.after.files, [&](const auto& file) {
    return name == file->basename() || file->job(name) || file->input(name);
  });
  auto has = [&](const ChangedLine& line) { return has_word(line.text, Topic{name}); };
  return there && std::ranges::none_of(history.files, [&](const ChangedFile& file) {
           return std::any_of(file.removed.begin(), file.removed.end(), has);
         });
}

/// Whether a statement says of the file that it is gone, and it is there: "Deleted `build.yml`." A line with its name
/// may be what "Deleted `build.yml` from the list" means.
bool is_kept_file(const Sides& sides, const Claim& claim, const std::string& name) {
  auto at = claim.text.find(name);
  if (at == std::string::npos) return false;
  auto behind = text::trim(std::string_view(claim.text).substr(at + name.size()));
  return (behind.empty() || behind == "`" || behind == ".") &&
         std::ranges::any_of(sides.after.files,
                             [&](const auto& file) { return name == file->path || name == file->basename(); });
}

/// Whether the name is what the sentence says was removed: "Removed the `build` job", and not "Removed the key of
/// `a.yml`".
bool is_removed_thing(const Claim& claim, const std::string& name) {
  static constexpr std::array<std::string_view, 12> k_words = {
      "the", "a", "old", "unused", "workflow", "workflows", "job", "and", "jobs", "obsolete", "input", "inputs"};
  auto at = claim.text.find(name);
  if (at == std::string::npos) return false;
  auto words = text::split_any(std::string_view(claim.text).substr(0, at), " `'\",*-");
  std::erase_if(words, [&](const auto& word) {
    return word.empty() || std::ranges::find(k_words, text::lower(word)) != k_words.end() ||
           std::ranges::find(claim.names, word) != claim.names.end();
  });
  auto behind = std::string_view(claim.text).substr(at + name.size());
  if (behind.starts_with('`')) behind.remove_prefix(1);
  return words.size() == 1 && !behind.starts_with("'s");
}

/// Moves the names out of `judged` that a text calls removed and that are still there: "Removed `build.yml`", and only
/// a line of it was changed.
std::vector<std::string> take_what_stays(const Sides& sides, const History& history, const Claim& claim,
                                         Judged& judged) {
  std::vector<std::string> stays;
  if (claim.verb != Claim::Verb::removed) return stays;
  std::erase_if(judged.holds, [&](const std::string& name) {
    bool there = is_still_there(sides, history, name) || is_kept_file(sides, claim, name);
    if (!is_removed_thing(claim, name) || !there) return false;
    stays.push_back(name);
    return true;
  });
  return stays;
}

/// Whether a later commit changes the file, too: the last one to change it may be what undoes the others.
bool changes_later(const History& history, const Commit& commit, const std::string& path) {
  const auto& commits = history.commits;
  auto at = std::find_if(commits.begin(), commits.end(), [&](const Commit& one) { return one.id == commit.id; });
  return at != commits.end() && std::any_of(at + 1, commits.end(), [&](const Commit& one) {
           return std::find(one.files.begin(), one.files.end(), path) != one.files.end();
         });
}

/// "2 statements of the description that name something or have a verb, and are not understood: lines 3 and 7".
std::string not_understood(const std::vector<std::uint32_t>& lines) {
  std::vector<std::string> numbers;
  for (auto line : lines) numbers.push_back(std::to_string(line));
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return fmt::format("{} of the description that may claim something in other words: {} {}",
                     units::things(lines.size(), "statement"), numbers.size() == 1 ? "line" : "lines",
                     text::first(numbers, k_lines_named));
}

std::string place_of(const Commit& commit) { return "commit " + commit.id.substr(0, 9); }
std::string who_says(const Commit& commit) { return fmt::format("the title of {} ", commit.id.substr(0, 9)); }

Located untouched(const Commit& commit, const std::vector<std::string>& names, Severity severity,
                  const std::string& more) {
  return {place_of(commit),
          {},
          "Y162",
          severity,
          fmt::format("{}\"{}\" names {}, which the change does not touch{}", who_says(commit), commit.title,
                      quoted_names(names), more),
          "reword the title, or squash the commits under one that says what remains"};
}

class ClaimsOfTexts {
public:
  ClaimsOfTexts(const Sides& sides, Review& review)
      : sides_(sides), review_(review), changed_jobs_(jobs_with_changes(sides, review.history)) {}

  void check() {
    const auto& description = sides_.options.description;
    std::set<std::string> titles; // GitHub repeats the title of a single commit in the description
    for (const auto& commit : review_.history.commits)
      for (const auto& claim : read_claims(commit.title)) titles.insert(claim.text);
    if (description) {
      auto read = read_statements(*description);
      for (const auto& claim : read.claims)
        if (!titles.contains(claim.text)) statement(claim, sides_.options.description_name, {});
      if (!read.not_understood.empty()) review_.not_looked_at.push_back(not_understood(read.not_understood));
    } else {
      review_.not_looked_at.push_back("the description (give it by --description)");
    }
    std::size_t unread = 0;
    for (const auto& commit : review_.history.commits) undone(commit);
    for (const auto& commit : review_.history.commits) {
      title(commit);
      unread += read_statements(commit.title).not_understood.size();
    }
    if (unread > 0)
      review_.not_looked_at.push_back(
          fmt::format("{} of commits that may claim something in other words", units::things(unread, "title")));
  }

private:
  void note(Located finding) { review_.findings.push_back({std::move(finding), "new"}); }

  void statement(const Claim& claim, const std::string& file, const std::string& who) {
    auto judged = judge(claim, review_.changes, review_.history, sides_.before);
    Position at{claim.line, claim.line == 0 ? 0u : 1u};
    auto said = fmt::format("{}\"{}\"", who, claim.text);
    if (claim.verb == Claim::Verb::changed) take_changed_jobs(judged);
    if (claim.unsure) judged.nowhere.clear();
    if (!judged.unsure.empty())
      review_.not_looked_at.push_back(
          fmt::format("{}: whether that was done to {}", said, quoted_names(judged.unsure)));
    if (auto stays = take_what_stays(sides_, review_.history, claim, judged); !stays.empty())
      note({file, at, "Y161", Severity::error,
            fmt::format("{} says that {} {} removed, which {} still there", said, quoted_names(stays),
                        stays.size() == 1 ? "was" : "were", stays.size() == 1 ? "is" : "are"),
            "correct the text, or complete the change"});
    bool exact = claim.verb != Claim::Verb::changed || !claim.to.empty();
    auto severity = claim.certain ? Severity::error : Severity::note;
    if (!judged.before.empty()) {
      auto what = claim.from.empty() ? std::string("before the change")
                                     : fmt::format("before the change, and no line goes from `{}` to it", claim.from);
      note({file, at, "Y161", severity,
            fmt::format("{} claims {}, which {} there {}", said, quoted_names(judged.before),
                        judged.before.size() == 1 ? "was" : "were", what),
            judged.holds.empty() ? "correct the text"
                                 : fmt::format("name only what changes: {}", quoted_names(judged.holds))});
    }
    if (!judged.nowhere.empty())
      note({file, at, "Y161", exact ? severity : std::min(severity, Severity::warning),
            fmt::format("{} names {}, and no changed line has it", said, quoted_names(judged.nowhere)),
            "correct the text, or add the change"});
    if (!judged.holds.empty() && judged.before.empty() && judged.nowhere.empty() && judged.unsure.empty())
      review_.right.push_back(fmt::format("{} has a change behind it", said));
  }

  /// A change inside of a job need not repeat its name.
  void take_changed_jobs(Judged& judged) const {
    auto inside = [&](const std::string& name) { return changed_jobs_.contains(text::lower(name)); };
    std::copy_if(judged.nowhere.begin(), judged.nowhere.end(), std::back_inserter(judged.holds), inside);
    std::erase_if(judged.nowhere, inside);
  }

  /// Workflows, and subjects of a commit's own files, such as pytorch, that the change as a whole does not touch any
  /// more. Words alone prove nothing: a title may say "lint" or "hash" without a workflow of that name in mind.
  std::vector<std::string> undone_subjects(const Commit& commit, const std::vector<std::string>& undone) const {
    std::set<std::string> subjects, touched;
    for (const auto& path : undone)
      if (is_workflow_path(path)) subjects.merge(topics_of(path));
    for (const auto& file : review_.history.files) touched.merge(topics_of(file.path));
    std::vector<std::string> found;
    for (const auto& path : undone)
      if (auto name = std::string(path::basename(path));
          has_word(commit.title, name) && is_workflow_path(path) && changes_later(review_.history, commit, path))
        found.push_back(name);
    for (const auto& subject : subjects) {
      if (is_general(subject) || touched.contains(subject) || !has_word(commit.title, subject)) continue;
      if (!on_changed_line(review_.history, subject)) found.push_back(subject);
    }
    return found;
  }

  bool is_workflow_path(const std::string& path) const { return sides_.before.find(path) || sides_.after.find(path); }

  /// Names of workflows, jobs and inputs in a title that no changed line, path or job has.
  std::vector<std::string> untouched_names(const std::string& title) const {
    std::vector<std::string> found;
    for (const auto& name : names_in(title)) {
      if (!is_known_name(sides_, name) || is_near(review_.history, name) || changed_jobs_.contains(text::lower(name)))
        continue;
      if (std::find(found.begin(), found.end(), name) == found.end()) found.push_back(name);
    }
    return found;
  }

  /// The title of a commit whose edit a later one undoes.
  void undone(const Commit& commit) {
    std::vector<std::string> undone;
    for (const auto& file : commit.files)
      if (!review_.history.find(file)) undone.push_back(file);
    auto subjects = undone_subjects(commit, undone);
    if (subjects.empty()) return;
    note(untouched(commit, subjects, Severity::error,
                   fmt::format(": its edit of {} is undone later", text::first(undone, k_names_shown))));
    undone_.commits.insert(commit.id);
    for (const auto& path : undone) undone_.files.insert(std::string(path::basename(path)));
  }

  void title(const Commit& commit) {
    if (undone_.commits.contains(commit.id)) return;
    auto claims = read_claims(commit.title);
    for (auto& claim : claims) {
      // The commit that undoes the edit names the same file: once is enough.
      std::erase_if(claim.files, [&](const auto& name) { return undone_.files.contains(name); });
      claim.line = 0;
      statement(claim, place_of(commit), who_says(commit));
    }
    if (auto names = untouched_names(commit.title); claims.empty() && !names.empty())
      note(untouched(commit, names, Severity::note, ""));
  }

  const Sides& sides_;
  Review& review_;
  std::set<std::string> changed_jobs_; ///< in lower case
  struct Undone {
    std::set<std::string> commits, files; ///< by id; by name
  };
  Undone undone_; ///< what Y162 said
};
} // namespace

void review_claims(const Sides& sides, Review& review) {
  ClaimsOfTexts(sides, review).check();
  review_mentions(sides, review);
}

} // namespace quarry::workflow
