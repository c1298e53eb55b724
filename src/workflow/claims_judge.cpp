// Whether a change has what is claimed of it.
#include "workflow/claims.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <set>

namespace quarry::workflow {

namespace {
bool continues_name(char c) { return c == '_' || c == '-' || ascii::is_alnum(c); }

/// How often `word` stands in `text` with no character at its ends that `continues` a word.
template <typename Continues>
std::size_t count_bounded(std::string_view text, std::string_view word, Continues continues) {
  std::size_t count = 0;
  for (std::size_t at = 0; !word.empty() && at + word.size() <= text.size(); ++at) {
    if (!same_name(text.substr(at, word.size()), word)) continue;
    auto end = at + word.size();
    count += (at == 0 || !continues(text[at - 1])) && (end == text.size() || !continues(text[end]));
  }
  return count;
}
std::size_t count_words(std::string_view text, std::string_view word) {
  return count_bounded(text, word, continues_name);
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
    if (claim.verb == Claim::Verb::changed) return true;
    if ((claim.verb == Claim::Verb::added) == (change.what == Change::What::added) &&
        change.what != Change::What::changed)
      return true;
  }
  return false;
}

/// How often the word stands in the lines, comments left out.
std::size_t count_in(const std::vector<ChangedLine>& lines, const std::string& word) {
  std::size_t count = 0;
  for (const auto& line : lines)
    if (!text::trim(line.text).starts_with('#')) count += count_words(line.text, word);
  return count;
}

/// Whether one of the lines that left comes again with the other value: "path: a/b" and "path: a".
bool line_goes_over(const ChangedFile& file, const std::string& from, const std::string& to) {
  std::set<std::string> wanted;
  for (const auto& line : file.removed)
    if (line.text.find(from) != std::string::npos) wanted.insert(text::replace_all(text::trim(line.text), from, to));
  return !wanted.empty() && std::ranges::any_of(file.added, [&](const ChangedLine& line) {
    return wanted.contains(std::string(text::trim(line.text)));
  });
}

/// A line of JSON may have both names before and after: only what leaves and what comes counts.
bool replaced(const Claim& claim, const Changes& changes, const History& history) {
  auto is_it = [&](const Change& change) { return change.before == claim.from && change.after == claim.to; };
  if (std::ranges::any_of(changes.list, is_it)) return true;
  auto goes_over = [&](const ChangedFile& file) { return line_goes_over(file, claim.from, claim.to); };
  if (std::ranges::any_of(history.files, goes_over)) return true;
  return std::any_of(history.files.begin(), history.files.end(), [&](const ChangedFile& file) {
    return count_in(file.removed, claim.from) > count_in(file.added, claim.from) &&
           count_in(file.added, claim.to) > count_in(file.removed, claim.to);
  });
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
  return std::find(k_events.begin(), k_events.end(), name) != k_events.end();
}

/// "ci.yml" for "ci.yaml": both endings are YAML's, and people mix them up.
std::string_view without_yaml_ending(std::string_view path) {
  for (std::string_view ending : {".yml", ".yaml"})
    if (path.ends_with(ending)) path.remove_suffix(ending.size());
  return path;
}

/// Whether a path is that of the file or directory `name`, or below it.
bool path_fits(std::string_view path, std::string_view name) {
  name = without_yaml_ending(name);
  while (name.starts_with("./")) name.remove_prefix(2);
  while (name.starts_with('/')) name.remove_prefix(1);
  while (name.ends_with('/')) name.remove_suffix(1);
  if (name.empty()) return false;
  return fmt::format("/{}/", without_yaml_ending(path)).find(fmt::format("/{}/", name)) != std::string::npos;
}

/// Whether a file or directory of that name changes, is created or deleted.
bool path_changes(const History& history, std::string_view name) {
  return std::ranges::any_of(history.files, [&](const ChangedFile& file) { return path_fits(file.path, name); });
}

} // namespace

bool has_word(std::string_view text, std::string_view word) { return count_words(text, word) > 0; }

bool has_word(std::string_view text, Topic topic) {
  return count_bounded(text, topic.word, [](char c) { return continues_name(c) && c != '_' && c != '-'; }) > 0;
}

std::set<std::string> topics_of(std::string_view path) {
  std::set<std::string> topics;
  auto name = path::basename(path);
  for (const auto& word : text::split_any(text::lower(name.substr(0, name.find('.'))), "_-")) topics.insert(word);
  return topics;
}

bool is_near(const History& history, const std::string& name) {
  return path_changes(history, name) || is_part_of_change(history, name) || is_near_change(history, name);
}

