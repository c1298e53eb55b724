// Scripts, tests and requirements that commands name, local actions and workflows: do they exist where the checkout
// puts them?
#include "base/text.hpp"
#include "sys/path.hpp"
#include "workflow/named_files.hpp"
#include "workflow/programs.hpp"
#include "workflow/rules.hpp"
#include "workflow/values.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <optional>
#include <set>

namespace quarry::workflow {

namespace {

/// A path without the spellings of the workspace, which is the working directory of a job.
std::string relative_to_workspace(std::string_view word) {
  auto text = canonical(word);
  for (std::string_view prefix : {"${{github.workspace}}", "${GITHUB_WORKSPACE}", "$GITHUB_WORKSPACE"}) {
    if (text == prefix) return ".";
    if (text.starts_with(std::string(prefix) + "/")) return text.substr(prefix.size() + 1);
  }
  return std::string(word);
}

bool is_plain(std::string_view word) {
  return !word.empty() && word.find_first_of("$*?<>{}()=~`\\") == word.npos && !word.starts_with('/') &&
         !word.starts_with('-');
}

/// Where the commands of a script run. A subshell, `(cd x && …)` or `$(cd x && …)`, ends where its parenthesis does.
struct Directory {
  std::optional<std::string> here; ///< nullopt: unknown
  std::vector<std::optional<std::string>> pushed = {};
  std::vector<std::optional<std::string>> outer = {}; ///< of each open subshell, the directory outside of it

  /// The program of a command, behind `X=$(` and `(`.
  static std::string program_of(const std::string& word) {
    auto begin = word.rfind('(');
    bool plain = begin != word.npos && word.find(')', begin) == word.npos && word.find("${{") == word.npos;
    return plain ? word.substr(begin + 1) : word;
  }

  bool moves(const std::string& program, const std::vector<Word>& words) {
    open(words);
    if (program == "popd" && !pushed.empty()) {
      here = pushed.back();
      pushed.pop_back();
    }
    if (program != "cd" && program != "pushd") return false;
    if (program == "pushd") pushed.push_back(here);
    auto to = words.size() > 1 ? relative_to_workspace(words[1].text) : "";
    while (to.ends_with(')')) to.pop_back();
    here = here && is_plain(to) ? std::optional(path::normal(path::join(*here, to))) : std::nullopt;
    return true;
  }

  /// Opens what the command begins and does not end itself.
  void open(const std::vector<Word>& words) {
    std::size_t opened = 0, closed = 0;
    for (const auto& word : words) count(word.text, opened, closed);
    closing_ = closed > opened ? closed - opened : 0;
    for (; opened > closed; --opened) outer.push_back(here);
  }

