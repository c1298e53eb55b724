#include "venv/installer.hpp"

#include "base/json.hpp"
#include "base/redact.hpp"
#include "base/text.hpp"
#include "dist/name.hpp"
#include "dist/version.hpp"
#include "sys/clock.hpp"
#include "sys/path.hpp"
#include "sys/process.hpp"
#include "venv/offers.hpp"
#include "venv/symptoms.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::venv {

namespace {

constexpr std::uint64_t k_version_deadline_ms = 60'000;
constexpr std::uint64_t k_output_bytes_max = 4u << 20; // an installer that says more says nothing

void add_sources(std::vector<std::string>& command, const Source& source, const InstallerPlaces& places) {
  if (!source.is_remote()) {
    command.insert(command.end(), {"--no-index", "--find-links", places.links});
    return;
  }
  if (!source.index_url || source.index_url->empty())
    command.push_back("--no-index");
  else if (places.addresses.empty())
    command.insert(command.end(), {"--index-url", *source.index_url});
  if (places.addresses.empty())
    for (const auto& links : source.find_links) command.insert(command.end(), {"--find-links", links});
  else
    command.insert(command.end(), {"--requirement", places.addresses});
}

/// An empty index URL is how setup_venv.py asks for find-links alone, with the build tools that are in the environment.
bool without_isolation(const Source& source, const InstallerRequest& request) {
  return request.no_isolation || (source.index_url && source.index_url->empty());
}

std::vector<std::string> pip_command(const Environment& environment, const Source& source,
                                     const InstallerRequest& request, const InstallerPlaces& places) {
  std::vector<std::string> command = {
      environment.python, "-I", "-m", "pip", "--isolated", "--disable-pip-version-check", "--no-input", "install",
      "--progress-bar",   "off"};
  add_sources(command, source, places);
  if (without_isolation(source, request)) command.push_back("--no-build-isolation");
  if (request.build_wheels) command.push_back("--use-pep517");
  if (request.pre) command.push_back("--pre");
  if (request.reinstall) command.push_back("--force-reinstall");
  // pip keeps wheels that it built, by URL: of a local source that would be another file's wheel one day.
  if (request.disable_cache || !source.is_remote()) command.push_back("--no-cache-dir");
  if (source.is_remote()) command.insert(command.end(), {"--report", places.report});
  return command;
}

std::vector<std::string> uv_command(const Environment& environment, const Source& source,
                                    const InstallerRequest& request, const InstallerPlaces& places) {
  std::vector<std::string> command = {
      "uv", "pip", "install", "--no-config", "--no-progress", "--python", environment.python};
  add_sources(command, source, places);
  if (without_isolation(source, request)) command.push_back("--no-build-isolation");
  if (request.pre) command.push_back("--prerelease=allow");
  if (request.reinstall) command.push_back("--reinstall");
  if (request.disable_cache && source.is_remote()) command.push_back("--no-cache");
  if (!source.is_remote()) command.insert(command.end(), {"--offline", "--cache-dir", places.cache});
  return command;
}

} // namespace

// pip and uv split these lines as a shell does, and replace ${NAME}.
std::string source_addresses(const Source& source) {
  auto line = [](std::string_view option, const std::string& address) {
    std::string encoded;
    for (char c : address)
      encoded += std::string_view(" \t\r\n\"'\\$`").find(c) == std::string_view::npos
                     ? std::string(1, c)
                     : text::percent_encode(std::string(1, c));
    return fmt::format("{} {}\n", option, encoded);
  };
  std::string lines;
  bool secret = false;
  if (source.index_url && !source.index_url->empty()) {
    lines += line("--index-url", *source.index_url);
    secret |= redact::has_credentials(*source.index_url);
  }
  for (const auto& links : source.find_links) {
    lines += line("--find-links", links);
    secret |= redact::has_credentials(links);
  }
  return secret ? lines : std::string();
}

std::string secret_packages(const std::vector<std::string>& packages) {
  bool secret = std::any_of(packages.begin(), packages.end(),
                            [](const std::string& package) { return redact::has_credentials(package); });
  return secret ? text::join(packages, "\n") + "\n" : std::string();
}

