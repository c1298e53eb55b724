#pragma once
// How workflows differ between two states of a repository: interfaces, calls, matrices, what starts them, what they may
// do, where and how long they run, their commands. Pure.
#include "base/finding.hpp"
#include "workflow/model.hpp"
#include <map>
#include <string>
#include <vector>

namespace quarry::workflow {

struct Change {
  enum class Kind : std::uint8_t {
    file,
    input,
    output,
    secret,
    argument,
    call,
    matrix,
    fallback,
    ref,        ///< the revision that a dispatch names
    trigger,    ///< an event, or one of its filters
    permission, ///< of the token
    setting,    ///< a key of a workflow, job or step, such as `runs-on`, `env.NAME`, `with.NAME`
    command,    ///< the script of a step
    job,
    step
  };
  enum class What : std::uint8_t { added, removed, changed };
  Kind kind = Kind::file;
  What what = What::changed;
  std::string file;
  Position at;        ///< in the state that has it
  std::string name;   ///< of the input, output, secret, argument, target, matrix key, event, key, job or step
  std::string where;  ///< "workflow_call", "call of build.yml in job `release`"
  std::string detail; ///< "default", "required", "type" of an input, "paths" of an event: what changed of it
  std::string before, after;
  /// How bad it is that nobody mentions it: an error where a guard becomes weaker (a token may write more, a job loses
  /// its deadline, an event starts that runs with secrets on foreign contents), a warning where checks may not run.
  Severity unsaid = Severity::note;
  bool of_new_job = false; ///< a permission: whoever names the job speaks of it
};
/// "input `ref` of workflow_call: default `a` is now `b`".
std::string sentence(const Change& change);
/// The lines of a script that do something: without blanks at their ends, without comments.
std::vector<std::string> script_lines(std::string_view script);

/// A matrix of constants that has more or fewer combinations.
struct Growth {
  std::string file, job;
  Position at;
  std::size_t before = 1, after = 1;
  std::vector<std::string> new_values; ///< of all keys
};

struct Changes {
  std::vector<Change> list;
  std::vector<Growth> growths;
};
Changes compare(const Repository& before, const Repository& after);

/// How often one start runs each file at most, along its callers: combinations of matrices multiplied. 1 where nobody
/// calls. A matrix that an expression makes counts as one.
std::map<std::string, std::size_t> repetitions(const Repository& repository);

} // namespace quarry::workflow