  void leave() {
    for (; closing_ > 0 && !outer.empty(); --closing_) {
      here = outer.back();
      outer.pop_back();
    }
  }

private:
  /// Without the parentheses of `${{ }}`, and of words with blanks, which were in quotes.
  static void count(const std::string& word, std::size_t& opened, std::size_t& closed) {
    if (word.find("${{") != word.npos || word.find_first_of(" \t\n") != word.npos) return;
    opened += static_cast<std::size_t>(std::count(word.begin(), word.end(), '('));
    closed += static_cast<std::size_t>(std::count(word.begin(), word.end(), ')'));
  }
  std::size_t closing_ = 0;
};

/// The checkout before the step that puts a path of the workspace there, and the path inside of it.
struct Place {
  const Checkout* checkout = nullptr;
  std::string inner;
};
Place place_of(int job, int step, const std::string& path, const std::vector<Checkout>& checkouts) {
  const Checkout* best = nullptr;
  std::size_t length = 0;
  for (const auto& one : checkouts) {
    if (one.job != job || one.step >= step) continue;
    auto place = path::normal(relative_to_workspace(one.path.empty() ? "." : one.path));
    bool inside = place == "." || path == place || path.starts_with(place + "/");
    if (inside && (!best || place.size() >= length || place != "."))
      best = &one, length = place == "." ? 0 : place.size();
  }
  return {best, length == 0 ? path : path.size() == length ? "." : path.substr(length + 1)};
}

/// Whether a step before this one may put files into the workspace in a way that is not looked at.
bool may_have_files(const File& file, int job, int step) {
  const auto& steps = file.jobs[static_cast<std::size_t>(job)].steps;
  return std::any_of(steps.begin(), steps.begin() + step, [](const Step& before) {
    bool action = text::lower(before.uses).find("checkout") != std::string::npos || before.uses.starts_with("./");
    bool other = action && !before.uses.starts_with("actions/checkout@");
    return other || (before.run && before.run->text.find("git ") != std::string::npos);
  });
}

/// Whether a script of the job names the directory: it may clone or copy the action there.
bool is_made_by_script(const File& file, int job, const std::string& inner) {
  const auto& steps = file.jobs[static_cast<std::size_t>(job)].steps;
  return std::any_of(steps.begin(), steps.end(),
                     [&](const Step& step) { return step.run && step.run->text.find(inner) != std::string::npos; });
}

constexpr auto k_gone = ": it existed before and is removed by this change";
constexpr auto k_arrives = "paths that a download, a cache or another revision may bring";

/// Whether a checkout of this repository takes a branch, tag or commit that is written there.
bool other_revision(const Checkout& checkout) {
  return checkout.ours && !text::trim(checkout.ref).empty() && !is_dynamic(checkout.ref);
}

/// Whether a command brings files that the checkout does not have: an artifact, or another revision.
bool brings_files(const ShellCommand& command) {
  const auto& words = command.words;
  auto at = program_at(command);
  auto has = [&](std::string_view word) {
    return std::any_of(words.begin() + static_cast<std::ptrdiff_t>(at), words.end(),
                       [&](const Word& one) { return one.text == word; });
  };
  auto program = program_of(command);
  if (program == "gh") return has("download") || has("checkout");
  static constexpr std::string_view k_verbs[] = {"checkout", "switch",      "reset",   "pull", "merge", "apply",
                                                 "rebase",   "cherry-pick", "restore", "am",   "stash", "worktree"};
  bool new_branch = (has("-b") || has("-c")) && words.size() == at + 4; // `git checkout -b NEW`: the same files
  return program == "git" && !new_branch && std::ranges::any_of(k_verbs, has);
}

/// Whether an action before the step, or a command of it or before, may have put a path of the workspace there.
bool may_arrive(const File& file, int job, int step, const std::string& path) {
  const auto& steps = file.jobs[static_cast<std::size_t>(job)].steps;
  auto holds = [&](std::string_view line) {
    auto trimmed = text::trim(line);
    if (trimmed.empty() || trimmed[0] == '~' || trimmed[0] == '/') return false; // outside of the workspace
    auto place = path::normal(relative_to_workspace(trimmed));
    return !is_plain(place) || place == "." || path == place || path.starts_with(place + "/");
  };
  return std::any_of(steps.begin(), steps.begin() + step + 1, [&](const Step& one) {
    auto action = text::lower(one.uses.substr(0, one.uses.find('@')));
    bool artifact = action.find("download-artifact") != std::string::npos;
    if (artifact || action.starts_with("actions/cache")) {
      const auto* with = one.node->find("with");
      auto places = with ? text::lines(with->text_at("path")) : std::vector<std::string>();
      return (artifact && places.empty()) || std::ranges::any_of(places, holds);
    }
    return std::ranges::any_of(one.commands, brings_files);
  });
}

/// A reusable workflow of this repository that is not among its files.
void check_called_file(const Rules& rules, Tree& root, const File& file, const Call& call) {
  auto path = path::normal(call.target.substr(2));
  if (rules.repository.up.empty() && !root.exists(".github/workflows"))
    return rules.not_looked_at("calls of workflows from a directory that is not a repository's root");
  bool elsewhere = path::dirname(path) != ".github/workflows";
  if (!elsewhere && root.exists(path)) return; // it cannot be read, which is told
  rules.add(file, call.at, "Y143", Severity::error,
            fmt::format("job `{}` calls {}, {}", file.jobs[static_cast<std::size_t>(call.job)].id, call.target,
                        elsewhere ? "and GitHub finds reusable workflows in .github/workflows only"
                                  : "which does not exist in this repository"),
            "correct the path");
}

/// Whether a command of the job up to this step may make the directory: `mkdir`, `cp`, `mv`, `git clone` and others.
bool is_made_by_command(const File& file, int job, int step, const std::string& directory) {
  static constexpr std::string_view k_programs[] = {"mkdir", "cp",    "mv",      "git",   "ln",      "tar",
                                                    "unzip", "rsync", "install", "cmake", "svn",     "cargo",
                                                    "npm",   "md",    "meson",   "7z",    "robocopy"};
  const auto& steps = file.jobs[static_cast<std::size_t>(job)].steps;
  return std::any_of(steps.begin(), steps.begin() + step + 1, [&](const Step& one) {
    return std::ranges::any_of(one.commands, [&](const ShellCommand& command) {
      return std::ranges::find(k_programs, program_of(command)) != std::end(k_programs) &&
             std::ranges::any_of(command.words, [&](const Word& word) {
               return word.text.find(directory) != word.text.npos || directory.starts_with(word.text + "/");
             });
    });
  });
}

/// Whether a script of the job writes to the path: `… > FILE`.
bool is_written_by_script(const File& file, int job, const std::string& inner) {
  const auto& steps = file.jobs[static_cast<std::size_t>(job)].steps;
  return std::ranges::any_of(steps, [&](const Step& step) {
    return step.run && (step.run->text.find("> " + inner) != std::string::npos ||
                        step.run->text.find(">" + inner) != std::string::npos);
  });
}

/// Where the script of a step starts; nullopt where an expression says it.
std::optional<std::string> working_directory(const File& file, const Job& job, const Step& step) {
  auto said = step.node->text_at("working-directory");
  for (const auto* node : {job.node, &file.root})
    if (const auto* defaults = node->find("defaults"); defaults && said.empty())
      if (const auto* run = defaults->find("run")) said = run->text_at("working-directory");
  if (said.empty()) return ".";
  auto relative = relative_to_workspace(said);
  if (!is_plain(relative)) return std::nullopt;
  return relative;
}

std::set<std::string> submodules_of(Tree& tree) {
  std::set<std::string> found;
  auto modules = tree.exists(".gitmodules") ? tree.read(".gitmodules", k_file_bytes_max) : Result<std::string>("");
  if (!modules) return found;
  for (const auto& line : text::lines(*modules)) {
    auto equals = line.find('=');
    if (equals != line.npos && text::trim(std::string_view(line).substr(0, equals)) == "path")
      found.insert(std::string(text::trim(std::string_view(line).substr(equals + 1))));
  }
  return found;
}

class Paths {
public:
  explicit Paths(const Rules& rules)
      : rules_(rules), root_(below(*rules.repository.tree, rules.repository.up)), tree_(*root_),
        base_(rules.base ? below(*rules.base, rules.repository.up) : nullptr), submodules_(submodules_of(tree_)) {}

