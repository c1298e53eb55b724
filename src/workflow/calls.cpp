// Who is called or dispatched, with which inputs.
#include "base/json.hpp"
#include "base/text.hpp"
#include "sys/path.hpp"
#include "workflow/downloads.hpp"
#include "workflow/javascript.hpp"
#include "workflow/model_parts.hpp"
#include "workflow/programs.hpp"
#include "workflow/values.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <optional>

namespace quarry::workflow {

namespace {
struct PlacedScript {
  const Node& scalar;
  Positions places; ///< in it
};

/// `[…/]repos/OWNER/REPO`.
bool ends_with_repository(std::string_view address) {
  auto parts = text::split(address, '/');
  const auto size = parts.size();
  return size >= 3 && parts[size - 3] == "repos" && !parts[size - 2].empty() && !parts[size - 1].empty();
}
} // namespace

void read_dispatch_address(const std::string& word, Call& call) {
  constexpr std::string_view k_before = "/actions/workflows/", k_after = "/dispatches";
  auto marker = word.find(k_before);
  if (marker == word.npos || !word.ends_with(k_after)) return;
  auto begin = marker + k_before.size();
  call.target = word.substr(begin, word.size() - begin - k_after.size());
  auto owner = word.substr(0, marker);
  bool varies = owner.find_first_of("${") != owner.npos;
  call.foreign = !varies && ends_with_repository(owner);
  call.unknown |= !varies && !call.foreign; // the end of an address that a script puts together
}

namespace {

std::vector<Argument> arguments_of(const Node* with) {
  std::vector<Argument> found;
  if (!with) return found;
  for (const auto& member : with->members)
    found.push_back({member.key, member.value.text, member.at, member.value.kind,
                     member.value.style == Node::Style::quoted && !member.value.bound ? member.value.at : Position{}});
  return found;
}

bool is_workflow_path(std::string_view uses) {
  auto path = uses.substr(0, uses.find('@'));
  return path.ends_with(".yml") || path.ends_with(".yaml");
}
/// GitHub's number of a workflow, which its files do not tell.
bool is_workflow_number(std::string_view target) {
  return !target.empty() && target.find_first_not_of("0123456789") == target.npos;
}
bool is_local(std::string_view uses) { return uses.starts_with("./") || uses.starts_with("$/"); }

// dispatch JSON

/// The text with each expression replaced by `\u0001N\u0001`, quoted where it stood outside of quotes, so that JSON can
/// be parsed; the expressions, by N.
struct Masked {
  std::string text;
  std::vector<std::string> expressions;
  bool outside = false; ///< an expression stood outside of quotes: it may be more than one value
};

Masked mask(std::string_view text) {
  Masked masked;
  bool quoted = false;
  for (const auto& piece : split_template(text)) {
    if (!piece.is_expression) {
      for (std::size_t i = 0; i < piece.text.size(); ++i)
        if (piece.text[i] == '"' && (i == 0 || piece.text[i - 1] != '\\')) quoted = !quoted;
      masked.text += piece.text;
      continue;
    }
    auto name = fmt::format("\\u0001{}\\u0001", masked.expressions.size());
    masked.text += quoted ? name : "\"" + name + "\"";
    masked.outside |= !quoted;
    masked.expressions.push_back("${{" + piece.text + "}}");
  }
  return masked;
}

std::string unmask(const std::string& text, const Masked& masked) {
  auto parts = text::split(text, '\1');
  std::string shown;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto number = i % 2 == 1 ? text::parse_u64(parts[i]) : std::nullopt;
    shown += number && *number < masked.expressions.size() ? masked.expressions[*number] : parts[i];
  }
  return shown;
}

constexpr std::size_t k_placed_inputs_max = 100; // GitHub takes 25; of more, all get the place of the call

/// The members of a JSON object as inputs; `script` is the scalar that holds the JSON, with its places.
void add_json_inputs(const nlohmann::json& inputs, const Masked& masked, PlacedScript& script, Call& call) {
  bool exact = inputs.size() <= k_placed_inputs_max; // else looking for each would take long
  for (const auto& [name, value] : inputs.items()) {
    auto offset = exact ? script.scalar.text.find("\"" + name + "\"") : std::string::npos;
    Argument argument{unmask(name, masked), {}, script.places.at(offset == std::string::npos ? 0 : offset)};
    argument.value = unmask(value.is_string() ? value.get<std::string>() : json::text(value), masked);
    if (value.is_number()) argument.kind = Node::Kind::number;
    if (value.is_boolean()) argument.kind = Node::Kind::boolean;
    if (argument.name.find("${{") != std::string::npos) call.inputs_unknown = true;
    call.arguments.push_back(std::move(argument));
  }
}

void read_json_inputs(const Node& inputs, Call& call) {
  auto masked = mask(inputs.text);
  auto parsed = json::parse({masked.text, "inputs"});
  if (!parsed || !parsed->is_object()) {
    call.inputs_unknown |= masked.outside;
    if (!masked.outside)
      call.defect = !parsed ? parsed.error().message : std::string("it is not an object"), call.defect_at = inputs.at;
    return;
  }
  PlacedScript script{inputs, Positions(inputs)};
  add_json_inputs(*parsed, masked, script, call);
}

/// `uses: OWNER/workflow-dispatch@…` with `workflow`, `inputs` (JSON), `ref`, `repo`.
void add_dispatch_action(File& file, int job, int step) {
  const auto& from = file.jobs[static_cast<std::size_t>(job)].steps[static_cast<std::size_t>(step)];
  const auto* with = from.node->find("with");
  if (!with) return;
  Call call;
  call.kind = Call::Kind::dispatch;
  call.how = from.uses.substr(0, from.uses.find('@'));
  call.target = with->text_at("workflow");
  call.job = job;
  call.step = step;
  call.at = from.at;
  if (const auto* workflow = with->find("workflow")) call.at = workflow->at;
  call.unknown = call.target.find("${{") != std::string::npos;
  auto repository = with->text_at("repo");
  call.foreign = !repository.empty() && repository.find("github.repository") == std::string::npos;
  if (const auto* ref = with->find("ref")) call.ref = ref->text;
  if (const auto* inputs = with->find("inputs"); inputs && inputs->is_scalar() && !inputs->text.empty())
    read_json_inputs(*inputs, call);
  file.calls.push_back(std::move(call));
}

// gh and curl in scripts

/// The words of a command from the one on that names its program.
struct Started {
  std::vector<Word> words;
  std::string repository; ///< GH_REPO, where the command sets it
};

/// The name in lower case, as PowerShell does not mind the case: `Invoke-RestMethod`.
bool is_http_client(std::string_view name) {
  static constexpr std::array<std::string_view, 6> k_names = {
      "curl", "wget", "invoke-restmethod", "irm", "invoke-webrequest", "iwr"};
  return is_among(name, k_names);
}

constexpr int k_substitutions_max = 3; // "$(f "$(gh …)")"

/// Without the parentheses that close what began before the program: `x=$(gh api a/b)`.
void drop_closing(std::vector<Word>& words) {
  for (auto& word : words) {
    if (word.text.ends_with('`') && std::ranges::count(word.text, '`') == 1) word.text.pop_back();
    if (word.text.find("${{") != std::string::npos) continue;
    auto extra = std::ranges::count(word.text, ')') - std::ranges::count(word.text, '(');
    for (; extra > 0 && word.text.ends_with(')'); --extra) word.text.pop_back();
  }
}

/// The programs that a command starts: itself, `x=$(gh …)`, `(gh …)`, and those in a text with `$(…)`.
void add_started(const ShellCommand& command, int depth, std::vector<Started>& into) {
  const auto& words = command.words;
  auto at = program_at(command);
  std::string repository;
  auto program = program_of(command);
  bool evaluates = program == "eval" || program == "ssh" || program == "su"; // what single quotes keep from this shell
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& word = words[i].text;
    evaluates = evaluates || is_interpreter(path::basename(word)); // docker exec c bash -c '… $(gh …)'
    if (i < at && word.starts_with("GH_REPO=")) repository = word.substr(word.find('=') + 1);
    auto open = word.find_last_of("(`");
    auto name = open == word.npos ? std::string_view(word) : std::string_view(word).substr(open + 1);
    bool blank = word.find_first_of(" \n") != word.npos, starts = i == at || (open != word.npos && !blank);
    auto client = starts ? text::lower(path::basename(name)) : std::string();
    if (client == "gh" || is_http_client(client)) {
      Started one{{words.begin() + static_cast<std::ptrdiff_t>(i), words.end()}, repository};
      one.words[0] = {client, words[i].offset + word.size() - name.size()};
      drop_closing(one.words);
      into.push_back(std::move(one));
      return;
    }
    auto inside =
        blank && (evaluates || !words[i].literal) && depth < k_substitutions_max ? word.find("$(") : word.npos;
    if (inside == word.npos) continue;
    for (auto& inner : shell_commands(std::string_view(word).substr(inside + 2))) {
      for (auto& one : inner.words) one.offset = words[i].offset;
      add_started(inner, depth + 1, into);
    }
  }
}

