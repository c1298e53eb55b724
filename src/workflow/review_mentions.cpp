// Changes that no description and no commit title speaks of.
#include "base/text.hpp"
#include "workflow/claims.hpp"
#include "workflow/review_parts.hpp"
#include "workflow/rules.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <span>
#include <utility>

namespace quarry::workflow {

namespace {
using Words = std::span<const std::string_view>;
using ChangeKind = Change::Kind;
using What = Change::What;

/// "Drop pytorch 2.7" names `release/2.7`.
bool names_value(const std::string& said, const std::string& value) {
  constexpr std::size_t k_value_min = 3; // `1` or `no` would be found in any text
  auto last = value.substr(value.rfind('/') + 1);
  return value.size() >= k_value_min && (has_word(said, value) || (last.size() >= k_value_min && has_word(said, last)));
}

/// As people write names: in any case, with dashes or blanks for underscores, inside of a longer name.
bool mentions_name(const std::string& said, const std::string& name) {
  constexpr std::size_t k_part_min = 6; // a shorter name is found in many words
  if (name.empty()) return false;
  auto plain = [](std::string text) {
    std::ranges::replace_if(text, [](char c) { return c == '-' || c == ' '; }, '_');
    return text::lower(text);
  };
  return has_word(said, name) || (name.size() >= k_part_min && plain(said).find(plain(name)) != std::string::npos);
}

/// "call of build.yml in job `debug-tools`" -> "debug-tools"; empty: in none.
std::string quoted_after(const std::string& where, std::string_view kind) {
  auto at = where.find(kind);
  if (at == std::string::npos) return "";
  auto begin = at + kind.size();
  return where.substr(begin, where.find('`', begin) - begin);
}

bool has_any(const std::string& said, Words words) {
  return std::ranges::any_of(words, [&](auto word) { return has_word(said, word); });
}

/// The words that people use for a key. What they say of the job or the file does not speak of it.
Words words_for(const std::string& key) {
  static constexpr std::array<std::string_view, 11> k_deadline = {
      "timeout-minutes", "timeout",    "timeouts",    "time-out",   "time out",       "deadline",
      "deadlines",       "time limit", "time limits", "time-limit", "timeout_minutes"};
  static constexpr std::array<std::string_view, 7> k_machine = {"runs-on",  "runner",  "runners", "machine",
                                                                "machines", "runs_on", "image"};
  static constexpr std::array<std::string_view, 4> k_failure = {"continue-on-error", "continue_on_error",
                                                                "non-blocking", "allowed to fail"};
  static constexpr std::array<std::string_view, 6> k_condition = {"condition", "conditions", "only",
                                                                  "skip",      "skips",      "conditionally"};
  if (key == "timeout-minutes") return k_deadline;
  if (key == "runs-on") return k_machine;
  if (key == "continue-on-error") return k_failure;
  return key == "if" ? Words(k_condition) : Words();
}

bool mentions_permission(const std::string& said, const Change& change) {
  static constexpr std::array<std::string_view, 8> k_words = {"permission", "permissions", "privilege", "privileges",
                                                              "grant",      "grants",      "granted",   "token scope"};
  bool alone = change.name.find('-') != std::string::npos; // `contents` and `actions` are words of any text
  return has_any(said, k_words) || (alone && mentions_name(said, change.name)) ||
         said.find(fmt::format("{}: {}", change.name, change.after)) != std::string::npos;
}

/// Whether a line says that the thing is gone: "raise the timeout to 10" does not speak of a deadline that is lost.
bool mentions_removal(const std::string& said, Words words) {
  static constexpr std::array<std::string_view, 14> k_gone = {"remove",  "removes", "removed", "removing", "drop",
                                                              "drops",   "dropped", "delete",  "deletes",  "deleted",
                                                              "without", "unset",   "no",      "unlimited"};
  return std::ranges::any_of(text::split(said, '\n'),
                             [&](const std::string& line) { return has_any(line, words) && has_any(line, k_gone); });
}

/// Whether a text has a value that only one of the two states has.
bool mentions_value(const std::string& said, const Change& change) {
  bool is_script = change.kind == ChangeKind::command || change.kind == ChangeKind::step;
  constexpr std::size_t k_script_word_min = 5; // "then", "echo", "with" stand in texts as well as in scripts
  for (const auto& [values, others] : {std::pair(change.after, change.before), {change.before, change.after}}) {
    auto separators = is_script ? " \n\t\"'`;|&()<>=$@{}[]" : values.find('{') == values.npos ? ", " : ", {}[]";
    for (const auto& value : text::split_any(values, separators)) {
      if (is_script && value.size() < k_script_word_min) continue;
      if (!value.ends_with(':') && !has_word(others, value) && names_value(said, value)) return true;
    }
  }
  return false;
}

class Mentions {
public:
  Mentions(const Sides& sides, Review& review) : sides_(sides), review_(review) {
    said_ = sides.options.description.value_or("");
    for (const auto& commit : review.history.commits) said_ += "\n" + commit.title;
  }