std::string_view to_string(Installer installer) { return installer == Installer::pip ? "pip" : "uv"; }

std::vector<std::string> installer_command(const Environment& environment, const Source& source,
                                           const InstallerRequest& request, const InstallerPlaces& places) {
  auto command = request.installer == Installer::pip ? pip_command(environment, source, request, places)
                                                     : uv_command(environment, source, request, places);
  if (!request.requirements.empty())
    command.insert(command.end(), {"--require-hashes", "--requirement", request.requirements});
  else if (!request.packages.empty() && !places.packages.empty())
    command.insert(command.end(), {"--requirement", places.packages});
  if (request.packages.empty() || !places.packages.empty()) return command;
  command.push_back("--");
  command.insert(command.end(), request.packages.begin(), request.packages.end());
  return command;
}

std::vector<std::string> build_tools_command(const Environment& environment, Installer installer) {
  if (installer == Installer::uv)
    return {"uv",    "pip", "install",    "--no-progress", "--python", environment.python, "--only-binary",
            ":all:", "--",  "setuptools", "wheel"};
  return {environment.python,
          "-I",
          "-m",
          "pip",
          "--disable-pip-version-check",
          "--no-input",
          "install",
          "--progress-bar",
          "off",
          "--",
          "setuptools",
          "wheel"};
}

bool makes_no_wheels(std::string_view pip_version) {
  static const auto k_first_that_does = dist::Version::parse("23.1").value();
  auto version = dist::Version::parse(pip_version);
  return version && *version < k_first_that_does;
}

Result<std::string> installer_version(const Environment& environment, Installer installer, const Variables& variables) {
  sys::ProcessSpec spec;
  spec.argv = {environment.python, "-I", "-m", "pip", "--isolated", "--version"};
  if (installer == Installer::uv) spec.argv = {"uv", "--version"};
  spec.environment = activated_variables(environment, variables);
  spec.deadline_ms = k_version_deadline_ms;
  auto done = sys::run_process(spec);
  // "pip 23.2.1 from …", "uv 0.13.8 (…)"
  auto words = done && done->exit_code == 0 ? text::split_any(done->out, " \n") : std::vector<std::string>{};
  if (words.size() >= 2) return words[1];
  if (installer == Installer::uv)
    return fail(ErrorKind::missing_program, "V011", "uv is not on this machine",
                "install it with `pip install uv`, or use --installer pip");
  return fail(
      ErrorKind::missing_program, "V011", fmt::format("{} has no pip", environment.directory),
      fmt::format("its making was interrupted, or uv made it: `quarry venv create {} --clean` makes it anew, then run "
                  "the same command again; or use --installer uv",
                  text::shell_word(environment.directory)));
}

std::string_view transient_sign(std::string_view output) {
  static constexpr std::string_view k_signs[] = {"Temporary failure in name resolution",
                                                 "Name or service not known",
                                                 "Connection refused",
                                                 "Connection reset",
                                                 "Connection aborted",
                                                 "Connection broken",
                                                 "Read timed out",
                                                 "Max retries exceeded",
                                                 "NewConnectionError",
                                                 "error sending request",
                                                 "operation timed out",
                                                 "dns error",
                                                 "Could not connect",
                                                 "IncompleteRead",
                                                 "500 Server Error",
                                                 "502 Server Error",
                                                 "503 Server Error",
                                                 "504 Server Error",
                                                 "429 Client Error",
                                                 "Failed to fetch"};
  const auto* at = std::find_if(std::begin(k_signs), std::end(k_signs),
                                [&](std::string_view sign) { return output.find(sign) != output.npos; });
  return at == std::end(k_signs) ? std::string_view() : *at;
}

bool looks_transient(std::string_view output) { return !transient_sign(output).empty(); }