  void check(const File& file) {
    auto checkouts = checkouts_of(file);
    if (file.action) { // runs in the caller's checkout of this repository
      Checkout root;
      root.ours = true;
      root.step = -1;
      checkouts.push_back(root);
    }
    for (std::size_t j = 0; j < file.jobs.size(); ++j)
      for (std::size_t s = 0; s < file.jobs[j].steps.size(); ++s) {
        if (file.jobs[j].steps[s].run) script(file, static_cast<int>(j), static_cast<int>(s), checkouts);
        if (file.jobs[j].steps[s].uses.starts_with("./"))
          action(file, static_cast<int>(j), static_cast<int>(s), checkouts);
      }
    for (const auto& call : file.calls)
      if (call.kind == Call::Kind::workflow && !call.foreign && call.file.empty())
        check_called_file(rules_, tree_, file, call);
  }

private:
  void script(const File& file, int job, int step, const std::vector<Checkout>& checkouts) {
    const auto& one = file.jobs[static_cast<std::size_t>(job)].steps[static_cast<std::size_t>(step)];
    auto here = working_directory(file, file.jobs[static_cast<std::size_t>(job)], one);
    Directory at;
    at.here = here;
    if (here) directory_in(file, job, step, {*here, 0}, checkouts);
    for (const auto& command : one.commands) {
      const auto& words = command.words;
      auto program = Directory::program_of(words[0].text);
      if (at.moves(program, words)) {
        if (at.here && words.size() > 1) directory_in(file, job, step, {*at.here, words[1].offset}, checkouts);
        at.leave();
        continue;
      }
      bool elsewhere = program == "docker" || program == "ssh" || program == "chroot"; // another file system
      for (const auto& word : elsewhere ? std::vector<Word>() : files_of(words)) {
        auto name = relative_to_workspace(word.text);
        if (at.here && is_plain(name))
          path_in(file, job, step, *one.run, {path::normal(path::join(*at.here, name)), word.offset}, checkouts);
      }
      at.leave();
    }
  }

