// Outputs of a matrix that are read as one value: each leg writes them, and the last to end wins. Nothing is lost where
// each leg writes the same.
#include "base/ascii.hpp"
#include "base/text.hpp"
#include "workflow/programs.hpp"
#include "workflow/rules.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <set>
#include <string>
#include <tuple>

namespace quarry::workflow {

namespace {

bool is_matrix(const Job& job) { return job.has_matrix && (job.dynamic_matrix || job.legs > 1); }

using Names = std::set<std::string>; // in lower case

/// Who makes a value: a job or, without one, the head of a workflow. The legs of a matrix that calls the
/// workflow hand it different values for the inputs of `varying`.
struct Maker {
  const File& file;
  const Job* job = nullptr;
  bool called = false; ///< by a job of the matrix
  Names varying = {};
};

const Node* member(const Node* mapping, std::string_view name) {
  if (!mapping) return nullptr;
  auto found = std::ranges::find_if(mapping->members, [&](const Member& m) { return same_name(m.key, name); });
  return found == mapping->members.end() ? nullptr : &found->value;
}

/// Whether the legs of a matrix make the same value of what they write, as far as the files say. What is not understood
/// counts as different.
class Legs {
public:
  explicit Legs(const Repository& repository) : repository_(repository) {}

  bool agree_on_output(const Maker& maker, const std::string& name) {
    auto [known, fresh] = known_.try_emplace({maker.job, text::lower(name), maker.varying}, false);
    if (!fresh || depth_ == k_depth_max) return known->second; // false also where it is made from itself
    ++depth_;
    const auto* value = member(maker.job->node->find("outputs"), name);
    bool agree = maker.job->uses.empty() ? value && agree_on(value->text, maker) : agree_on_output_of_call(maker, name);
    --depth_;
    return known->second = agree;
  }

private:
  static constexpr int k_depth_max = 16; // outputs that are made of outputs; people write 3, and each recurses
  bool agree_on(std::string_view text, const Maker& maker) {
    return std::ranges::all_of(split_template(text), [&](const Piece& piece) {
      if (!piece.is_expression) return true;
      auto parsed = parse_expression(piece.text).expression;
      return parsed && agree_on(*parsed, maker);
    });
  }

  bool agree_on(const Expression& part, const Maker& maker) {
    if (part.kind == Expression::Kind::name) return agree_on_name(part.path, maker);
    bool reads_files = part.kind == Expression::Kind::call && part.text == "hashfiles";
    return !reads_files && std::ranges::all_of(part.parts, [&](const Expression& e) { return agree_on(e, maker); });
  }

  bool agree_on_name(const std::vector<std::string>& path, const Maker& maker) {
    auto in = [&](std::string_view context) { return same_name(path[0], context); };
    if (in("github") || in("vars") || (in("needs") && !maker.called)) return true;
    if (in("inputs")) return path.size() > 1 ? !maker.varying.contains(text::lower(path[1])) : maker.varying.empty();
    if (path.size() != 4 || !same_name(path[2], "outputs")) return false;
    if (in("steps")) return maker.job && agree_on_step(path[1], path[3], maker);
    const auto* job = in("jobs") || in("needs") ? maker.file.job(path[1]) : nullptr;
    return job && agree_on_output({maker.file, job, maker.called, maker.varying}, path[3]);
  }

  bool agree_on_output_of_call(const Maker& maker, std::string_view name) {
    auto call = std::ranges::find_if(maker.file.calls, [&](const Call& c) {
      return c.kind == Call::Kind::workflow && &maker.file.jobs[static_cast<std::size_t>(c.job)] == maker.job;
    });
    if (call == maker.file.calls.end() || call->inputs_unknown) return false;
    const auto* callee = repository_.find(call->file);
    if (!callee) return false;
    Maker inside{*callee, nullptr, true, {}};
    for (const auto& argument : call->arguments)
      if (!agree_on(argument.value, maker)) inside.varying.insert(text::lower(argument.name));
    auto output = std::ranges::find_if(callee->outputs, [&](const Member& m) { return same_name(m.key, name); });
    return output != callee->outputs.end() && agree_on(output->value.text_at("value"), inside);
  }

  /// Understands steps that write outputs and do nothing else: `echo "uri=${URI}" >> "$GITHUB_OUTPUT"`.
  bool agree_on_step(std::string_view id, std::string_view output, const Maker& maker) {
    auto step =
        std::ranges::find_if(maker.job->steps, [&](const Step& s) { return same_name(s.node->text_at("id"), id); });
    if (step == maker.job->steps.end() || !step->run || !agree_on_condition(*step, maker)) return false;
    const std::string* written = nullptr;
    for (const auto& command : step->commands) {
      const auto& words = command.words;
      bool writes = words.size() == 4 && words[0].text == "echo" && words[2].text == ">>" &&
                    (words[3].text == "$GITHUB_OUTPUT" || words[3].text == "${GITHUB_OUTPUT}");
      if (!writes) return false;
      if (words[1].text.starts_with(std::string(output) + "=")) written = &words[1].text;
    }
    return written && agree_on(*written, maker) && agree_on_variables(*written, *step, maker);
  }

