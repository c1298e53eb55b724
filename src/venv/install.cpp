#include "venv/install.hpp"

#include "base/codes.hpp"
#include "base/redact.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "dist/version.hpp"
#include "sys/beneath.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/process.hpp"
#include "sys/tree.hpp"
#include "venv/consistency.hpp"
#include "venv/dependencies.hpp"
#include "venv/extras.hpp"
#include "venv/proof.hpp"
#include "venv/stage.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <set>

namespace quarry::venv {

namespace {

constexpr std::size_t k_tool_lines = 6;
constexpr std::uint64_t k_report_bytes_max = 256u << 20; // pip's report carries the metadata of every package

/// Links to exactly the offered files: what is not in it cannot be chosen.
Result<void> make_links(const Source& source, const std::string& directory) {
  TRY_DO(sys::make_directories(directory));
  TRY(auto links, sys::Beneath::open(directory));
  for (const auto* files : {&source.files, &source.dependencies})
    for (const auto& offered : *files) TRY_DO(links.symlink(offered.file.filename, offered.path));
  return {};
}

/// Its path, or nothing for no text. Only this user may read it.
Result<std::string> private_file(const std::string& path, const std::string& text) {
  if (text.empty()) return std::string();
  TRY(auto file, sys::File::create_new(path, 0600));
  TRY_DO(file.write_at(0, std::as_bytes(std::span(text))));
  return path;
}

/// A set of pre-releases alone can only mean them.
bool only_prereleases(const Source& source) {
  return !source.files.empty() && std::all_of(source.files.begin(), source.files.end(), [](const Offered& offered) {
    auto version = dist::Version::parse(offered.file.version);
    return version && version->is_prerelease();
  });
}

class Installation {
public:
  Installation(const InstallOptions& options, const Variables& variables, const sys::Clock& clock)
      : options_(options), variables_(variables), clock_(clock), request_(options.installer) {}

  Result<InstallOutcome> run() {
    auto begin = clock_.steady_ns();
    TRY(environment_, open_environment(options_.directory));
    TRY(version_, installer_version(environment_, request_.installer, variables_));
    if (options_.found) {
      source_ = *options_.found;
    } else {
      TRY(source_, find_source(options_.source));
    }
    announce();
    // Damaged or from elsewhere, it says nothing of this source's files.
    if (auto earlier = read_receipt(environment_); earlier && *earlier && (*earlier)->source == source_.description)
      earlier_ = std::move((*earlier)->files);
    TRY_DO(remove_receipt(environment_));
    TRY(auto work, Workplace::create(environment_));
    TRY(source_.dependencies, find_dependencies(source_, environment_, request_.packages, options_.source.store));
    TRY_DO(stage_files(source_, options_.source.store, work.at("files"), options_.workers, verified_));
    TRY(auto choices, likely_choices(source_));
    for (const auto& offered : source_.dependencies) choices.push_back(&offered);
    TRY_DO(verify_files(source_, choices, options_.workers, verified_));
    TRY_DO(replace_what_is_there());
    TRY_DO(install(work));
    TRY(auto findings, check_extras());
    TRY_DO(prove(work));
    TRY_DO(check_fit());
    finish();
    TRY_DO(write_receipt(environment_, receipt_));
    return InstallOutcome{std::move(receipt_), path::join(environment_.directory, k_receipt_name),
                          static_cast<double>(clock_.steady_ns() - begin) / 1e9, std::move(findings)};
  }

private:
  void announce() {
    request_.pre |= only_prereleases(source_);
    if (!options_.on_note) return;
    if (source_.sealed)
      options_.on_note(
          fmt::format("source      {}  {}, sealed", source_.description, units::things(source_.files.size(), "file")));
    else
      options_.on_note(fmt::format(
          "source      {}  unsealed source: it will be frozen by sha256, and cannot be promoted", source_.description));
  }

  /// pip and uv keep what is installed if its version fits, even when its bytes are another set's.
  Result<void> replace_what_is_there() {
    TRY(auto distributions, list_distributions(environment_));
    std::set<std::string> offered;
    for (const auto& file : source_.files) offered.insert(file.file.project);
    request_.reinstall |= std::any_of(distributions.begin(), distributions.end(),
                                      [&](const Distribution& d) { return offered.contains(d.project); });
    return {};
  }

