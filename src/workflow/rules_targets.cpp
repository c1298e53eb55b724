// GPU targets: lists written down in several places, lists that no input reaches, families that do not reach a build.
#include "base/ascii.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "sys/path.hpp"
#include "workflow/rules.hpp"
#include "workflow/rules_versions.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace quarry::workflow {

namespace {
constexpr std::size_t k_list_targets_min = 3;     // two targets are a condition more often than a list
constexpr std::size_t k_neighbours_max = 200;     // a directory of scripts
constexpr std::size_t k_scanned_files_max = 2000; // build files; the largest repository of the field has 700
constexpr std::uint64_t k_scanned_bytes_max = 1u << 20;

struct TargetList {
  std::string repository; ///< empty: this one
  std::string file, name; ///< of the constant: TF_ROCM_AMDGPU_TARGETS; empty when it has none
  Position at;
  std::set<std::string> targets;
  bool from_variable = false; ///< ${VAR:-…}: can be set from outside
  bool argument = false;      ///< a Dockerfile's ARG: somebody may pass it by --build-arg
  bool is_short() const { return targets.size() < k_list_targets_min; } ///< counts as a copy of its name only
};

bool is_dockerfile(const std::string& path) {
  return text::lower(path::basename(path)).find("dockerfile") != std::string::npos;
}

bool is_build_file(const std::string& path) {
  auto name = text::lower(path::basename(path));
  return is_dockerfile(path) || name.ends_with(".bazelrc") || name.ends_with(".lst");
}

/// "gfx942", "gfx90a", "gfx9-4-generic"; not families such as gfx94X-dcgpu.
std::size_t target_length(std::string_view text) {
  if (!text.starts_with("gfx")) return 0;
  std::size_t at = 3, digits = 0;
  while (at < text.size() && ascii::is_lower_hex(text[at])) ++at, ++digits;
  auto rest = text.substr(at);
  for (std::size_t i = 0; rest.starts_with('-') && i < rest.size(); ++i) {
    if (rest.substr(i).starts_with("-generic")) return at + i + std::string_view("-generic").size();
    if (rest[i] != '-' && (rest[i] < '0' || rest[i] > '9')) break;
  }
  bool ends = rest.empty() || !(rest[0] == '-' || rest[0] == '_' || (rest[0] >= 'A' && rest[0] <= 'z'));
  return digits >= 3 && digits <= 4 && ends ? at : 0;
}

/// The identifier before the list: NAME=gfx…, NAME="gfx…", --repo_env=NAME=gfx…, ENV NAME gfx….
std::string constant_name(std::string_view line, std::size_t begin) {
  if (auto words = text::split_any(line.substr(0, begin), " \t\"'"); words.size() == 2 && words[0] == "ENV")
    return words[1].substr(0, words[1].find('='));
  while (begin > 0 && std::string_view("\"' ").find(line[begin - 1]) != std::string_view::npos) --begin;
  if (begin == 0 || (line[begin - 1] != '=' && line[begin - 1] != ':' && line[begin - 1] != '-')) return "";
  auto end = begin - 1;
  if (end > 0 && line[end] == '-' && line[end - 1] == ':') --end; // ${NAME:-gfx…}
  auto first = end;
  auto in_name = [](char c) { return c == '_' || ascii::is_alnum(c); };
  while (first > 0 && in_name(line[first - 1])) --first;
  return std::string(line.substr(first, end - first));
}

void lists_in_line(std::string_view line, std::uint32_t number, const TargetList& origin,
                   std::vector<TargetList>& found) {
  for (std::size_t at = line.find("gfx"); at != line.npos; at = line.find("gfx", at)) {
    auto list = origin;
    auto begin = at;
    while (auto length = target_length(line.substr(at))) {
      list.targets.insert(std::string(line.substr(at, length)));
      at += length;
      auto next = line.find_first_not_of(",; '\"", at);
      if (next == line.npos || next == at || !line.substr(next).starts_with("gfx")) break;
      at = next;
    }
    if (at == begin) at += 3;
    list.at = {number, static_cast<std::uint32_t>(begin + 1)};
    list.name = constant_name(line, begin);
    if (list.targets.empty() || (list.is_short() && list.name.empty())) continue;
    list.argument = text::trim(line).starts_with("ARG ");
    list.from_variable = line.substr(0, begin).find(":-") != line.npos;
    found.push_back(std::move(list));
  }
}

std::string_view stripped(std::string_view line, std::string_view characters) {
  auto begin = line.find_first_not_of(characters);
  return begin == line.npos ? std::string_view() : line.substr(begin, line.find_last_not_of(characters) - begin + 1);
}

/// Targets that stand one on a line: in a `.lst` file, in a value that `\` continues, in a text of several lines. An
/// item of a YAML list is a leg of a matrix.
class Column {
public:
  explicit Column(std::vector<TargetList>& found) : found_(found) {}

