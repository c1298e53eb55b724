#include "base/json.hpp"
#include "cli/codes.hpp"
#include "cli/commands.hpp"
#include "cli/docs.hpp"
#include "cli/doctor.hpp"
#include "cli/families.hpp"
#include "cli/help.hpp"
#include "cli/parse.hpp"
#include "cli/records.hpp"
#include "cli/rule_pages.hpp"
#include "cli/settings.hpp"
#include "cli/table.hpp"
#include "cli/version.hpp"
#include "release/storage.hpp"

#include "base/text.hpp"
#include "matrix/page.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {
constexpr std::size_t k_columns = 100;
using Rows = std::vector<std::pair<std::string, std::string>>;

/// Text for people is filled to the terminal, in a file to k_columns.
std::size_t columns_of(const Context& context) {
  auto columns = context.out.data_look().columns;
  return columns == 0 ? k_columns : std::min(columns, k_columns);
}

/// Names may be long and are to be copied whole: nothing is wrapped.
std::string one_line_each(const Rows& rows) {
  std::size_t width = 0;
  for (const auto& [left, right] : rows) width = std::max(width, left.size());
  std::string text;
  for (const auto& [left, right] : rows) text += fmt::format("{:<{}}  {}\n", left, width, right);
  return text;
}

// version

/// The licences of everything inside, each below the name of the library.
Result<int> print_licenses(Context& context) {
  auto licenses = Json::object();
  for (const auto& name : context.resources.list("licenses/")) {
    auto text = context.resources.read(name);
    if (!text) continue;
    auto library = name.substr(name.find('/') + 1);
    context.out.data(fmt::format("{:=<100}\n\n{}\n", "==== " + library + " ", *text));
    licenses[library] = *text;
  }
  context.out.document({{"schema", "quarry.licenses/1"}, {"licenses", std::move(licenses)}});
  return 0;
}

/// CycloneDX 1.5 (ECMA-424), the same text with and without --json: other tools read it.
Result<int> print_sbom(Context& context) {
  auto component = [](const char* type, const std::string& name, const std::string& version,
                      const std::string& license) {
    return Json{{"type", type},
                {"bom-ref", name},
                {"name", name},
                {"version", version},
                {"licenses", Json::array({{{"expression", license}}})}};
  };
  auto inside = Json::array();
  for (const auto& library : libraries())
    inside.push_back(component("library", library.name, library.version, library.license));
  auto program = component("application", "quarry", std::string(program_version()), "Apache-2.0");
  program["properties"] = Json::array({{{"name", "quarry:commit"}, {"value", build_commit()}}});
  Json document{{"bomFormat", "CycloneDX"},
                {"specVersion", "1.5"},
                {"version", 1},
                {"metadata", {{"component", std::move(program)}}},
                {"components", std::move(inside)}};
  context.out.data(json::pretty(document));
  context.out.set_schema(""); // CycloneDX says what it is itself
  context.out.document(document);
  return 0;
}

Result<int> run_version(Context& context, const Arguments& arguments) {
  if (arguments.has("--licenses")) return print_licenses(context);
  if (arguments.has("--sbom")) return print_sbom(context);
  Json versions = Json::object();
  Rows rows;
  for (const auto& library : libraries()) {
    versions[library.name] = library.version;
    rows.emplace_back(library.name, library.version);
  }
  std::string commit(build_commit());
  context.out.data(fmt::format("quarry {}{}\n", program_version(), commit.empty() ? "" : " (" + commit + ")"));
  context.out.data(two_columns(rows, 2, columns_of(context)));
  context.out.document({{"version", program_version()},
                        {"commit", commit},
                        {"tag", build_tag()},
                        {"libraries", versions},
                        {"program", context.program}});
  return 0;
}

Command version_command() {
  return {.path = {"version"},
          .summary = "which quarry this is",
          .description = "The version, the commit it was built from (`+changes` when the tree differed from it) and "
                         "the libraries inside. The versions of packages are the business of `quarry version compute` "
                         "and `quarry version write`.",
          .operands = {},
          .flags = {{"--licenses", "", "print the licences of everything inside"},
                    {"--sbom", "", "print what is inside as a CycloneDX document"}},
          .examples = {{"quarry version --json", "for a log or a bug report"}},
          .exit_codes = {},
          .schema = "quarry.version/1",
          .run = run_version};
}

// doctor

Tone severity_tone_of(std::string_view health) {
  if (health == to_string(Health::ok)) return Tone::good;
  if (health == to_string(Health::failed)) return Tone::bad;
  return health == to_string(Health::warning) ? Tone::doubtful : Tone::plain;
}

/// Colours the first word of each line that is a verdict: after the columns are filled, since colour takes no room.
std::string with_painted_heads(const std::string& page, bool color) {
  std::string result;
  for (const auto& line : text::lines(page)) {
    auto word = line.substr(0, line.find(' '));
    result += painted(word, severity_tone_of(word), color) + line.substr(word.size()) + "\n";
  }
  return result;
}