  /// A silent pause looks like a hang.
  Result<void> wait(std::uint64_t milliseconds, const std::string& reason) {
    if (options_.on_note)
      options_.on_note(fmt::format("{} failed: {}; trying again in {} s, for at most {} s in all",
                                   to_string(request_.installer), reason, milliseconds / 1000,
                                   request_.retry_timeout_ms / 1000));
    return options_.wait ? options_.wait(milliseconds) : sys::pause_ms(milliseconds);
  }

  Result<void> install(const Workplace& work) {
    InstallerPlaces places{work.at("links"), work.at("report.json"), work.at("cache"), {}, {}};
    TRY(places.addresses, private_file(work.at("addresses.txt"), source_addresses(source_)));
    TRY(places.packages, private_file(work.at("packages.txt"), secret_packages(request_.packages)));
    if (!source_.is_remote()) TRY_DO(make_links(source_, places.links));
    auto done = install_once(work, places);
    if (!done && done.error().is(codes::build_tools_missing) && !request_.no_isolation) {
      TRY_DO(add_build_tools(std::move(done).error()));
      request_.no_isolation = true;
      done = install_once(work, places);
    }
    if (done) return {};
    // An altered file is the better explanation, when there is one.
    std::vector<const Offered*> all;
    for (const auto& offered : source_.files) all.push_back(&offered);
    TRY_DO(verify_files(source_, all, options_.workers, verified_));
    return done;
  }

  Result<void> install_once(const Workplace& work, const InstallerPlaces& places) {
    bool freeze = source_.is_remote() && request_.installer == Installer::uv && request_.requirements.empty();
    if (freeze) TRY_DO(freeze_with_uv(work, places.addresses));
    auto command = installer_command(environment_, source_, request_, places);
    InstallerHooks hooks{options_.on_output,
                         [this](std::uint64_t ms, const std::string& reason) { return wait(ms, reason); }};
    return run_installer(command, environment_, source_, request_, variables_, hooks);
  }

  /// What setup_venv.py does before it installs from links alone: an sdist with a setup.py is built by the
  /// environment's own tools. `reason` is the error that stays when they cannot be had.
  Result<void> add_build_tools(Error reason) {
    TRY(auto distributions, list_distributions(environment_));
    auto present = [&](std::string_view project) {
      return std::any_of(distributions.begin(), distributions.end(),
                         [&](const auto& d) { return d.project == project; });
    };
    if (present("setuptools") && present("wheel")) return {};
    if (options_.on_note) options_.on_note("a source distribution needs setuptools and wheel: installing them");
    sys::ProcessSpec spec;
    spec.argv = build_tools_command(environment_, request_.installer);
    spec.environment = user_variables(environment_, variables_);
    spec.merge_stderr = true;
    TRY(auto done, sys::run_process(spec));
    if (done.exit_code == 0) return {};
    for (auto& line : last_lines(done.out, k_tool_lines))
      reason.details.push_back("  " + redact::without_credentials(line));
    return fail(std::move(reason));
  }

  Result<Findings> check_extras() const {
    TRY(auto distributions, list_distributions(environment_));
    auto unknown = unknown_extras(environment_, distributions, options_.installer.packages);
    if (unknown.empty()) return Findings();
    auto error = unknown_extra_error(unknown);
    if (!options_.allow_unknown_extras) return fail(std::move(error));
    return Findings{
        {error.code, Severity::warning, source_.description, error.message + "; " + error.details.front(), error.hint}};
  }

  Result<void> check_fit() const {
    TRY(auto distributions, list_distributions(environment_));
    std::set<std::string> installed;
    for (const auto& file : receipt_.files) installed.insert(file.project);
    return check_consistency(environment_, distributions, installed);
  }

