#include "workflow/model.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "sys/machine.hpp"
#include "sys/path.hpp"
#include "thread/pool.hpp"
#include "workflow/model_parts.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <set>
#include <utility>

namespace quarry::workflow {

namespace {

bool is_true(const Node* node) { return node && text::lower(node->text) == "true"; }

Input read_input(const Member& member) {
  Input input;
  input.name = member.key;
  input.at = member.at;
  if (auto type = member.value.text_at("type"); !type.empty()) input.type = type;
  input.required = is_true(member.value.find("required"));
  input.fallback_at = member.at;
  if (const auto* fallback = member.value.find("default"); fallback && fallback->is_scalar()) {
    input.fallback = fallback->kind == Node::Kind::null ? "" : fallback->text;
    input.fallback_at = fallback->at;
  }
  auto description = text::lower(member.value.text_at("description"));
  input.explains_empty = description.find("empty") != description.npos || description.find("blank") != description.npos;
  if (const auto* options = member.value.find("options"))
    for (const auto& option : options->items) input.options.push_back(option.text);
  return input;
}

Entry read_entry(const Member& member) {
  Entry entry;
  entry.at = member.at;
  if (const auto* inputs = member.value.find("inputs"))
    for (const auto& input : inputs->members) entry.inputs.push_back(read_input(input));
  return entry;
}

void read_triggers(const Node& on, File& file) {
  for (const auto& member : on.members) {
    if (member.key == "workflow_dispatch") file.dispatch = read_entry(member);
    if (member.key != "workflow_call") continue;
    file.call = read_entry(member);
    if (const auto* outputs = member.value.find("outputs")) file.outputs = outputs->members;
  }
  auto named = [&](const Node& word) {
    Entry entry;
    entry.at = word.at;
    if (word.text == "workflow_dispatch") file.dispatch = entry;
    if (word.text == "workflow_call") file.call = entry;
  };
  if (on.is_scalar()) named(on);
  for (const auto& item : on.items) named(item);
}

std::vector<Step> read_steps(const Node* steps) {
  std::vector<Step> found;
  if (!steps) return found;
  for (const auto& node : steps->items) {
    Step step;
    step.node = &node;
    step.at = node.at;
    step.uses = node.text_at("uses");
    step.run = node.find("run");
    if (step.run) step.commands = shell_commands(step.run->text);
    for (const auto& label : {node.text_at("name"), node.text_at("id"), step.uses})
      if (step.label.empty()) step.label = label.substr(0, label.find('@'));
    if (step.label.empty()) step.label = fmt::format("step {}", found.size() + 1);
    found.push_back(std::move(step));
  }
  return found;
}

/// Whether an entry of `exclude` matches a value: a mapping has to name some of the value's keys only.
bool excludes(const Node& entry, const Node& value) {
  if (entry.is_scalar() || value.is_scalar()) return entry.is_scalar() && value.is_scalar() && entry.text == value.text;
  if (entry.is_mapping()) {
    return std::ranges::all_of(entry.members, [&](const Member& member) {
      const auto* inner = value.find(member.key);
      return inner && excludes(member.value, *inner);
    });
  }
  return std::ranges::equal(entry.items, value.items, excludes);
}

bool has_expression(const Node& node) {
  return node.text.find("${{") != std::string::npos || std::ranges::any_of(node.items, has_expression) ||
         std::ranges::any_of(node.members, [](const Member& member) { return has_expression(member.value); });
}

/// Which values of each column an entry of `exclude` matches: all of a column that it does not name. Empty if it names
/// a key that the matrix lacks.
std::vector<std::vector<bool>> matches_of(const Node& entry, const std::vector<const Member*>& columns) {
  std::vector<std::vector<bool>> matches;
  std::size_t named = 0;
  for (const auto* column : columns) {
    const auto* wanted = entry.find(column->key);
    named += wanted ? 1 : 0;
    auto& of_column = matches.emplace_back();
    for (const auto& value : column->value.items) of_column.push_back(!wanted || excludes(*wanted, value));
  }
  return named == entry.members.size() && named > 0 ? matches : std::vector<std::vector<bool>>();
}

/// So many comparisons of a combination with an entry of `exclude` are made; GitHub starts 256 jobs of a matrix.
constexpr std::size_t k_exclusions_max = 1'000'000;

/// The combinations of the columns that no entry of `exclude` matches; nullopt if nobody can say.
std::optional<std::size_t> combinations(const std::vector<const Member*>& columns, const Node* exclude) {
  std::size_t product = 1;
  for (const auto* column : columns)
    product = std::min(product * std::max<std::size_t>(column->value.items.size(), 1), k_legs_max + 1);
  if (!exclude || columns.empty()) return product;
  bool varies = std::ranges::any_of(columns, [](const Member* one) { return has_expression(one->value); });
  if (!exclude->is_sequence() || has_expression(*exclude) || varies) return std::nullopt;
  std::size_t values = columns.size();
  for (const auto* column : columns) values += column->value.items.size();
  if (std::max(product, values) * exclude->items.size() > k_exclusions_max) return std::nullopt;
  std::vector<std::vector<std::vector<bool>>> entries;
  for (const auto& entry : exclude->items)
    if (auto matches = matches_of(entry, columns); !matches.empty()) entries.push_back(std::move(matches));
  std::size_t kept = 0;
  for (std::size_t one = 0; one < product; ++one) {
    auto matched = [&](const std::vector<std::vector<bool>>& entry) {
      auto rest = one;
      return std::ranges::all_of(entry, [&](const std::vector<bool>& column) {
        if (column.empty()) return true;
        auto index = rest % column.size();
        rest /= column.size();
        return static_cast<bool>(column[index]);
      });
    };
    if (std::ranges::none_of(entries, matched)) ++kept;
  }
  return kept;
}

void read_matrix(const Node& matrix, Job& job) {
  job.has_matrix = true;
  if (!matrix.is_mapping()) {
    job.dynamic_matrix = true;
    return;
  }
  std::size_t rows = 0;
  std::vector<const Member*> columns;
  for (const auto& member : matrix.members) {
    if (member.key == "exclude") continue;
    if (!member.value.is_sequence()) {
      job.dynamic_matrix = true;
    } else if (member.key == "include") {
      rows = member.value.items.size();
    } else {
      columns.push_back(&member);
    }
  }
  auto product = combinations(columns, matrix.find("exclude"));
  if (!product) job.dynamic_matrix = true;
  // Rows of `include` may extend combinations instead of adding one: without columns each is a job.
  job.legs = std::max<std::size_t>(columns.empty() ? rows : product.value_or(1), 1);
  if (!columns.empty() && rows > 0) job.legs = std::max(job.legs, std::size_t{2});
}

Job read_job(const Member& member) {
  Job job;
  job.id = member.key;
  job.at = member.at;
  job.node = &member.value;
  job.uses = member.value.text_at("uses");
  job.steps = read_steps(member.value.find("steps"));
  if (const auto* needs = member.value.find("needs")) {
    if (needs->is_scalar() && !needs->text.empty()) job.needs.push_back(needs->text);
    for (const auto& need : needs->items) job.needs.push_back(need.text);
  }
  if (const auto* matrix = job.matrix()) read_matrix(*matrix, job);
  return job;
}

void read_action(File& file) {
  Entry entry;
  if (const auto* inputs = file.root.find("inputs"))
    for (const auto& input : inputs->members) entry.inputs.push_back(read_input(input));
  file.call = std::move(entry);
  const auto* runs = file.root.find("runs");
  if (!runs) return;
  Job job;
  job.id = "runs";
  job.at = runs->at;
  job.node = runs;
  job.steps = read_steps(runs->find("steps"));
  file.jobs.push_back(std::move(job));
}

/// Where the repository's root is, seen from a directory that holds workflows: two directories above if they are there
/// by the path that workflows have.
std::string way_to_root(Tree& tree, const std::vector<std::unique_ptr<File>>& files) {
  constexpr std::string_view k_up = "../../";
  if (files.empty() || files[0]->path.find('/') != std::string::npos) return "";
  return tree.exists(fmt::format("{}.github/workflows/{}", k_up, files[0]->path)) ? std::string(k_up) : "";
}

/// "./.github/actions/setup" -> ".github/actions/setup/action.yml", whichever of its names exists.
std::string action_file(const Repository& repository, const std::string& uses) {
  auto directory = path::normal(uses.substr(2));
  for (auto name : {"action.yml", "action.yaml"}) {
    auto file = repository.up + (directory == "." ? name : directory + "/" + name);
    if (repository.tree->exists(file)) return file;
  }
  return "";
}

void read_actions(Repository& repository) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < repository.files.size(); ++i) { // actions found on the way are looked at, too
    for (std::size_t c = 0; c < repository.files[i]->calls.size(); ++c) {
      auto& call = repository.files[i]->calls[c];
      if (call.kind != Call::Kind::action || call.foreign) continue;
      call.file = action_file(repository, call.target);
      if (call.file.empty() || !seen.insert(call.file).second) continue;
      auto text = repository.tree->read(call.file, 4 * k_file_bytes_max);
      if (!text) continue;
      auto file = read_file_model(call.file, std::move(*text), true, repository.defects);
      if (file->root.find("runs")) repository.files.push_back(std::move(file)), ++repository.actions;
    }
  }
}

