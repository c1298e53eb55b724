#include "workflow/claims.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "sys/path.hpp"
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

template <std::size_t n> bool is_among(std::string_view word, const std::array<std::string_view, n>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Words of statements about what the change does not do, or what was so before.
bool is_doubt(std::string_view word) {
  static constexpr std::array<std::string_view, 17> k_words = {
      "not",    "no",      "will",   "should",    "could",  "later",   "would", "never", "if",
      "didn't", "remains", "remain", "unchanged", "missed", "already", "scope", "when"};
  return is_among(word, k_words);
}

/// "add", "adds": what the change does at the beginning of a statement. Later it is a noun or what a program does: "the
/// job gives one on a Tuesday and adds `x`". "51 tests pass": no claim either.
bool is_said_of_something_else(const std::vector<std::string>& before, std::string_view verb) {
  static constexpr std::array<std::string_view, 11> k_subjects = {"this", "pr",   "change", "commit", "patch", "it",
                                                                  "we",   "also", "and",    "now",    "branch"};
  static constexpr std::array<std::string_view, 6> k_tests = {"test", "tests", "check", "checks", "suite", "all"};
  if (verb.starts_with("pass") && !before.empty() && is_among(before.back(), k_tests)) return true;
  if (verb == "change" && !before.empty() && before.back() == "this") return true;
  return !verb.ends_with("ed") &&
         !std::all_of(before.begin(), before.end(), [](const std::string& word) { return is_among(word, k_subjects); });
}

/// What follows says where: "added `ref` to `workflow_call` and `workflow_dispatch`". Behind "raised" it is the value.
bool begins_place(std::string_view word, Verb verb, bool hands_on) {
  static constexpr std::array<std::string_view, 7> k_words = {"in", "into", "on", "from", "across", "inside", "by"};
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

/// A number of a pull request: "#7352", or "7236" behind "PR".
bool is_other_request(const std::vector<Token>& words, std::size_t i) {
  if (words[i].quoted) return words[i].text.starts_with('#') && text::parse_u64(words[i].text.substr(1)).has_value();
  return text::lower(words[i].text) == "pr" && i + 1 < words.size() && text::parse_u64(words[i + 1].text).has_value();
}

bool is_file(std::string_view word) {
  for (std::string_view end : {".yml", ".yaml", ".py", ".sh", ".md", ".txt", ".cmake", ".toml", ".json"})
    if (word.size() > end.size() && word.ends_with(end)) return true;
  return false;
}

/// Words, and what stands in back quotes as one.
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
    } else if (in_word(statement[at])) {
      auto end = at;
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

/// A name of something in the files: in back quotes, or a word with an underscore inside.
bool is_name(const Token& token) {
  auto underscore = token.text.find('_');
  bool inside = underscore != std::string::npos && underscore > 0 && underscore + 1 < token.text.size();
  return !token.text.empty() && (token.quoted ? token.text.find(' ') == std::string::npos : inside);
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
  auto words = tokens(without_scope(text::trim(statement)));
  Claim claim, aside;
  std::optional<Verb> verb;
  std::vector<std::string> before;
  bool place = false, hands_on = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    auto word = text::lower(words[i].text);
    if (is_other_request(words, i)) return std::nullopt;
    if (!words[i].quoted) {
      if (is_doubt(word)) return std::nullopt;
      if (!verb && !is_said_of_something_else(before, word)) {
        verb = verb_of(word);
        hands_on = word.starts_with("pass") || word.starts_with("forward");
      }
      claim.missing |= word == "missing";
      if (verb && begins_place(word, *verb, hands_on))
        place = true;
      else if (!is_name(words[i]) && !is_between_names(word))
        place = false;
    }
    before.push_back(word);
    bool from = word == "from" && !words[i].quoted && i + 3 < words.size() && words[i + 2].text == "to";
    if (from && is_name(words[i + 1]) && is_name(words[i + 3])) {
      claim.from = words[i + 1].text;
      claim.to = words[i + 3].text;
      i += 3;
    } else if (is_file(words[i].text)) {
      if (place && !is_workflow(words[i].text)) continue; // "to the steps of `fetch.py`"
      (words[i].aside ? aside : claim).files.push_back(words[i].text);
    } else if (is_name(words[i]) && !place && claim.names.size() < k_names_max) {
      (words[i].aside ? aside : claim).names.push_back(words[i].text);
    }
  }
  if (claim.names.empty() && claim.files.empty()) { // "added two inputs (`a`, `b`)"
    claim.names = std::move(aside.names);
    claim.files = std::move(aside.files);
  }
  if (!verb || (claim.names.empty() && claim.from.empty() && claim.files.empty())) return std::nullopt;
  claim.verb = *verb;
  claim.text = text::trim(statement);
  claim.line = line;
  return claim;
}

/// At ". " and "; " outside of back quotes.
std::vector<std::string_view> statements(std::string_view line) {
  std::vector<std::string_view> found;
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '`') quoted = !quoted;
    bool ends = (line[at] == '.' || line[at] == ';') && (at + 1 == line.size() || line[at + 1] == ' ');
    if (quoted || !ends) continue;
    found.push_back(line.substr(begin, at - begin));
    begin = at + 1;
  }
  if (begin < line.size()) found.push_back(line.substr(begin));
  return found;
}

