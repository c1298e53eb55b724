#include "workflow/claims.hpp"

#include "base/text.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <array>
#include <optional>

namespace quarry::workflow {

namespace {
using Verb = Claim::Verb;

bool in_word(char c) {
  return c == '_' || c == '-' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

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

bool is_doubt(std::string_view word) {
  static constexpr std::array<std::string_view, 10> k_words = {"not",   "no",    "will",  "should", "could",
                                                               "later", "would", "never", "if",     "didn't"};
  return std::find(k_words.begin(), k_words.end(), word) != k_words.end();
}

bool is_file(std::string_view word) {
  for (std::string_view end : {".yml", ".yaml", ".py", ".sh", ".md", ".txt", ".cmake", ".toml", ".json"})
    if (word.size() > end.size() && word.ends_with(end)) return true;
  return false;
}

struct Token {
  std::string text;
  bool quoted = false;
};

/// Words, and what stands in back quotes as one.
std::vector<Token> tokens(std::string_view statement) {
  std::vector<Token> found;
  for (std::size_t at = 0; at < statement.size();) {
    if (statement[at] == '`') {
      auto end = statement.find('`', at + 1);
      if (end == statement.npos) break;
      found.push_back({std::string(text::trim(statement.substr(at + 1, end - at - 1))), true});
      at = end + 1;
    } else if (statement.substr(at).starts_with("->") || statement.substr(at).starts_with("→")) {
      found.push_back({"to", false});
      at += statement[at] == '-' ? 2 : std::string_view("→").size();
    } else if (in_word(statement[at])) {
      auto end = at;
      while (end < statement.size() &&
             (in_word(statement[end]) || statement[end] == '.' || statement[end] == '/' || statement[end] == '\''))
        ++end;
      auto word = statement.substr(at, end - at);
      while (word.ends_with('.')) word.remove_suffix(1);
      found.push_back({std::string(word), false});
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

std::optional<Claim> claim_of(std::string_view statement, std::uint32_t line) {
  auto words = tokens(statement);
  Claim claim;
  std::optional<Verb> verb;
  for (std::size_t i = 0; i < words.size(); ++i) {
    auto word = text::lower(words[i].text);
    if (!words[i].quoted) {
      if (is_doubt(word)) return std::nullopt;
      if (!verb) verb = verb_of(word);
      claim.missing |= word == "missing";
    }
    bool from = word == "from" && !words[i].quoted && i + 3 < words.size() && words[i + 2].text == "to";
    if (from && is_name(words[i + 1]) && is_name(words[i + 3])) {
      claim.from = words[i + 1].text;
      claim.to = words[i + 3].text;
      i += 3;
    } else if (is_file(words[i].text)) {
      claim.files.push_back(words[i].text);
    } else if (is_name(words[i]) && claim.names.size() < k_names_max) {
      claim.names.push_back(words[i].text);
    }
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

std::size_t lines_with(const std::vector<ChangedLine>& lines, const std::string& word) {
  return static_cast<std::size_t>(
      std::count_if(lines.begin(), lines.end(), [&](const ChangedLine& line) { return has_word(line.text, word); }));
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

bool file_changes(const History& history, const std::string& name) {
  return std::any_of(history.files.begin(), history.files.end(), [&](const ChangedFile& file) {
    return file.path == name || file.path.ends_with("/" + name) || path::basename(file.path) == name;
  });
}
} // namespace

bool has_word(std::string_view text, std::string_view word) {
  if (word.empty() || text.size() < word.size()) return false;
  for (std::size_t at = 0; at + word.size() <= text.size(); ++at) {
    if (!same_name(text.substr(at, word.size()), word)) continue;
    auto end = at + word.size();
    if ((at == 0 || !in_word(text[at - 1])) && (end == text.size() || !in_word(text[end]))) return true;
  }
  return false;
}

std::set<std::string> topics_of(std::string_view path) {
  std::set<std::string> topics;
  auto name = path::basename(path);
  for (const auto& word : text::split_any(text::lower(name.substr(0, name.find('.'))), "_-")) topics.insert(word);
  return topics;
}

std::vector<Claim> read_claims(std::string_view text) {
  std::vector<Claim> claims;
  std::uint32_t number = 0;
  bool code = false;
  for (const auto& line : text::lines(text)) {
    ++number;
    auto trimmed = text::trim(line);
    if (trimmed.starts_with("```")) code = !code;
    bool quiet = trimmed.starts_with('#') || trimmed.starts_with('>') || trimmed.starts_with("- [ ]");
    if (code || quiet || trimmed.starts_with("<!--")) continue;
    for (auto statement : statements(trimmed)) {
      if (claims.size() >= k_statements_max) return claims;
      if (auto claim = claim_of(statement, number)) claims.push_back(std::move(*claim));
    }
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
    bool holds = model_changes(claim, changes, history, name) || lines_change(claim, history, name, sign);
    bool existed = claim.verb == Verb::added && base_has(before, name);
    holds |= claim.verb == Verb::changed && is_near_change(history, name);
    holds |= !base_has(before, name) && is_part_of_change(history, name);
    (holds ? judged.holds : existed ? judged.before : judged.nowhere).push_back(name);
  }
  for (const auto& file : claim.files) (file_changes(history, file) ? judged.holds : judged.nowhere).push_back(file);
  return judged;
}

} // namespace quarry::workflow