Result<int> run_doctor(Context& context, const Arguments& arguments) {
  auto store = arguments.find("--store");
  bool self = arguments.has("--self");
  if (store && self)
    return fail(ErrorKind::invalid_argument, "C042", "--store and --self exclude each other",
                "run `quarry doctor` once for each");
  auto checks = store  ? release::examine_store(*store, {context.environment, context.clock, tracer(context)})
                : self ? examine_self(context)
                       : examine(context);
  Json list = Json::array();
  Rows rows;
  bool quiet = arguments.has("--quiet");
  bool color = context.out.data_look().color;
  for (const auto& check : checks) {
    list.push_back(
        {{"name", check.name}, {"health", to_string(check.health)}, {"found", check.found}, {"next", check.next}});
    if (quiet && check.health != Health::failed) continue;
    rows.emplace_back(fmt::format("{:<8} {}", to_string(check.health), check.name),
                      check.found + (check.next.empty() ? "" : "; " + check.next));
  }
  bool healthy = is_healthy(checks);
  context.out.data(with_painted_heads(two_columns(rows, 0, columns_of(context)), color));
  auto good = store  ? fmt::format("\n{} can be used.\n", *store)
              : self ? std::string("\nThe program can work on this machine.\n")
                     : std::string("\nThis machine can build, publish, install and test.\n");
  if (!quiet) context.out.data(healthy ? good : "\nSome checks failed; fix the lines marked `failed`.\n");
  context.out.document({{"healthy", healthy}, {"checks", list}});
  return healthy ? 0 : 1;
}

Command doctor_command() {
  return {.path = {"doctor"},
          .summary = "what this machine lacks",
          .description = "Looks at processors, disk, openat2, HOME, Python, pip, uv, the GPU driver and variables that "
                         "steer installers. Nothing is changed.\n\n"
                         "With `--self` it looks at the program instead: the libraries inside, the C library and the "
                         "system calls that it finds here, the certificates that it trusts, and proxies. What an old "
                         "kernel or a container's filter refuses is done in another way; the line says how.\n\n"
                         "With `--store` it looks at a store instead: where credentials come from, how far this "
                         "machine's clock is off, whether the server honours conditional writes and checksums, and "
                         "whether we may write, read, copy, list and delete there, with an object that is removed "
                         "again. Each failure names the next step.",
          .operands = {},
          .flags = {{.name = "--store", .value = "LOCATOR", .help = "look at this store instead of the machine"},
                    {"--self", "", "look at the program and what it finds here instead of the machine"}},
          .examples = {{"quarry doctor", "before the first run on a machine"},
                       {"quarry doctor --store s3://bucket/prefix", "before the first publish to a bucket"},
                       {"quarry doctor --self", "in an old or restricted container"}},
          .exit_codes = {{0, "nothing that is needed is missing"}, {1, "a check failed; its line says what to do"}},
          .schema = "quarry.doctor/1",
          .run = run_doctor};
}

// explain

Json explanation_json(const Explanation& explanation) {
  return {{"code", explanation.code},
          {"title", explanation.title},
          {"about", explanation.about},
          {"fix", explanation.fix},
          {"room", explanation.room}};
}

Result<int> list_codes(Context& context, const std::map<std::string, Explanation>& codes) {
  Json list = Json::array();
  Rows rows;
  for (const auto& [code, explanation] : codes) {
    list.push_back(explanation_json(explanation));
    rows.emplace_back(code, explanation.title);
  }
  context.out.data(two_columns(rows, 0, columns_of(context)));
  context.out.document({{"schema", "quarry.explanation-list/1"}, {"codes", list}});
  return 0;
}

Result<int> run_explain(Context& context, const Arguments& arguments) {
  TRY(auto codes, load_codes(context.resources));
  if (arguments.has("--list")) return list_codes(context, codes);
  if (arguments.operands.empty())
    return fail(ErrorKind::invalid_argument, "C004", "`quarry explain` needs CODE, such as A012",
                "`quarry explain --list` shows them all");
  TRY(auto found, find_code(codes, arguments.operands[0]));
  auto columns = columns_of(context);
  auto text = fmt::format("{}\n{}\n{}", filled(found.code + ": " + found.title, 0, columns),
                          filled(found.about, 0, columns), filled("fix: " + found.fix, 0, columns));
  auto near = neighbours(codes, found);
  Rows others;
  for (const auto& code : near) others.emplace_back(code, codes.at(code).title);
  if (!near.empty()) text += "\nnear:\n" + two_columns(others, 2, columns);
  context.out.data(text);
  auto document = explanation_json(found);
  document["near"] = near;
  context.out.document(document);
  return 0;
}

Command explain_command() {
  return {
      .path = {"explain"},
      .summary = "what an error or finding code means and what to do",
      .description =
          "Every error and every finding carries a code. This prints what it means, why it happens and how to fix it.",
      .operands = {{"CODE", "such as A012 or error[A012]", false}},
      .flags = {{.name = "--list", .value = "", .help = "all codes with their titles"}},
      .examples = {{"quarry explain A012", "what the code in a message means"}},
      .exit_codes = {{3, "the code does not exist"}},
      .schema = "quarry.explanation/1",
      .run = run_explain};
}

