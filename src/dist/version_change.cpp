#include "dist/version_change.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>

namespace quarry::dist {

namespace {

constexpr std::string_view k_local_name = "rocm"; // frameworks call the SDK so in their local segment

/// "a.rocm7.2.0rc1.b" with the SDK's version replaced; nullopt if it does not name that version whole.
std::optional<std::string> changed_local(const std::string& local, const Version& from, const Version& to) {
  auto wanted = std::string(k_local_name) + text::replace_all(text::replace_all(from.str(), "+", "."), "-", ".");
  for (auto at = local.find(wanted); at != local.npos; at = local.find(wanted, at + 1)) {
    auto end = at + wanted.size();
    bool whole = (at == 0 || local[at - 1] == '.') && (end == local.size() || local[end] == '.');
    if (!whole) continue;
    auto made = std::string(k_local_name) + text::replace_all(to.str(), "+", ".");
    return local.substr(0, at) + made + local.substr(end);
  }
  return std::nullopt;
}

bool ends_version(char c) { return c == ',' || c == ';' || c == ')' || c == ' ' || c == '\t' || c == '\r'; }

/// A requirement with what `==` and `===` name; what stands behind `;` is about the machine.
std::string changed_requirement(std::string_view line, const VersionChange& change) {
  auto marker = std::min(line.find(';'), line.size());
  std::string made;
  std::size_t at = 0;
  while (at < marker) {
    auto equal = line.substr(0, marker).find("==", at);
    if (equal == line.npos) break;
    auto begin = line.find_first_not_of("= \t", equal);
    if (begin == line.npos || begin > marker) break;
    auto end = begin;
    while (end < marker && !ends_version(line[end])) ++end;
    made += line.substr(at, begin - at);
    auto version = line.substr(begin, end - begin);
    auto changed = change.of(version);
    made += changed ? *changed : std::string(version);
    at = end;
  }
  return made + std::string(line.substr(at));
}

/// Calls `change` with each line without its line break.
template <class Change> std::string each_line(std::string_view text, const Change& change) {
  std::string made;
  while (!text.empty()) {
    auto end = text.find('\n');
    made += change(text.substr(0, end));
    if (end == text.npos) break;
    made += '\n';
    text.remove_prefix(end + 1);
  }
  return made;
}

} // namespace

Result<VersionChange> VersionChange::create(const Ends& ends) {
  TRY(auto candidate, Version::parse(ends.candidate));
  TRY(auto release, Version::parse(ends.release));
  auto refused = [&](std::string why) {
    return fail(ErrorKind::invalid_argument, "M016", std::move(why),
                fmt::format("the release of {} is {}", candidate.str(), candidate.base_version().str()));
  };
  if (candidate.base_version() != release.base_version())
    return refused(fmt::format("{} and {} are not versions of one release", candidate.str(), release.str()));
  if (!(candidate < release))
    return refused(
        fmt::format("{} does not sort above {}, so installers would not update to it", release.str(), candidate.str()));
  return VersionChange({std::move(candidate), std::move(release)});
}

std::optional<std::string> VersionChange::of(std::string_view version) const {
  auto read = Version::parse(version);
  if (!read) return std::nullopt;
  if (*read == read_.candidate) return read_.release.str();
  if (read->local().empty()) return std::nullopt;
  auto local = changed_local(read->local(), read_.candidate, read_.release);
  if (!local) return std::nullopt;
  auto made = Version::parse(read->public_version().str() + "+" + *local);
  return made ? std::optional(made->str()) : std::nullopt;
}

std::string changed_metadata(std::string_view metadata, const VersionChange& change) {
  bool header = true, requirement = false;
  return each_line(metadata, [&](std::string_view line) {
    bool more = line.starts_with(' ') || line.starts_with('\t');
    if (text::trim(line).empty() && !more) header = false; // the description begins
    if (!header) return std::string(line);
    if (!more) requirement = text::starts_with_ignore_case(line, "requires-dist:");
    if (requirement) return changed_requirement(line, change);
    constexpr std::string_view k_version = "version:";
    if (more || !text::starts_with_ignore_case(line, k_version)) return std::string(line);
    auto changed = change.of(text::trim(line.substr(k_version.size())));
    return changed
               ? fmt::format("{} {}{}", line.substr(0, k_version.size()), *changed, line.ends_with('\r') ? "\r" : "")
               : std::string(line);
  });
}

std::string changed_requirements(std::string_view lines, const VersionChange& change) {
  return each_line(lines, [&](std::string_view line) { return changed_requirement(line, change); });
}

std::string changed_literals(std::string_view source, const VersionChange& change) {
  std::string made;
  std::size_t at = 0;
  while (at < source.size()) {
    auto open = source.find_first_of("\"'", at);
    auto close = open == source.npos ? open : source.find_first_of("\"'\n", open + 1);
    if (close == source.npos) break;
    auto literal = source.substr(open + 1, close - open - 1);
    bool one = source[close] == source[open] && text::trim(literal) == literal;
    auto changed = one ? change.of(literal) : std::nullopt;
    made += source.substr(at, open + 1 - at);
    if (changed) made += *changed;
    // What closes a literal may open the next one where quotes do not pair up, as in a comment.
    at = changed ? close : open + 1;
    if (changed) made += source[at++];
  }
  return made + std::string(source.substr(std::min(at, source.size())));
}

bool names_version(std::string_view file_name) {
  constexpr std::array<std::string_view, 4> k_names{"_dist_info.py", "_rocm_init.py", "version.py", "_version.py"};
  return std::find(k_names.begin(), k_names.end(), file_name) != k_names.end();
}

} // namespace quarry::dist
