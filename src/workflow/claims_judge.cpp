// Whether a change has what is claimed of it.
#include "workflow/claims.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>

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

/// A line of JSON may have both names before and after: only what leaves and what comes counts.
bool replaced(const Claim& claim, const History& history) {
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

/// Whether a file or directory of that name changes, is created or deleted.
bool path_changes(const History& history, std::string_view name) {
  name = without_yaml_ending(name);
  while (name.starts_with("./")) name.remove_prefix(2);
  while (name.starts_with('/')) name.remove_prefix(1);
  while (name.ends_with('/')) name.remove_suffix(1);
  if (name.empty()) return false;
  return std::any_of(history.files.begin(), history.files.end(), [&](const ChangedFile& file) {
    return fmt::format("/{}/", without_yaml_ending(file.path)).find(fmt::format("/{}/", name)) != std::string::npos;
  });
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
} // namespace

Judged judge(const Claim& claim, const Changes& changes, const History& history, const Repository& before) {
  Judged judged;
  if (claim.from.empty() && !claim.to.empty()) {
    auto& place = becomes(claim, changes, history) ? judged.holds
                  : base_has(before, claim.to)     ? judged.before
                                                   : judged.nowhere;
    place.push_back(claim.to);
    return judged;
  }
  if (!claim.from.empty()) {
    bool moved = path_changes(history, claim.from) && path_changes(history, claim.to); // a file of another name
    if (claim.in_words && !replaced(claim, history)) {
      judged.unsure.push_back(claim.to);
      return judged;
    }
    auto& place = moved || replaced(claim, history) ? judged.holds
                  : base_has(before, claim.to)      ? judged.before
                                                    : judged.nowhere;
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

} // namespace quarry::workflow
