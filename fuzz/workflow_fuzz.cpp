// Workflow files: a repository of two workflows, a composite action and a Dockerfile, parted by byte 0. It is linted
// twice with the same result, fixed, drawn, and compared with the tree of its second file alone.
#include "base/text.hpp"
#include "fuzzing.hpp"
#include "workflow/fix.hpp"
#include "workflow/graph.hpp"
#include "workflow/lint.hpp"
#include "workflow/refs.hpp"
#include "workflow/review.hpp"
#include <map>

using namespace quarry;

namespace {

class MemoryTree final : public workflow::Tree {
public:
  std::map<std::string, std::string> texts;

  bool exists(const std::string& path) override {
    auto at = texts.lower_bound(path);
    return at != texts.end() && (at->first == path || at->first.starts_with(path + "/"));
  }
  std::vector<std::string> files_in(const std::string& directory) override {
    std::vector<std::string> names;
    auto prefix = directory.empty() ? "" : directory + "/";
    for (const auto& [path, text] : texts) {
      if (!path.starts_with(prefix)) continue;
      auto name = path.substr(prefix.size());
      if (name.find('/') == name.npos) names.push_back(name);
    }
    return names;
  }
  std::vector<std::string> files() override {
    std::vector<std::string> all;
    for (const auto& [path, text] : texts) all.push_back(path);
    return all;
  }
  Result<std::string> read(const std::string& path, std::uint64_t) override {
    auto found = texts.find(path);
    if (found == texts.end()) return fail(ErrorKind::not_found, "Y150", path);
    return found->second;
  }
};

std::vector<std::string> messages(const workflow::Report& report) {
  std::vector<std::string> all;
  for (const auto& one : report.findings) all.push_back(workflow::to_finding(one).place + one.code + one.message);
  return all;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr const char* names[] = {".github/workflows/a.yml", ".github/workflows/b.yml", ".github/actions/x/action.yml",
                                   "Dockerfile"};
  MemoryTree tree, second;
  std::size_t number = 0;
  for (const auto& part : text::split_any(fuzzing::as_text(data, size), std::string_view("\0", 1)))
    if (number < std::size(names)) tree.texts[names[number++]] = part;
  if (auto found = tree.texts.find(names[1]); found != tree.texts.end()) second.texts[names[0]] = found->second;

  const workflow::RefSource nowhere; // no copy and no server: refs are collected, and git is not asked
  workflow::LintOptions options;
  options.today = "2026-11-23";
  options.refs = &nowhere;
  auto report = workflow::lint(tree, options);
  if (!report) return 0;
  auto again = workflow::lint(tree, options);
  fuzzing::require(again && messages(*again) == messages(*report));
  fuzzing::require(workflow::remove_known(*again, *report) == report->findings.size());
  if (auto fixed = workflow::fixed_files(tree, report->findings))
    for (const auto& file : *fixed) fuzzing::require(file.text != tree.texts[file.path]);
  if (auto repository = workflow::read_repository(tree)) {
    auto graph = workflow::graph_of(*repository, {});
    (void)workflow::mermaid(graph);
    (void)workflow::svg(graph);
  }
  (void)workflow::review(second, tree, {}, {});
  return 0;
}