// config show

struct Shown {
  std::string key, value, origin, variable;
};

/// From the weakest source to the strongest; what was said as a flag differs from what the others say.
Shown shown_setting(const Context& context, const Arguments& arguments, const Flag& flag) {
  auto key = setting_key(flag.environment);
  Shown shown{key, flag.fallback, flag.fallback.empty() ? "not set" : "default", flag.environment};
  if (const auto* setting = context.settings->find(key))
    shown = {key, setting->value, setting->origin, flag.environment};
  if (auto value = context.variable(flag.environment); !value.empty()) {
    shown = {key, value, flag.environment, flag.environment};
  }
  if (arguments.fallbacks.contains(flag.name) && arguments.has(flag.name) && arguments.get(flag.name) != shown.value) {
    shown = {key, arguments.get(flag.name), flag.name, flag.environment};
  }
  return shown;
}

Result<int> run_config_show(Context& context, const Arguments& arguments) {
  auto commands = all_commands();
  Json settings = Json::array(), data = Json::array();
  Rows setting_rows, data_rows;
  bool origins = arguments.has("--origin");
  for (const auto* flag : configurable_flags(commands)) {
    auto [key, value, origin, variable] = shown_setting(context, arguments, *flag);
    settings.push_back({{"key", key}, {"value", value}, {"origin", origin}, {"variable", variable}});
    setting_rows.emplace_back(fmt::format("{} = {}", key, value.empty() ? "-" : value), origins ? origin : "");
  }
  for (const auto& name : context.resources.list("")) {
    auto origin = context.resources.origin(name);
    data.push_back({{"name", name}, {"origin", origin}});
    data_rows.emplace_back(name, origin);
  }
  context.out.data(two_columns(setting_rows, 0, columns_of(context)));
  if (origins) context.out.data("\n" + one_line_each(data_rows));
  context.out.document({{"settings", settings}, {"files", context.settings->files()}, {"data", data}});
  return 0;
}

Command config_show_command() {
  return {.path = {"config", "show"},
          .summary = "settings and data files in force",
          .description =
              "A flag wins over its variable, that over `quarry.toml` of the repository, that over "
              "`quarry/config.toml` of the user "
              "($XDG_CONFIG_HOME or ~/.config), that over the default. A data file (recipe, policy, explanation) is "
              "taken from the "
              "repository's `data/`, else from `../share/quarry` next to the program, else from the program itself.",
          .operands = {},
          .flags = {{.name = "--origin", .value = "", .help = "show where each value and each data file comes from"}},
          .examples = {{"quarry config show --origin", "why a store or a recipe is used"}},
          .exit_codes = {},
          .schema = "quarry.config/1",
          .run = run_config_show};
}

// docs (for tools/generate-docs)

Result<void> write_pages(const std::string& directory, const std::map<std::string, std::string>& pages,
                         std::string_view suffix) {
  TRY_DO(sys::make_directories(directory));
  TRY(auto present, sys::list_directory(directory));
  for (const auto& entry : present)
    if (entry.path.ends_with(suffix) && !pages.contains(entry.path))
      TRY_DO(sys::remove_file(path::join(directory, entry.path)));
  for (const auto& [name, content] : pages) TRY_DO(sys::write_file(path::join(directory, name), content));
  return {};
}

Result<int> run_docs(Context& context, const Arguments& arguments) {
  auto commands = all_commands();
  const auto& directory = arguments.operands[0];
  TRY_DO(write_pages(path::join(directory, "commands"), markdown_pages(commands), ".md"));
  TRY_DO(sys::write_file(path::join(directory, "exit-codes.md"), exit_codes_page()));
  TRY(auto families, load_families(context, ""));
  TRY_DO(sys::write_file(path::join(directory, "families.md"), matrix::support_page(families)));
  TRY(auto rules, rule_pages(context.resources));
  TRY_DO(write_pages(path::join(directory, "rules"), rules, ".md"));
  if (auto man = arguments.get("--man-dir"); !man.empty()) TRY_DO(write_pages(man, man_pages(commands), ".1"));
  context.out.document({{"directory", directory}});
  return 0;
}

Command docs_command() {
  return {.path = {"docs"},
          .summary = "write the reference pages",
          .description =
              "Writes the pages of docs/commands and docs/rules, the table of exit codes and the page of families "
              "from the command table and the data files, and man pages when asked. For work on Quarry itself.",
          .operands = {{"DIR", "gets commands/, rules/, exit-codes.md and families.md"}},
          .flags = {{.name = "--man-dir", .value = "DIR", .help = "write man pages there"}},
          .examples = {{"quarry docs docs --man-dir build/man", "all pages, and the man pages"}},
          .exit_codes = {},
          .schema = "quarry.docs/1",
          .run = run_docs,
          .hidden = true};
}
} // namespace

std::vector<Command> everyday_commands() {
  return {doctor_command(), explain_command(), config_show_command(), version_command(), docs_command()};
}

} // namespace quarry::cli
