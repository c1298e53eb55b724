#include "cli/docs.hpp"

#include "base/text.hpp"
#include "cli/help.hpp"
#include "cli/parse.hpp"
#include "cli/table.hpp"
#include <fmt/core.h>

namespace quarry::cli {

namespace {

std::string file_stem(const Command& command) { return text::join(command.path, "-"); }

/// Table cells are read by a Markdown renderer: what looks like an HTML tag is not one.
std::string markdown_text(std::string_view text) { return text::replace_all(table_cell(text), "<", "\\<"); }

std::string flag_table(const std::vector<Flag>& flags) {
  std::string rows = "| flag | does |\n|---|---|\n";
  for (const auto& row : flag_rows(flags)) {
    auto names = text::replace_all(table_cell(text::trim(row.heading)), ", --[", "`, `--[");
    rows += fmt::format("| `{}` | {} |\n", names, markdown_text(row.help));
  }
  return rows;
}

std::string markdown_page(const Command& command) {
  auto page = fmt::format("# quarry {}\n\n{}\n\n    {}\n", name_of(command), command.summary, usage_line(command));
  if (!command.description.empty()) page += "\n" + filled(command.description, 0, 100);
  if (!command.operands.empty()) {
    page += "\n## Operands\n\n| operand | is |\n|---|---|\n";
    for (const auto& operand : command.operands)
      page += fmt::format("| `{}{}` | {}{} |\n", operand.name, operand.repeats ? "..." : "",
                          markdown_text(operand.help), operand.required ? "" : " (optional)");
  }
  if (!command.flags.empty()) page += "\n## Flags\n\n" + flag_table(command.flags);
  page += "\nFlags of every command: [README.md](README.md#flags-of-every-command).\n";
  if (!command.examples.empty()) page += "\n## Examples\n";
  if (examples_title(command) != "examples") page += "\nQUARRY_STORE is set to the store.\n";
  for (const auto& example : command.examples)
    page += fmt::format("\n{}:\n\n    {}\n", example.explanation, example.command);
  page += "\n## Exit codes\n\n";
  if (!command.exit_codes.empty()) page += "| code | means here |\n|---|---|\n";
  for (const auto& [code, meaning] : command.exit_codes)
    page += fmt::format("| {} | {} |\n", code, markdown_text(meaning));
  page += fmt::format("{}All codes: [exit-codes.md](../exit-codes.md).\n", command.exit_codes.empty() ? "" : "\n");
  if (!command.schema.empty())
    page += fmt::format("\n## JSON\n\n`--json` prints one document with `\"schema\": \"{}\"`.\n", command.schema);
  return page;
}

std::string index_page(std::span<const Command> commands) {
  std::string page = "# Commands\n\nMade by `tools/generate-docs` from the table that the program runs on.\n\n| "
                     "command | does |\n|---|---|\n";
  for (const auto& group : ordered_groups(commands))
    for (const auto& command : commands)
      if (!command.hidden && command.path[0] == group)
        page +=
            fmt::format("| [{}]({}.md) | {} |\n", name_of(command), file_stem(command), markdown_text(command.summary));
  return page + "\n## Flags of every command\n\n" + flag_table(global_flags()) +
         "\nA flag with a variable in brackets may also be set in `quarry.toml`: "
         "[configuration.md](../guides/configuration.md).\n";
}

// roff: a line must not begin with a control character, and a backslash is one of its own.
std::string roff(std::string_view input) {
  auto escaped = text::replace_all(text::replace_all(input, "\\", "\\e"), "-", "\\-");
  std::string result;
  for (const auto& line : text::lines(escaped))
    result += (line.starts_with('.') || line.starts_with('\'') ? "\\&" : "") + line + "\n";
  return result;
}
std::string roff_word(std::string_view input) {
  auto result = roff(input);
  if (!result.empty()) result.pop_back();
  return result;
}

std::string roff_paragraphs(std::string_view input) {
  std::string result;
  for (const auto& line : text::lines(input)) result += line.empty() ? ".PP\n" : roff(line);
  return result;
}

std::string roff_flags(const std::vector<Flag>& flags) {
  std::string result;
  for (const auto& row : flag_rows(flags))
    result += fmt::format(".TP\n.B {}\n{}", roff_word(text::trim(row.heading)), roff(row.help));
  return result;
}

std::string man_page(const Command& command) {
  auto name = "quarry-" + file_stem(command);
  auto page = fmt::format(".TH \"{}\" 1 \"\" quarry \"\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.B {}\n", roff_word(name),
                          roff_word(name), roff_word(command.summary), roff_word(usage_line(command)));
  if (!command.description.empty()) page += ".SH DESCRIPTION\n" + roff_paragraphs(command.description);
  if (!command.operands.empty()) page += ".SH OPERANDS\n";
  for (const auto& operand : command.operands)
    page += fmt::format(".TP\n.B {}\n{}", roff_word(operand.name), roff(operand.help));
  page += ".SH FLAGS\n" + roff_flags(command.flags) + ".SS Of every command\n" + roff_flags(global_flags());
  if (!command.examples.empty()) page += ".SH EXAMPLES\n";
  for (const auto& example : command.examples)
    page += fmt::format("{}.PP\n.nf\n    {}.fi\n.PP\n", roff(example.explanation + ":"), roff(example.command));
  page += ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : command.exit_codes) page += fmt::format(".TP\n.B {}\n{}", code, roff(meaning));
  return page + ".PP\nAll codes: quarry(1).\n";
}

std::string main_man_page(std::span<const Command> commands) {
  std::string page = ".TH QUARRY 1 \"\" quarry \"\"\n.SH NAME\nquarry \\- from the artifacts of a CI run to wheels "
                     "that people install\n"
                     ".SH SYNOPSIS\n.B quarry COMMAND\n[flags]\n.SH COMMANDS\n";
  for (const auto& group : ordered_groups(commands))
    for (const auto& command : commands)
      if (!command.hidden && command.path[0] == group)
        page += fmt::format(".TP\n.B {}\n{}", roff_word(name_of(command)), roff(command.summary));
  page += ".SH FLAGS OF EVERY COMMAND\n" + roff_flags(global_flags()) + ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : exit_code_meanings()) page += fmt::format(".TP\n.B {}\n{}", code, roff(meaning));
  return page;
}

} // namespace

