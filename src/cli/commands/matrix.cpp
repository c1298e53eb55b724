#include "cli/commands.hpp"
#include "cli/families.hpp"
#include "cli/job_files.hpp"
#include "cli/records.hpp"
#include "cli/verdict.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "gate/agreement.hpp"
#include "matrix/check.hpp"
#include "matrix/expand.hpp"
#include "matrix/import.hpp"
#include "matrix/page.hpp"
#include "sys/file.hpp"
#include <fmt/core.h>
#include <iterator>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {
constexpr std::uint64_t k_table_bytes_max = 4u << 20; // what the importer takes

/// Families as people and workflows list them: with commas, semicolons or spaces. Said and empty is an error.
Result<std::vector<std::string>> names_of(const Arguments& arguments, std::string_view flag) {
  auto said = arguments.find(flag);
  auto names = text::split_any(said.value_or(""), ",; ");
  if (said && names.empty())
    return fail(ErrorKind::invalid_argument, "F003", fmt::format("{} names nothing", flag),
                "name families such as gfx94x or gfx94X-dcgpu, or omit the flag");
  return names;
}

// matrix expand

Result<void> tell_github_of_matrix(const Context& context, const matrix::Expansion& expansion) {
  auto path = context.variable("GITHUB_OUTPUT");
  if (path.empty()) return {};
  TRY(auto matrix, matrix::github_matrix(expansion));
  return append_for_job("GITHUB_OUTPUT", path,
                        fmt::format("matrix={}\ncell_count={}\nhas_cells={}\n", matrix, expansion.cells.size(),
                                    expansion.cells.empty() ? "false" : "true"));
}

Result<matrix::ExpandRequest> expand_request(const Context& context, const Arguments& arguments) {
  matrix::ExpandRequest request;
  request.trigger = arguments.get("--trigger");
  request.platform = Platform::read(arguments.get("--platform"));
  TRY(request.families, names_of(arguments, "--families"));
  TRY(request.variants, names_of(arguments, "--variant"));
  request.seed = arguments.find("--seed").value_or(context.variable("GITHUB_RUN_ID"));
  return request;
}

Result<int> run_expand(Context& context, const Arguments& arguments) {
  TRY(auto families, load_families(context, arguments.get("--families-file")));
  TRY(auto request, expand_request(context, arguments));
  TRY(auto expansion, matrix::expand(families, request));
  bool github = arguments.get("--format") == "github";
  if (github) {
    TRY(auto matrix, matrix::github_matrix(expansion));
    context.out.data(matrix + "\n");
  } else {
    context.out.data(matrix::cells_table(expansion));
  }
  TRY_DO(tell_github_of_matrix(context, expansion));
  for (const auto& reason : expansion.skipped) context.out.note("note: " + reason);
  if (expansion.cells.empty()) context.out.warn("warning: no cell: the matrix is empty");
  Json cells = Json::array();
  for (const auto& cell : expansion.cells) cells.push_back(matrix::cell_json(cell));
  context.out.document({{"trigger", request.trigger},
                        {"platform", request.platform},
                        {"families_file", families.file},
                        {"count", cells.size()},
                        {"cells", cells},
                        {"skipped", expansion.skipped}});
  return 0;
}

