#pragma once
// How the interfaces of workflows, their calls and their matrices differ between two states of a repository. Pure.
#include "workflow/model.hpp"
#include <map>
#include <string>
#include <vector>

namespace quarry::workflow {

struct Change {
  enum class Kind : std::uint8_t { file, input, output, secret, argument, call, matrix, fallback };
  enum class What : std::uint8_t { added, removed, changed };
  Kind kind = Kind::file;
  What what = What::changed;
  std::string file;
  Position at;        ///< in the state that has it
  std::string name;   ///< of the input, output, secret, argument, target or matrix key
  std::string where;  ///< "workflow_call", "call of build.yml in job `release`"
  std::string detail; ///< "default", "required", "type": what changed of an input
  std::string before, after;
};
/// "input `ref` of workflow_call: default `a` is now `b`".
std::string sentence(const Change& change);

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