struct Paragraph {
  std::string text;
  std::uint32_t line = 0; ///< of its beginning
};

/// A line that goes on in the next one, as in commit messages: the next begins like the middle of a sentence.
bool goes_on(std::string_view line, std::string_view next) {
  if (line.empty() || next.empty() || line.ends_with('.') || line.ends_with(':') || line.ends_with(';')) return false;
  return ascii::is_lower(next[0]) || next[0] == '`' || next[0] == '(';
}

/// What a text says, without headings, quotations, code, comments and boxes that nobody ticked.
std::vector<Paragraph> paragraphs(std::string_view text) {
  std::vector<Paragraph> found;
  std::uint32_t number = 0;
  bool code = false;
  std::string last; // the line before, empty if it does not count
  for (const auto& line : text::lines(text)) {
    ++number;
    auto trimmed = std::string(text::trim(line));
    if (trimmed.starts_with("```")) code = !code;
    bool quiet = trimmed.starts_with('#') || trimmed.starts_with('>') || trimmed.starts_with("- [ ]");
    if (code || quiet || trimmed.starts_with("```") || trimmed.starts_with("<!--")) trimmed.clear();
    if (goes_on(last, trimmed))
      found.back().text += " " + trimmed;
    else if (!trimmed.empty())
      found.push_back({trimmed, number});
    last = std::move(trimmed);
  }
  return found;
}

/// Lines with the word; a comment changes nothing.
std::size_t lines_with(const std::vector<ChangedLine>& lines, const std::string& word) {
  return static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), [&](const ChangedLine& line) {
    return !text::trim(line.text).starts_with('#') && has_word(line.text, word);
  }));
}

/// Whether some file has the word in more (sign 1) or fewer (sign -1) lines, or on any changed line (0).
bool lines_change(const Claim& claim, const History& history, const std::string& word, int sign) {
  for (const auto& file : history.files) {
    if (claim.missing && file.created) continue;
    auto added = lines_with(file.added, word), removed = lines_with(file.removed, word);
    if (sign == 0 ? added + removed > 0 : sign > 0 ? added > removed : removed > added) return true;
  }
  return false;
}

bool model_changes(const Claim& claim, const Changes& changes, const History& history, const std::string& name) {
  for (const auto& change : changes.list) {
    const auto* file = history.find(change.file);
    if (!same_name(change.name, name) || (claim.missing && file && file->created)) continue;
    if (claim.verb == Verb::changed) return true;
    if ((claim.verb == Verb::added) == (change.what == Change::What::added) && change.what != Change::What::changed)
      return true;
  }
  return false;
}

bool replaced(const Claim& claim, const History& history) {
  for (const auto& file : history.files)
    if (lines_with(file.removed, claim.from) > 0 && lines_with(file.added, claim.to) > 0) return true;
  return false;
}

bool base_has(const Repository& before, const std::string& word) {
  return std::any_of(before.files.begin(), before.files.end(),
                     [&](const auto& file) { return has_word(file->text, word); });
}