Command expand_command() {
  return {
      .path = {"matrix", "expand"},
      .summary = "the jobs of a CI matrix: which families are built and tested, where",
      .description =
          "From the families file, a trigger and a platform to cells: one a family and build variant, with its "
          "targets, machines and state. A family without a test runner gets a cell marked `held`; it is never "
          "dropped.\n\n"
          "--trigger is an event (pull_request, push, schedule; workflow_dispatch runs what --families names) or tiers "
          "(presubmit, postsubmit, nightly, joined by commas). Among weighted runners --seed chooses (in a workflow "
          "GITHUB_RUN_ID): the same seed gives the same machines.\n\n--format github prints one line for "
          "`fromJSON`; in a workflow `matrix`, `cell_count` and `has_cells` are appended to GITHUB_OUTPUT. More than "
          "256 jobs or 1 MB, which GitHub would refuse later, are refused here.",
      .operands = {},
      .flags = {{"--trigger", "T", "an event or tiers", {}, {}, {}, true},
                {"--platform", "P", "the platform", matrix::platform_names(), {}, {}, true},
                {"--families", "A,B", "only these, by key (gfx94x) or name (gfx94X-dcgpu)"},
                {"--variant", "A,B", "build variants, or all (default: release)"},
                {"--seed", "TEXT", "chooses among weighted runners (default: GITHUB_RUN_ID, else the heaviest)"},
                {"--format", "F", "a table, or the line for GitHub", {"table", "github"}, "table"},
                families_file_flag()},
      .examples = {{"quarry matrix expand --trigger push --platform linux", "what a push to main builds and tests"},
                   {"quarry matrix expand --trigger workflow_dispatch --platform linux --families gfx94x --variant all "
                    "--format github",
                    "one family in every variant, for a workflow"}},
      .exit_codes = {{2, "a family, trigger or variant is unknown or does not run there; more than GitHub takes"}},
      .schema = "quarry.matrix/1",
      .run = run_expand};
}

// matrix targets

Result<int> run_targets(Context& context, const Arguments& arguments) {
  TRY(auto families, load_families(context, arguments.get("--families-file")));
  std::vector<std::string> names;
  for (const auto& operand : arguments.operands)
    for (auto& name : text::split_any(operand, ",; ")) names.push_back(std::move(name));
  if (names.empty())
    return fail(ErrorKind::invalid_argument, "F003", "no family is named", "name families such as gfx94X-dcgpu");
  TRY(auto targets, matrix::expand_targets(families, names));
  auto shown = targets;
  if (arguments.has("--device-extras"))
    for (auto& target : shown) target.insert(0, "device-");
  context.out.data(text::join(shown, ",") + "\n");
  context.out.document({{"families", names}, {"targets", targets}, {"shown", shown}});
  return 0;
}

Command targets_command() {
  return {.path = {"matrix", "targets"},
          .summary = "the GPU targets of families",
          .description = "Families, groups such as dgpu-all, or targets; joined by commas, semicolons or spaces. The "
                         "order is kept, a target appears once. An unknown name is an error.",
          .operands = {{"FAMILY", "such as gfx94X-dcgpu", true, true}},
          .flags = {{.name = "--device-extras", .value = "", .help = "print extras of packages: device-gfx942"},
                    families_file_flag()},
          .examples = {{"quarry matrix targets \"gfx94X-dcgpu;gfx120X-all\"", "gfx942,gfx1200,gfx1201"}},
          .exit_codes = {{2, "a name is unknown"}},
          .schema = "quarry.matrix-targets/1",
          .run = run_targets};
}

// matrix show

Result<int> run_matrix_show(Context& context, const Arguments& arguments) {
  TRY(auto families, load_families(context, arguments.get("--families-file")));
  context.out.data(matrix::support_page(families));
  auto document = matrix::families_json(families);
  context.out.document(document);
  return 0;
}

Command matrix_show_command() {
  return {.path = {"matrix", "show"},
          .summary = "supported GPUs, their platforms and machines",
          .description = "The families file as a page (Markdown), or with --json as one document: tiers, triggers, "
                         "targets, variants, build runners and families.",
          .operands = {},
          .flags = {families_file_flag()},
          .examples = {{"quarry matrix show", "the page docs/families.md"},
                       {"quarry matrix show --families-file therock-2026-02 --json", "February's table, for a script"}},
          .exit_codes = {},
          .schema = "quarry.matrix-show/1",
          .run = run_matrix_show};
}

// matrix check