  /// Whether the line is a part of a column. `before` is the line in front of it.
  bool take(std::string_view line, std::uint32_t number, std::string_view before, const TargetList& origin) {
    auto target = stripped(line, " \t\r\"',;\\");
    bool alone = !target.empty() && target_length(target) == target.size();
    if (!alone || number != last_ + 1) end();
    if (!alone) return false;
    if (list_.targets.empty()) {
      list_ = origin;
      list_.at = {number, static_cast<std::uint32_t>(line.find(target) + 1)};
      auto head = stripped(before, " \t\r\"'\\|>(");
      list_.name = constant_name(head, head.size());
      list_.argument = head.starts_with("ARG ");
      list_.from_variable = head.find(":-") != head.npos;
    }
    list_.targets.insert(std::string(target));
    last_ = number;
    return true;
  }
  void end() {
    if (list_.targets.size() >= k_list_targets_min) found_.push_back(std::move(list_));
    list_ = {};
  }

private:
  std::vector<TargetList>& found_;
  TargetList list_;
  std::uint32_t last_ = 0;
};

/// Looks for lists in one build file.
void lists_of_build_file(const std::string& text, const TargetList& origin, std::vector<TargetList>& found) {
  if (text.find("gfx") == std::string::npos) return;
  std::uint32_t number = 0;
  std::string_view before;
  Column column(found);
  const auto lines = text::lines(text);
  for (const auto& line : lines) {
    ++number;
    bool taken = column.take(line, number, before, origin);
    if (!taken && !text::trim(line).starts_with('#')) lists_in_line(line, number, origin, found);
    before = line;
  }
  column.end();
}

/// What else is wanted of the build files of the repository itself: each file is read once.
struct BuildFileParts {
  std::vector<WrittenVersion>& versions;
  std::vector<std::unique_ptr<File>>& suppressing;

