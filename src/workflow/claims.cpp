#include "workflow/claims.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "workflow/claims_text.hpp"
#include "workflow/claims_words.hpp"
#include "workflow/programs.hpp"
#include <algorithm>
#include <array>
#include <optional>

namespace quarry::workflow {

namespace {
using Verb = Claim::Verb;

bool in_word(char c) { return c == '_' || c == '-' || ascii::is_alnum(c); }

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
      found.push_back({"->", false, depth > 0});
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

/// A value that a key gets: in back quotes, a name, a number or a version such as v4.
bool is_value(const Token& token) {
  std::string_view number = token.text;
  if (number.starts_with('v')) number.remove_prefix(1);
  return token.quoted || is_name(token) || is_file(token.text) || (!number.empty() && ascii::is_digit(number[0]));
}

/// Whether the words behind `i` say that what stands before is another value from now on: "is now", "becomes", "now
/// defaults to". Returns the index of the value, or 0.
std::size_t new_value_at(const std::vector<Token>& words, std::size_t i) {
  auto is = [&](std::size_t at, std::string_view word) {
    return at < words.size() && !words[at].quoted && text::lower(words[at].text) == word;
  };
  std::size_t at = 0;
  if (is(i, "becomes")) at = i + 1;
  if ((is(i, "is") && is(i + 1, "now")) || (is(i, "now") && is(i + 1, "is"))) at = i + 2;
  bool defaults = is(i, "now") && (is(i + 1, "defaults") || is(i + 1, "default")) && is(i + 2, "to");
  if (defaults) at = i + 3;
  bool raised = is(i, "is") && (is(i + 1, "raised") || is(i + 1, "changed") || is(i + 1, "lowered")) && is(i + 2, "to");
  if (raised) at = i + 3;
  return at > 0 && at < words.size() && is_value(words[at]) ? at : 0;
}

/// "The default of `jax_ref` is now `v_2`", "`jax_ref` now defaults to `v_2`".
std::optional<Claim> value_claim(const std::vector<Token>& words) {
  const Token* subject = nullptr;
  for (std::size_t i = 0; i < words.size(); ++i) {
    auto word = text::lower(words[i].text);
    if (is_other_change(words, i) || (!words[i].quoted && (is_doubt(word) || begins_clause(word)))) return std::nullopt;
    if (is_name(words[i]) && !subject) subject = &words[i];
    auto value = subject ? new_value_at(words, i) : 0;
    if (value == 0) continue;
    Claim claim;
    claim.certain = true;
    claim.names.push_back(subject->text);
    claim.to = words[value].text;
    return claim;
  }
  return std::nullopt;
}

/// "Rename `a` to `b`", "replace `a` with `b`": what follows the verb at `i`.
bool read_replacement(const std::vector<Token>& words, std::size_t i, Claim& claim) {
  auto verb = text::lower(words[i].text);
  bool renames = verb.starts_with("renam"), replaces = verb.starts_with("replac");
  auto is_thing = [](const Token& token) { return is_name(token) || is_file(token.text); };
  auto old = std::find_if(words.begin() + static_cast<std::ptrdiff_t>(i), words.end(), is_thing);
  if ((!renames && !replaces) || words.end() - old < 3) return false;
  auto joins = text::lower((old + 1)->text);
  bool joined =
      renames ? joins == "to" || joins == "->" || joins == "as" || joins == "into" : joins == "with" || joins == "by";
  if (!joined || !is_thing(*(old + 2))) return false;
  claim.from = old->text;
  claim.to = (old + 2)->text;
  return true;
}

/// "up" or "through" behind the verb at `i`.
bool has_particle(const std::vector<Token>& words, std::size_t i) {
  return std::any_of(words.begin() + static_cast<std::ptrdiff_t>(i), words.end(),
                     [](const Token& one) { return !one.quoted && (one.text == "up" || one.text == "through"); });
}

/// The verb that `word`, the one at `i`, is in a claim: "set" is one only with its particle.
std::optional<Verb> verb_at(const std::vector<Token>& words, std::size_t i, const std::string& word) {
  auto verb = verb_of(word);
  return verb && needs_particle(word) && !has_particle(words, i) ? std::nullopt : verb;
}

bool joins_values(std::string_view word) { return word == "to" || word == "->"; }

/// "fixed the path: `a` -> `b`". An arrow may also show a way, such as that of a call.
bool read_arrow(const std::vector<Token>& words, std::size_t i, Claim& claim) {
  bool joins = words[i].text == "->" && i > 0 && i + 1 < words.size() && claim.from.empty();
  if (!joins || !is_value(words[i - 1]) || !is_value(words[i + 1])) return false;
  claim.from = words[i - 1].text;
  claim.to = words[i + 1].text;
  claim.in_words = true;
  return true;
}

/// "Raised the default of jax_ref to v0.9.9": the value at the end.
void read_last_value(const std::vector<Token>& words, Claim& claim) {
  static constexpr std::array<std::string_view, 7> k_verbs = {"rais",  "lower", "bump", "increas",
                                                              "chang", "set",   "pin"};
  auto first = words.empty() ? std::string() : text::lower(words.front().text);
  auto begins = [&](std::string_view verb) { return first.starts_with(verb); };
  if (words.size() < 4 || words[words.size() - 2].text != "to" || std::ranges::none_of(k_verbs, begins)) return;
  const auto& value = words.back();
  bool number = std::ranges::any_of(value.text, ascii::is_digit);
  auto others = claim.names;
  std::erase(others, value.text);
  if (others.empty() || !(number || value.quoted)) return;
  claim.names = std::move(others);
  claim.to = value.text;
  claim.in_words = true;
}

std::optional<Claim> claim_of_words(const std::vector<Token>& words) {
  Claim claim, aside;
  std::optional<Verb> verb;
  std::vector<std::string> before;
  bool place = false, hands = false, clause = false, in_aside_clause = false, fixes = false, symptom = false;
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
        verb = verb_at(words, i, word);
        claim.certain = verb && is_begin(before) && !word.ends_with("ing"); // "adding `x` breaks `y`"
        hands = hands_on(word);
        fixes = verb && word.starts_with("fix");
        if (verb && read_replacement(words, i, claim)) {
          claim.verb = *verb;
          return claim;
        }
      }
      claim.missing |= word == "missing";
      if (verb && begins_place(word, *verb, hands))
        place = true;
      else if (!is_name(words[i]) && !is_between_names(word))
        place = false;
    }
    if (!is_file(words[i].text) || !before.empty())
      before.push_back(word); // "a.yml: Added the input" begins with Added
    symptom |= names_symptom(words[i].text);
    in_aside_clause = in_aside_clause && words[i].aside;
    if (in_aside_clause) continue;
    if (verb == Verb::changed && read_arrow(words, i, claim)) {
      ++i;
      continue;
    }
    bool from = word == "from" && !words[i].quoted && i + 3 < words.size() && joins_values(words[i + 2].text);
    bool values = from && is_value(words[i + 1]) && is_value(words[i + 3]);
    bool of_name = from && verb == Verb::changed && !claim.names.empty() && words.size() <= i + 5;
    if (values || of_name) {
      claim.in_words = !values;
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
  if (verb == Verb::changed && claim.from.empty()) read_last_value(words, claim);
  if (!verb || (claim.names.empty() && claim.from.empty() && claim.files.empty())) return std::nullopt;
  claim.verb = *verb;
  claim.unsure = fixes && symptom && claim.from.empty();
  return claim;
}

/// "The timeout is now 10 minutes", "tests no longer run at night"
bool is_word_of_change(std::string_view word) {
  for (std::string_view one : {"now", "longer", "anymore", "instead", "becomes", "become", "default", "defaults"})
    if (word == one) return true;
  return false;
}

/// Whether a statement without a claim may be one in other words: it names something, or has a verb or a word of
/// change.
bool says_something(const std::vector<Token>& words) {
  return std::ranges::any_of(words, [](const Token& token) {
    if (is_name(token) || is_file(token.text)) return true;
    auto word = text::lower(token.text);
    return !token.quoted && (verb_of(word) || is_word_of_change(word));
  });
}

} // namespace

Claims read_statements(std::string_view text) {
  Claims found;
  std::size_t statements = 0;
  for (const auto& paragraph : paragraphs_of(text))
    for (auto statement : statements_of(paragraph.text)) {
      if (++statements > k_statements_max) return found;
      auto words = tokens(without_scope(without_number(statement)));
      auto claim = value_claim(words);
      if (!claim) claim = claim_of_words(words);
      if (claim) {
        claim->text = without_number(statement);
        claim->line = paragraph.line;
        found.claims.push_back(std::move(*claim));
      } else if (says_something(words)) {
        found.not_understood.push_back(paragraph.line);
      }
    }
  return found;
}

std::vector<Claim> read_claims(std::string_view text) { return read_statements(text).claims; }

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