  /// uv reports no digests when it installs, so what it would choose is resolved first and then installed by digest.
  Result<void> freeze_with_uv(const Workplace& work, const std::string& addresses) {
    auto wanted = work.at("wanted.in"), frozen = work.at("frozen.txt");
    TRY_DO(sys::write_file(wanted, text::join(request_.packages, "\n") + "\n"));
    auto compile = request_;
    compile.packages.clear();
    auto command = installer_command(environment_, source_, compile, {{}, {}, {}, addresses, {}});
    command[2] = "compile";
    // `compile` reads the addresses as one more input.
    std::erase_if(command, [](const std::string& word) { return word == "--reinstall" || word == "--requirement"; });
    command.insert(command.end(),
                   {"--generate-hashes", "--no-header", "--no-annotate", "--output-file", frozen, wanted});
    InstallerHooks hooks{{}, [this](std::uint64_t ms, const std::string& reason) { return wait(ms, reason); }};
    TRY_DO(run_installer(command, environment_, source_, request_, variables_, hooks));
    TRY(auto text, sys::read_file(frozen, k_report_bytes_max));
    TRY(remote_, parse_hashed_requirements(text));
    request_.requirements = frozen;
    request_.packages.clear();
    return {};
  }

  Result<void> prove(const Workplace& work) {
    if (source_.is_remote()) return freeze_remote(work);
    std::vector<std::string> packages;
    for (const auto& wanted : options_.installer.packages) packages.push_back(redact::without_credentials(wanted));
    TRY(auto proof, venv::prove(environment_, source_, options_.workers, verified_, packages));
    receipt_.files = std::move(proof.files);
    receipt_.others = std::move(proof.others);
    return {};
  }

  Result<void> freeze_remote(const Workplace& work) {
    if (request_.installer == Installer::pip) {
      TRY(auto text, sys::read_file(work.at("report.json"), k_report_bytes_max));
      TRY(remote_, parse_pip_report(text, "pip's report"));
    }
    TRY(auto distributions, list_distributions(environment_));
    for (const auto& distribution : distributions) {
      auto at = std::find_if(remote_.begin(), remote_.end(),
                             [&](const InstalledFile& f) { return f.project == distribution.project; });
      if (at == remote_.end()) {
        if (is_known(distribution)) continue;
        receipt_.others.push_back({distribution.project, distribution.version});
        continue;
      }
      at->content = content_digest(distribution);
      if (at->filename.empty()) at->filename = at->project + "-" + at->version; // uv names no file
      receipt_.files.push_back(*at);
    }
    return {};
  }

  /// What the installer left alone is known from an earlier install from the same source, if its files still are what
  /// was installed then.
  bool is_known(const Distribution& distribution) {
    auto known = std::find_if(earlier_.begin(), earlier_.end(), [&](const InstalledFile& f) {
      return f.project == distribution.project && f.version == distribution.version;
    });
    if (known == earlier_.end()) return false;
    Receipt one;
    one.files.push_back(*known);
    if (!prove_unchanged({distribution}, environment_, one, options_.workers)) return false;
    receipt_.files.push_back(*known);
    return true;
  }

  void finish() {
    receipt_.locator = source_.locator;
    receipt_.source = source_.description;
    receipt_.store = source_.store;
    receipt_.sealed = source_.sealed;
    receipt_.sets = holding_sets(source_, receipt_.files);
    receipt_.view = source_.view;
    receipt_.generation = source_.generation;
    for (const auto& wanted : options_.installer.packages)
      receipt_.packages.push_back(redact::without_credentials(wanted));
    receipt_.installer = to_string(request_.installer);
    receipt_.installer_version = version_;
    receipt_.python_version = environment_.version;
    receipt_.quarry_version = options_.quarry_version;
    receipt_.time = sys::rfc3339(clock_.now_us());
  }

  const InstallOptions& options_;
  const Variables& variables_;
  const sys::Clock& clock_;
  InstallerRequest request_;
  Environment environment_;
  std::string version_;
  Source source_;
  VerifiedPaths verified_;
  std::vector<InstalledFile> remote_, earlier_;
  Receipt receipt_;
};

} // namespace

Result<InstallOutcome> install(const InstallOptions& options, const Variables& variables, const sys::Clock& clock) {
  return Installation(options, variables, clock).run();
}

} // namespace quarry::venv