namespace {

bool nothing_fits(const sys::ProcessResult& done) {
  return done.out.find("No matching distribution") != done.out.npos ||
         done.out.find("No solution found") != done.out.npos;
}

/// A server that fails recovers, and an index lists a new file some minutes after its upload; nothing else heals.
bool waiting_may_help(const sys::ProcessResult& done) {
  return looks_transient(done.out) || (nothing_fits(done) && !lacks_build_tools(done.out));
}

/// Lines of output as people may see them: pip prints links with their queries.
class Shown {
public:
  Shown(const Source& source, const InstallerRequest& request) {
    if (source.index_url) redactor_.add_url(*source.index_url);
    for (const auto& links : source.find_links) redactor_.add_url(links);
    for (const auto& package : request.packages) redactor_.add_url(package);
  }
  std::string operator()(std::string_view line) const { return redactor_.apply(redact::without_credentials(line)); }

private:
  redact::Redactor redactor_;
};

Unexpected lacking_build_tools(const sys::ProcessResult& done, const Environment& environment, const std::string& asked,
                               const Shown& shown) {
  auto error =
      Error::of(ErrorKind::failed, "V014",
                fmt::format("a source distribution for {} needs setuptools and wheel to be built", asked))
          .with_details(last_lines(done.out, k_output_lines))
          .with_hint(fmt::format("{}/bin/python -m pip install setuptools wheel, then run the same command again",
                                 environment.directory));
  for (auto& line : error.details) line = shown(line);
  return fail(std::move(error));
}

Unexpected installer_failed(const sys::ProcessResult& done, const Environment& environment, const Source& source,
                            const InstallerRequest& request, const Shown& shown) {
  auto asked = redact::without_credentials(text::join(request.packages, " "));
  if (auto trouble = machine_trouble(done.out)) {
    trouble->line = shown(trouble->line);
    auto action =
        fmt::format("{} could not install {} into {}", to_string(request.installer), asked, environment.directory);
    return fail(machine_trouble_error(*trouble, action));
  }
  if (lacks_build_tools(done.out)) return lacking_build_tools(done, environment, asked, shown);
  bool transient = source.is_remote() && looks_transient(done.out);
  auto error =
      Error::of(transient ? ErrorKind::unavailable : ErrorKind::failed, "V010",
                redact::without_credentials(fmt::format("{} could not install {} from {}", to_string(request.installer),
                                                        asked, source.description)));
  error.details = last_lines(done.out, k_output_lines);
  for (auto& line : error.details) line = shown(line);
  if (transient)
    error.hint = "run it again; --install-retry-timeout-seconds N keeps trying";
  else if (nothing_fits(done))
    error.hint = offers_hint(source, request.packages, done.out, request.pre);
  if (error.hint.empty() && source.is_remote() && nothing_fits(done) && !request.pre)
    error.hint = "check the names and versions; if only pre-releases fit, add --pre";
  return fail(std::move(error));
}

/// Calls `on_line` with whole lines, whatever pieces they come in.
class Lines {
public:
  explicit Lines(std::function<void(std::string_view)> on_line) : on_line_(std::move(on_line)) {}
  void take(std::string_view chunk) {
    rest_ += chunk;
    for (auto end = rest_.find('\n'); end != rest_.npos; end = rest_.find('\n')) {
      on_line_(std::string_view(rest_).substr(0, end));
      rest_.erase(0, end + 1);
    }
  }

private:
  std::function<void(std::string_view)> on_line_;
  std::string rest_;
};

} // namespace

Result<void> run_installer(const InstallerCall& call, const Source& source, const InstallerRequest& request,
                           const InstallerHooks& hooks) {
  sys::ProcessSpec spec;
  spec.argv = call.command;
  spec.environment = activated_variables(call.environment, call.variables, request.passed);
  spec.merge_stderr = true;
  spec.capture_bytes_max = k_output_bytes_max;
  Shown shown(source, request);
  Lines lines([&](std::string_view line) {
    if (hooks.on_line) hooks.on_line(shown(line));
  });
  spec.on_output = [&](std::string_view chunk) { lines.take(chunk); };
  for (std::uint64_t waited = 0;;) {
    TRY(auto done, sys::run_process(spec));
    if (done.exit_code == 0) return {};
    bool again = source.is_remote() && waiting_may_help(done) && request.retry_wait_ms &&
                 waited + request.retry_wait_ms <= request.retry_timeout_ms;
    if (!again) return installer_failed(done, call.environment, source, request, shown);
    TRY_DO(hooks.wait(request.retry_wait_ms, shown(failure_reason(done.out))));
    waited += request.retry_wait_ms + static_cast<std::uint64_t>(done.seconds * 1000);
  }
}

