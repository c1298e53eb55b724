#include "cli/commands.hpp"
#include "cli/facts.hpp"
#include "cli/job_files.hpp"
#include "cli/next_command.hpp"
#include "cli/records.hpp"
#include "cli/switches.hpp"
#include "cli/version.hpp"

#include "base/redact.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "dist/requirement.hpp"
#include "promote/signed_moves.hpp"
#include "sys/directory_lock.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "venv/install.hpp"
#include "venv/seen.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

const Flag k_python{
    "--python",          "P", "the Python to use: 3.12, python3.12 or a path", {}, {}, {}, false, false, 0,
    {"--python-version"}};
const std::string k_activate = "--activate-in-future-github-actions-steps";

/// The switches of both commands, each of them also in its `--no-` form.
std::vector<Flag> with_switches(std::vector<Flag> flags, const std::vector<Flag>& more = {}) {
  for (const auto& [name, help] :
       {std::pair<std::string, std::string>{"--clean", "remove the environment that exists and start fresh"},
        {"--use-uv", "use uv instead of pip and venv"},
        {k_activate, "put the environment on PATH for the later steps of this GitHub Actions job"}})
    for (auto& flag : both_ways(name, help)) flags.push_back(std::move(flag));
  flags.insert(flags.end(), more.begin(), more.end());
  return flags;
}

/// Both ways of saying it must agree.
Result<venv::Installer> chosen_installer(const Arguments& arguments) {
  auto named = arguments.get("--installer");
  TRY(auto use_uv, switched(arguments, "--use-uv"));
  bool uv = use_uv || named == "uv";
  if (arguments.has("--no-use-uv") && named == "uv")
    return fail(ErrorKind::invalid_argument, "V005", "--no-use-uv and --installer uv exclude each other");
  if (use_uv && arguments.has("--installer") && named == "pip")
    return fail(ErrorKind::invalid_argument, "V005", "--use-uv and --installer pip exclude each other");
  return uv ? venv::Installer::uv : venv::Installer::pip;
}

/// Later steps find the environment's programs. Each file takes one line per entry.
Result<void> activate(Context& context, const venv::Environment& environment) {
  auto path_file = context.variable("GITHUB_PATH"), env_file = context.variable("GITHUB_ENV");
  if (path_file.empty() || env_file.empty()) {
    context.out.warn("GITHUB_PATH or GITHUB_ENV is not set: not a GitHub Actions job, nothing was activated");
    return {};
  }
  TRY_DO(append_for_job("GITHUB_PATH", path_file, environment.directory + "/bin\n"));
  return append_for_job("GITHUB_ENV", env_file, fmt::format("VIRTUAL_ENV={}\n", environment.directory));
}

Result<venv::Created> create(Context& context, const Arguments& arguments, bool use_uv) {
  TRY(auto clean, switched(arguments, "--clean"));
  venv::CreateOptions options{arguments.operands.at(0), arguments.find("--python").value_or(""), clean, use_uv};
  if (clean || !venv::is_environment(options.directory))
    context.out.note(fmt::format("creating    {}", options.directory)); // pip takes seconds for it
  TRY(auto created, venv::create_environment(options, context.environment));
  context.out.note(fmt::format("environment {}  Python {}{}", options.directory, created.environment.version,
                               created.existed ? ", already existed (--clean makes it from scratch)" : ""));
  return created;
}

/// Two commands in one environment would each find the other's half of the files.
Result<std::optional<sys::DirectoryLock>> hold(const std::string& directory) {
  if (sys::exists(directory) && !sys::is_directory(directory)) return std::optional<sys::DirectoryLock>();
  TRY(auto lock, sys::DirectoryLock::try_acquire(directory));
  if (lock) return lock;
  return fail(ErrorKind::precondition_failed, "V017", fmt::format("another quarry works in {}", directory),
              "wait until it ends, or name another directory");
}