void resolve_workflows(Repository& repository) {
  for (auto& file : repository.files)
    for (auto& call : file->calls) {
      if (call.kind == Call::Kind::action || call.foreign || call.unknown) continue;
      for (const auto& target : repository.files) {
        bool by_name = call.kind == Call::Kind::dispatch && target->name == call.target;
        bool local = call.kind == Call::Kind::workflow && call.target.starts_with("./");
        bool elsewhere = local && path::dirname(path::normal(call.target)) != ".github/workflows";
        bool by_file = !elsewhere && target->basename() == path::basename(call.target);
        if (!target->action && (by_file || by_name)) call.file = target->path;
      }
    }
}
} // namespace

bool same_name(std::string_view a, std::string_view b) {
  auto lower = [](char c) { return ascii::is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

const Input* Entry::find(std::string_view wanted) const {
  for (const auto& input : inputs)
    if (same_name(input.name, wanted)) return &input;
  return nullptr;
}

const Argument* Call::find(std::string_view wanted) const {
  for (const auto& argument : arguments)
    if (same_name(argument.name, wanted)) return &argument;
  return nullptr;
}

std::string File::basename() const { return std::string(path::basename(path)); }

const Input* File::input(std::string_view wanted) const {
  for (const auto* entry : {&call, &dispatch})
    if (*entry)
      if (const auto* found = (*entry)->find(wanted)) return found;
  return nullptr;
}

const Job* File::job(std::string_view id) const {
  auto found = std::find_if(jobs.begin(), jobs.end(), [&](const Job& one) { return one.id == id; });
  return found == jobs.end() ? nullptr : &*found;
}

const Node* Job::strategy() const { return node->find("strategy"); }

const Node* Job::matrix() const {
  const auto* found = strategy();
  return found ? found->find("matrix") : nullptr;
}

std::vector<std::string> File::input_names() const {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const auto* entry : {&call, &dispatch}) {
    if (!*entry) continue;
    for (const auto& one : (*entry)->inputs)
      if (seen.insert(text::lower(one.name)).second) names.push_back(one.name);
  }
  return names;
}

const File* Repository::find(std::string_view wanted) const {
  for (const auto& file : files)
    if (file->path == wanted) return file.get();
  return nullptr;
}

std::unique_ptr<File> read_file_model(std::string path, std::string text, bool action, std::vector<Located>& defects) {
  auto file = std::make_unique<File>();
  auto parsed = parse_yaml({text, path});
  for (auto& defect : parsed.defects) defects.push_back(std::move(defect));
  file->path = std::move(path);
  file->text = std::move(text);
  file->action = action;
  file->root = std::move(parsed.root);
  file->name = file->root.text_at("name");
  file->readable = parsed.readable;
  if (!parsed.readable) return file;
  if (!file->root.is_mapping())
    defects.push_back({file->path, file->root.at, "Y101", Severity::error,
                       action ? "the file is not an action: it holds no keys such as `runs`"
                              : "the file is not a workflow: it holds no keys such as `on` and `jobs`",
                       "write it, or remove the file"});
  if (action) {
    read_action(*file);
  } else {
    if (const auto* on = file->root.find("on")) read_triggers(*on, *file);
    if (const auto* jobs = file->root.find("jobs"))
      for (const auto& member : jobs->members) file->jobs.push_back(read_job(member));
  }
  collect_reads(*file, defects);
  collect_calls(*file);
  return file;
}

namespace {
struct Source {
  std::string path, text;
  std::vector<Located> defects;
  std::unique_ptr<File> model = {};
};

/// Trees are not thread-safe, so the files are read one after the other.
std::vector<Source> read_sources(Tree& tree, std::vector<Located>& defects) {
  std::vector<Source> sources;
  for (const auto& path : workflow_files(tree)) {
    // The bound on a file's size is a finding; reading stops a little later.
    auto text = tree.read(path, 64 * k_file_bytes_max);
    if (text)
      sources.push_back({path, std::move(*text), {}});
    else
      defects.push_back({path,
                         {},
                         text.error().kind == ErrorKind::resource_exhausted ? "Y102" : text.error().code,
                         Severity::error,
                         text.error().message,
                         text.error().hint});
  }
  return sources;
}
} // namespace

Result<Repository> read_repository(Tree& tree) {
  Repository repository;
  repository.tree = &tree;
  auto sources = read_sources(tree, repository.defects);
  // Parsing takes most of the time of `workflow lint`: of 55 workflows, 460 kB, 12 ms on one core.
  TRY_DO(parallel_for(sources.size(), sys::cpu_count(), [&](std::size_t i) -> Result<void> {
    auto& source = sources[i];
    source.model = read_file_model(std::move(source.path), std::move(source.text), false, source.defects);
    return {};
  }));
  for (auto& source : sources) {
    std::move(source.defects.begin(), source.defects.end(), std::back_inserter(repository.defects));
    repository.files.push_back(std::move(source.model));
  }
  if (repository.files.empty() && repository.defects.empty())
    return fail(ErrorKind::not_found, "Y152", "there is no workflow file",
                "name a directory with .github/workflows, or one that holds .yml files");
  repository.workflows = repository.files.size();
  repository.up = way_to_root(tree, repository.files);
  read_actions(repository);
  resolve_workflows(repository);
  return repository;
}

} // namespace quarry::workflow
