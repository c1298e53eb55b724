#include "workflow/history.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <utility>

namespace quarry::workflow {

namespace {

Result<std::string> commit_of(const GitPlace& place, const std::string& revision) {
  if (revision.empty() || revision.starts_with('-'))
    return fail(ErrorKind::invalid_argument, "Y151", fmt::format("`{}` is not a revision", revision),
                "name a commit, a branch or a tag");
  TRY(auto id, git(place, {"rev-parse", "--verify", revision + "^{commit}"}));
  return std::string(text::trim(id));
}

/// Reads the output of `git log --format=%x01%H%x00%an%x00%as%x00%s%x00 --name-only`.
std::vector<Commit> parse_log(const std::string& log) {
  std::vector<Commit> commits;
  for (const auto& record : text::split(log, '\1')) {
    auto fields = text::split(record, '\0');
    if (fields.size() < 5) continue;
    Commit commit{fields[0], fields[1], fields[2], fields[3], {}};
    for (const auto& line : text::lines(fields[4]))
      if (!line.empty()) commit.files.push_back(line);
    commits.push_back(std::move(commit));
  }
  return commits;
}

/// The two numbers of `@@ -12,3 +14 @@`.
std::pair<std::uint32_t, std::uint32_t> hunk_lines(std::string_view line) {
  auto number_after = [&](char sign) {
    auto at = line.find(sign, 2);
    auto end = line.find_first_of(", ", at);
    auto number = at == line.npos ? std::nullopt : text::parse_u64(line.substr(at + 1, end - at - 1));
    return static_cast<std::uint32_t>(number.value_or(0));
  };
  return {number_after('-'), number_after('+')};
}

/// The path of "diff --git a/PATH b/PATH", which is the only line with it where a file is binary or empty.
std::string path_of_header(std::string_view line) {
  constexpr std::string_view k_begin = "diff --git a/", k_middle = " b/";
  if (!line.starts_with(k_begin)) return {};
  line.remove_prefix(k_begin.size());
  if (line.size() <= k_middle.size() || (line.size() - k_middle.size()) % 2 != 0) return {};
  auto size = (line.size() - k_middle.size()) / 2;
  bool twice = line.substr(size, k_middle.size()) == k_middle && line.substr(0, size) == line.substr(size + 3);
  return std::string(twice ? line.substr(0, size) : std::string_view());
}

/// Reads `git diff -U3`: between the header of a file and its first hunk no line is one of the file.
void parse_diff(const std::string& diff, History& history) {
  std::uint32_t before = 0, after = 0;
  bool in_hunk = false;
  for (const auto& line : text::split(diff, '\n')) {
    if (line.starts_with("diff --git ")) {
      history.files.emplace_back();
      history.files.back().path = path_of_header(line);
      in_hunk = false;
    } else if (history.files.empty()) {
      continue;
    } else if (line.starts_with("@@ ")) {
      std::tie(before, after) = hunk_lines(line);
      in_hunk = true;
      history.files.back().near.push_back(line);
    } else if (!in_hunk) {
      auto& file = history.files.back();
      if (line.starts_with("new file")) file.created = true;
      if (line.starts_with("deleted file")) file.deleted = true;
      if (line.starts_with("--- a/") || line.starts_with("+++ b/")) file.path = text::trim(line.substr(6));
    } else if (line.starts_with('+')) {
      history.files.back().added.push_back({after++, line.substr(1)});
      ++history.added;
    } else if (line.starts_with('-')) {
      history.files.back().removed.push_back({before++, line.substr(1)});
      ++history.removed;
    } else if (line.starts_with(' ')) {
      history.files.back().near.push_back(line.substr(1));
      ++before, ++after;
    }
  }
  std::erase_if(history.files, [](const ChangedFile& file) { return file.path.empty(); });
}
} // namespace

const ChangedFile* History::find(std::string_view path) const {
  for (const auto& file : files)
    if (file.path == path) return &file;
  return nullptr;
}

Result<History> read_history(const GitPlace& place, const std::string& base, const std::string& head) {
  History history;
  TRY(auto from, commit_of(place, base), "while reading --base");
  TRY(history.head, commit_of(place, head), "while reading --head");
  TRY(auto common, git(place, {"merge-base", from, history.head}), "while comparing --base and --head");
  history.base = text::trim(common);
  auto range = history.base + ".." + history.head;
  TRY(auto log, git(place, {"log", "--reverse", "--name-only", "--no-color", "--no-show-signature",
                            "--format=%x01%H%x00%an%x00%as%x00%s%x00", range}));
  history.commits = parse_log(log);
  TRY(auto diff, git(place, {"diff", "-U3", "--no-color", "--no-ext-diff", "--no-renames", "--src-prefix=a/",
                             "--dst-prefix=b/", history.base, history.head}));
  parse_diff(diff, history);
  return history;
}

} // namespace quarry::workflow
