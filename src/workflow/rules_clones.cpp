// Other repositories that scripts clone, and the revisions that they choose in them.
#include "base/ascii.hpp"
#include "sys/path.hpp"
#include "workflow/programs.hpp"
#include "workflow/rules.hpp"
#include "workflow/values.hpp"
#include "workflow/variables.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <optional>

namespace quarry::workflow {

namespace {

/// A git command of a job, with the values of variables.
struct GitCommand {
  std::size_t step = 0;
  Position at;
  std::string directory;          ///< of `git -C DIR`
  std::string verb;               ///< clone, checkout, switch, reset
  std::vector<std::string> words; ///< behind the verb
};

std::optional<GitCommand> git_command(const ShellCommand& command, const Variables& variables) {
  static constexpr std::array<std::string_view, 4> k_verbs = {"clone", "checkout", "switch", "reset"};
  if (program_of(command) != "git") return std::nullopt;
  GitCommand found;
  auto i = program_at(command) + 1;
  for (; i < command.words.size() && command.words[i].text.starts_with('-'); ++i) {
    const auto& word = command.words[i].text;
    bool has_value = word == "-C" || word == "-c" || word == "--git-dir" || word == "--work-tree";
    if (word == "-C" && i + 1 < command.words.size()) found.directory = command.words[i + 1].text;
    if (has_value) ++i;
  }
  if (i >= command.words.size() || !is_among(command.words[i].text, k_verbs)) return std::nullopt;
  found.verb = command.words[i].text;
  for (++i; i < command.words.size(); ++i) {
    const auto& word = command.words[i];
    if (word.text.find_first_of("<>") != word.text.npos) break;
    found.words.push_back(word.literal ? word.text : expanded(word.text, variables));
  }
  return found;
}

std::vector<GitCommand> git_commands(const File& file, const Job& job) {
  std::vector<GitCommand> found;
  for (std::size_t s = 0; s < job.steps.size(); ++s) {
    const auto& step = job.steps[s];
    if (!step.run || step.run->text.find("git") == std::string::npos) continue;
    auto variables = environment_of(file, job, step);
    for (const auto& command : step.commands) {
      assign(command, variables);
      auto one = git_command(command, variables);
      if (!one) continue;
      one->step = s;
      one->at = position_in(*step.run, command.words[0].offset);
      found.push_back(std::move(*one));
    }
  }
  return found;
}

struct Clone {
  std::string address, branch, directory;
};

/// `git clone --branch BRANCH ADDRESS DIR`; nullopt for the copy of a directory.
std::optional<Clone> clone_of(const GitCommand& command) {
  static constexpr std::array<std::string_view, 11> k_options = {
      "--depth", "-o", "--origin", "-u", "--reference", "-c", "--config", "-j", "--jobs", "--template", "--filter"};
  Clone found;
  for (std::size_t i = 0; i < command.words.size(); ++i) {
    const auto& word = command.words[i];
    bool more = i + 1 < command.words.size();
    if ((word == "-b" || word == "--branch") && more)
      found.branch = command.words[++i];
    else if (word.starts_with("--branch="))
      found.branch = word.substr(word.find('=') + 1);
    else if (is_among(word, k_options))
      ++i;
    else if (!word.starts_with('-'))
      (found.address.empty() ? found.address : found.directory) = word;
  }
  bool remote = found.address.find("://") != std::string::npos || found.address.starts_with("git@");
  bool variable = found.address.starts_with('$') && !found.branch.empty();
  if (!remote && !variable) return std::nullopt;
  if (found.directory.empty()) found.directory = found.address;
  found.directory = path::basename(found.directory);
  if (found.directory.ends_with(".git")) found.directory.resize(found.directory.size() - 4);
  return found;
}

/// The revision that `git checkout`, `switch` or `reset` names; empty where it names none, such as `reset --hard` and
/// `checkout -- FILE`.
std::string revision_of(const GitCommand& command) {
  static constexpr std::array<std::string_view, 6> k_new = {"-b", "-B", "-c", "-C", "--orphan", "--create"};
  bool skip = false; // the name of a new branch
  for (const auto& word : command.words) {
    if (word == "--") return {};
    if (is_among(word, k_new)) skip = true;
    if (word.starts_with('-')) continue;
    if (!skip) return word;
    skip = false;
  }
  return {};
}

/// Whether a name stands for the same commit on another day, or nobody can say: a commit, `FETCH_HEAD`, a variable.
bool may_stay(std::string_view revision) {
  constexpr std::size_t k_abbreviated = 7;
  bool commit = revision.size() >= k_abbreviated && std::ranges::all_of(revision, ascii::is_lower_hex) &&
                std::ranges::any_of(revision, ascii::is_digit);
  return commit || is_commit(revision) || is_dynamic(revision) || revision.find('$') != revision.npos ||
         revision.starts_with("HEAD") || revision.ends_with("_HEAD") || revision.starts_with('@');
}

class Clones {
public:
  Clones(const Rules& rules, const File& file, std::size_t job)
      : rules_(rules), file_(file), job_(job), commands_(git_commands(file, file.jobs[job])) {}