  /// One finding for each file and importance.
  void check() {
    std::map<std::pair<std::string, Severity>, std::vector<const Change*>> silent;
    for (const auto& change : review_.changes.list)
      if (!is_mentioned(change)) silent[{change.file, change.unsaid}].push_back(&change);
    for (const auto& [key, changes] : silent) {
      std::vector<std::string> sentences;
      for (const auto* change : changes) sentences.push_back(sentence(*change));
      review_.findings.push_back(
          {{key.first, changes.front()->at, "Y163", key.second,
            fmt::format("no description or commit title mentions: {}", text::first(sentences, 3)),
            key.second == Severity::error ? "say why, so that reviewers decide on it"
                                          : "say it, so that reviewers look at it"},
           "new"});
    }
  }

private:
  bool is_mentioned(const Change& change) const {
    const auto* file = sides_.after.find(change.file);
    auto name = file ? file->basename() : change.file;
    switch (change.kind) {
    case ChangeKind::file: return said_.find(name.substr(0, name.find('.'))) != std::string::npos;
    case ChangeKind::permission:
      return mentions_permission(said_, change) ||
             (change.of_new_job && mentions_name(said_, quoted_after(change.where, "job `")));
    case ChangeKind::trigger: return mentions_trigger(change);
    default: break;
    }
    if (change.kind == ChangeKind::setting && change.name == "needs" && follows_jobs(change)) return true;
    auto words = change.kind == ChangeKind::setting ? words_for(change.name) : Words();
    if (change.unsaid == Severity::error && change.what == What::removed) return mentions_removal(said_, words);
    bool guards = change.unsaid == Severity::error; // the name of the job says nothing about its deadline
    if (has_any(said_, words) || guards) return has_any(said_, words);
    return mentions_value(said_, change) || mentions_place(change);
  }

  /// Whether `needs` differs by jobs that the change adds or removes: those are told themselves.
  bool follows_jobs(const Change& change) const {
    auto jobs = [](const std::string& text) { return text::split_any(text, "[], "); };
    auto differs = [&](const std::string& some, const std::string& others) {
      auto known = jobs(others);
      return std::ranges::any_of(jobs(some), [&](const std::string& job) {
        bool told = std::ranges::any_of(review_.changes.list, [&](const Change& one) {
          return one.kind == ChangeKind::job && one.file == change.file && one.name == job;
        });
        return std::ranges::find(known, job) == known.end() && !told;
      });
    };
    return !differs(change.before, change.after) && !differs(change.after, change.before);
  }

  bool mentions_trigger(const Change& change) const {
    static constexpr std::array<std::string_view, 6> k_words = {"trigger",    "triggers", "triggered",
                                                                "triggering", "cron",     "nightly"};
    return has_any(said_, k_words) || mentions_name(said_, change.name) || mentions_value(said_, change) ||
           (!change.detail.empty() && change.detail != "types" && has_word(said_, change.detail));
  }

  bool mentions_place(const Change& change) const {
    auto name = change.name.substr(change.name.find('.') + 1); // `env.NAME`
    auto target = change.name.substr(change.name.rfind('/') + 1);
    bool is_key = change.kind == ChangeKind::setting && name == change.name; // `if` and `needs` are words of any text
    bool named = !is_key && (mentions_name(said_, change.name) || mentions_name(said_, name) ||
                             mentions_name(said_, target.substr(0, target.find('.'))));
    return named || mentions_name(said_, quoted_after(change.where, "job `")) ||
           mentions_name(said_, quoted_after(change.where, "step `"));
  }

  const Sides& sides_;
  Review& review_;
  std::string said_;
};
} // namespace

void review_mentions(const Sides& sides, Review& review) { Mentions(sides, review).check(); }

} // namespace quarry::workflow
