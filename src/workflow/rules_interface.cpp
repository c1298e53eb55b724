// What a workflow takes, compared between its ways to start it, with what it reads, and with other files.
#include "base/ascii.hpp"
#include "base/text.hpp"
#include "workflow/rules.hpp"
#include "workflow/values.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace quarry::workflow {

namespace {

/// Whether the read names input `name`: inputs.NAME or github.event.inputs.NAME.
bool reads_input(const Read& read, std::string_view name) {
  if (read.path.size() >= 2 && read.path[0] == "inputs") return same_name(read.path[1], name);
  return read.path.size() >= 4 && read.path[0] == "github" && same_name(read.path[1], "event") &&
         same_name(read.path[2], "inputs") && same_name(read.path[3], name);
}

bool reads_through_event(const Read& read, std::string_view name) {
  return read.path[0] == "github" && reads_input(read, name);
}

} // namespace

bool is_read(const File& file, std::string_view name) {
  if (file.reads_all_inputs || file.text.find("GITHUB_EVENT_PATH") != std::string::npos) return true;
  return std::any_of(file.reads.begin(), file.reads.end(), [&](const Read& read) { return reads_input(read, name); });
}

namespace {

/// A read that an empty value would reach. A checkout of this repository takes an empty ref for the triggering one.
bool is_bare(const Read& read, std::string_view name) {
  return read.path[0] == "inputs" && reads_input(read, name) && !read.has_fallback && !read.slot.ends_with("name") &&
         read.slot != "with.ref" && read.slot != "with.repository";
}

const Read* bare_read(const File& file, std::string_view name) {
  for (const auto& read : file.reads)
    if (is_bare(read, name)) return &read;
  return nullptr;
}

/// Whether the condition of a job or step needs an input that this way of starting does not have.
bool never_holds(const Node& node, const Entry& there) {
  auto names = inputs_needed_by(node);
  return std::any_of(names.begin(), names.end(), [&](const auto& name) { return !there.find(name); });
}

/// Whether a job never runs when started in this way: by its own condition, or because a job that it needs does not.
/// `depth` ends a circle of needs, which GitHub refuses.
bool is_skipped_job(const File& file, const Job& job, const Entry& there, std::size_t depth = 0) {
  if (never_holds(*job.node, there)) return true;
  auto condition = job.node->text_at("if");
  for (auto word : {"always()", "failure()", "cancelled()"}) // such a job runs although one that it needs was skipped
    if (condition.find(word) != std::string::npos) return false;
  return depth < file.jobs.size() && std::any_of(
                                         job.needs.begin(), job.needs.end(),
                                         [&](const std::string& id) {
                                           const auto* before = file.job(id);
                                           return before && is_skipped_job(file, *before, there, depth + 1);
                                         });
}

/// Whether the step or job of the read runs only with an input that this way of starting does not have.
bool is_skipped(const File& file, const Read& read, const Entry& there) {
  if (read.job < 0 || read.slot == "if") return false;
  const auto& job = file.jobs[static_cast<std::size_t>(read.job)];
  if (is_skipped_job(file, job, there)) return true;
  return read.step >= 0 && never_holds(*job.steps[static_cast<std::size_t>(read.step)].node, there);
}

/// A read that an empty value reaches when the workflow is started in this way.
const Read* read_when_started(const File& file, std::string_view name, const Entry& there) {
  for (const auto& read : file.reads)
    if (is_bare(read, name) && !is_skipped(file, read, there)) return &read;
  return nullptr;
}

std::string general_type(const std::string& type) {
  return type == "choice" || type == "environment" ? "string" : type;
}

std::string shown(const Input& input) {
  if (!input.fallback) return input.type == "boolean" ? "false" : "";
  return *input.fallback;
}

/// In a called workflow `github` is that of the caller, so a callee may read what its caller's form asked for.
/// `unread` is set if a callee cannot be read.
bool read_by_callees(const Rules& rules, const File& file, std::string_view name, std::set<std::string>& seen,
                     bool& unread) {
  for (const auto& call : file.calls) {
    if (call.file.empty() || call.kind == Call::Kind::dispatch || !seen.insert(call.file).second) continue;
    const auto* callee = rules.repository.find(call.file);
    if (!callee) continue;
    unread |= !callee->readable;
    for (const auto& read : callee->reads)
      if (reads_through_event(read, name) || (read.whole && read.path[0] == "github" && read.path.size() > 1))
        return true;
    if (read_by_callees(rules, *callee, name, seen, unread)) return true;
  }
  return false;
}

/// Node and Docker actions read INPUT_NAME from their environment; their code is not looked at.
bool runs_steps(const File& action) {
  const auto* runs = action.root.find("runs");
  return runs && runs->text_at("using") == "composite";
}

void check_unread(const Rules& rules, const File& file) {
  if (file.action && !runs_steps(file)) return;
  for (const auto& name : file.input_names()) {
    if (is_read(file, name)) continue;
    std::set<std::string> seen;
    bool unread = false;
    if (file.dispatch && file.dispatch->find(name) && read_by_callees(rules, file, name, seen, unread)) continue;
    if (unread) {
      rules.not_looked_at("inputs that a called file which cannot be read may use");
      continue;
    }
    const auto* input = file.input(name);
    rules.add(file, input->at, "Y122", Severity::warning, fmt::format("input `{}` is declared and never read", name),
              "use it, or remove it here and at the callers");
  }
}

/// One way in which a workflow is started.
struct Way {
  const Entry& entry;
  std::string_view name;
};

void check_one_sided(const Rules& rules, const File& file, const Way& here, const Way& there) {
  for (const auto& input : here.entry.inputs) {
    if (there.entry.find(input.name) || input.type == "boolean") continue;
    if (input.fallback && input.fallback->empty()) continue; // made to be empty, so the workflow expects it
    const auto* read = read_when_started(file, input.name, there.entry);
    if (!read || file.reads_all_inputs) continue;
    rules.add(file, input.at, "Y118", Severity::warning,
              fmt::format("input `{}` exists under {} only: started by {} it is empty where line {} reads it",
                          input.name, here.name, there.name, read->at.line),
              fmt::format("declare it under {}, too, or write a fallback: `inputs.{} || …`", there.name, input.name));
  }
}

/// Whether the value is a part of a word, such as `builds-${{ inputs.a }}-packages`: a script can tell that an argument
/// of its own is empty, and not that.
bool is_part_of_word(const File& file, const Read& read) {
  constexpr std::string_view k_joints = "-_./";
  auto line = from_line(file.text, read.at.line);
  line = line.substr(0, line.find('\n'));
  auto begin = line.rfind("${{", std::min<std::size_t>(read.at.column, line.size()));
  auto end = begin == line.npos ? line.npos : line.find("}}", begin);
  if (end == line.npos) return false;
  auto joins = [&](std::size_t joint, std::size_t word) {
    return joint < line.size() && word < line.size() && k_joints.find(line[joint]) != k_joints.npos &&
           ascii::is_alnum(line[word]);
  };
  return (begin >= 2 && joins(begin - 1, begin - 2)) || joins(end + 2, end + 3);
}

/// People who dispatch get a default, and a caller that leaves the input out gets nothing, where it is a part of a
/// word: a bucket called `builds--packages`.
void check_empty_when_called(const Rules& rules, const File& file, const Input& called, const Input& started) {
  if (called.required || called.fallback || called.type == "boolean" || shown(started).empty()) return;
  auto read = std::ranges::find_if(
      file.reads, [&](const Read& one) { return is_bare(one, called.name) && is_part_of_word(file, one); });
  if (read == file.reads.end()) return;
  for (const auto& caller : rules.repository.files)
    for (const auto& call : caller->calls) {
      bool is_call = call.file == file.path && call.kind == Call::Kind::workflow;
      if (!is_call || call.inputs_unknown || call.find(called.name)) continue;
      rules.add(
          file, called.at, "Y120", Severity::warning,
          fmt::format("input `{}` is `{}` when dispatched and empty when called: {} line {} does not pass it, and "
                      "line {} makes a part of a word of it",
                      called.name, shown(started), caller->path, call.at.line, read->at.line),
          "give it the same default in both, or pass it");
      return;
    }
}

void check_pair(const Rules& rules, const File& file, const Input& called, const Input& started) {
  auto a = general_type(called.type), b = general_type(started.type);
  if (a != b) {
    rules.add(file, started.at, "Y119", Severity::warning,
              fmt::format("input `{}` is a {} when called and a {} when dispatched", called.name, a, b),
              "declare one type: `inputs` holds what the start gave, and comparisons change with it");
    return;
  }
  // With an empty default for callers and an example in the form for people, the two do not contradict each other.
  bool both = !shown(called).empty() && !shown(started).empty();
  if (both && !called.required && !(started.required && !started.fallback) && shown(called) != shown(started)) {
    rules.add(file, started.at, "Y120", Severity::note,
              fmt::format("default of input `{}` is `{}` when called and `{}` when dispatched", called.name,
                          shown(called), shown(started)),
              "give both one default, or say in the description why they differ");
  }
  check_empty_when_called(rules, file, called, started);
  const auto& optional = called.required ? started : called;
  if (called.required == started.required || !shown(optional).empty() || !bare_read(file, called.name)) return;
  rules.add(file, optional.at, "Y121", Severity::note,
            fmt::format("input `{}` is required when {} and may be empty when {}", called.name,
                        called.required ? "called" : "dispatched", called.required ? "dispatched" : "called"),
            "require it in both, or give it a default");
}

void check_entries(const Rules& rules, const File& file) {
  if (!file.call || !file.dispatch) return;
  Way call{*file.call, "workflow_call"}, dispatch{*file.dispatch, "workflow_dispatch"};
  check_one_sided(rules, file, call, dispatch);
  check_one_sided(rules, file, dispatch, call);
  for (const auto& called : file.call->inputs)
    if (const auto* started = file.dispatch->find(called.name)) check_pair(rules, file, called, *started);
}

/// Whether any caller's job of this workflow is read as needs.JOB.outputs.NAME or as a whole.
bool output_is_read(const Rules& rules, const File& file, const std::string& name, bool& called) {
  for (const auto& caller : rules.repository.files)
    for (const auto& call : caller->calls) {
      if (call.file != file.path || call.kind == Call::Kind::dispatch) continue;
      called = true;
      const auto& id = caller->jobs[static_cast<std::size_t>(call.job)].id;
      for (const auto& read : caller->reads) {
        bool needs = read.path[0] == "needs" || read.path[0] == "jobs";
        if (needs && (read.path.size() < 4 || (same_name(read.path[1], id) && same_name(read.path[3], name)))) {
          if (read.path.size() == 1 || same_name(read.path[1], id)) {
            if (read.path.size() != 3 || read.path[2] != "result") return true;
          }
        }
      }
    }
  return false;
}

/// Whether a workflow that cannot be read names the file: it may call it and read its outputs.
bool is_named_unread(const Rules& rules, const File& file) {
  const auto& files = rules.repository.files;
  return std::any_of(files.begin(), files.end(), [&](const std::unique_ptr<File>& other) {
    return !other->readable && other->text.find(file.basename()) != std::string::npos;
  });
}

void check_outputs(const Rules& rules, const File& file) {
  for (const auto& output : file.outputs) {
    bool called = false;
    if (output_is_read(rules, file, output.key, called) || !called) continue;
    if (is_named_unread(rules, file)) {
      rules.not_looked_at("outputs that a file which cannot be read may use");
      continue;
    }
    rules.add(file, output.at, "Y124", Severity::note,
              fmt::format("no caller in this repository reads output `{}`", output.key),
              "remove it, or keep it for callers elsewhere");
  }
}

/// One input name, one meaning: the same name with several defaults over the files of a repository.
void check_drift(const Rules& rules) {
  struct Use {
    const File* file;
    const Input* input;
  };
  std::map<std::string, std::map<std::string, std::vector<Use>>> names;
  for (const auto& file : rules.repository.files) {
    if (file->action) continue;
    for (const auto* entry : {&file->call, &file->dispatch}) {
      if (!*entry) continue;
      for (const auto& input : (*entry)->inputs)
        if (input.fallback && !input.fallback->empty() && input.type != "boolean")
          names[input.name][*input.fallback].push_back({file.get(), &input});
    }
  }
  for (const auto& [name, defaults] : names) {
    if (defaults.size() < 2) continue;
    std::vector<std::string> told;
    const Use* rarest = nullptr;
    std::size_t fewest = SIZE_MAX;
    std::set<std::string> files;
    for (const auto& [value, uses] : defaults) {
      told.push_back(fmt::format("`{}` x{}", value, uses.size()));
      for (const auto& use : uses) files.insert(use.file->path);
      if (uses.size() < fewest) fewest = uses.size(), rarest = &uses.front();
    }
    if (files.size() < 2) continue;
    rules.add(*rarest->file, rarest->input->at, "Y128", Severity::note,
              fmt::format("input `{}` has {} different defaults in {} files: {}", name, defaults.size(), files.size(),
                          text::first(told, k_names_shown)),
              "raise all of them together, or pass the value from one place");
  }
}
} // namespace

void check_interfaces(const Rules& rules) {
  for (const auto& file : rules.repository.files) {
    check_unread(rules, *file);
    check_entries(rules, *file);
    if (!file->action) check_outputs(rules, *file);
  }
  check_drift(rules);
}

} // namespace quarry::workflow
