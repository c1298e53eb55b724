#include "workflow/claims_words.hpp"

#include "base/ascii.hpp"
#include "workflow/programs.hpp"
#include <algorithm>
#include <array>

namespace quarry::workflow {

namespace {
using Verb = Claim::Verb;

/// Whether a word is the verb, or one of its regular forms.
bool is_form_of(std::string_view word, std::string_view verb) {
  if (!word.starts_with(verb.substr(0, verb.size() - 1))) return false;
  auto ends = [&](std::string_view stem, std::string_view end) {
    return word.size() == stem.size() + end.size() && word.starts_with(stem) && word.ends_with(end);
  };
  auto stem = verb.substr(0, verb.size() - 1);
  auto last = verb.substr(verb.size() - 1);
  for (std::string_view end : {"", "s", "es", "ed", "ing"})
    if (ends(verb, end)) return true;
  if (last == "e") return ends(stem, "ed") || ends(stem, "ing");
  for (std::string_view end : {"ed", "ing"}) // "dropped", "plumbing"
    if (word.size() == verb.size() + 1 + end.size() && word.starts_with(verb) && word[verb.size()] == last[0] &&
        word.ends_with(end))
      return true;
  return false;
}
} // namespace

std::optional<Verb> verb_of(std::string_view word) {
  static constexpr std::array<std::pair<std::string_view, Verb>, 37> k_verbs = {{
      {"add", Verb::added},         {"introduce", Verb::added},   {"create", Verb::added},
      {"remove", Verb::removed},    {"drop", Verb::removed},      {"delete", Verb::removed},
      {"eliminate", Verb::removed}, {"retire", Verb::removed},    {"change", Verb::changed},
      {"fix", Verb::changed},       {"update", Verb::changed},    {"raise", Verb::changed},
      {"lower", Verb::changed},     {"increase", Verb::changed},  {"decrease", Verb::changed},
      {"reduce", Verb::changed},    {"bump", Verb::changed},      {"rename", Verb::changed},
      {"move", Verb::changed},      {"pass", Verb::changed},      {"forward", Verb::changed},
      {"wire", Verb::changed},      {"plumb", Verb::changed},     {"thread", Verb::changed},
      {"hook", Verb::changed},      {"switch", Verb::changed},    {"replace", Verb::changed},
      {"expose", Verb::changed},    {"enable", Verb::changed},    {"disable", Verb::changed},
      {"upgrade", Verb::changed},   {"pin", Verb::changed},       {"correct", Verb::changed},
      {"restore", Verb::changed},   {"propagate", Verb::changed}, {"downgrade", Verb::changed},
      {"relay", Verb::changed},
  }};
  for (const auto& [name, verb] : k_verbs)
    if (is_form_of(word, name)) return verb;
  return std::nullopt;
}

bool hands_on(std::string_view verb) {
  for (std::string_view name : {"pass", "forward", "wire", "plumb", "thread", "hook", "propagate", "relay"})
    if (is_form_of(verb, name)) return true;
  return false;
}

bool needs_particle(std::string_view verb) { return is_form_of(verb, "thread") || is_form_of(verb, "hook"); }

bool is_doubt(std::string_view word) {
  static constexpr std::array<std::string_view, 31> k_words = {
      "not",      "no",     "will",       "should",  "could",      "later",      "would",      "never",
      "if",       "didn't", "remains",    "remain",  "unchanged",  "missed",     "already",    "scope",
      "when",     "was",    "were",       "had",     "previously", "earlier",    "originally", "formerly",
      "upstream", "once",   "afterwards", "rollout", "todo",       "eventually", "follow-up"};
  return is_among(word, k_words);
}

bool begins_clause(std::string_view word) {
  static constexpr std::array<std::string_view, 33> k_words = {
      "after",    "before",    "while",     "which",  "who",     "whose",      "that",    "so",        "because",
      "since",    "whereas",   "although",  "though", "but",     "as",         "where",   "than",      "until",
      "unless",   "instead",   "unlike",    "like",   "without", "preserving", "keeping", "retaining", "leaving",
      "matching", "mirroring", "following", "used",   "using",   "needed"};
  return is_among(word, k_words);
}

bool is_for_later(std::string_view word, std::string_view next) {
  static constexpr std::array<std::string_view, 9> k_words = {"merge",   "merging", "merged",    "landing",   "landed",
                                                              "release", "rollout", "deploying", "deployment"};
  return (word == "after" || word == "before" || word == "post") && is_among(next, k_words);
}

bool is_symptom(std::string_view word) {
  static constexpr std::array<std::string_view, 44> k_words = {
      "error",    "errors",   "failure",   "failures",   "failing",   "fails",      "fail",        "crash",
      "crashes",  "crashing", "hang",      "hangs",      "hanging",   "timeout",    "timeouts",    "flake",
      "flakes",   "flaky",    "flakiness", "warning",    "warnings",  "regression", "regressions", "bug",
      "bugs",     "segfault", "segfaults", "deadlock",   "race",      "leak",       "leaks",       "symptom",
      "symptoms", "broken",   "exception", "exceptions", "traceback", "issue",      "issues",      "problem",
      "problems", "breakage", "undefined", "unresolved"};
  return is_among(word, k_words);
}

bool names_symptom(std::string_view name) {
  for (std::string_view end :
       {"Error", "Exception", "Warning", "Failure", "_ERROR", "_FAILURE", "_FAILED", "_error", "_failure"})
    if (name.ends_with(end)) return true;
  static constexpr std::array<std::string_view, 5> k_errors = {"ENOENT", "EACCES", "ENOSPC", "EINVAL", "EPERM"};
  bool upper = std::all_of(name.begin(), name.end(), ascii::is_upper);
  return (upper && name.size() >= 6 && name.starts_with("SIG")) || is_among(name, k_errors);
}

bool is_noun_before(std::string_view next) {
  static constexpr std::array<std::string_view, 6> k_words = {"to", "in", "for", "of", "on", "are"};
  return is_among(next, k_words);
}

bool is_begin(const std::vector<std::string>& before) {
  static constexpr std::array<std::string_view, 14> k_subjects = {
      "the", "pull", "request", "this", "pr", "change", "commit", "patch", "it", "we", "also", "and", "now", "branch"};
  return std::all_of(before.begin(), before.end(), [](const std::string& word) { return is_among(word, k_subjects); });
}

bool is_said_of_something_else(const std::vector<std::string>& before, std::string_view verb) {
  static constexpr std::array<std::string_view, 6> k_tests = {"test", "tests", "check", "checks", "suite", "all"};
  if (verb.starts_with("pass") && !before.empty() && is_among(before.back(), k_tests)) return true;
  if (!before.empty() && before.back() == "now") return false; // "the build now passes `x`"
  if (verb == "change" && !before.empty() && before.back() == "this") return true;
  return !verb.ends_with("ed") && !is_begin(before);
}

bool begins_place(std::string_view word, Verb verb, bool hands) {
  static constexpr std::array<std::string_view, 14> k_words = {
      "in", "into", "on", "from", "across", "inside", "by", "for", "with", "via", "under", "through", "at", "per"};
  return is_among(word, k_words) || (word == "to" && (hands || verb != Verb::changed));
}

bool is_between_names(std::string_view word) {
  static constexpr std::array<std::string_view, 9> k_words = {"the",  "a",    "an",  "both", "all",
                                                              "each", "this", "and", "or"};
  return is_among(word, k_words);
}

} // namespace quarry::workflow