std::optional<std::string> option(const std::vector<Word>& words, std::size_t& at, std::string_view name) {
  const auto& word = words[at].text;
  if (word == name && at + 1 < words.size()) return words[++at].text;
  if (name.starts_with("--") && word.starts_with(std::string(name) + "=")) return word.substr(name.size() + 1);
  bool glued = !name.starts_with("--") && word.size() > name.size() && word.starts_with(name);
  return glued ? std::optional(word.substr(name.size() + (word[name.size()] == '=' ? 1 : 0))) : std::nullopt;
}

/// Whether the shell or GitHub puts other text, and maybe several words, in its place.
bool varies(std::string_view word) { return word.find_first_of("$`") != word.npos; }

bool is_this_repository(std::string_view name) {
  auto text = canonical(name);
  return text == "${{github.repository}}" || text == "$GITHUB_REPOSITORY" || text == "${GITHUB_REPOSITORY}";
}

void set_repository(std::string_view name, Call& call) {
  call.foreign = !varies(name);
  call.unknown |= varies(name) && !is_this_repository(name);
}

void add_field(const std::string& field, Position at, Call& call) {
  auto equals = field.find('=');
  auto name = field.substr(0, equals);
  if (varies(name)) call.inputs_unknown = true;
  if (equals == field.npos) return;
  if (name == "ref" && call.how == "gh api") {
    call.ref = field.substr(equals + 1);
    return;
  }
  if (name.starts_with("inputs[") && name.ends_with("]")) name = name.substr(7, name.size() - 8);
  call.arguments.push_back({name, field.substr(equals + 1), at});
}

