// Suites that are defined: what they run, and the digest by which a policy names them.
#include "trial/suite.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/table.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {
using trial::SuiteDefinition;

Json suite_json(const SuiteDefinition& suite) {
  auto files = Json::array();
  for (const auto& file : suite.files) files.push_back({{"name", file.name}, {"sha256", sha256(file.bytes).hex()}});
  return {{"name", suite.name},
          {"about", suite.about},
          {"command", suite.command},
          {"files", files},
          {"gpu", suite.gpu},
          {"backend", suite.cpu ? "cpu" : "gpu"},
          {"min_passed", suite.min_passed},
          {"shards", suite.shards},
          {"deadline_ms", suite.deadline_ms == 0 ? Json(nullptr) : Json(suite.deadline_ms)},
          {"digest", suite.digest.hex()}};
}

Result<SuiteDefinition> require_suite(const Context& context, const std::string& named) {
  TRY(auto suite, trial::find_suite(context.resources, named));
  if (suite) return std::move(*suite);
  auto names = trial::suite_names(context.resources);
  if (auto hint = trial::unread_suite(named); !hint.empty())
    return fail(ErrorKind::not_found, "X003", fmt::format("no suite is called {}", named), std::move(hint));
  return fail(ErrorKind::not_found, "X003", fmt::format("no suite is called {}", named),
              names.empty() ? "name a file: tests/suites/smoke.toml"
                            : fmt::format("name a file, or one of {}", text::join(names, ", ")));
}

Result<int> run_suite_list(Context& context, const Arguments&) {
  TableRows rows{{"suite", "digest", "what it tests"}};
  auto list = Json::array();
  for (const auto& name : trial::suite_names(context.resources)) {
    TRY(auto suite, require_suite(context, name));
    rows.push_back({suite.name, suite.digest.short_hex(), suite.about});
    list.push_back(suite_json(suite));
  }
  context.out.data(table({k_name, k_text, k_name}, rows, context.out.data_look()));
  context.out.document({{"suites", list}});
  return 0;
}

Result<int> run_suite_show(Context& context, const Arguments& arguments) {
  TRY(auto suite, require_suite(context, arguments.operands.at(0)));
  auto text = fmt::format("suite       {}\n", suite.name);
  if (!suite.about.empty()) text += fmt::format("about       {}\n", suite.about);
  text += fmt::format("command     {}\n", text::join(suite.command, " "));
  for (const auto& file : suite.files)
    text += fmt::format("file        {}  {}\n", sha256(file.bytes).short_hex(), file.name);
  text += fmt::format("needs       {}, {} or more\n",
                      suite.gpu   ? "a GPU"
                      : suite.cpu ? "no GPU, and counts for no GPU family"
                                  : "what its command needs",
                      units::things(static_cast<std::uint64_t>(suite.min_passed), "passed test"));
  if (suite.shards != 1) text += fmt::format("shards      {}\n", suite.shards);
  if (suite.deadline_ms != 0)
    text += fmt::format("deadline    {}\n", units::seconds(static_cast<double>(suite.deadline_ms) / 1000));
  context.out.data(text + fmt::format("digest      {}\n", suite.digest.hex()));
  context.out.document(suite_json(suite));
  return 0;
}

Command suite_list_command() {
  return {.path = {"suite", "list"},
          .summary = "the suites that are defined in data/suites",
          .description = "Lists the definitions that `quarry test --suite NAME` runs: those of the repository's "
                         "data/suites, else those inside the program. The tests inside the packages, rocm-sdk, need no "
                         "definition.",
          .operands = {},
          .flags = {},
          .examples = {{"quarry suite list", "names, digests and what they test"}},
          .exit_codes = {{2, "a definition is invalid"}},
          .schema = "quarry.suite-list/1",
          .run = run_suite_list};
}

Command suite_show_command() {
  return {.path = {"suite", "show"},
          .summary = "what a suite runs, and the digest by which a policy names it",
          .description =
              "Evidence carries the digest of the definition that was run. A policy whose suite is defined "
              "in data/suites counts results of that definition alone; `digest` of a [[suite]] names another "
              "one (docs/formats/suite.md).",
          .operands = {{"SUITE", "the name of a suite in data/suites, or a file", true, false}},
          .flags = {},
          .examples = {{"quarry suite show rocm-smoke", "its command, files and digest"},
                       {"quarry suite show tests/suites/smoke.toml", "those of a file"}},
          .exit_codes = {{2, "the definition is invalid"}, {3, "no suite has this name"}},
          .schema = "quarry.suite-show/1",
          .run = run_suite_show};
}
} // namespace

std::vector<Command> suite_commands() { return {suite_list_command(), suite_show_command()}; }

} // namespace quarry::cli