  bool agree_on_condition(const Step& step, const Maker& maker) {
    auto condition = step.node->text_at("if");
    if (condition.empty() || condition.find("${{") != condition.npos) return agree_on(condition, maker);
    auto parsed = parse_expression(condition).expression;
    return parsed && agree_on(*parsed, maker);
  }

  bool agree_on_variables(std::string_view text, const Step& step, const Maker& maker) {
    if (text.find('`') != text.npos) return false;
    for (auto at = text.find('$'); at != text.npos; at = text.find('$', at + 1)) {
      auto rest = text.substr(at + 1);
      if (rest.starts_with("{{")) continue; // an expression
      if (rest.starts_with('{')) rest.remove_prefix(1);
      auto name = rest.substr(0, std::ranges::find_if_not(rest, is_of_name) - rest.begin());
      const auto* value = member(step.node->find("env"), name);
      if (!value || !agree_on(value->text, maker)) return false;
    }
    return true;
  }
  static bool is_of_name(char c) { return ascii::is_alnum(c) || c == '_'; }

  const Repository& repository_;
  std::map<std::tuple<const Job*, std::string, Names>, bool> known_; ///< by job, output and varying inputs
  int depth_ = 0;
};

/// The name that `NAME=value` sets: up to the first `=` outside of expressions.
std::string_view name_set_by(std::string_view word) {
  for (std::size_t at = 0; at < word.size(); ++at) {
    if (word.substr(at).starts_with("${{")) at = std::min(word.find("}}", at), word.size());
    if (at < word.size() && word[at] == '=') return word.substr(0, at);
  }
  return {};
}

/// Whether a text reads the matrix, itself or by a variable that the step sets from it.
bool reads_matrix(std::string_view text, const Step& step) {
  auto has_matrix = [](std::string_view value) {
    auto begin = value.find("${{");
    return begin != value.npos && value.find("matrix.", begin) != value.npos;
  };
  if (has_matrix(text)) return true;
  auto is_read = [&](std::string_view name) {
    auto at = name.empty() ? text.npos : text.find(name);
    return at != text.npos && at > 0 && (text[at - 1] == '$' || text[at - 1] == '{');
  };
  for (const auto& command : step.commands)
    for (const auto& word : command.words)
      if (auto name = name_set_by(word.text); is_read(name) && has_matrix(word.text)) return true;
  const auto* env = step.node->find("env");
  return env &&
         std::ranges::any_of(env->members, [&](const Member& m) { return is_read(m.key) && has_matrix(m.value.text); });
}

/// Whether `NAME=value` among its words may be a line for $GITHUB_OUTPUT: `make $P=1` sets a variable of make.
bool may_write_output(const ShellCommand& command) {
  auto text = words_of(command);
  auto program = program_of(command);
  return text.find("GITHUB_OUTPUT") != text.npos || text.find("write") != text.npos || program.starts_with("print") ||
         program == "echo" || program == "cat" || program.starts_with("write-") || program.starts_with("add-content");
}

/// Whether each leg writes an output of another name, and so no leg writes over another one's: GitHub documents
/// `echo "output_${{ matrix.version }}=…" >> "$GITHUB_OUTPUT"` for several outputs of a matrix.
bool has_name_of_leg(const Job& job, std::string_view output) {
  const auto* value = member(job.node->find("outputs"), output);
  auto read = value ? only_expression(value->text) : std::nullopt;
  if (!read || read->path.size() != 4 || !same_name(read->path[0], "steps")) return false;
  auto step =
      std::ranges::find_if(job.steps, [&](const Step& s) { return same_name(s.node->text_at("id"), read->path[1]); });
  if (step == job.steps.end()) return false;
  std::string_view wanted = read->path[3];
  bool own = false;
  for (const auto& command : step->commands) {
    if (!may_write_output(command)) continue;
    for (const auto& word : command.words) {
      auto name = name_set_by(word.text);
      auto varies = name.find('$');
      if (name == wanted && word.offset != command.words[0].offset) return false; // every leg writes it
      if (varies == name.npos || !wanted.starts_with(name.substr(0, varies))) continue;
      auto brace = name.rfind('}');
      own |= wanted.ends_with(brace == name.npos ? "" : name.substr(brace + 1)) && reads_matrix(name, *step);
    }
  }
  return own;
}

void check_file(const Rules& rules, const File& file) {
  Legs legs(rules.repository);
  std::set<std::string> told;
  for (const auto& read : file.reads) {
    if (read.path.size() < 4 || (read.path[0] != "needs" && read.path[0] != "jobs") || read.path[2] != "outputs")
      continue;
    for (const auto& job : file.jobs) {
      if (!same_name(job.id, read.path[1]) || !is_matrix(job)) continue;
      if (legs.agree_on_output({file, &job}, read.path[3]) || has_name_of_leg(job, read.path[3])) continue;
      if (!told.insert(job.id + "." + read.path[3]).second) continue;
      rules.add(file, read.at, "Y132", Severity::warning,
                fmt::format("output `{}` of job `{}` is read as one value, and each leg of its matrix writes it: the "
                            "last to end wins",
                            read.path[3], job.id),
                "write one output or artifact for each leg, or let one job decide");
    }
  }
}

} // namespace

void check_matrices(const Rules& rules) {
  for (const auto& file : rules.repository.files)
    if (!file->action) check_file(rules, *file);
}

} // namespace quarry::workflow
