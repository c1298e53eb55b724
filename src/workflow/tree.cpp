#include "workflow/tree.hpp"

#include "base/redact.hpp"
#include "base/text.hpp"
#include "sys/entry_types.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/process.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <utility>

namespace quarry::workflow {

namespace {

class DirectoryTree final : public Tree {
public:
  explicit DirectoryTree(std::string root) : root_(std::move(root)) {}

  bool exists(const std::string& path) override { return sys::exists(path::join(root_, path)); }

  std::vector<std::string> files_in(const std::string& directory) override {
    std::vector<std::string> names;
    auto listed = sys::list_entry_types(path::join(root_, directory));
    if (!listed) return names;
    for (auto& entry : *listed)
      if (entry.type != sys::EntryType::directory) names.push_back(std::move(entry.name));
    return names;
  }

  std::vector<std::string> files() override {
    std::vector<std::string> found;
    walk("", 0, found);
    std::sort(found.begin(), found.end());
    return found;
  }

  Result<std::string> read(const std::string& path, std::uint64_t bytes_max) override {
    auto text = sys::read_file(path::join(root_, path), bytes_max);
    if (!text) return fail(text.error().kind, "Y150", text.error().message, text.error().hint);
    return std::move(*text);
  }

private:
  void walk(const std::string& directory, std::size_t depth, std::vector<std::string>& found) {
    auto listed = sys::list_entry_types(directory.empty() ? root_ : path::join(root_, directory));
    if (!listed) return;
    // A directory with a `.git` of its own is another repository.
    auto is_git = [](const sys::NamedEntry& entry) { return entry.name == ".git"; };
    if (depth > 0 && std::any_of(listed->begin(), listed->end(), is_git)) return;
    for (const auto& entry : *listed) {
      if (found.size() >= k_listed_files_max) return;
      auto path = directory.empty() ? entry.name : directory + "/" + entry.name;
      if (entry.type == sys::EntryType::file) found.push_back(path);
      bool inside = entry.type == sys::EntryType::directory && entry.name != ".git" && depth < k_listed_depth_max;
      if (inside) walk(path, depth + 1, found);
    }
  }

  std::string root_;
};

class PrefixedTree final : public Tree {
public:
  PrefixedTree(Tree& tree, std::string prefix) : tree_(tree), prefix_(std::move(prefix)) {}

  bool exists(const std::string& path) override { return tree_.exists(prefix_ + path); }
  std::vector<std::string> files_in(const std::string& directory) override {
    return tree_.files_in(prefix_ + directory);
  }
  std::vector<std::string> files() override {
    auto all = tree_.files();
    if (prefix_.starts_with("..")) return all;
    std::vector<std::string> inside;
    for (const auto& file : all)
      if (file.starts_with(prefix_)) inside.push_back(file.substr(prefix_.size()));
    return inside;
  }
  Result<std::string> read(const std::string& path, std::uint64_t bytes_max) override {
    return tree_.read(prefix_ + path, bytes_max);
  }

private:
  Tree& tree_;
  std::string prefix_;
};

class RevisionTree final : public Tree {
public:
  RevisionTree(GitPlace place, std::vector<std::string> files) : place_(std::move(place)), files_(std::move(files)) {
    for (const auto& file : files_)
      for (auto slash = file.find('/'); slash != file.npos; slash = file.find('/', slash + 1))
        directories_.insert(file.substr(0, slash));
  }

  bool exists(const std::string& path) override {
    auto name = path::normal(path);
    return std::binary_search(files_.begin(), files_.end(), name) || directories_.contains(name) || name == ".";
  }

  std::vector<std::string> files_in(const std::string& directory) override {
    std::vector<std::string> names;
    auto place = path::normal(directory);
    auto prefix = directory.empty() || place == "." ? "" : place + "/";
    for (auto at = std::lower_bound(files_.begin(), files_.end(), prefix);
         at != files_.end() && at->starts_with(prefix); ++at) {
      auto name = at->substr(prefix.size());
      if (name.find('/') == name.npos) names.push_back(std::move(name));
    }
    return names;
  }

  std::vector<std::string> files() override { return files_; }