  void check() {
    std::vector<bool> told(commands_.size());
    for (std::size_t i = 0; i < commands_.size(); ++i)
      if (auto clone = commands_[i].verb == "clone" ? clone_of(commands_[i]) : std::nullopt)
        check_clone(i, *clone, told);
    for (std::size_t i = 0; i < commands_.size(); ++i)
      if (!told[i]) check_other_directory(commands_[i]);
  }

private:
  /// What is chosen behind it is judged there.
  void check_clone(std::size_t index, const Clone& clone, std::vector<bool>& told) const {
    for (auto i = index + 1; i < commands_.size(); ++i) {
      const auto& one = commands_[i];
      auto revision = one.verb == "clone" ? std::string() : revision_of(one);
      auto other = path::basename(one.directory);
      bool elsewhere = !other.empty() && other.find('$') == other.npos && other != "." && other != clone.directory;
      if (revision.empty() || elsewhere) continue;
      told[i] = true;
      if (!may_stay(revision)) moving(one, clone.address, revision);
      return;
    }
    const auto& command = commands_[index];
    bool known = !is_dynamic(clone.address) && clone.address.find('$') == std::string::npos;
    if (clone.branch.empty() && known)
      rules_.add(
          file_, command.at, "Y126", Severity::warning,
          fmt::format("{} clones {} at its default branch, whatever that is on the day", where(command), clone.address),
          "check out a commit behind it: `git -C DIR checkout COMMIT`");
    else if (!clone.branch.empty() && !may_stay(clone.branch))
      moving(command, clone.address, clone.branch);
  }

  /// `git -C DIR checkout BRANCH` where DIR is not this repository.
  void check_other_directory(const GitCommand& command) const {
    if (command.verb == "clone" || command.directory.empty() || command.directory == ".") return;
    if (command.directory.find('$') != std::string::npos) return;
    auto directory = path::normal(command.directory);
    for (const auto& one : checkouts_of(file_))
      if (one.ours && one.job == static_cast<int>(job_) && path::normal(one.path) == directory) return;
    auto revision = revision_of(command);
    if (!revision.empty() && !may_stay(revision)) moving(command, directory, revision);
  }

  void moving(const GitCommand& command, const std::string& what, const std::string& revision) const {
    rules_.add(file_, command.at, "Y141", Severity::note,
               fmt::format("{} takes {} at `{}`, a branch or tag that can move: nobody verifies its bytes",
                           where(command), what, revision),
               "check out a commit: `git -C DIR checkout COMMIT`");
  }

  std::string where(const GitCommand& command) const {
    return step_name(file_, static_cast<int>(job_), static_cast<int>(command.step));
  }

  const Rules& rules_;
  const File& file_;
  std::size_t job_;
  std::vector<GitCommand> commands_;
};
} // namespace

void check_clones(const Rules& rules) {
  for (const auto& file : rules.repository.files)
    for (std::size_t j = 0; j < file->jobs.size(); ++j) Clones(rules, *file, j).check();
}

} // namespace quarry::workflow
