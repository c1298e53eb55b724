#include "workflow/claims.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "workflow/claims_text.hpp"
#include "workflow/programs.hpp"
#include <algorithm>
#include <array>
#include <optional>

namespace quarry::workflow {

namespace {
using Verb = Claim::Verb;

bool in_word(char c) { return c == '_' || c == '-' || ascii::is_alnum(c); }

std::optional<Verb> verb_of(std::string_view word) {
  static constexpr std::array<std::pair<std::string_view, Verb>, 40> k_verbs = {{
      {"add", Verb::added},        {"added", Verb::added},       {"adds", Verb::added},
      {"introduce", Verb::added},  {"introduced", Verb::added},  {"introduces", Verb::added},
      {"remove", Verb::removed},   {"removed", Verb::removed},   {"removes", Verb::removed},
      {"drop", Verb::removed},     {"dropped", Verb::removed},   {"drops", Verb::removed},
      {"delete", Verb::removed},   {"deleted", Verb::removed},   {"deletes", Verb::removed},
      {"change", Verb::changed},   {"changed", Verb::changed},   {"changes", Verb::changed},
      {"fix", Verb::changed},      {"fixed", Verb::changed},     {"fixes", Verb::changed},
      {"update", Verb::changed},   {"updated", Verb::changed},   {"updates", Verb::changed},
      {"raise", Verb::changed},    {"raised", Verb::changed},    {"bump", Verb::changed},
      {"bumped", Verb::changed},   {"rename", Verb::changed},    {"renamed", Verb::changed},
      {"move", Verb::changed},     {"moved", Verb::changed},     {"pass", Verb::changed},
      {"passes", Verb::changed},   {"passed", Verb::changed},    {"forward", Verb::changed},
      {"forwards", Verb::changed}, {"forwarded", Verb::changed}, {"switch", Verb::changed},
      {"switched", Verb::changed},
  }};
  for (const auto& [name, verb] : k_verbs)
    if (name == word) return verb;
  return std::nullopt;
}

/// Words of statements about what the change does not do, or what was so before.
bool is_doubt(std::string_view word) {
  static constexpr std::array<std::string_view, 31> k_words = {
      "not",      "no",     "will",       "should",  "could",      "later",      "would",      "never",
      "if",       "didn't", "remains",    "remain",  "unchanged",  "missed",     "already",    "scope",
      "when",     "was",    "were",       "had",     "previously", "earlier",    "originally", "formerly",
      "upstream", "once",   "afterwards", "rollout", "todo",       "eventually", "follow-up"};
  return is_among(word, k_words);
}

/// What follows says why, how or of which: "while preserving `a`", "that `b` needs". Names behind it are not claimed.
bool begins_clause(std::string_view word) {
  static constexpr std::array<std::string_view, 33> k_words = {
      "after",    "before",    "while",     "which",  "who",     "whose",      "that",    "so",        "because",
      "since",    "whereas",   "although",  "though", "but",     "as",         "where",   "than",      "until",
      "unless",   "instead",   "unlike",    "like",   "without", "preserving", "keeping", "retaining", "leaving",
      "matching", "mirroring", "following", "used",   "using",   "needed"};
  return is_among(word, k_words);
}

/// "After merging, update `a`": a step for later.
bool is_for_later(std::string_view word, std::string_view next) {
  static constexpr std::array<std::string_view, 9> k_words = {"merge",   "merging", "merged",    "landing",   "landed",
                                                              "release", "rollout", "deploying", "deployment"};
  return (word == "after" || word == "before" || word == "post") && is_among(next, k_words);
}

/// What somebody saw, not what changes: "fix the `load_so` crash" says nothing about a line with `load_so`.
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

/// `ModuleNotFoundError`, `SIGSEGV`, `ENOENT`: what a program printed.
bool names_symptom(std::string_view name) {
  for (std::string_view end :
       {"Error", "Exception", "Warning", "Failure", "_ERROR", "_FAILURE", "_FAILED", "_error", "_failure"})
    if (name.ends_with(end)) return true;
  static constexpr std::array<std::string_view, 5> k_errors = {"ENOENT", "EACCES", "ENOSPC", "EINVAL", "EPERM"};
  bool upper = std::all_of(name.begin(), name.end(), ascii::is_upper);
  return (upper && name.size() >= 6 && name.starts_with("SIG")) || is_among(name, k_errors);
}

/// "Changes to `a`", "fixes for `a`": a noun.
bool is_noun_before(std::string_view next) {
  static constexpr std::array<std::string_view, 6> k_words = {"to", "in", "for", "of", "on", "are"};
  return is_among(next, k_words);
}

/// Whether the words before a verb are its subject, the change: "this PR", "we also".
bool is_begin(const std::vector<std::string>& before) {
  static constexpr std::array<std::string_view, 11> k_subjects = {"this", "pr",   "change", "commit", "patch", "it",
                                                                  "we",   "also", "and",    "now",    "branch"};
  return std::all_of(before.begin(), before.end(), [](const std::string& word) { return is_among(word, k_subjects); });
}

/// "add", "adds": what the change does at the beginning of a statement. Later it is a noun or what a program does: "the
/// job gives one on a Tuesday and adds `x`". "51 tests pass": no claim either.
bool is_said_of_something_else(const std::vector<std::string>& before, std::string_view verb) {
  static constexpr std::array<std::string_view, 6> k_tests = {"test", "tests", "check", "checks", "suite", "all"};
  if (verb.starts_with("pass") && !before.empty() && is_among(before.back(), k_tests)) return true;
  if (verb == "change" && !before.empty() && before.back() == "this") return true;
  return !verb.ends_with("ed") && !is_begin(before);
}

/// What follows says where: "added `ref` to `workflow_call` and `workflow_dispatch`". Behind "raised" it is the value.
bool begins_place(std::string_view word, Verb verb, bool hands_on) {
  static constexpr std::array<std::string_view, 14> k_words = {
      "in", "into", "on", "from", "across", "inside", "by", "for", "with", "via", "under", "through", "at", "per"};
  return is_among(word, k_words) || (word == "to" && (hands_on || verb != Verb::changed));
}

bool is_between_names(std::string_view word) {
  static constexpr std::array<std::string_view, 9> k_words = {"the",  "a",    "an",  "both", "all",
                                                              "each", "this", "and", "or"};
  return is_among(word, k_words);
}

bool is_workflow(std::string_view file) { return file.ends_with(".yml") || file.ends_with(".yaml"); }

struct Token {
  std::string text;
  bool quoted = false;
  bool aside = false; ///< in parentheses
};

constexpr std::size_t k_short_commit = 7, k_whole_commit = 40;

/// "d3af401": hexadecimal digits of both kinds. A word such as `deadbeef` or a number is not one.
bool is_commit_id(std::string_view word) {
  if (word.size() < k_short_commit || word.size() > k_whole_commit) return false;
  return std::all_of(word.begin(), word.end(), ascii::is_lower_hex) &&
         std::any_of(word.begin(), word.end(), ascii::is_lower) &&
         !std::all_of(word.begin(), word.end(), ascii::is_lower);
}

/// Another pull request, an issue or a commit: "#7352", "7236" behind "PR", "d3af401", a link to one of them.
bool is_other_change(const std::vector<Token>& words, std::size_t i) {
  const auto& word = words[i].text;
  if (word.starts_with('#') && text::parse_u64(word.substr(1)).has_value()) return true;
  if (is_commit_id(word)) return true;
  for (std::string_view part : {"/pull/", "/issues/", "/commit/"})
    if (word.find("://") != word.npos && word.find(part) != word.npos) return true;
  return !words[i].quoted && text::lower(words[i].text) == "pr" && i + 1 < words.size() &&
         text::parse_u64(words[i + 1].text).has_value();
}

bool is_file(std::string_view word) {
  for (std::string_view end : {".yml", ".yaml", ".py", ".sh", ".md", ".txt", ".cmake", ".toml", ".json"})
    if (word.size() > end.size() && word.ends_with(end)) return true;
  return false;
}

bool begins_word(std::string_view statement, std::size_t at) {
  bool begins = at == 0 || (!in_word(statement[at - 1]) && statement[at - 1] != '/');
  bool path = begins && (statement[at] == '.' || statement[at] == '/') && at + 1 < statement.size() &&
              (in_word(statement[at + 1]) || statement[at + 1] == '/');
  bool number = statement[at] == '#' && at + 1 < statement.size() && ascii::is_digit(statement[at + 1]);
  return in_word(statement[at]) || path || number;
}

/// Words and links, and what stands in back quotes as one.
std::vector<Token> tokens(std::string_view statement) {
  std::vector<Token> found;
  int depth = 0;
  for (std::size_t at = 0; at < statement.size();) {
    if (statement[at] == '(') ++depth;
    if (statement[at] == ')') --depth;
    if (statement[at] == '`') {
      auto end = statement.find('`', at + 1);
      if (end == statement.npos) break;
      found.push_back({std::string(text::trim(statement.substr(at + 1, end - at - 1))), true, depth > 0});
      at = end + 1;
    } else if (statement.substr(at).starts_with("->") || statement.substr(at).starts_with("→")) {
      found.push_back({"to", false, depth > 0});
      at += statement[at] == '-' ? 2 : std::string_view("→").size();
    } else if (statement.substr(at).starts_with("https://") || statement.substr(at).starts_with("http://")) {
      auto end = std::min(statement.find_first_of(" )>]", at), statement.size());
      found.push_back({std::string(statement.substr(at, end - at)), false, depth > 0});
      at = end;
    } else if (begins_word(statement, at)) {
      auto end = at + 1;
      while (end < statement.size() &&
             (in_word(statement[end]) || statement[end] == '.' || statement[end] == '/' || statement[end] == '\''))
        ++end;
      auto word = statement.substr(at, end - at);
      while (word.ends_with('.')) word.remove_suffix(1);
      bool is_mark = word.find_first_not_of("-_") == word.npos; // of a list: "- Add"
      if (!is_mark) found.push_back({std::string(word), false, depth > 0});
      at = end;
    } else {
      ++at;
    }
  }
  return found;
}

/// A name of something in the files: in back quotes, or a word with an underscore inside. `a(b)`, `a:b` and `*` are
/// more than a name.
bool is_name(const Token& token) {
  bool plain =
      std::all_of(token.text.begin(), token.text.end(), [](char c) { return in_word(c) || c == '.' || c == '/'; });
  bool says = std::any_of(token.text.begin(), token.text.end(), ascii::is_alnum);
  auto underscore = token.text.find('_');
  bool inside = underscore != std::string::npos && underscore > 0 && underscore + 1 < token.text.size();
  return plain && says && (token.quoted || inside);
}

/// "add pyodide_315 support": what people call a thing, not how the files spell it.
bool is_subject(const std::vector<Token>& words, std::size_t i) {
  return !words[i].quoted && i + 1 < words.size() && text::lower(words[i + 1].text) == "support";
}

/// Without the number that the pull request itself has in its title: "Add `ref` (#12)".
std::string_view without_number(std::string_view statement) {
  statement = text::trim(statement);
  auto begin = statement.rfind(" (#");
  if (begin == statement.npos || !statement.ends_with(')')) return statement;
  auto number = statement.substr(begin + 3, statement.size() - begin - 4);
  return text::parse_u64(number) ? text::trim(statement.substr(0, begin)) : statement;
}

/// Without what stands before a title: "fix(ci): pass `ref`", "[ci] Add `ref`".
std::string_view without_scope(std::string_view statement) {
  if (statement.starts_with('[')) {
    auto end = statement.find("] ");
    return end == statement.npos ? statement : statement.substr(end + 2);
  }
  auto end = statement.find(": ");
  auto scope = statement.substr(0, end == statement.npos ? 0 : end);
  auto bracket = scope.find('(');
  bool is_word =
      !scope.empty() &&
      std::all_of(scope.begin(), scope.begin() + static_cast<std::ptrdiff_t>(std::min(bracket, scope.size())),
                  ascii::is_lower);
  return is_word && (bracket == scope.npos || scope.ends_with(')')) ? statement.substr(end + 2) : statement;
}

std::optional<Claim> claim_of(std::string_view statement, std::uint32_t line) {
  auto words = tokens(without_scope(without_number(statement)));
  Claim claim, aside;
  std::optional<Verb> verb;
  std::vector<std::string> before;
  bool place = false, hands_on = false, clause = false, in_aside_clause = false;
  bool fixes = false, symptom = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    auto word = text::lower(words[i].text);
    if (is_other_change(words, i)) return std::nullopt;
    if (clause) continue; // it may still name another change
    if (!words[i].quoted) {
      auto next = i + 1 < words.size() ? text::lower(words[i + 1].text) : std::string();
      if (is_doubt(word) || is_for_later(word, next)) return std::nullopt;
      symptom |= is_symptom(word);
      if (begins_clause(word)) {
        clause = !words[i].aside;
        in_aside_clause = words[i].aside;
        continue;
      }
      bool noun = word.ends_with('s') && i + 1 < words.size() && !words[i + 1].quoted &&
                  is_noun_before(text::lower(words[i + 1].text));
      if (!verb && !noun && !is_said_of_something_else(before, word)) {
        verb = verb_of(word);
        claim.certain = verb && is_begin(before);
        hands_on = word.starts_with("pass") || word.starts_with("forward");
        fixes = verb && word.starts_with("fix");
      }
      claim.missing |= word == "missing";
      if (verb && begins_place(word, *verb, hands_on))
        place = true;
      else if (!is_name(words[i]) && !is_between_names(word))
        place = false;
    }
    before.push_back(word);
    symptom |= names_symptom(words[i].text);
    in_aside_clause = in_aside_clause && words[i].aside;
    if (in_aside_clause) continue;
    bool from = word == "from" && !words[i].quoted && i + 3 < words.size() && words[i + 2].text == "to";
    if (from && is_name(words[i + 1]) && is_name(words[i + 3])) {
      claim.from = words[i + 1].text;
      claim.to = words[i + 3].text;
      i += 3;
    } else if (is_file(words[i].text)) {
      if (place && !is_workflow(words[i].text)) continue; // "to the steps of `fetch.py`"
      (words[i].aside ? aside : claim).files.push_back(words[i].text);
    } else if (is_name(words[i]) && !place && !is_subject(words, i) && claim.names.size() < k_names_max) {
      (words[i].aside ? aside : claim).names.push_back(words[i].text);
    }
  }
  if (claim.names.empty() && claim.files.empty()) { // "added two inputs (`a`, `b`)"
    claim.names = std::move(aside.names);
    claim.files = std::move(aside.files);
  }
  if (!verb || (claim.names.empty() && claim.from.empty() && claim.files.empty())) return std::nullopt;
  claim.verb = *verb;
  claim.unsure = fixes && symptom && claim.from.empty();
  claim.text = without_number(statement);
  claim.line = line;
  return claim;
}

} // namespace

std::vector<Claim> read_claims(std::string_view text) {
  std::vector<Claim> claims;
  for (const auto& paragraph : paragraphs_of(text))
    for (auto statement : statements_of(paragraph.text)) {
      if (claims.size() >= k_statements_max) return claims;
      if (auto claim = claim_of(statement, paragraph.line)) claims.push_back(std::move(*claim));
    }
  return claims;
}

std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  for (const auto& token : tokens(text)) {
    bool inside =
        token.text.size() > 2 &&
        std::string_view(token.text).substr(1, token.text.size() - 2).find_first_of("_-.") != std::string_view::npos;
    if ((token.quoted || inside) && token.text.find(' ') == std::string::npos) names.push_back(token.text);
  }
  return names;
}

} // namespace quarry::workflow
