// What only the graph of jobs and calls shows: permissions along a chain, circles, GitHub's bounds, gates.
#include "base/text.hpp"
#include "workflow/rules.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace quarry::workflow {

namespace {
// GitHub's bounds: docs.github.com, "Reusing workflows" and "Limits"; since November 2025 10 levels and 50 calls.
constexpr std::size_t k_matrix_jobs_max = 256, k_calls_max = 50;

// permissions

/// Scope -> 0 none, 1 read, 2 write; nullopt: not said, so the setting of the repository decides.
using Grant = std::optional<std::map<std::string, int>>;
constexpr std::string_view k_all = "*";

int level(std::string_view word) { return word == "write" ? 2 : word == "read" ? 1 : 0; }

Grant permissions_of(const Node& node) {
  const auto* said = node.find("permissions");
  if (!said) return std::nullopt;
  std::map<std::string, int> grant;
  if (said->is_scalar()) grant[std::string(k_all)] = said->text == "write-all" ? 2 : said->text == "read-all" ? 1 : 0;
  for (const auto& member : said->members) grant[member.key] = level(member.value.text);
  return grant;
}

int granted(const std::map<std::string, int>& grant, const std::string& scope) {
  if (auto found = grant.find(scope); found != grant.end()) return found->second;
  auto all = grant.find(std::string(k_all));
  return all == grant.end() ? 0 : all->second;
}

/// The first scope of `wanted` that `given` lacks, as "id-token: write".
std::string shortfall(const std::map<std::string, int>& wanted, const std::map<std::string, int>& given) {
  for (const auto& [scope, needed] : wanted)
    if (needed > granted(given, scope)) return scope + (needed == 2 ? ": write" : ": read");
  return "";
}

class Permissions {
public:
  explicit Permissions(const Rules& rules) : rules_(rules) {}

  void check(const File& file, const Grant& given, std::size_t depth) {
    // Many paths may lead to one file with the same grant, each call of a job twice as many: it is looked at once.
    if (depth > k_levels_max || !seen_.insert({file.path, depth, given}).second) return;
    auto own = permissions_of(file.root);
    for (const auto& call : file.calls) {
      if (call.kind != Call::Kind::workflow || call.file.empty()) continue;
      const auto& job = file.jobs[static_cast<std::size_t>(call.job)];
      auto passed = permissions_of(*job.node);
      if (!passed) passed = own ? own : given;
      const auto* callee = rules_.repository.find(call.file);
      if (callee && passed) look(file, call, *callee, *passed);
      if (callee) check(*callee, passed, depth + 1);
    }
  }

private:
  void look(const File& file, const Call& call, const File& callee, const std::map<std::string, int>& passed) {
    auto tell = [&](const Grant& wanted, const std::string& who) {
      auto missing = wanted ? shortfall(*wanted, passed) : "";
      if (missing.empty() || !told_.insert({&call, who + missing}).second) return;
      rules_.add(file, call.at, "Y129", Severity::error,
                 fmt::format("{} of {} asks for `{}`, which this job does not grant: the run fails before it starts",
                             who, call.target, missing),
                 fmt::format("add `{}` to the permissions of this job and of its callers", missing));
    };
    tell(permissions_of(callee.root), "the workflow");
    for (const auto& job : callee.jobs) tell(permissions_of(*job.node), fmt::format("job `{}`", job.id));
  }

  const Rules& rules_;
  std::set<std::pair<const Call*, std::string>> told_;
  std::set<std::tuple<std::string, std::size_t, Grant>> seen_;
};

// circles

/// Follows calls, and uses of actions, and tells of each that leads back to a file it came from.
class Circles {
public:
  explicit Circles(const Rules& rules) : rules_(rules) {}

  /// Whether calls of the file lead into a circle. Each file is looked at once.
  bool look(const File& file) {
    if (auto known = circular_.find(file.path); known != circular_.end()) return known->second;
    path_.push_back(&file);
    bool circular = false;
    for (const auto& call : file.calls) {
      const auto* callee = call.kind == Call::Kind::dispatch ? nullptr : rules_.repository.find(call.file);
      if (!callee) continue;
      auto open = std::find(path_.begin(), path_.end(), callee);
      if (open != path_.end()) tell(file, call, open);
      circular |= open != path_.end() || look(*callee);
    }
    path_.pop_back();
    return circular_[file.path] = circular;
  }

private:
  void tell(const File& file, const Call& call, std::vector<const File*>::const_iterator from) const {
    std::string way;
    for (; from != path_.end(); ++from) way += (*from)->path + " -> ";
    rules_.add(file, call.at, "Y144", Severity::error,
               fmt::format("{} leads back to itself: {}{}", call.target, way, call.file),
               "remove one of these calls: GitHub ends such a run with an error");
  }