/// Options of `gh api` with a value that says nothing about the dispatch.
bool has_other_value(std::string_view word) {
  static constexpr std::array<std::string_view, 12> k_words = {
      "-H", "--header", "-X", "--method", "-q", "--jq", "-t", "--template", "-p", "--preview", "--cache", "--hostname"};
  return is_among(word, k_words);
}

/// Reads the words of `gh` from `i` on; returns the last one that it took.
std::size_t read_gh_words(const std::vector<Word>& words, std::size_t i, PlacedScript& script, Call& call) {
  bool run = call.how == "gh workflow run";
  for (std::string_view name : {"-f", "-F", "--field", "--raw-field"})
    if (auto at = words[i].offset; auto field = option(words, i, name))
      return add_field(*field, script.places.at(at), call), i;
  if (!run && has_other_value(words[i].text)) return i + 1;
  for (std::string_view name : {"-r", "--ref"})
    if (auto ref = run ? option(words, i, name) : std::nullopt) return call.ref = *ref, i;
  for (std::string_view name : {"-R", "--repo"})
    if (auto repository = run ? option(words, i, name) : std::nullopt) return set_repository(*repository, call), i;
  const auto& word = words[i].text;
  if (word == "--json" || word == "--input" || word.starts_with("--input=")) call.inputs_unknown = true;
  if (word.ends_with('>') || word.ends_with('<')) return i + 1; // a redirection: the file is the next word
  if (word.starts_with('-') || word.find_first_of("<>") != word.npos) return i;
  auto had_target = !call.target.empty();
  if (run && !had_target) call.target = word;
  if (!run) read_dispatch_address(word, call);
  if (varies(word) && (had_target || call.target.empty())) { // `"${args[@]}"` may hold any option
    call.inputs_unknown = true;
    if (!call.ref) call.ref = word;
  }
  return i;
}

/// `gh workflow run FILE -f name=value --ref R` and `gh api repos/O/R/actions/workflows/FILE/dispatches -f …`.
std::optional<Call> gh_call(const Started& started, PlacedScript& script) {
  const auto& words = started.words;
  if (words.size() < 3 || words[0].text != "gh") return std::nullopt;
  Call call;
  call.kind = Call::Kind::dispatch;
  bool run = words[1].text == "workflow" && words[2].text == "run";
  if (!run && words[1].text != "api") return std::nullopt;
  call.how = run ? "gh workflow run" : "gh api";
  call.at = script.places.at(words[0].offset);
  if (!started.repository.empty()) set_repository(started.repository, call);
  for (std::size_t i = run ? 3 : 2; i < words.size(); ++i) i = read_gh_words(words, i, script, call);
  if (call.target.empty()) return std::nullopt;
  call.unknown |= varies(call.target);
  return call;
}