namespace {

Unexpected bad_report(const std::string& what, std::string_view why,
                      std::string hint = "use pip 22.2 or later in the environment") {
  return fail(ErrorKind::corrupt, "V012", fmt::format("{} does not say what pip installed: {}", what, why),
              std::move(hint));
}

// PEP 610: `hashes`, and `hash` as "sha256=…" before it. pip 22.2 and 22.3 write `hash` alone, 23.0 does for what no
// page gave a digest of.
std::string sha256_in(const Json& archive_info) {
  constexpr std::string_view k_older = "sha256=";
  if (auto hashes = archive_info.find("hashes"); hashes != archive_info.end())
    return json::string_or(*hashes, "sha256", "");
  auto older = json::string_or(archive_info, "hash", "");
  return older.starts_with(k_older) ? older.substr(k_older.size()) : "";
}

Result<InstalledFile> read_report_entry(const Json& entry, const std::string& what) {
  InstalledFile file;
  try {
    const auto& metadata = entry.at("metadata");
    const auto& download = entry.at("download_info");
    auto name = dist::ProjectName::parse(metadata.at("name").get<std::string>());
    if (!name) return bad_report(what, name.error().message);
    file.project = name->str();
    file.version = metadata.at("version").get<std::string>();
    file.url = redact::without_credentials(download.at("url").get<std::string>());
    auto hash = Sha256::from_hex(sha256_in(download.at("archive_info")));
    if (!hash)
      return bad_report(what, fmt::format("{} has no sha256", file.project),
                        "the links of its page must name sha256 digests, or none: pip repeats what they say");
    file.sha256 = *hash;
  } catch (const Json::exception& error) {
    return bad_report(what, error.what());
  }
  auto path = file.url.substr(0, file.url.find_first_of("?#"));
  file.filename = text::percent_decode(path::basename(path));
  file.kind = file.filename.ends_with(".whl") ? FileKind::wheel : FileKind::sdist;
  return file;
}

} // namespace

Result<std::vector<InstalledFile>> parse_pip_report(NamedText named) {
  const auto text = named.text;
  const std::string what(named.name);
  auto document = json::parse({text, what});
  // 0 is what pip 22.2 and 22.3 call it, in all that is read here the same.
  auto format = document ? json::string_or(*document, "version", "") : "";
  if (format != "0" && format != "1") return bad_report(what, "it is not a report of format 0 or 1");
  auto entries = document->find("install");
  if (entries == document->end() || !entries->is_array()) return bad_report(what, "it has no \"install\"");
  std::vector<InstalledFile> files;
  for (const auto& entry : *entries) {
    TRY(auto file, read_report_entry(entry, what));
    files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.project < b.project; });
  return files;
}

Result<std::vector<InstalledFile>> parse_hashed_requirements(std::string_view text) {
  constexpr std::string_view k_hash = "--hash=sha256:";
  std::vector<InstalledFile> files;
  std::vector<std::size_t> counts;
  for (const auto& line : text::lines(text)) {
    auto words = text::split_any(line, " \\\t");
    if (words.empty() || words[0].starts_with("#")) continue;
    auto equals = words[0].find("==");
    if (line[0] != ' ' && equals != std::string::npos) { // "name[extra]==version ; marker --hash=…"
      TRY(auto name, dist::ProjectName::parse(words[0].substr(0, std::min(words[0].find('['), equals))));
      files.emplace_back();
      files.back().project = name.str();
      files.back().version = words[0].substr(equals + 2);
      counts.push_back(0);
    }
    for (const auto& word : words) {
      if (!word.starts_with(k_hash) || files.empty()) continue;
      auto hash = Sha256::from_hex(std::string_view(word).substr(k_hash.size()));
      if (hash) files.back().sha256 = *hash, ++counts.back();
    }
  }
  for (std::size_t i = 0; i < files.size(); ++i)
    if (counts[i] != 1)
      return fail(ErrorKind::unsupported, "V013",
                  fmt::format("uv does not tell which of the {} files of {} {} it will install", counts[i],
                              files[i].project, files[i].version),
                  "use --installer pip for this source");
  return files;
}

} // namespace quarry::venv