  void take(const std::string& path, std::string text) const {
    if (is_dockerfile(path)) add_dockerfile_versions(path, text, versions);
    if (text.find(k_suppression) == std::string::npos) return;
    auto file = std::make_unique<File>();
    file->path = path;
    file->text = std::move(text);
    file->readable = true;
    suppressing.push_back(std::move(file));
  }
};

void lists_of_tree(Tree& tree, const std::string& repository, std::vector<TargetList>& found,
                   const BuildFileParts& parts) {
  std::size_t scanned = 0;
  for (const auto& path : tree.files()) {
    if (!is_build_file(path) || ++scanned > k_scanned_files_max) continue;
    auto text = tree.read(path, k_scanned_bytes_max);
    if (!text) continue;
    TargetList origin;
    origin.repository = repository;
    origin.file = path;
    lists_of_build_file(*text, origin, found);
    if (repository.empty()) parts.take(path, std::move(*text));
  }
}

void lists_of_workflows(const Repository& repository, std::vector<TargetList>& found) {
  for (const auto& file : repository.files) {
    TargetList origin;
    origin.file = file->path;
    const std::string_view text = file->text;
    std::uint32_t number = 1;
    std::size_t begin = 0; // of line `number`
    Column column(found);
    for (auto at = text.find("gfx"); at != text.npos; at = text.find("gfx", begin)) {
      for (auto end = text.find('\n', begin); end < at; end = text.find('\n', begin)) begin = end + 1, ++number;
      auto end = std::min(text.find('\n', at), text.size());
      auto line = text.substr(begin, end - begin);
      auto trimmed = text::trim(line);
      bool words = trimmed.starts_with('#') || trimmed.starts_with("description:");
      auto before = text.substr(0, begin == 0 ? 0 : begin - 1);
      before = before.substr(before.rfind('\n') + 1); // npos + 1 is 0
      if (!words && !column.take(line, number, before, origin)) lists_in_line(line, number, origin, found);
      begin = std::min(end + 1, text.size()), ++number;
    }
    column.end();
  }
}

std::string place_of_file(const TargetList& list) {
  return (list.repository.empty() ? "" : list.repository + ":") + list.file;
}

std::string place_of(const TargetList& list) { return fmt::format("{}:{}", place_of_file(list), list.at.line); }

/// Copies of one list: they have one name, and one of them is in a build file, or at least half of all their targets
/// are common.
bool alike(const TargetList& a, const TargetList& b) {
  bool same_constant = !a.name.empty() && a.name == b.name && place_of_file(a) != place_of_file(b) &&
                       (is_build_file(a.file) || is_build_file(b.file));
  if (same_constant || a.is_short() || b.is_short()) return same_constant;
  std::vector<std::string> common;
  std::set_intersection(a.targets.begin(), a.targets.end(), b.targets.begin(), b.targets.end(),
                        std::back_inserter(common));
  return 2 * common.size() >= a.targets.size() + b.targets.size() - common.size();
}

void add_at(const Rules& rules, const TargetList& list, std::string code, std::string message, std::string fix) {
  rules.report.findings.push_back({list.repository.empty() ? list.file : list.repository + ":" + list.file, list.at,
                                   std::move(code), Severity::warning, std::move(message), std::move(fix)});
}

void check_copies(const Rules& rules, const std::vector<TargetList>& lists) {
  std::vector<bool> told(lists.size());
  for (std::size_t i = 0; i < lists.size(); ++i) {
    std::vector<std::string> places;
    const TargetList* different = nullptr;
    for (std::size_t k = i + 1; k < lists.size() && !told[i]; ++k) {
      if (told[k] || !alike(lists[i], lists[k])) continue;
      if (lists[k].file == lists[i].file && lists[k].name != lists[i].name) continue;
      told[k] = true;
      if (lists[k].targets == lists[i].targets) continue;
      different = different ? different : &lists[k];
      places.push_back(place_of(lists[k]));
    }
    if (!different) continue;
    std::vector<std::string> only;
    std::set_symmetric_difference(lists[i].targets.begin(), lists[i].targets.end(), different->targets.begin(),
                                  different->targets.end(), std::back_inserter(only));
    add_at(rules, lists[i], "Y130",
           fmt::format("this list of {}{} is written again with other contents in {}; the first differs in {}",
                       units::things(lists[i].targets.size(), "GPU target"),
                       lists[i].name.empty() ? "" : ", `" + lists[i].name + "`,", text::first(places, k_names_shown),
                       text::first(only, k_names_shown)),
           "write the list once and pass it");
  }
}

/// Whether a script or build description beside the file or above it has the name: it may pass `--build-arg NAME=…`.
bool is_passed_nearby(Tree& tree, const TargetList& list) {
  auto may_build = [](std::string_view name) {
    for (std::string_view end : {".sh", ".py", ".yml", ".yaml", ".hcl", ".mk", "Makefile", ".json"})
      if (name.ends_with(end)) return true;
    return false;
  };
  auto directory = std::string(path::dirname(list.file));
  for (std::size_t scanned = 0; scanned < k_neighbours_max;) {
    bool root = directory.empty() || directory == ".";
    for (const auto& name : tree.files_in(root ? "" : directory)) {
      if (!may_build(name) || ++scanned > k_neighbours_max) continue;
      auto text = tree.read(root ? name : directory + "/" + name, k_scanned_bytes_max);
      if (text && text->find(list.name) != std::string::npos) return true;
    }
    if (root) return false;
    directory = std::string(path::dirname(directory));
  }
  return false;
}

/// A list in a build file that nothing outside sets: the family that a workflow asks for does not reach it.
void check_reach(const Rules& rules, const std::vector<TargetList>& lists) {
  for (const auto& list : lists) {
    if (list.from_variable || list.is_short() || !is_build_file(list.file)) continue;
    auto mentioned = [&](const std::unique_ptr<File>& file) {
      return !list.name.empty() && file->text.find(list.name) != std::string::npos;
    };
    const auto& files = rules.repository.files;
    if (std::any_of(files.begin(), files.end(), mentioned)) continue;
    auto other = rules.others.find(text::lower(list.repository));
    auto& tree = other == rules.others.end() ? *rules.repository.tree : *other->second;
    if (list.argument && !list.name.empty() && is_passed_nearby(tree, list)) continue;
    auto name = list.name.empty() ? "" : " of `" + list.name + "`";
    add_at(rules, list, "Y131",
           list.argument ? fmt::format("these {} GPU targets{} are the default of a build argument that no workflow "
                                       "passes: no input reaches the list",
                                       list.targets.size(), name)
                         : fmt::format("these {} GPU targets{} are fixed here: no input of a workflow reaches the list",
                                       list.targets.size(), name),
           list.argument ? "pass `--build-arg` with the targets of the family"
                         : "take them from an argument or a variable that the workflow sets from its family");
  }
}

// families that do not reach a build

bool names_family(std::string_view input) {
  auto name = text::lower(input);
  if (name.starts_with("test_")) return false;
  for (std::string_view word : {"amdgpu_famil", "amdgpu_target", "gfx_arch", "gpu_target", "gpu_arch", "gpu_famil"})
    if (name.find(word) != name.npos) return true;
  return false;
}

bool compiles(const Step& step) {
  for (const auto& command : step.commands) {
    const auto& words = command.words;
    auto program = path::basename(words[0].text);
    auto second = words.size() > 1 ? std::string(path::basename(words[1].text)) : std::string();
    if (program == "bazel" || program == "ninja" || program == "make") return true;
    if ((program == "cmake" && second == "--build") || (program == "docker" && second == "build")) return true;
    bool script = program == "python" || program == "python3" || program == "bash";
    if (script && (second.find("build") != second.npos || second == "setup.py") && second.find("find") == second.npos)
      return true;
  }
  return false;
}

/// Whether the value goes into what a step runs with, rather than into a label.
bool is_used(const Read& read) {
  for (auto slot : {"run", "env", "with", "container", "strategy", "defaults", "runs-on"})
    if (read.slot == slot || read.slot.starts_with(std::string(slot) + ".")) return true;
  return false;
}

void check_family(const Rules& rules, const File& file, int index) {
  const auto& job = file.jobs[static_cast<std::size_t>(index)];
  // The last one: what a job builds first may be a tool for the rest.
  auto last = std::find_if(job.steps.rbegin(), job.steps.rend(), compiles);
  if (last == job.steps.rend()) return;
  const auto build = last.base() - 1;
  const auto step = static_cast<int>(build - job.steps.begin());
  const Read* labelled = nullptr;
  for (const auto& read : file.reads) {
    if (read.path[0] != "inputs" || read.path.size() < 2 || !names_family(read.path[1])) continue;
    bool here = read.job == index || read.job == -1;
    if (here && is_used(read) && read.step <= step) return;
    if (read.job == index) labelled = &read;
  }
  if (!labelled || file.reads_all_inputs) return;
  rules.add(file, build->at, "Y123", Severity::warning,
            fmt::format("input `{}` labels the result of job `{}` and does not reach its build, step `{}`",
                        labelled->path[1], job.id, build->label),
            "pass the family's targets to the build, or drop the input");
}
} // namespace

void check_targets(const Rules& rules) {
  for (const auto& file : rules.repository.files)
    for (std::size_t j = 0; j < file->jobs.size(); ++j) check_family(rules, *file, static_cast<int>(j));
  std::vector<TargetList> lists;
  lists_of_workflows(rules.repository, lists);
  std::vector<WrittenVersion> versions;
  const BuildFileParts parts{versions, rules.build_files};
  lists_of_tree(*rules.repository.tree, "", lists, parts);
  for (const auto& [name, tree] : rules.given) lists_of_tree(*tree, name, lists, parts);
  check_copies(rules, lists);
  check_reach(rules, lists);
  check_versions(rules, std::move(versions));
}

} // namespace quarry::workflow
