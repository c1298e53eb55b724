#pragma once
// Workflows as values: what starts them, what they take, whom they call, and every place where an expression reads
// something. Pointers lead into the file's own tree of values, which lives as long as the File.
#include "workflow/expression.hpp"
#include "workflow/shell.hpp"
#include "workflow/tree.hpp"
#include "workflow/yaml.hpp"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quarry::workflow {

inline constexpr std::size_t k_legs_max = 1'000'000; ///< jobs of a matrix are counted as far as this
inline constexpr std::size_t k_levels_max = 10;      ///< of workflows that call each other: GitHub's bound

/// Names of inputs, jobs and contexts compare without ASCII case, as GitHub does. Allocates nothing.
bool same_name(std::string_view a, std::string_view b);

struct Input {
  std::string name;
  Position at;
  std::string type = "string"; ///< string, boolean, number, choice, environment
  bool required = false;
  std::optional<std::string> fallback; ///< its `default`
  Position fallback_at;                ///< of that value, or of the input
  std::vector<std::string> options;    ///< of a choice
  bool explains_empty = false;         ///< its description says what an empty value means
};

/// One way to start a workflow: by hand (workflow_dispatch), by a caller (workflow_call), or a composite action's
/// inputs.
struct Entry {
  Position at;
  std::vector<Input> inputs;
  const Input* find(std::string_view name) const; ///< without case, as GitHub compares
};

struct Step {
  const Node* node = nullptr;
  Position at;
  std::string uses;                   ///< empty for a script
  const Node* run = nullptr;          ///< the script
  std::vector<ShellCommand> commands; ///< of the script
  /// What people call it: its name, its id, its action, or its position.
  std::string label;
};

struct Job {
  std::string id;
  Position at;
  const Node* node = nullptr;
  std::string uses; ///< a reusable workflow; empty for a job of steps
  std::vector<Step> steps;
  std::vector<std::string> needs;
  bool has_matrix = false;
  bool dynamic_matrix = false; ///< an expression makes its rows or columns, or what it excludes
  std::size_t legs = 1;        ///< jobs of a matrix without expressions

  const Node* strategy() const; ///< nullptr if the job has none
  const Node* matrix() const;
};

/// One place where an expression reads a context: `inputs.ref`.
struct Read {
  std::vector<std::string> path; ///< in lower case, but for the names of inputs and jobs as written
  Position at;
  bool has_fallback = false; ///< an empty value does not get through: `x || y`, `x && f(x)`, `x == y`
  int job = -1, step = -1;   ///< indexes; -1 outside
  std::string slot;          ///< "run", "with.ref", "env.FAMILY", "name", "if", "strategy.matrix.python"
  bool whole = false;        ///< the context itself: toJSON(inputs), inputs[…]
};

struct Argument {
  std::string name, value;
  Position at;
  Node::Kind kind = Node::Kind::text;
  Position quote_at = {}; ///< of its opening quote; line 0: not in quotes, or not the value of this place alone
};

/// A job or step that hands inputs to a workflow or composite action.
struct Call {
  enum class Kind : std::uint8_t { workflow, action, dispatch };
  Kind kind = Kind::workflow;
  std::string
      how; ///< "uses", "benc-uk/workflow-dispatch", "gh workflow run", "gh api", "curl", "createWorkflowDispatch"
  std::string target; ///< "build.yml" or "./.github/actions/setup": as written
  std::string file;   ///< of the target in this repository; empty when it is not here
  bool foreign = false;
  bool unknown = false; ///< an expression makes the target, or it is a number: nothing can be said about the call
  bool inputs_unknown = false;
  int job = -1, step = -1;
  Position at;
  std::vector<Argument> arguments;
  std::string defect; ///< why the inputs are not JSON
  Position defect_at;
  std::optional<std::string> ref;                    ///< the revision that is dispatched, where the call names one
  const Argument* find(std::string_view name) const; ///< without case
};

struct File {
  std::string path;
  bool action = false;   ///< an action
  bool readable = false; ///< without it, `text` is all that is known of the file
  Node root;
  std::string name;
  std::string text; ///< for comments, which are not values
  std::optional<Entry> dispatch, call;
  std::vector<Member> outputs; ///< of workflow_call; copies
  std::vector<Job> jobs;
  std::vector<Read> reads;
  std::vector<Call> calls;
  std::size_t calls_left_out = 0; ///< dispatches in JavaScript beyond a bound
  bool reads_all_inputs = false;  ///< toJSON(inputs), inputs[expression]

  File() = default;
  File(const File&) = delete; // pointers lead into root
  File& operator=(const File&) = delete;
  std::string basename() const;
  /// The input of either entry.
  const Input* input(std::string_view name) const;
  const Job* job(std::string_view id) const;    ///< nullptr if no job has this id
  std::vector<std::string> input_names() const; ///< of both entries, each once, in their order
};

struct Repository {
  Tree* tree = nullptr;
  std::string up; ///< from the tree's root to the repository's: "../../" if `.github/workflows` itself is looked at
  std::vector<std::unique_ptr<File>> files; ///< workflows, then the composite actions that they use
  std::vector<Located> defects;             ///< of reading
  std::size_t workflows = 0, actions = 0;
  const File* find(std::string_view path) const;
};

/// Reads every workflow of the tree and the composite actions that they name. Defects of single files are collected;
/// not_found Y152 when there is no workflow file at all. One read for each file, one after the other; they are parsed
/// by as many threads as there are processors.
Result<Repository> read_repository(Tree& tree);

/// The model of one file; used by read_repository. Defects: of YAML and of expressions (Y104).
std::unique_ptr<File> read_file_model(std::string path, std::string text, bool action, std::vector<Located>& defects);

} // namespace quarry::workflow