  void action(const File& file, int job, int step, const std::vector<Checkout>& checkouts) {
    const auto& one = file.jobs[static_cast<std::size_t>(job)].steps[static_cast<std::size_t>(step)];
    auto [checkout, inner] = place_of(job, step, path::normal(one.uses.substr(2)), checkouts);
    if (is_dynamic(one.uses)) return;
    if (!checkout) {
      if (!may_have_files(file, job, step))
        rules_.add(
            file, one.node->find("uses")->at, "Y143", Severity::error,
            fmt::format("{} uses {}, and no step before it checks that path out", step_name(file, job, step), one.uses),
            "check the repository out first");
      return;
    }
    auto* tree = tree_of(*checkout);
    if (!tree) return rules_.not_looked_at(fmt::format("actions in {} (give it by --with)", checkout->repository));
    for (auto name : {"action.yml", "action.yaml", "Dockerfile"})
      if (tree->exists(path::normal(path::join(inner, name)))) return;
    bool gone = was_removed(*checkout, inner);
    if (!gone && checkout->ours && (in_submodule(inner) || is_made_by_script(file, job, inner))) return;
    if (other_revision(*checkout) || may_arrive(file, job, step, path::normal(one.uses.substr(2))))
      return rules_.not_looked_at(k_arrives);
    rules_.add(file, one.node->find("uses")->at, "Y143", Severity::error,
               fmt::format("{} uses {}, and {} has no action.yml there{}", step_name(file, job, step), one.uses,
                           checkout->ours ? "this repository" : checkout->repository, gone ? k_gone : ""),
               gone ? "use another one, or keep it" : "correct the path");
  }

  void path_in(const File& file, int job, int step, const Node& run, const Word& path,
               const std::vector<Checkout>& checkouts) {
    auto [best, inner] = place_of(job, step, path.text, checkouts);
    if (!best) return;
    auto* tree = tree_of(*best);
    if (!tree) return rules_.not_looked_at(fmt::format("paths in {} (give it by --with)", best->repository));
    bool gone = was_removed(*best, inner) && !is_written_by_script(file, job, inner);
    if (tree->exists(inner) || (!gone && best->ours && is_made_here(*tree, file, job, inner))) return;
    if (other_revision(*best) || may_arrive(file, job, step, path.text)) return rules_.not_looked_at(k_arrives);
    rules_.add(file, position_in(run, path.offset), "Y139", Severity::error,
               fmt::format("{} names {}, which does not exist in {}{}", step_name(file, job, step), path.text,
                           best->ours ? "this repository" : best->repository, gone ? k_gone : ""),
               gone ? "name another one, or keep it" : "correct the path");
  }

  /// A directory where commands run is a finding only if the base has it: others may be made by the job.
  void directory_in(const File& file, int job, int step, const Word& path, const std::vector<Checkout>& checkouts) {
    auto [best, inner] = place_of(job, step, path.text, checkouts);
    if (!best || !was_removed(*best, inner) || is_made_by_command(file, job, step, path.text)) return;
    if (other_revision(*best) || may_arrive(file, job, step, path.text)) return rules_.not_looked_at(k_arrives);
    const auto& one = file.jobs[static_cast<std::size_t>(job)].steps[static_cast<std::size_t>(step)];
    rules_.add(file, path.offset == 0 ? one.at : position_in(*one.run, path.offset), "Y139", Severity::error,
               fmt::format("{} runs in {}, which does not exist in this repository{}", step_name(file, job, step),
                           path.text, k_gone),
               "name another one, or keep it");
  }

  /// Whether the state that this one is compared with has the path.
  bool was_removed(const Checkout& checkout, const std::string& inner) const {
    return base_ && checkout.ours && base_->exists(inner) && !tree_.exists(inner);
  }

  Tree* tree_of(const Checkout& checkout) {
    if (checkout.ours) return &tree_;
    auto found = rules_.others.find(text::lower(checkout.repository));
    return found == rules_.others.end() ? nullptr : found->second;
  }

  bool in_submodule(const std::string& inner) const {
    return std::any_of(submodules_.begin(), submodules_.end(),
                       [&](const auto& module) { return inner == module || inner.starts_with(module + "/"); });
  }

  /// Files that a step makes are not a defect: in a directory that the repository does not have, in a submodule, or
  /// named in the job more than once.
  bool is_made_here(Tree& tree, const File& file, int job, const std::string& inner) {
    auto top = inner.substr(0, inner.find('/'));
    if (top == ".." || (top != inner && !tree.exists(path::dirname(inner)))) return true;
    if (in_submodule(inner)) return true;
    if (top != inner) return false;
    std::size_t named = 0;
    for (const auto& step : file.jobs[static_cast<std::size_t>(job)].steps)
      if (step.run)
        for (auto at = step.run->text.find(inner); at != std::string::npos; at = step.run->text.find(inner, at + 1))
          ++named;
    return named > 1;
  }

  const Rules& rules_;
  std::unique_ptr<Tree> root_;
  Tree& tree_;
  std::unique_ptr<Tree> base_; ///< nullptr: nothing is compared
  std::set<std::string> submodules_;
};
} // namespace

void check_paths(const Rules& rules) {
  Paths paths(rules);
  for (const auto& file : rules.repository.files) paths.check(*file);
}

} // namespace quarry::workflow
