#include "cli/engine.hpp"

#include "base/text.hpp"
#include "cli/help.hpp"
#include "cli/parse.hpp"
#include "cli/resolve.hpp"
#include "cli/settings.hpp"
#include "thread/guard.hpp"
#include <algorithm>
#include <exception>
#include <fmt/core.h>
#include <new>
#include <nlohmann/json.hpp>
#include <system_error>

namespace quarry::cli {

namespace {

std::string variable(const World& world, const std::string& name) {
  auto found = world.environment.find(name);
  return found == world.environment.end() ? "" : found->second;
}

bool use_color(const World& world, const std::string& when, bool is_terminal) {
  if (when != "auto") return when == "always";
  if (!variable(world, "NO_COLOR").empty()) return false; // no-color.org: any value but the empty one
  if (auto force = variable(world, "FORCE_COLOR"); !force.empty()) return force != "0";
  return is_terminal && variable(world, "TERM") != "dumb";
}

ProgressMode progress_mode(const World& world, const std::string& how) {
  if (how == "none") return ProgressMode::none;
  if (how == "bar") return ProgressMode::bar;
  return how == "auto" && world.err_is_terminal && variable(world, "TERM") != "dumb" ? ProgressMode::bar
                                                                                     : ProgressMode::lines;
}

OutputOptions output_options(const World& world, const Arguments& arguments) {
  auto when = arguments.get("--color");
  return {.json = arguments.has("--json"),
          .quiet = arguments.has("--quiet"),
          .verbose = arguments.has("--verbose"),
          .out_color = use_color(world, when, world.out_is_terminal),
          .err_color = use_color(world, when, world.err_is_terminal),
          .progress = progress_mode(world, arguments.get("--progress")),
          .columns = world.columns,
          .out_is_terminal = world.out_is_terminal,
          .err_is_terminal = world.err_is_terminal};
}

/// Before the flags are parsed: what the words say plainly, so that an error is shown as it was asked for.
OutputOptions early_options(const World& world, const std::vector<std::string>& words) {
  auto end = std::find(words.begin(), words.end(), "--");
  bool json = std::find(words.begin(), end, "--json") != end;
  std::string when = "auto";
  for (auto word = words.begin(); word != end; ++word) {
    if (*word == "--color=never" || *word == "--color=always") when = word->substr(std::string_view("--color=").size());
    if (*word == "--color" && word + 1 != end) when = *(word + 1);
  }
  if (when != "never" && when != "always") when = "auto";
  return {.json = json, .err_color = use_color(world, when, world.err_is_terminal), .columns = world.columns};
}

std::string page_for(const World& world, std::span<const Command> commands, const Resolved& resolved) {
  if (resolved.command) return command_page(*resolved.command, world.columns);
  return resolved.group.empty() ? help_page(commands, world.columns)
                                : group_page(commands, resolved.group, world.columns);
}

Json flags_json(const std::vector<Flag>& flags) {
  auto list = Json::array();
  for (const auto& flag : flags)
    list.push_back({{"name", flag.name},
                    {"value", flag.value.empty() ? Json(nullptr) : Json(flag.value)},
                    {"help", flag.help},
                    {"required", flag.required},
                    {"repeats", flag.repeats}});
  return list;
}

/// `--help --json`: the commands that the words name, all of them for `quarry help`.
Json help_json(std::span<const Command> commands, const Resolved& resolved) {
  auto list = Json::array();
  for (const auto& command : commands) {
    bool named =
        resolved.command ? &command == resolved.command : resolved.group.empty() || command.path[0] == resolved.group;
    if (!named || (command.hidden && !resolved.command)) continue;
    list.push_back({{"command", text::join(command.path, " ")},
                    {"summary", command.summary},
                    {"usage", usage_line(command)},
                    {"flags", flags_json(command.flags)}});
  }
  return {{"schema", "quarry.help/1"}, {"commands", list}, {"flags", flags_json(global_flags())}};
}

Result<int> no_command(const World& world, std::span<const Command> commands, const Resolved& resolved) {
  if (!resolved.group.empty()) {
    std::vector<std::string> verbs;
    for (bool hidden : {false, true}) {
      if (!verbs.empty()) break; // tools of the project itself are named only where there is nothing else
      for (const auto& command : commands)
        if (command.hidden == hidden && command.path.size() == 2 && command.path[0] == resolved.group)
          verbs.push_back(command.path[1]);
    }
    return fail(ErrorKind::invalid_argument, "C001",
                fmt::format("missing subcommand; `quarry {}` has {}", resolved.group, text::join(verbs, ", ")),
                fmt::format("see `quarry {} --help`", resolved.group));
  }
  if (!resolved.words.empty()) {
    static const Command k_flags_alone{};
    TRY_DO(parse_words(k_flags_alone, resolved.words));
    return fail(ErrorKind::invalid_argument, "C001", "the flags are not followed by a command",
                "`quarry help` lists all commands");
  }
  world.out(overview(commands, world.columns));
  return 0;
}

/// Flags, variables and settings of one command, complete and checked.
Result<Arguments> complete_arguments(const World& world, const Command& command, const Settings& settings,
                                     const std::vector<std::string>& words) {
  TRY(auto arguments, parse_words(command, words));
  TRY_DO(apply_settings(global_flags(), world.environment, settings, arguments));
  TRY_DO(apply_settings(command.flags, world.environment, settings, arguments));
  TRY_DO(check_required(command, arguments));
  TRY_DO(check_documents(command, arguments));
  return arguments;
}

int report(Printer& printer, const Error& error) {
  printer.error(error);
  return traits(error.kind).exit_code;
}

/// A command that throws has a bug, but its user still gets one error, in the form that was asked for.
Result<int> run_guarded(const Command& command, Context& context, const Arguments& arguments) {
  try {
    return command.run(context, arguments);
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::resource_exhausted, "C092", "out of memory",
                "use fewer --jobs, or a machine with more memory");
  } catch (const std::system_error&) { // such as a thread that cannot be started
    return fail(error_of_exception());
  } catch (const std::exception& exception) {
    return fail(bug(exception.what()));
  }
}

/// "https://***@host/path" for a URL that holds a password.
std::string without_userinfo(const std::string& value) {
  auto scheme = value.find("://");
  if (scheme == value.npos) return value;
  auto begin = scheme + 3;
  auto at = value.substr(begin, value.find('/', begin) - begin).rfind('@');
  return at == std::string::npos ? value : value.substr(0, begin) + "***" + value.substr(begin + at);
}

/// What decides what the command does, but was not given on its command line.
void trace_settings(Printer& printer, const Command& command, const Settings& settings, const Arguments& arguments) {
  if (!printer.verbose()) return;
  for (const auto& file : settings.files()) printer.trace("settings file " + file);
  for (const auto* flags : {&command.flags, &global_flags()})
    for (const auto& flag : *flags) {
      auto origin = arguments.origins.find(flag.name);
      if (origin != arguments.origins.end())
        printer.trace(fmt::format("{}{} from {}", flag.name,
                                  flag.value.empty() ? "" : " " + without_userinfo(arguments.get(flag.name)),
                                  origin->second));
    }
}

int execute(const World& world, const Command& command, const Settings& settings, const Arguments& arguments) {
  auto printer = make_printer(output_options(world, arguments), world.out, world.err, world.clock);
  trace_settings(*printer, command, settings, arguments);
  auto jobs = text::parse_u64(arguments.get("--jobs")).value_or(world.processors);
  Context context{world.environment,           world.clock,   world.resources, *printer,
                  static_cast<unsigned>(jobs), world.program, &settings};
  printer->set_schema(command.schema);
  auto code = run_guarded(command, context, arguments);
  if (!code) return report(*printer, code.error());
  if (printer->json() && !printer->printed_document()) printer->document(Json{{"exit_code", *code}});
  return *code;
}

/// `quarry compat SCRIPT` of a script that the workflows call and that has no drop-in: the error says what takes its
/// place, as docs/differences.tsv does.
Error with_form_of_ours(const World& world, std::span<const Command> commands, const std::vector<std::string>& words,
                        Error error) {
  auto compat = std::ranges::find(words, "compat");
  if (compat == words.end() || compat + 1 == words.end()) return error;
  const auto& script = *(compat + 1);
  auto is_drop_in = [&](const Command& command) { return command.path == std::vector<std::string>{"compat", script}; };
  if (std::ranges::any_of(commands, is_drop_in)) return error;
  auto table = world.resources.read("differences.tsv").value_or("");
  for (const auto& line : text::split(table, '\n')) {
    auto parts = text::split(line, '\t');
    if (parts.size() != 3 || parts[0] != "#cli" || parts[1] != script) continue;
    error.message = fmt::format("{} of TheRock has no drop-in", script);
    error.hint = parts[2] + " (docs/guides/script-calls.md)";
  }
  return error;
}

} // namespace

Error bug(std::string_view what) {
  return {ErrorKind::internal,
          "C090",
          fmt::format("a bug in quarry: {}", what),
          {},
          {},
          "please report it with the command line and `quarry version --json`"};
}

int run_engine(const World& world, std::span<const Command> commands, const std::vector<std::string>& words) {
  auto early = make_printer(early_options(world, words), world.out, world.err, world.clock);
  auto resolved = resolve(commands, words);
  if (!resolved) return report(*early, with_form_of_ours(world, commands, words, resolved.error()));
  if (resolved->help) {
    if (early_options(world, words).json)
      early->document(help_json(commands, *resolved));
    else
      world.out(page_for(world, commands, *resolved));
    return 0;
  }
  if (!resolved->command) {
    auto code = no_command(world, commands, *resolved);
    return code ? *code : report(*early, code.error());
  }
  auto settings = Settings::load(settings_files(world.directory, world.environment), commands);
  if (!settings) return report(*early, settings.error());
  auto arguments = complete_arguments(world, *resolved->command, *settings, resolved->words);
  if (!arguments) return report(*early, arguments.error());
  return execute(world, *resolved->command, *settings, *arguments);
}

} // namespace quarry::cli