  Result<std::string> read(const std::string& path, std::uint64_t bytes_max) override {
    auto text = git(place_, {"cat-file", "blob", place_.revision + ":" + path::normal(path)});
    if (!text) return fail(ErrorKind::not_found, "Y150", fmt::format("{} is not in {}", path, place_.revision));
    if (text->size() > bytes_max)
      return fail(ErrorKind::resource_exhausted, "Y150", fmt::format("{} has more than {} bytes", path, bytes_max));
    return std::move(*text);
  }

private:
  GitPlace place_;
  std::vector<std::string> files_;
  std::set<std::string> directories_;
};

/// Why git failed, in its own words, which may have a URL with a password. Advice stands behind the reason, so it is
/// the last `fatal:` line; where that says only that a remote failed, what the remote said before it.
std::string reason_of(std::string_view said) {
  constexpr std::string_view k_says_nothing = "fatal: Could not read from remote repository.";
  std::string reason, last;
  for (const auto& line : text::lines(said)) {
    auto trimmed = std::string(text::trim(line));
    if (trimmed.empty()) continue;
    if (trimmed == k_says_nothing && !last.empty())
      reason = last;
    else if (trimmed.starts_with("fatal:"))
      reason = trimmed;
    last = trimmed;
  }
  return redact::without_credentials(reason.empty() ? last : reason);
}
} // namespace

Result<std::string> git(const GitPlace& place, std::vector<std::string> words) {
  std::vector<std::string> argv{"git", "-c", "core.quotePath=false"};
  auto what = text::join(words, " ");
  std::move(words.begin(), words.end(), std::back_inserter(argv));
  TRY(auto done, sys::run_process({.argv = std::move(argv),
                                   .environment = place.environment,
                                   .directory = place.directory,
                                   .deadline_ms = k_git_deadline_ms,
                                   .on_output = {}}));
  if (done.exit_code == 0 && done.dropped_bytes == 0) return std::move(done.out);
  auto said = done.timed_out ? std::string("no answer in 60 s") : reason_of(done.err);
  if (said.empty() && done.dropped_bytes > 0) said = "it printed more than is kept";
  if (said.empty()) said = fmt::format("it printed no reason and ended with exit code {}", done.exit_code);
  return fail(Error{ErrorKind::not_found,
                    "Y151",
                    fmt::format("`git {}` failed in {}", redact::without_credentials(what),
                                place.directory.empty() ? "." : place.directory),
                    {std::move(said)},
                    {},
                    "fetch the whole history: `git fetch --unshallow`, or name another revision"});
}

std::unique_ptr<Tree> below(Tree& tree, std::string prefix) {
  return std::make_unique<PrefixedTree>(tree, std::move(prefix));
}

Result<std::unique_ptr<Tree>> open_directory(const std::string& root) {
  if (!sys::is_directory(root))
    return fail(ErrorKind::not_found, "Y150", fmt::format("{} is not a directory", root),
                "name the root of a repository");
  return std::make_unique<DirectoryTree>(root);
}

Result<std::unique_ptr<Tree>> open_revision(const GitPlace& place) {
  if (place.revision.empty() || place.revision.starts_with('-'))
    return fail(ErrorKind::invalid_argument, "Y151", fmt::format("`{}` is not a revision", place.revision),
                "name a commit, a branch or a tag");
  TRY(auto listed, git(place, {"ls-tree", "-r", "-z", "--full-tree", "--name-only", place.revision}));
  auto files = text::split_any(listed, std::string_view("\0", 1));
  std::sort(files.begin(), files.end());
  return std::make_unique<RevisionTree>(place, std::move(files));
}

Result<void> check_repository(const GitPlace& place) {
  if (!place.directory.empty() && !sys::is_directory(place.directory))
    return fail(ErrorKind::not_found, "Y150", fmt::format("{} is not a directory", place.directory),
                "name the root of a repository");
  auto found = git(place, {"rev-parse", "--git-dir"});
  if (found) return {};
  if (found.error().kind != ErrorKind::not_found) return fail(std::move(found).error());
  return fail(ErrorKind::not_found, "Y151",
              fmt::format("{} is not in a git repository", place.directory.empty() ? "." : place.directory),
              "name the root of a clone, or of a bare repository");
}

std::vector<std::string> workflow_files(Tree& tree) {
  std::string directory = tree.exists(".github/workflows") ? ".github/workflows/" : "";
  std::vector<std::string> found;
  for (const auto& name : tree.files_in(directory.empty() ? "" : ".github/workflows"))
    if (name.ends_with(".yml") || name.ends_with(".yaml")) found.push_back(directory + name);
  return found;
}

} // namespace quarry::workflow