/// A title may shorten a name: `DRIVER_ABI` for `THEROCK_DRIVER_ABI`.
bool is_part_of_change(const History& history, const std::string& name) {
  auto wanted = text::lower(name);
  auto has = [&](const ChangedLine& line) { return text::lower(line.text).find(wanted) != std::string::npos; };
  return std::any_of(history.files.begin(), history.files.end(), [&](const ChangedFile& file) {
    return text::lower(file.path).find(wanted) != std::string::npos ||
           std::any_of(file.added.begin(), file.added.end(), has) ||
           std::any_of(file.removed.begin(), file.removed.end(), has);
  });
}

/// "Disable test_a": the line above the function changes, not the one with its name.
bool is_near_change(const History& history, const std::string& name) {
  auto wanted = text::lower(name);
  auto has = [&](const std::string& line) { return text::lower(line).find(wanted) != std::string::npos; };
  return std::any_of(history.files.begin(), history.files.end(),
                     [&](const ChangedFile& file) { return std::any_of(file.near.begin(), file.near.end(), has); });
}

bool is_event(std::string_view name) {
  static constexpr std::array<std::string_view, 7> k_events = {
      "workflow_dispatch",   "workflow_call", "workflow_run",       "pull_request",
      "pull_request_target", "merge_group",   "repository_dispatch"};
  return is_among(name, k_events);
}

bool file_changes(const History& history, const std::string& name) {
  return std::any_of(history.files.begin(), history.files.end(), [&](const ChangedFile& file) {
    return file.path == name || file.path.ends_with("/" + name) || path::basename(file.path) == name;
  });
}

/// Whether `word` stands in `text` with no character beside it that `continues` a word.
template <typename Continues> bool has_bounded(std::string_view text, std::string_view word, Continues continues) {
  if (word.empty() || text.size() < word.size()) return false;
  for (std::size_t at = 0; at + word.size() <= text.size(); ++at) {
    if (!same_name(text.substr(at, word.size()), word)) continue;
    auto end = at + word.size();
    if ((at == 0 || !continues(text[at - 1])) && (end == text.size() || !continues(text[end]))) return true;
  }
  return false;
}
} // namespace

bool has_word(std::string_view text, std::string_view word) { return has_bounded(text, word, in_word); }

bool has_word(std::string_view text, Topic topic) {
  return has_bounded(text, topic.word, [](char c) { return in_word(c) && c != '_' && c != '-'; });
}

std::set<std::string> topics_of(std::string_view path) {
  std::set<std::string> topics;
  auto name = path::basename(path);
  for (const auto& word : text::split_any(text::lower(name.substr(0, name.find('.'))), "_-")) topics.insert(word);
  return topics;
}

std::vector<Claim> read_claims(std::string_view text) {
  std::vector<Claim> claims;
  for (const auto& paragraph : paragraphs(text))
    for (auto statement : statements(paragraph.text)) {
      if (claims.size() >= k_statements_max) return claims;
      if (auto claim = claim_of(statement, paragraph.line)) claims.push_back(std::move(*claim));
    }
  return claims;
}

Judged judge(const Claim& claim, const Changes& changes, const History& history, const Repository& before) {
  Judged judged;
  if (!claim.from.empty()) {
    auto& place = replaced(claim, history) ? judged.holds : base_has(before, claim.to) ? judged.before : judged.nowhere;
    place.push_back(claim.to);
    return judged; // the other names say of what
  }
  int sign = claim.verb == Verb::added ? 1 : claim.verb == Verb::removed ? -1 : 0;
  for (const auto& name : claim.names) {
    if (is_event(name) && base_has(before, name)) continue; // "updates workflow_dispatch options" is about its inputs
    bool holds = model_changes(claim, changes, history, name) || lines_change(claim, history, name, sign);
    bool existed = claim.verb == Verb::added && base_has(before, name);
    holds |= claim.verb == Verb::changed && is_near_change(history, name);
    holds |= !base_has(before, name) && is_part_of_change(history, name);
    (holds ? judged.holds : existed ? judged.before : judged.nowhere).push_back(name);
  }
  for (const auto& file : claim.files)
    (file_changes(history, file) || is_near_change(history, file) ? judged.holds : judged.nowhere).push_back(file);
  return judged;
}

} // namespace quarry::workflow