namespace {
/// How people write a name: `libamd_smi` or `libamd_smi.so` for `amd_smi`, `build-linux` for `build_linux`.
std::vector<std::string> spellings_of(const std::string& name) {
  constexpr std::size_t k_stem_min = 3; // `libz` is not the letter z
  std::vector<std::string> found;
  auto stem = name.substr(0, name.find(".so"));
  if (stem.ends_with(".a")) stem.resize(stem.size() - 2);
  if (stem.starts_with("lib") && stem.size() >= 3 + k_stem_min) found.push_back(stem.substr(3));
  if (stem.size() >= k_stem_min && !stem.starts_with("lib")) found.push_back("lib" + stem);
  if (stem != name) found.push_back(stem);
  for (auto [from, to] : {std::pair('-', '_'), {'_', '-'}}) {
    auto other = name;
    std::replace(other.begin(), other.end(), from, to);
    if (other != name) found.push_back(std::move(other));
  }
  return found;
}

/// Whether the value comes: it is the new one of the name, or lines have it more often than before.
bool becomes(const Claim& claim, const Changes& changes, const History& history) {
  bool known = std::ranges::any_of(changes.list, [&](const Change& change) {
    return same_name(change.name, claim.names.front()) && change.after == claim.to && change.before != claim.to;
  });
  return known || std::ranges::any_of(history.files, [&](const ChangedFile& file) {
           return count_in(file.added, claim.to) > count_in(file.removed, claim.to);
         });
}

/// Whether the change does to the name what the claim says.
bool has_change(const Claim& claim, const Changes& changes, const History& history, const std::string& name) {
  int sign = claim.verb == Claim::Verb::added ? 1 : claim.verb == Claim::Verb::removed ? -1 : 0;
  return model_changes(claim, changes, history, name) || lines_change(claim, history, name, sign) ||
         path_changes(history, name);
}

Judged judge_in(const Claim& claim, const Changes& changes, const History& history, const Repository& before) {
  Judged judged;
  if (claim.from.empty() && !claim.to.empty()) {
    auto& place = becomes(claim, changes, history) ? judged.holds
                  : claim.in_words                 ? judged.unsure
                  : base_has(before, claim.to)     ? judged.before
                                                   : judged.nowhere;
    place.push_back(claim.to);
    return judged;
  }
  if (!claim.from.empty()) {
    bool moved = path_changes(history, claim.from) && path_changes(history, claim.to); // a file of another name
    bool holds = moved || replaced(claim, changes, history);
    if (claim.in_words && !holds) {
      judged.unsure.push_back(claim.to);
      return judged;
    }
    auto& place = holds ? judged.holds : base_has(before, claim.to) ? judged.before : judged.nowhere;
    place.push_back(claim.to);
    return judged; // the other names say of what
  }
  for (const auto& name : claim.names) {
    if (is_event(name) && base_has(before, name)) continue; // "updates workflow_dispatch options" is about its inputs
    auto others = spellings_of(name);
    bool holds = has_change(claim, changes, history, name) ||
                 std::any_of(others.begin(), others.end(),
                             [&](const auto& other) { return has_change(claim, changes, history, other); });
    bool existed = claim.verb == Claim::Verb::added && base_has(before, name);
    holds |= !base_has(before, name) && is_part_of_change(history, name);
    bool near = claim.verb == Claim::Verb::changed && is_near_change(history, name);
    (holds ? judged.holds : existed ? judged.before : near ? judged.unsure : judged.nowhere).push_back(name);
  }
  for (const auto& file : claim.files) {
    bool holds = path_changes(history, file) || is_part_of_change(history, file);
    (holds ? judged.holds : is_near_change(history, file) ? judged.unsure : judged.nowhere).push_back(file);
  }
  return judged;
}

bool names_path(const Claim& claim, std::string_view path) {
  return std::ranges::any_of(claim.files, [&](const auto& file) { return path_fits(path, file); });
}

/// "Added the `ref` input to a.yml", which the base of a.yml has: then it was not added there.
bool is_old_input(const Claim& claim, const Changes& changes, const Repository& before, const std::string& name) {
  bool of_input = false;
  for (std::string_view word : {"input", "inputs", "parameter", "parameters"}) of_input |= has_word(claim.text, word);
  if (!of_input || claim.verb != Claim::Verb::added) return false;
  bool comes = std::ranges::any_of(changes.list, [&](const Change& change) {
    return change.kind == Change::Kind::input && change.what == Change::What::added && same_name(change.name, name);
  });
  bool there = false, lacks = false;
  for (const auto& file : before.files)
    if (names_path(claim, file->path)) (file->input(name) ? there : lacks) = true;
  return !comes && there && !lacks;
}
} // namespace

// What happens elsewhere proves nothing about the files that a claim names. But "as in a.yml" names a file as well, so
// what holds elsewhere alone is not called false.
Judged judge(const Claim& claim, const Changes& changes, const History& history, const Repository& before) {
  auto judged = judge_in(claim, changes, history, before);
  History in_files;
  for (const auto& file : history.files)
    if (names_path(claim, file.path)) in_files.files.push_back(file);
  bool known = !in_files.files.empty() ||
               std::ranges::any_of(before.files, [&](const auto& file) { return names_path(claim, file->path); });
  if (!known) return judged;
  Changes of_files;
  for (const auto& change : changes.list)
    if (names_path(claim, change.file)) of_files.list.push_back(change);
  auto there = judge_in(claim, of_files, in_files, before);
  std::erase_if(judged.holds, [&](const std::string& name) {
    bool old = is_old_input(claim, of_files, before, name);
    bool elsewhere = std::ranges::find(there.holds, name) == there.holds.end();
    if (old || elsewhere) (old ? judged.before : judged.unsure).push_back(name);
    return old || elsewhere;
  });
  return judged;
}

} // namespace quarry::workflow