  const Rules& rules_;
  std::vector<const File*> path_;
  std::map<std::string, bool> circular_; ///< by path
};

// bounds

/// The workflows that `file` calls, level by level: a file counts once on each level, however many calls lead to it.
std::size_t levels(const Rules& rules, const File& file, std::set<std::string>& called) {
  std::set<std::string> level{file.path};
  std::size_t depth = 0;
  while (!level.empty() && depth <= k_levels_max + 1) {
    ++depth;
    std::set<std::string> next;
    for (const auto& path : level) {
      for (const auto& call : rules.repository.find(path)->calls) {
        if (call.kind != Call::Kind::workflow || call.file.empty()) continue;
        called.insert(call.file);
        if (rules.repository.find(call.file)) next.insert(call.file);
      }
    }
    level = std::move(next);
  }
  return depth;
}

void check_bounds(const Rules& rules, const File& file, bool circular) {
  for (const auto& job : file.jobs)
    if (!job.dynamic_matrix && job.legs > k_matrix_jobs_max)
      rules.add(file, job.at, "Y133", Severity::error,
                fmt::format("the matrix of job `{}` makes {}{} jobs; GitHub starts at most {}", job.id,
                            job.legs > k_legs_max ? "more than " : "", std::min(job.legs, k_legs_max),
                            k_matrix_jobs_max),
                "split it by a reusable workflow");
  std::set<std::string> called;
  auto deepest = levels(rules, file, called);
  if (deepest > k_levels_max && !circular)
    rules.add(file, {1, 1}, "Y133", Severity::error,
              fmt::format("workflows call each other more than {} levels deep from here", k_levels_max),
              "call the inner workflow directly");
  if (called.size() > k_calls_max)
    rules.add(
        file, {1, 1}, "Y133", Severity::error,
        fmt::format("{} workflows are called from here, directly or not; GitHub allows {}", called.size(), k_calls_max),
        "dispatch a part of them");
}

// gates

/// A job that runs whatever happened and looks at the results of others: what branch protection waits for.
bool is_gate(const File& file, const Job& job, int index) {
  auto condition = text::lower(job.node->text_at("if"));
  if (job.needs.size() < 2 || condition.find("always()") == condition.npos) return false;
  auto name = text::lower(job.id + " " + job.node->text_at("name"));
  bool named = false;
  for (auto word : {"summary", "gate", "status", "required", "all_", "all-"}) named |= name.find(word) != name.npos;
  return named && std::any_of(file.reads.begin(), file.reads.end(), [&](const Read& read) {
           return read.job == index && read.path[0] == "needs" && (read.whole || read.path.back() == "result");
         });
}

void needed(const File& file, const std::string& id, std::set<std::string>& seen) {
  if (!seen.insert(id).second) return;
  if (const auto* job = file.job(id))
    for (const auto& need : job->needs) needed(file, need, seen);
}

/// Whether the job's name, or a comment above or in its first lines, says that some jobs are required: branch
/// protection waits for these, and the others may fail.
bool says_required(const File& file, const Job& job) {
  if (text::lower(job.id + " " + job.node->text_at("name")).find("required") != std::string::npos) return true;
  auto lines = text::lines(file.text);
  auto comment_of = [&](std::size_t line) {
    auto mark = lines[line].find('#');
    return mark == std::string::npos ? std::string() : text::lower(std::string_view(lines[line]).substr(mark));
  };
  std::size_t first = std::min<std::size_t>(job.at.line, lines.size());
  if (first == 0) return false;
  auto last = first;
  for (--first; first > 0 && text::trim(lines[first - 1]).starts_with('#'); --first) {
  }
  while (last < lines.size() && !text::trim(lines[last]).starts_with("steps:")) ++last;
  for (auto line = first; line < last; ++line)
    if (comment_of(line).find("required") != std::string::npos) return true;
  return false;
}

void check_gates(const Rules& rules, const File& file) {
  for (std::size_t i = 0; i < file.jobs.size(); ++i) {
    const auto& gate = file.jobs[i];
    if (!is_gate(file, gate, static_cast<int>(i))) continue;
    std::set<std::string> covered;
    needed(file, gate.id, covered);
    std::vector<std::string> missing;
    for (const auto& job : file.jobs) {
      std::set<std::string> before;
      needed(file, job.id, before);
      if (!covered.contains(job.id) && !before.contains(gate.id)) missing.push_back("`" + job.id + "`");
    }
    if (missing.empty()) continue;
    rules.add(file, gate.at, "Y135", says_required(file, gate) ? Severity::note : Severity::warning,
              fmt::format("job `{}` reports for the whole workflow and does not need {}", gate.id,
                          text::first(missing, k_names_shown)),
              "add them to its `needs`: their failure passes unseen");
  }
}
} // namespace

void check_graph(const Rules& rules) {
  Permissions permissions(rules);
  Circles circles(rules);
  for (const auto& file : rules.repository.files) {
    auto circular = circles.look(*file);
    if (file->action) continue;
    check_bounds(rules, *file, circular);
    check_gates(rules, *file);
    // A workflow that is only called gets what its callers grant, so the chain is followed from where runs start.
    if (!file->call || file->dispatch) permissions.check(*file, std::nullopt, 0);
  }
}

} // namespace quarry::workflow