std::map<std::string, std::string> markdown_pages(std::span<const Command> commands) {
  std::map<std::string, std::string> pages{{"README.md", index_page(commands)}};
  for (const auto& command : commands)
    if (!command.hidden) pages[file_stem(command) + ".md"] = markdown_page(command);
  return pages;
}

std::map<std::string, std::string> man_pages(std::span<const Command> commands) {
  std::map<std::string, std::string> pages{{"quarry.1", main_man_page(commands)}};
  for (const auto& command : commands)
    if (!command.hidden) pages["quarry-" + file_stem(command) + ".1"] = man_page(command);
  return pages;
}

std::string exit_codes_page() {
  std::string page = "# Exit codes\n\nA contract with scripts: a code keeps its meaning. Made by "
                     "`tools/generate-docs`.\n\n| code | means |\n|---|---|\n";
  for (const auto& [code, meaning] : exit_code_meanings()) page += fmt::format("| {} | {} |\n", code, meaning);
  return page + "\nEvery error also has a code such as `A012`; `quarry explain A012` says what it means and what to "
                "do. With `--json` an error is a\n"
                "document on standard output: `{\"schema\": \"quarry.error/1\", \"code\", \"kind\", \"message\", "
                "\"details\", \"context\", \"hint\", \"exit_code\",\n"
                "\"retry\"}`; `retry` says whether the same command may succeed later.\n";
}

} // namespace quarry::cli
