#include "cli/completion.hpp"

#include "base/text.hpp"
#include "cli/codes.hpp"
#include "cli/commands.hpp"
#include "cli/complete.hpp"
#include "cli/records.hpp"
#include "registry/registry.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

Result<int> run_completion(Context& context, const Arguments& arguments) {
  const auto& shell = arguments.operands[0];
  std::string script;
  if (shell == "bash")
    script = bash_completion();
  else if (shell == "zsh")
    script = zsh_completion();
  else if (shell == "fish")
    script = fish_completion();
  else
    return fail(ErrorKind::invalid_argument, "C006",
                fmt::format("SHELL must be one of bash, zsh, fish, not `{}`", shell), "choose one of them");
  context.out.data(script);
  context.out.document({{"shell", shell}, {"script", script}});
  return 0;
}

Command completion_command() {
  return {
      .path = {"completion"},
      .summary = "completion script for a shell",
      .description = "Prints a script that completes commands, flags with their descriptions, values, error codes, "
                     "policies, recipes and files. Pressing Tab runs `quarry complete`, which reads nothing but the "
                     "program's own data; for a channel's name it lists the store, if that is a directory.",
      .operands = {{"SHELL", "bash, zsh or fish"}},
      .flags = {},
      .examples = {{"quarry completion bash > ~/.local/share/bash-completion/completions/quarry", "for every new bash"},
                   {"source <(quarry completion bash)", "for this bash"},
                   {"quarry completion zsh > ~/.zfunc/_quarry", "for zsh, with ~/.zfunc in fpath"},
                   {"quarry completion fish > ~/.config/fish/completions/quarry.fish", "for fish"}},
      .exit_codes = {},
      .schema = "quarry.completion/1",
      .run = run_completion};
}

// complete

std::vector<Suggestion> data_names(const Context& context, const std::string& directory) {
  std::vector<Suggestion> names;
  for (const auto& name : context.resources.list(directory))
    if (name.ends_with(".toml"))
      names.push_back({name.substr(directory.size(), name.size() - directory.size() - 5), "part of the program"});
  return names;
}

std::vector<Suggestion> code_names(const Context& context) {
  std::vector<Suggestion> names;
  if (auto codes = load_codes(context.resources))
    for (const auto& [code, explanation] : *codes) names.push_back({code, explanation.title});
  return names;
}

/// The store that the unfinished line names, else the one that is set.
std::string store_of(const Arguments& arguments) {
  const auto& words = arguments.rest;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with("--store=")) return words[i].substr(8);
    if (words[i] == "--store" && i + 2 < words.size()) return words[i + 1];
  }
  return arguments.get("--store");
}

/// Channels are completed for directories only: a request to a server that does not answer would hang the shell.
std::vector<Suggestion> channel_names(const Context& context, const std::string& locator) {
  std::vector<Suggestion> names;
  if (locator.empty() || (locator.find("://") != locator.npos && !locator.starts_with("file:"))) return names;
  auto store = open_store(context, locator);
  if (!store) return names;
  if (auto channels = registry::list_channels(**store))
    for (auto& name : *channels) names.push_back({std::move(name), "channel of " + locator});
  return names;
}

Result<int> run_complete(Context& context, const Arguments& arguments) {
  auto commands = all_commands();
  auto store = store_of(arguments);
  auto completion = complete(commands, arguments.rest,
                             {.channels = [&] { return channel_names(context, store); },
                              .policies = [&] { return data_names(context, "data/policies/"); },
                              .recipes = [&] { return data_names(context, "data/recipes/"); },
                              .codes = [&] { return code_names(context); }});
  auto list = Json::array();
  for (const auto& [text, about] : completion.candidates) {
    context.out.data(fmt::format("{}\t{}\n", text, about));
    list.push_back({{"text", text}, {"about", about}});
  }
  if (completion.files) context.out.data(":files\n");
  context.out.document({{"candidates", list}, {"files", completion.files}});
  return 0;
}

Command complete_command() {
  return {.path = {"complete"},
          .summary = "what the last word of a command line may become, for completion scripts",
          .description =
              "Prints a line for each candidate, with a tab before its description, and `:files` where names "
              "of files fit as well.",
          .operands = {},
          .flags = {{.name = "--store",
                     .value = "LOCATOR",
                     .help = "the store whose channels are completed",
                     .environment = "QUARRY_STORE"}},
          .takes_rest = true,
          .examples = {{"quarry complete -- artifact f", "the verbs of `artifact` that begin with f"}},
          .exit_codes = {},
          .schema = "quarry.complete/1",
          .run = run_complete,
          .hidden = true};
}

} // namespace

std::vector<Command> completion_commands() { return {completion_command(), complete_command()}; }

} // namespace quarry::cli