Result<int> run_matrix_check(Context& context, const Arguments& arguments) {
  auto named = arguments.operands.empty() ? arguments.get("--families-file") : arguments.operands[0];
  if (!arguments.operands.empty() && named.empty())
    return fail(ErrorKind::invalid_argument, "C006", "FILE is empty", "is a variable unset?");
  TRY(auto families, load_families(context, named));
  auto findings = matrix::check_families(families);
  if (auto policy = arguments.find("--policy")) {
    TRY(auto parsed, load_policy(context, *policy));
    auto drift = gate::compare_with_families(parsed, families);
    std::move(drift.begin(), drift.end(), std::back_inserter(findings));
  }
  bool bad = has_errors(findings);
  context.out.findings(findings);
  context.out.data(fmt::format("{}: {} families, {}{}\n", families.file, families.families.size(),
                               units::things(findings.size(), "finding"), bad ? "" : "; none of them is an error"));
  context.out.document({{"file", families.file},
                        {"families", families.families.size()},
                        {"sound", !bad},
                        {"findings", findings_json(findings)}});
  return bad ? 1 : 0;
}

Command matrix_check_command() {
  return {.path = {"matrix", "check"},
          .summary = "read a families file strictly and report what needs attention",
          .description =
              "An unknown key, a family without targets, a target outside its family, weights that choose "
              "nobody: refused with file, line and key. It reports families without a runner, tests "
              "that would fetch nothing, exceptions without a reason, matrices that GitHub would refuse. With --policy "
              "also where a promotion policy and the file have drifted apart.",
          .operands = {{"FILE", "a families file, or the name of a shipped table", false}},
          .flags = {{"--policy", "FILE", "a policy file, or the name of a shipped one"}, families_file_flag()},
          .examples = {{"quarry matrix check data/families.toml", "after a change"},
                       {"quarry matrix check therock-2026-02 --policy incumbent-feb", "families and policy together"}},
          .exit_codes = {{1, "a finding is an error"}, {2, "the file is refused"}},
          .schema = "quarry.matrix-check/1",
          .run = run_matrix_check};
}

// matrix import

Result<int> run_import(Context& context, const Arguments& arguments) {
  TRY(auto base, load_families(context, arguments.get("--families-file")));
  const auto& file = arguments.operands.at(0);
  TRY(auto text, sys::read_file(file, k_table_bytes_max), "while reading the table");
  TRY(auto families, matrix::import_families({text, file}, base));
  families.name = arguments.find("--name").value_or("imported");
  auto written = matrix::write_families(families);
  TRY(auto again, matrix::parse_families({written, arguments.find("--output").value_or("imported.toml")}));
  if (auto output = arguments.find("--output")) {
    TRY_DO(sys::write_file(*output, written));
    context.out.data(fmt::format("{}: {} families\n", *output, again.families.size()));
  } else {
    context.out.data(written);
  }
  context.out.findings(matrix::check_families(again));
  auto document = matrix::families_json(again);
  document["findings"] = findings_json(matrix::check_families(again));
  context.out.document(document);
  return 0;
}

Command import_command() {
  return {.path = {"matrix", "import"},
          .summary = "a families file from a table written in Python",
          .description =
              "Reads the dicts of TheRock's amdgpu_family_matrix.py: parsed, never executed. Fields that are not "
              "known, values that are not literals and families that no target belongs to are refused with their line. "
              "Targets, triggers and what else the table does not say come from --families-file.",
          .operands = {{"FILE", "the Python file"}},
          .flags = {{"--output", "FILE", "write it there (default: standard output)", {}, {}, {}, false, false, 'o'},
                    {"--name", "NAME", "the table's name (default: imported)"},
                    families_file_flag()},
          .examples = {{"quarry matrix import amdgpu_family_matrix.py --output data/families.toml",
                        "then review the change"}},
          .exit_codes = {{2, "the file is not such a table"}},
          .schema = "quarry.matrix-import/1",
          .run = run_import};
}

} // namespace

std::vector<Command> matrix_commands() {
  return {expand_command(), targets_command(), matrix_show_command(), matrix_check_command(), import_command()};
}

} // namespace quarry::cli