Result<int> run_create(Context& context, const Arguments& arguments) {
  TRY(auto use_uv, switched(arguments, "--use-uv"));
  TRY(auto activated, switched(arguments, k_activate));
  TRY(auto lock, hold(arguments.operands.at(0)));
  TRY(auto created, create(context, arguments, use_uv));
  if (activated)
    TRY_DO(activate(context, created.environment));
  else
    context.out.note("next: source " + text::shell_word(path::join(arguments.operands.at(0), "bin/activate")));
  context.out.document({{"directory", created.environment.directory},
                        {"python", created.environment.version},
                        {"existed", created.existed}});
  return 0;
}

Command create_command() {
  return {.path = {"venv", "create"},
          .summary = "make a Python environment",
          .description = "Runs `python -m venv` (or `uv venv`). An environment that exists is kept; `--clean` makes "
                         "it from scratch. The Python is "
                         "looked for on PATH, among pyenv's versions and in /opt/python.",
          .operands = {{"DIR", "where the environment is made"}},
          .flags = with_switches({k_python}),
          .examples = {{"quarry venv create .venv --python 3.12", "an environment of that Python"}},
          .exit_codes = {{7, "another quarry works in the directory"},
                         {12, "the Python, venv or uv is not on this machine, or the disk is full or read-only"}},
          .schema = "quarry.venv-create/1",
          .run = run_create};
}

