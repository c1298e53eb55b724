#include "base/text.hpp"
#include "cli/compat/script.hpp"
#include "cli/records.hpp"
#include "cli/switches.hpp"
#include "store/object_store.hpp"
#include "sys/file.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <optional>

namespace quarry::cli::compat {

namespace {

const std::string k_activate = "--activate-in-future-github-actions-steps";

/// The one sealed set of a group in a store that is not on this machine.
Result<std::string> set_locator(Context& context, const Place& place, const std::string& directory) {
  TRY(auto shown, ask_words(context, {"set", "show", place.locator(), "--store", place.store}));
  std::vector<std::string> found;
  for (const auto& set : shown["sets"])
    if (set["directory"] == directory) found.push_back("set:" + set["set"].get<std::string>());
  if (found.size() == 1) return found[0];
  return fail(found.empty() ? ErrorKind::not_found : ErrorKind::invalid_argument, "C043",
              fmt::format("{} has {} sealed sets in {}", place.locator(), found.size(), directory),
              "`quarry set show` names them; `quarry venv install --from set:DIGEST` takes one");
}

/// The packages of one group of a run lie in a directory of their own; of the whole run, everywhere below it.
Result<std::string> run_locator(Context& context, const Place& place, const std::string& group) {
  if (group.empty()) return place.locator();
  auto directory = place.prefix + "/python/" + group;
  TRY(auto store, open_store(context, place.store));
  auto url = store->url(directory);
  if (url.starts_with("file://")) return "file:" + text::percent_decode(std::string_view(url).substr(7));
  return set_locator(context, place, directory);
}

struct From {
  Words words;
  std::optional<Place> place; ///< of a run
};

Result<From> from_run(Context& context, const Arguments& arguments, const std::string& run) {
  TRY(auto place, place_of(context, arguments, {run, arguments.get("--platform"), "", arguments.get("--store")}));
  auto inner = at(context, place);
  TRY(auto locator, run_locator(inner, place, said(arguments, "--artifact-group").value_or("")));
  From from{{"--from", locator}, {}};
  if (!locator.starts_with("file:")) from.words.insert(from.words.end(), {"--store", place.store});
  from.place = std::move(place);
  return from;
}

Result<From> source_words(Context& context, const Arguments& arguments) {
  for (const auto* flag : {"--index-url", "--index-name", "--find-links"})
    TRY_DO(only_one_of(arguments, {"--from-run-id", flag}));
  if (auto run = said(arguments, "--from-run-id")) return from_run(context, arguments, *run);
  if (said(arguments, "--artifact-group"))
    return usage("--artifact-group is for --from-run-id only", "add --from-run-id ID");
  From from;
  // An empty URL is the script's way to say --no-index.
  if (auto url = arguments.find("--index-url")) from.words.insert(from.words.end(), {"--index-url", *url});
  for (const auto* flag : {"--index-name", "--index-subdir"}) pass(from.words, arguments, flag);
  for (const auto& links : arguments.list("--find-links"))
    if (!links.empty()) from.words.insert(from.words.end(), {"--find-links", links});
  return from;
}

Result<void> check(const Arguments& arguments) {
  if (is_feb(arguments) && said(arguments, "--index-name") && !said(arguments, "--index-subdir"))
    return usage("--index-name needs --index-subdir in February's form", "name the family's directory");
  return {};
}

Result<int> setup_venv(Context& context, const Arguments& arguments) {
  TRY_DO(check(arguments));
  Words switches;
  for (const auto& name : {std::string("--clean"), std::string("--use-uv"), k_activate}) {
    TRY(auto on, switched(arguments, name));
    if (on) switches.push_back(name);
  }
  TRY(auto pre, switched(arguments, "--pre"));
  TRY(auto no_cache, switched(arguments, "--disable-cache"));
  pass(switches, arguments, "--python");
  TRY(auto source, source_words(context, arguments));
  auto inner = source.place ? at(context, *source.place) : context;
  auto packages = said(arguments, "--packages");
  Words words{"venv", packages ? "install" : "create", arguments.operands.at(0)};
  words.insert(words.end(), switches.begin(), switches.end());
  if (!packages) {
    if (!source.words.empty()) context.out.note("note: without --packages nothing is installed");
    return run_words(context, words);
  }
  if (source.words.empty())
    return fail(ErrorKind::invalid_argument, "V005", "nothing says where the packages come from",
                "add --index-name NAME, --index-url URL, --find-links URL, or --from-run-id ID");
  words.insert(words.end(), {"--packages", *packages});
  words.insert(words.end(), source.words.begin(), source.words.end());
  if (pre) words.push_back("--pre");
  if (no_cache) words.push_back("--disable-cache");
  words.push_back("--allow-unknown-extras"); // pip only warns, and so does the script
  words.insert(words.end(),
               {"--install-retry-timeout-seconds",
                said(arguments, "--install-retry-timeout-seconds").value_or(is_feb(arguments) ? "0" : "180"),
                "--install-retry-wait-between-seconds", arguments.get("--install-retry-wait-between-seconds")});
  return run_words(inner, words);
}

std::vector<Flag> venv_flags() {
  std::vector<Flag> flags;
  for (const auto& [name, help] : {std::pair<std::string, std::string>{"--clean", "start fresh"},
                                   {"--pre", "allow pre-releases"},
                                   {"--disable-cache", "without the installer's cache"},
                                   {k_activate, "on PATH for the job's later steps"},
                                   {"--use-uv", "uv instead of pip and venv"}})
    for (auto& flag : both_ways(name, help)) flags.push_back(std::move(flag));
  std::vector<Flag> more = {
      {"--packages", "LIST", "what to install, separated by spaces"},
      {"--index-url", "URL", "this index; empty: none at all"},
      {"--index-name", "NAME", "a named ROCm index", {"stable", "prerelease", "nightly", "dev"}},
      {.name = "--index-subdir",
       .value = "DIR",
       .help = "the family's directory below the index, such as gfx94X-dcgpu",
       .aliases = {"--index-subdirectory"}},
      {.name = "--find-links", .value = "URL", .help = "a page or directory with links", .repeats = true},
      {"--install-retry-timeout-seconds", "N", "keep trying for so long (default: 180; February: 0)"},
      {"--install-retry-wait-between-seconds", "N", "pause between tries", {}, "15"},
      {"--from-run-id", "ID", "Quarry only: exactly the packages of this run"},
      {"--artifact-group", "G", "Quarry only, with --from-run-id: only those of this group"},
      {"--run-github-repo", "OWNER/NAME", "Quarry only, with --from-run-id: the repository of the run"},
      {"--platform", "P", "Quarry only, with --from-run-id: the run's platform", {"linux", "windows"}, "linux"},
      {"--python", "P", "Quarry only: the Python to use"},
      k_store,
      k_workflow_run,
      k_era};
  flags.insert(flags.end(), more.begin(), more.end());
  return flags;
}

Script venv_script() {
  return {.name = "setup_venv",
          .summary = "an environment with ROCm's packages, as TheRock's script makes it",
          .description =
              "Runs `quarry venv install`, or `quarry venv create` without --packages. --from-run-id installs "
              "exactly what a run published, without an index.",
          .operands = {{"VENV_DIR", "where the environment is made"}},
          .flags = venv_flags(),
          .refused = {},
          .only_feb = {},
          .only_aug = {},
          .examples = {{"quarry compat setup_venv .venv --packages \"rocm[libraries,devel]\" --index-name nightly",
                        "the latest nightly"},
                       {"quarry compat setup_venv .venv --packages rocm --from-run-id 42 --artifact-group gfx94X-dcgpu "
                        "--store file:store",
                        "what a run built for one family"}},
          .exit_codes = {{1, "the installer failed"},
                         {2, "nothing says where packages come from"},
                         {3, "the run does not exist, or is not sealed"}},
          .schema = "quarry.venv-install/1",
          .run = setup_venv};
}

} // namespace

std::vector<Command> venv_scripts() { return {command_of(venv_script())}; }

} // namespace quarry::cli::compat