/// `curl -d '{"ref": "main", "inputs": {…}}' HOST/repos/O/R/actions/workflows/FILE/dispatches`, and so wget and
/// PowerShell.
std::optional<Call> curl_call(const Started& started, PlacedScript& script) {
  const auto& words = started.words;
  if (words.size() < 3 || !is_http_client(words[0].text)) return std::nullopt;
  Call call;
  call.kind = Call::Kind::dispatch;
  call.how = words[0].text;
  call.at = script.places.at(words[0].offset);
  call.inputs_unknown = true;
  for (std::size_t i = 1; i < words.size(); ++i) {
    for (std::string_view name : {"-d", "--data", "--data-raw", "--json", "--post-data", "--body-data", "-Body"})
      if (auto data = option(words, i, name)) {
        auto masked = mask(*data);
        auto body = json::parse({masked.text, "body"});
        if (!body || !body->is_object() || masked.text.find('$') != std::string::npos) continue;
        if (auto ref = body->find("ref"); ref != body->end() && ref->is_string()) call.ref = ref->get<std::string>();
        auto inputs = body->find("inputs");
        call.inputs_unknown = inputs != body->end() && !inputs->is_object();
        if (inputs != body->end() && inputs->is_object()) add_json_inputs(*inputs, masked, script, call);
      }
    read_dispatch_address(words[i].text, call);
  }
  if (call.target.empty()) return std::nullopt;
  call.unknown |= call.target.find('$') != call.target.npos;
  return call;
}

void add_javascript_calls(File& file, int job, int step, ScriptBounds& bounds) {
  const auto& one = file.jobs[static_cast<std::size_t>(job)].steps[static_cast<std::size_t>(step)];
  const auto* with = one.node->find("with");
  const auto* script = with ? with->find("script") : nullptr;
  if (!script || !script->is_scalar()) return;
  for (auto& call : javascript_calls(*script, bounds)) {
    call.job = job;
    call.step = step;
    file.calls.push_back(std::move(call));
  }
}

void add_script_calls(File& file, int job, int step) {
  const auto& one = file.jobs[static_cast<std::size_t>(job)].steps[static_cast<std::size_t>(step)];
  const auto& text = one.run->text;
  if (text.find("gh ") == std::string::npos && text.find("/dispatches") == std::string::npos) return;
  PlacedScript script{*one.run, Positions(*one.run)};
  std::vector<Started> all;
  for (const auto& command : with_inner_commands(one.commands)) add_started(command, 0, all);
  for (const auto& started : all) {
    auto call = gh_call(started, script);
    if (!call) call = curl_call(started, script);
    if (!call) continue;
    call->job = job;
    call->step = step;
    file.calls.push_back(std::move(*call));
  }
}

void add_use(File& file, const std::string& uses, const Node& node, int job, int step) {
  Call call;
  call.kind = is_workflow_path(uses) ? Call::Kind::workflow : Call::Kind::action;
  call.how = "uses";
  call.target = uses;
  call.foreign = !is_local(uses);
  call.job = job;
  call.step = step;
  call.at = node.at;
  if (const auto* place = node.find("uses")) call.at = place->at;
  call.arguments = arguments_of(node.find("with"));
  file.calls.push_back(std::move(call));
}
} // namespace

void collect_calls(File& file) {
  ScriptBounds bounds;
  for (std::size_t j = 0; j < file.jobs.size(); ++j) {
    const auto job = static_cast<int>(j);
    if (!file.jobs[j].uses.empty()) add_use(file, file.jobs[j].uses, *file.jobs[j].node, job, -1);
    for (std::size_t s = 0; s < file.jobs[j].steps.size(); ++s) {
      const auto& step = file.jobs[j].steps[s];
      auto index = static_cast<int>(s);
      auto action = text::lower(step.uses.substr(0, step.uses.find('@')));
      if (action.ends_with("workflow-dispatch")) add_dispatch_action(file, job, index);
      if (is_local(step.uses)) add_use(file, step.uses, *step.node, job, index);
      if (action == "actions/github-script") add_javascript_calls(file, job, index, bounds);
      if (step.run) add_script_calls(file, job, index);
    }
  }
  file.calls_left_out = bounds.calls_left_out;
  for (auto& call : file.calls)
    if (call.kind == Call::Kind::dispatch && is_workflow_number(call.target)) call.unknown = true;
}

} // namespace quarry::workflow