Result<std::uint64_t> seconds_flag(const Arguments& arguments, const std::string& name) {
  auto value = text::parse_u64(arguments.get(name));
  if (value && *value <= 86'400) return *value * 1000;
  return fail(ErrorKind::invalid_argument, "V005", fmt::format("{} is not a number of seconds up to a day", name));
}

/// Whether pip takes the word for a file or a URL: pip's own list of endings (ARCHIVE_EXTENSIONS), before extras.
bool is_file(const std::string& package) {
  static constexpr std::string_view k_endings[] = {".whl", ".zip",    ".tar.gz", ".tgz", ".tar",    ".tar.bz2",
                                                   ".tbz", ".tar.xz", ".txz",    ".tlz", ".tar.lz", ".tar.lzma"};
  if (package.find('/') != package.npos) return true;
  auto name = text::lower(text::trim(std::string_view(package).substr(0, package.find('['))));
  return std::ranges::any_of(k_endings, [&](std::string_view ending) { return name.ends_with(ending); });
}

/// A requirement that pip would refuse is refused before an environment is made for it. Files and URLs are pip's,
/// unless the packages are to be those of sealed sets: what lies elsewhere would be tested with them.
Result<void> check_packages(const std::vector<std::string>& packages, bool sealed) {
  for (const auto& package : packages) {
    bool file = is_file(package);
    if (file && sealed)
      return fail(ErrorKind::invalid_argument, "V005",
                  fmt::format("--packages: `{}` is a file or a URL, and --from installs what its sets hold", package),
                  "name packages of the source, or install files from an index: --index-url, --find-links");
    if (file) continue;
    auto read = dist::Requirement::parse(package);
    if (read) continue;
    return fail(ErrorKind::invalid_argument, "V005",
                fmt::format("--packages: `{}` is not a requirement: {}", package, read.error().message),
                "write names as pip takes them: --packages \"rocm[libraries,devel]\", or rocm==7.2.0");
  }
  return {};
}

Result<venv::InstallOptions> install_options(Context& context, const Arguments& arguments, store::ObjectReader* store) {
  venv::InstallOptions options;
  options.directory = arguments.operands.at(0);
  options.workers = context.jobs;
  options.quarry_version = program_version();
  options.source.locator = arguments.find("--from").value_or("");
  options.source.index_url = arguments.find("--index-url");
  options.source.index_name = arguments.find("--index-name").value_or("");
  options.source.index_subdir = arguments.find("--index-subdir").value_or("");
  options.source.find_links = arguments.list("--find-links");
  options.allow_unknown_extras = arguments.has("--allow-unknown-extras");
  options.source.store = store;
  TRY(options.installer.passed, passed_variables(arguments));
  TRY(options.installer.installer, chosen_installer(arguments));
  options.installer.packages = text::split_any(arguments.get("--packages"), " \t\n");
  if (options.installer.packages.empty())
    return fail(ErrorKind::invalid_argument, "V005", "--packages names nothing",
                "for example --packages \"rocm[libraries,devel]\"");
  TRY_DO(check_packages(options.installer.packages, !options.source.locator.empty()));
  TRY(options.installer.pre, switched(arguments, "--pre"));
  TRY(options.installer.disable_cache, switched(arguments, "--disable-cache"));
  TRY(options.installer.retry_timeout_ms, seconds_flag(arguments, "--install-retry-timeout-seconds"));
  TRY(options.installer.retry_wait_ms, seconds_flag(arguments, "--install-retry-wait-between-seconds"));
  if (options.installer.retry_timeout_ms && !options.installer.retry_wait_ms)
    return fail(ErrorKind::invalid_argument, "V005",
                "--install-retry-wait-between-seconds is 0, which would ask the server without a pause",
                "give it a pause, or switch tries off with --install-retry-timeout-seconds 0");
  options.on_note = [&context](std::string_view line) { context.out.note(line); };
  options.on_output = [&context](std::string_view line) {
    if (line.starts_with("Processing ") || line.starts_with("Successfully ") || line.starts_with("Building ") ||
        line.starts_with(" + ") || line.find("does not provide the extra") != line.npos ||
        line.find("does not have an extra named") != line.npos)
      context.out.note(fmt::format("  {}", line));
  };
  return options;
}

Json receipt_document(const venv::InstallOutcome& outcome) {
  Json document = Json::parse(venv::to_json(outcome.receipt));
  document["findings"] = findings_json(outcome.findings);
  document["schema"] = "quarry.venv-install/1";
  document["receipt"] = outcome.receipt_path;
  return document;
}

/// A package that was there already is not installed again, and so is not among the files.
std::string installed_text(const venv::Receipt& receipt, const std::string& directory, double seconds) {
  if (receipt.files.empty())
    return fmt::format("nothing to install from {}: {} has it already  {}\n", receipt.source, directory,
                       units::seconds(seconds));
  return fmt::format(
      "installed {} from {} in {}; {}  {}\n", units::things(receipt.files.size(), "file"), receipt.source, directory,
      receipt.sealed ? "all match their sealed set" : "hashes match what the index offered (unsealed source)",
      units::seconds(seconds));
}

void report_install(Context& context, const venv::InstallOutcome& outcome, const std::string& directory) {
  const auto& receipt = outcome.receipt;
  for (const auto& file : receipt.files)
    context.out.data(fact("installed", "{}  {}", file.filename, file.sha256.short_hex()));
  context.out.data(installed_text(receipt, directory, outcome.seconds));
  if (receipt.sealed)
    context.out.note("next: " +
                     NextCommand(context, "test").set("--venv", directory).set("--store", receipt.store).text());
}

/// What the packages come from, as it was given but without credentials.
std::string source_name(const Arguments& arguments) {
  for (const auto* flag : {"--from", "--index-url", "--index-name", "--find-links"})
    if (auto given = arguments.find(flag); given && !given->empty()) return redact::without_credentials(*given);
  return "the index";
}

constexpr std::string_view k_channel_source = "channel:";
constexpr int k_looks_max = 3; // at a channel that moves meanwhile

bool is_channel(const venv::Source& source) {
  return source.sealed && source.description.starts_with(k_channel_source);
}

/// Says who signed the last move. A policy that cannot be read fails: it may demand a signature.
Result<void> verify_channel_move(Context& context, store::ObjectReader& store, const registry::ChannelRecord& channel) {
  if (channel.guard.policy.empty()) return {};
  TRY(auto move, promote::verify_last_move(store, channel),
      fmt::format("nothing was installed: who signed channel {} is not known", channel.name));
  if (!move.by.empty())
    context.out.note(fmt::format("signed      {} of {}@{} by {}", move.action, channel.name, move.generation, move.by));
  return {};
}

/// What is installed from; a channel with the signature of its last move. A wrong locator is told before an environment
/// is made for it.
Result<venv::Source> find_verified(Context& context, store::ObjectStore* store, const venv::SourceRequest& request) {
  for (int look = 0; look < k_looks_max; ++look) {
    TRY(auto source, venv::find_source(request));
    if (!store || !is_channel(source)) return source;
    TRY(auto channel, registry::require_channel(*store, source.description.substr(k_channel_source.size())));
    if (channel.record.generation != source.generation || channel.record.view != source.view) continue;
    TRY_DO(verify_channel_move(context, *store, channel.record));
    return source;
  }
  return fail(ErrorKind::precondition_failed, "P010", fmt::format("{} kept moving while it was read", request.locator),
              "run the same command again");
}

/// What is about to be installed from, if it is a channel.
std::optional<venv::Seen> channel_now(const store::ObjectStore* store, const venv::Source& source) {
  if (!store || !is_channel(source)) return std::nullopt;
  auto name = source.description.substr(k_channel_source.size());
  return venv::Seen{store->describe(), store->url(registry::channel_key(name)), name, source.generation, source.view};
}

/// Refuses a channel that was set back since this environment or this machine last saw it. Before anything is changed:
/// `--clean` and a failed installation remove the receipt.
Result<void> refuse_set_back(const Context& context, const Arguments& arguments, const venv::Seen& now) {
  if (arguments.has("--allow-older")) return {};
  TRY(auto machine, venv::last_seen(venv::seen_directory(context.environment), now));
  if (machine) TRY_DO(venv::refuse_older({*machine, "this machine"}, now));
  auto receipt = venv::seen_by_receipt(arguments.operands.at(0), now);
  return receipt ? venv::refuse_older({*receipt, "this environment"}, now) : Result<void>();
}

Result<int> run_install(Context& context, const Arguments& arguments) {
  std::unique_ptr<store::ObjectStore> store;
  if (auto named = arguments.find("--store")) {
    auto from = run::parse_locator(arguments.find("--from").value_or(""));
    using Kind = run::LocatorKind;
    bool in_store = from && (from->kind == Kind::run || from->kind == Kind::set || from->kind == Kind::channel);
    TRY(store, in_store ? open_store(context, *named) : open_store_to_write(context, *named));
  }
  TRY(auto clean, switched(arguments, "--clean"));
  TRY(auto activated, switched(arguments, k_activate));
  TRY(auto options, install_options(context, arguments, store.get()));
  context.out.note("looking at  " + source_name(arguments));
  TRY(options.found, find_verified(context, store.get(), options.source));
  auto channel = channel_now(store.get(), *options.found);
  if (channel) TRY_DO(refuse_set_back(context, arguments, *channel));
  TRY(auto lock, hold(options.directory));
  if (clean || arguments.find("--python") || !venv::is_environment(options.directory))
    TRY_DO(create(context, arguments, options.installer.installer == venv::Installer::uv));
  if (channel) TRY_DO(venv::remember(venv::seen_directory(context.environment), *channel));
  TRY(auto outcome, venv::install(options, context.environment, context.clock));
  context.out.findings(outcome.findings);
  report_install(context, outcome, options.directory);
  context.out.document(receipt_document(outcome));
  if (!activated) return 0;
  TRY(auto environment, venv::open_environment(options.directory));
  TRY_DO(activate(context, environment));
  return 0;
}

std::vector<Flag> install_flags() {
  std::vector<Flag> flags = {
      {"--from", "LOCATOR", "run:ID, set:DIGEST, channel:NAME, a directory of packages, or a URL"},
      {"--packages", "LIST", "what to install, such as \"rocm[libraries,devel]\"", {}, {}, {}, true},
      {"--installer", "NAME", "which program installs", {"pip", "uv"}, "pip"},
      {"--store", "LOCATOR", "the store that run:, set: and channel: are in", {}, {}, "QUARRY_STORE"},
      k_python};
  for (const auto& [name, help] : {std::pair<std::string, std::string>{"--pre", "allow pre-releases"},
                                   {"--disable-cache", "do not use the installer's cache"}})
    for (auto& flag : both_ways(name, help)) flags.push_back(std::move(flag));
  return with_switches(
      std::move(flags),
      {{"--index-url", "URL", "instead of --from: this package index; empty: none, only --find-links"},
       {"--index-name", "NAME", "instead of --from: a named ROCm index", {"stable", "prerelease", "nightly", "dev"}},
       {.name = "--index-subdir",
        .value = "DIR",
        .help = "a family's directory below that index, such as gfx94X-dcgpu",
        .aliases = {"--index-subdirectory"}},
       {.name = "--find-links",
        .value = "URL",
        .help = "instead of --from, or with --index-url: a page or directory with links",
        .repeats = true},
       {"--allow-older", "", "take a channel at an older generation than this machine has seen: it was restored"},
       {"--allow-unknown-extras", "", "an extra that a package does not have is a warning, as pip has it"},
       pass_env_flag(),
       {"--install-retry-timeout-seconds",
        "N",
        "from a URL: keep trying for so long while the server fails or the index lacks the package; 0: one try",
        {},
        "180"},
       {"--install-retry-wait-between-seconds", "N", "from a URL: pause between tries", {}, "15"}});
}

Command install_command() {
  return {
      .path = {"venv", "install"},
      .summary = "install packages from exactly one set, run, channel or directory",
      .description =
          "Runs pip (or uv) so that nothing but the files of `--from` can be chosen: the user's "
          "configuration, variables and caches of "
          "both are out of the way. Quarry's own sets must be sealed, and their files are compared with the "
          "set before the installer "
          "runs and afterwards, file by file. `quarry-receipt.json` in the environment then says what is "
          "there.\n\nWhere the store has a base index (`quarry mirror sync`), dependencies come from it, and the "
          "receipt lists them as other packages.\n\nWhere the policy of a protected channel demands signed moves, "
          "the last "
          "one must be signed; the command says by whom. A channel whose generation is older than the one that this "
          "machine or the environment's receipt has seen is refused: the store is an old copy, or was set back. "
          "A rollback makes a newer generation.\n\nAn extra that a package does not have is an error. A "
          "source "
          "distribution whose build needs setuptools and wheel gets them from where the user's own pip or uv "
          "looks, if the source has none.\n\nA source that cannot "
          "have a seal (a URL, a directory, a run that another tool laid out) is accepted, called an "
          "unsealed source and frozen by "
          "sha256 in `quarry-lock.json`; what is tested from it cannot be promoted.\n\nThe environment is "
          "made if it does not exist.",
      .operands = {{"DIR", "the environment"}},
      .flags = install_flags(),
      .examples = {{"quarry venv install .venv --from channel:staging --packages \"rocm[libraries,devel]\"",
                    "from a channel, with pip"},
                   {"quarry venv install .venv --from run:42 --packages rocm --installer uv",
                    "what one run built, with uv"},
                   {"quarry venv install .venv --from out/dist --packages rocm",
                    "what was just built: an unsealed source"}},
      .exit_codes = {{1, "the installer failed"},
                     {3, "the source does not exist, or is not sealed yet"},
                     {5, "the network failed"},
                     {6, "a file differs from the sealed one, so no receipt was written; or the channel was set back"},
                     {7, "another quarry works in the directory"},
                     {12, "the Python or the installer is missing, or the disk is full or read-only"}},
      .schema = "quarry.venv-install/1",
      .run = run_install};
}

} // namespace

std::vector<Command> venv_commands() { return {create_command(), install_command()}; }

} // namespace quarry::cli
