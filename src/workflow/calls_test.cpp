#include "workflow/model.hpp"
#include "workflow/shell.hpp"
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <memory>
#include <ostream>

namespace quarry::workflow {
namespace {

/// The dispatches of a script: "TARGET NAME=VALUE… @REF"; `?` behind the target: it is unknown, `foreign`: it is
/// elsewhere, `…`: it may have more inputs.
std::vector<std::string> dispatches_of(std::string_view step, std::string_view script) {
  std::string text = fmt::format("on: push\njobs:\n  j:\n    steps:\n      - {}: |\n", step);
  for (auto rest = script; !rest.empty(); rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1))
    text += fmt::format("            {}\n", rest.substr(0, rest.find('\n')));
  std::vector<Located> defects;
  auto file = read_file_model("a.yml", text, false, defects);
  std::vector<std::string> found;
  for (const auto& call : file->calls) {
    auto shown = call.target + (call.unknown ? "?" : "") + (call.foreign ? " foreign" : "");
    for (const auto& argument : call.arguments) shown += " " + argument.name + "=" + argument.value;
    if (call.inputs_unknown) shown += " …";
    found.push_back(shown + (call.ref ? " @" + *call.ref : ""));
  }
  return found;
}
std::vector<std::string> dispatches(std::string_view script) { return dispatches_of("run", script); }

struct Dispatching {
  const char* script;
  std::vector<std::string> found;
};
void PrintTo(const Dispatching& one, std::ostream* out) { *out << one.script; }

class Dispatches : public ::testing::TestWithParam<Dispatching> {};
TEST_P(Dispatches, AreFoundInScripts) { EXPECT_EQ(dispatches(GetParam().script), GetParam().found); }

INSTANTIATE_TEST_SUITE_P(
    Places, Dispatches,
    ::testing::Values(
        Dispatching{"GH_TOKEN=$T gh workflow run t.yml", {"t.yml"}},
        Dispatching{"if true; then gh workflow run t.yml; fi", {"t.yml"}},
        Dispatching{"for x in a b; do gh workflow run t.yml -f a=$x; done", {"t.yml a=$x"}},
        Dispatching{"( gh workflow run t.yml )", {"t.yml"}}, Dispatching{"(gh workflow run t.yml)", {"t.yml"}},
        Dispatching{"x=$(gh workflow run t.yml --ref main)", {"t.yml @main"}},
        Dispatching{"x=\"$(gh workflow run t.yml --ref main)\"", {"t.yml @main"}},
        Dispatching{"x=`gh workflow run t.yml`", {"t.yml"}}, Dispatching{"time gh workflow run t.yml", {"t.yml"}},
        Dispatching{"! gh workflow run t.yml", {"t.yml"}}, Dispatching{"f() { gh workflow run t.yml; }", {"t.yml"}},
        Dispatching{"case $x in\n  a) gh workflow run t.yml ;;\nesac", {"t.yml"}},
        Dispatching{"bash -c 'gh workflow run t.yml'", {"t.yml"}}, Dispatching{"echo gh workflow run t.yml", {}},
        Dispatching{"cat <<EOF\ngh workflow run t.yml\nEOF", {}},
        Dispatching{"cat > f <<-'E F'\ngh workflow run t.yml\n  E F\ngh workflow run u.yml", {"u.yml"}},
        Dispatching{"bash <<EOF\ngh workflow run t.yml\nEOF", {"t.yml"}},
        Dispatching{"cat <<EOF | bash -e\ngh workflow run t.yml\nEOF", {"t.yml"}},
        Dispatching{"cat <<EOF | sort\ngh workflow run t.yml\nEOF", {}},
        Dispatching{"cat <<EOF | bash 2>&1 | tee log\ngh workflow run t.yml\nEOF", {"t.yml"}},
        Dispatching{"echo 'use $(gh workflow run t.yml) for it'", {}},
        Dispatching{"echo 'made '\"$(gh workflow run t.yml) x\"", {"t.yml"}},
        Dispatching{"bash -c 'x=$(gh workflow run t.yml) ; y'", {"t.yml"}},
        Dispatching{"docker exec c bash -c 'echo x $(gh workflow run t.yml)'", {"t.yml"}},
        Dispatching{"echo \"made $(gh workflow run t.yml)\"", {"t.yml"}},
        Dispatching{"bash setup.sh <<EOF\ngh workflow run t.yml\nEOF", {}},
        Dispatching{"echo $((1<<n))\ngh workflow run t.yml", {"t.yml"}},
        Dispatching{"cat <<< text\ngh workflow run t.yml", {"t.yml"}}));

TEST(JavaScriptOfOneLine, HasABoundOfCalls) {
  std::string script;
  for (int i = 0; i < 20'000; ++i) script += "createWorkflowDispatch({";
  EXPECT_EQ(dispatches_of("uses: actions/github-script@v8\n        with:\n          script", script).size(), 256u)
      << "the line of each was looked for from the beginning";
}

/// A workflow whose steps all hand this one line of JavaScript over: an alias.
std::unique_ptr<File> steps_with_one_script(std::size_t steps, std::string_view script) {
  auto text = fmt::format("on: push\njobs:\n  j:\n    steps:\n      - uses: actions/github-script@v8\n"
                          "        with: &w\n          script: |\n            {}\n",
                          script);
  for (std::size_t i = 1; i < steps; ++i) text += "      - uses: actions/github-script@v8\n        with: *w\n";
  std::vector<Located> defects;
  return read_file_model("a.yml", text, false, defects);
}

TEST(JavaScriptOfOneLine, HasABoundOfProperties) {
  std::string script = "createWorkflowDispatch({workflow_id: 't.yml', ref: 'main', inputs: {";
  for (int i = 0; i < 80'000; ++i) script += "a:1,";
  auto file = steps_with_one_script(1, script + "}})");
  ASSERT_EQ(file->calls.size(), 1u);
  EXPECT_EQ(file->calls[0].arguments.size(), 4096u - 3) << "the line of each was looked for from the beginning";
  EXPECT_TRUE(file->calls[0].inputs_unknown) << "and the others are not known";
  EXPECT_EQ(file->calls[0].arguments.back().at.line, 8u);
  EXPECT_EQ(file->calls[0].arguments.back().at.column, 13u + 68 + 4 * (4096 - 3 - 1));
}

TEST(JavaScriptOfOneLine, HasTheBoundsForTheFile) {
  std::string script;
  for (int i = 0; i < 100; ++i) script += "createWorkflowDispatch({workflow_id: 't.yml', inputs: {a: 1, b: 2, c: 3}}) ";
  auto file = steps_with_one_script(40, script);
  EXPECT_EQ(file->calls.size(), 256u);
  EXPECT_EQ(file->calls_left_out, 4000u - 256) << "an alias repeats the script";
  std::size_t arguments = 0;
  script = "createWorkflowDispatch({workflow_id: 't.yml', inputs: {";
  for (int i = 0; i < 1000; ++i) script += "a: 1, ";
  file = steps_with_one_script(40, script + "}})");
  for (const auto& call : file->calls) arguments += call.arguments.size();
  EXPECT_EQ(arguments, 4096u - 2 * 5);
  EXPECT_EQ(file->calls_left_out, 35u);
}

TEST(JavaScriptOfManyLines, KnowsThePlacesOfCallsAndInputs) {
  auto file = steps_with_one_script(1, "a()\n            x.createWorkflowDispatch({workflow_id: 't.yml',\n"
                                       "              inputs: {a: 1,\n                b: 2}})\n"
                                       "            createWorkflowDispatch({inputs: {c: 3}})");
  ASSERT_EQ(file->calls.size(), 2u);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
  for (const auto& call : file->calls) {
    found.emplace_back(call.at.line, call.at.column);
    for (const auto& one : call.arguments) found.emplace_back(one.at.line, one.at.column);
  }
  EXPECT_EQ(found, (decltype(found){{9, 15}, {10, 24}, {11, 17}, {12, 13}, {12, 46}}));
}

TEST(Scripts, ManyDocumentsOnALineAreReadOnce) {
  std::string line;
  for (int i = 0; i < 4000; ++i) line += "cat <<a | ";
  EXPECT_EQ(shell_commands(line).size(), 4000u) << "each of them looked at all behind it";
}

INSTANTIATE_TEST_SUITE_P(
    Words, Dispatches,
    ::testing::Values(
        Dispatching{"gh workflow run t.yml --ref main \"${args[@]}\"", {"t.yml … @main"}},
        Dispatching{"gh workflow run t.yml $ARGS", {"t.yml … @$ARGS"}},
        Dispatching{"gh workflow run t.yml \"$@\"", {"t.yml … @$@"}},
        Dispatching{"gh workflow run t.yml --ref main $(make_args)", {"t.yml … @main"}},
        Dispatching{"gh workflow run t.yml --ref main -f \"$KV\"", {"t.yml … @main"}},
        Dispatching{"gh workflow run t.yml --ref main ${{ inputs.args }}", {"t.yml … @main"}},
        Dispatching{"gh workflow run t.yml --ref main -fa=1 -F=b=2 > $LOG", {"t.yml a=1 b=2 @main"}},
        Dispatching{"gh workflow run 12345", {"12345?"}},
        Dispatching{"gh workflow run t.yml -R ${{ github.repository }}", {"t.yml"}},
        Dispatching{"gh workflow run t.yml --repo \"$GITHUB_REPOSITORY\"", {"t.yml"}},
        Dispatching{"gh workflow run t.yml --repo \"$OTHER\"", {"t.yml?"}},
        Dispatching{"GH_REPO=o/r gh workflow run t.yml", {"t.yml foreign"}},
        Dispatching{"gh api -H \"$H\" repos/$GITHUB_REPOSITORY/actions/workflows/t.yml/dispatches -f ref=main",
                    {"t.yml @main"}},
        Dispatching{"gh api repos/$R/actions/workflows/t.yml/dispatches -f ref=main \"${x[@]}\"", {"t.yml … @main"}},
        Dispatching{"gh api repos/$R/actions/workflows/t.yml/dispatches", {"t.yml"}},
        Dispatching{"gh api repos/$R/actions/workflows/t.yml/dispatches --input=body.json", {"t.yml …"}},
        Dispatching{"gh api repos/$R/actions/workflows/t.yml/dispatches --input -", {"t.yml …"}},
        Dispatching{"gh api repos/o/r/actions/workflows/t.yml/dispatches -f ref=a", {"t.yml foreign @a"}},
        Dispatching{"curl -X POST https://example.org/actions/workflows/t.yml/dispatches", {"t.yml? …"}},
        Dispatching{"wget --post-data='{\"ref\": \"main\"}' $API/repos/$R/actions/workflows/t.yml/dispatches",
                    {"t.yml @main"}},
        Dispatching{"Invoke-RestMethod -Method Post -Uri \"$api/repos/$r/actions/workflows/t.yml/dispatches\" "
                    "-Body '{\"ref\": \"main\", \"inputs\": {\"a\": \"b\"}}'",
                    {"t.yml a=b @main"}}));

class JavaScript : public ::testing::TestWithParam<Dispatching> {};
TEST_P(JavaScript, DispatchesAreRead) {
  auto script = fmt::format("await github.rest.actions.{}", GetParam().script);
  EXPECT_EQ(dispatches_of("uses: actions/github-script@v8\n        with:\n          script", script), GetParam().found);
}

INSTANTIATE_TEST_SUITE_P(
    Objects, JavaScript,
    ::testing::Values(
        Dispatching{"createWorkflowDispatch({...context.repo, workflow_id: 't.yml', ref: 'main'})", {"t.yml @main"}},
        Dispatching{"createWorkflowDispatch({owner, repo, workflow_id: `t.yml`})", {"t.yml"}},
        Dispatching{"createWorkflowDispatch({workflow_id: 't.yml', ref, inputs})", {"t.yml … @${ref}"}},
        Dispatching{"createWorkflowDispatch({\n  workflow_id: \"t.yml\", // the tests\n  ref: context.ref,\n  "
                    "inputs: {level: 'a, b}', 'number': 3, on: true, x: f(1, {y: 2}), /* z: 1, */ },\n})",
                    {"t.yml level=a, b} number=3 on=true x=${f(1, {y: 2})} @${context.ref}"}},
        Dispatching{"createWorkflowDispatch({workflow_id: 't.yml', ref: '${{ inputs.ref || 'a' }}', inputs: "
                    "${{ toJSON(inputs) }}})",
                    {"t.yml … @${{ inputs.ref || 'a' }}"}},
        Dispatching{"createWorkflowDispatch({workflow_id: 't.yml', ref: 'main', inputs: {...more, a: 'b'}})",
                    {"t.yml a=b … @main"}},
        Dispatching{"createWorkflowDispatch({...parameters, workflow_id: 't.yml'})", {"t.yml … @${…}"}},
        Dispatching{"createWorkflowDispatch({[key]: 't.yml'})", {"$? … @${…}"}},
        Dispatching{"createWorkflowDispatch(parameters)", {"$? …"}},
        Dispatching{"createWorkflowDispatch({workflow_id: name, ref: 'main'})", {"$? @main"}},
        Dispatching{"createWorkflowDispatch({owner: 'o', repo: 'r', workflow_id: 't.yml', ref: 'main'})",
                    {"t.yml foreign @main"}},
        Dispatching{"createWorkflowDispatch({owner: '${{ github.repository_owner }}', workflow_id: 't.yml', ref: 'a'})",
                    {"t.yml @a"}},
        Dispatching{"other()\n// github.rest.actions.createWorkflowDispatch({workflow_id: 't.yml'})", {}},
        Dispatching{"x(); /* github.rest.actions.createWorkflowDispatch({workflow_id: 't.yml'}) */ y()", {}},
        Dispatching{"x(); // was createWorkflowDispatch({workflow_id: 't.yml'})\ny()", {}},
        Dispatching{"x('createWorkflowDispatch({workflow_id: 1})', `${createWorkflowDispatch}`)", {}},
        Dispatching{"x('https://a', /['\"`]\\//, `a${b ? `//` : '`'}/*`, 4 / 2); createWorkflowDispatch({workflow_id: "
                    "'t.yml', ref: 'a'}) // 2/",
                    {"t.yml @a"}},
        Dispatching{"x = a / b; y = it's\ncreateWorkflowDispatch({workflow_id: 't.yml', ref: /[/,}'\\]]/.exec(s)[0]})",
                    {"t.yml @${/[/,}'\\]]/.exec(s)[0]}"}},
        Dispatching{"createWorkflowDispatch({\n  ref: 'main' /* or a tag */, inputs: {a: 'b' // c\n  },\n  "
                    "workflow_id: 't.yml' // the build\n  // and no more\n})",
                    {"t.yml a=b @main"}},
        Dispatching{"createWorkflowDispatch({workflow_id: 't.yml', ref: 'main'", {"t.yml … @main"}},
        Dispatching{"createWorkflowDispatch({workflow_id: 'a.yml', ref: 'x'}); createWorkflowDispatch({workflow_id: "
                    "'b.yml', ref: 'y'})",
                    {"a.yml @x", "b.yml @y"}},
        Dispatching{"request('POST /repos/{owner}/{repo}/actions/workflows/t.yml/dispatches', {owner, repo, ref: 'a', "
                    "inputs: {b: 'c'}})",
                    {"t.yml b=c @a"}},
        Dispatching{"x; fetch(`https://api.github.com/repos/${r}/actions/workflows/t.yml/dispatches`, {method: 'POST', "
                    "headers, body: JSON.stringify({ref: 'main', inputs: {a: 'b'}})})",
                    {"t.yml …"}},
        Dispatching{"x; post('/repos/{owner}/{repo}/actions/workflows/t.yml/dispatches', {a: 'b'})", {"t.yml …"}},
        Dispatching{"x; const address = `/repos/${r}/actions/workflows/t.yml/dispatches`, {a} = b", {"t.yml …"}},
        Dispatching{"request('POST /repos/{owner}/{repo}/actions/workflows/t.yml/dispatches', {owner, repo, data: "
                    "{ref: 'main', inputs: {a: 'b'}}})",
                    {"t.yml …"}},
        Dispatching{"request('POST /repos/o/r/actions/workflows/t.yml/dispatches', {ref: 'main'})",
                    {"t.yml foreign @main"}},
        Dispatching{"request('POST /repos/' + name + '/actions/workflows/t.yml/dispatches', {ref: 'main'})", {"$? …"}},
        Dispatching{
            "request('POST /repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches', {...context.repo, "
            "workflow_id: 't.yml', ref: 'a'})",
            {"t.yml @a"}}));

} // namespace
} // namespace quarry::workflow
