#include "venv/install.hpp"

#include "base/redact.hpp"
#include "base/units.hpp"
#include "dist/version.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "venv/consistency.hpp"
#include "venv/dependencies.hpp"
#include "venv/extras.hpp"
#include "venv/proof.hpp"
#include "venv/run_install.hpp"
#include "venv/stage.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <set>

namespace quarry::venv {

namespace {

constexpr std::uint64_t k_report_bytes_max = 256u << 20; // pip's report carries the metadata of every package

/// A set of pre-releases alone can only mean them.
bool only_prereleases(const Source& source) {
  return !source.files.empty() && std::all_of(source.files.begin(), source.files.end(), [](const Offered& offered) {
    auto version = dist::Version::parse(offered.file.version);
    return version && version->is_prerelease();
  });
}

void announce(const InstallOptions& options, const Source& source) {
  if (!options.on_note) return;
  if (source.sealed)
    options.on_note(
        fmt::format("source      {}  {}, sealed", source.description, units::things(source.files.size(), "file")));
  else
    options.on_note(fmt::format("source      {}  unsealed source: it will be frozen by sha256, and cannot be promoted",
                                source.description));
}

/// The files of an earlier receipt of the same source. A receipt that is damaged or from elsewhere says nothing of this
/// source's files.
std::vector<InstalledFile> files_of_earlier(const Environment& environment, const Source& source) {
  auto earlier = read_receipt(environment);
  bool same = earlier && *earlier && (*earlier)->source == source.description;
  return same ? std::move((*earlier)->files) : std::vector<InstalledFile>();
}

/// Brings every file that may be installed to this machine, and verifies those that the installer will choose as a
/// rule.
Result<void> bring_files(const InstallContext& context, const std::string& directory, Source& source,
                         VerifiedPaths& verified) {
  const auto& options = context.options;
  TRY(source.dependencies,
      find_dependencies(source, context.environment, options.installer.packages, options.source.store));
  TRY_DO(stage_files(source, options.source.store, directory, options.workers, verified));
  TRY(auto choices, likely_choices(source));
  for (const auto& offered : source.dependencies) choices.push_back(&offered);
  return verify_files(source, choices, options.workers, verified);
}

/// pip and uv keep what is installed if its version fits, even when its bytes are another set's; so it is replaced.
Result<bool> is_installed(const Environment& environment, const Source& source) {
  TRY(auto distributions, list_distributions(environment));
  std::set<std::string> offered;
  for (const auto& file : source.files) offered.insert(file.file.project);
  return std::any_of(distributions.begin(), distributions.end(),
                     [&](const Distribution& d) { return offered.contains(d.project); });
}

/// The request with what the source and the environment make of it.
Result<InstallerRequest> adjusted(const InstallContext& context, const Source& source) {
  auto request = context.options.installer;
  request.pre |= only_prereleases(source);
  TRY(bool installed, is_installed(context.environment, source));
  request.reinstall |= installed;
  return request;
}

Result<Findings> check_extras(const InstallContext& context, const Source& source) {
  TRY(auto distributions, list_distributions(context.environment));
  auto unknown = unknown_extras(context.environment, distributions, context.options.installer.packages);
  if (unknown.empty()) return Findings();
  auto error = unknown_extra_error(unknown);
  if (!context.options.allow_unknown_extras) return fail(std::move(error));
  return Findings{
      {error.code, Severity::warning, source.description, error.message + "; " + error.details.front(), error.hint}};
}

// ---- what is there

/// What the installer left alone is known from an earlier install from the same source, if its files still are what was
/// installed then; nullptr otherwise.
const InstalledFile* known_from_earlier(const InstallContext& context, const std::vector<Distribution>& distributions,
                                        const Distribution& distribution, const std::vector<InstalledFile>& earlier) {
  auto known = std::find_if(earlier.begin(), earlier.end(), [&](const InstalledFile& f) {
    return f.project == distribution.project && f.version == distribution.version;
  });
  if (known == earlier.end()) return nullptr;
  Receipt one;
  one.files.push_back(*known);
  bool unchanged = prove_unchanged(distributions, context.environment, one, context.options.workers).has_value();
  return unchanged ? &*known : nullptr;
}

/// What is installed from a remote source, by what the installer says that it took from there: uv's choice is `chosen`;
/// pip wrote a report.
Result<Proof> freeze_remote(const InstallContext& context, const Workplace& work, std::vector<InstalledFile> chosen,
                            const std::vector<InstalledFile>& earlier) {
  if (context.options.installer.installer == Installer::pip) {
    TRY(auto text, sys::read_file(work.at("report.json"), k_report_bytes_max));
    TRY(chosen, parse_pip_report({text, "pip's report"}));
  }
  TRY(auto distributions, list_distributions(context.environment));
  Proof proof;
  for (const auto& distribution : distributions) {
    auto at = std::find_if(chosen.begin(), chosen.end(),
                           [&](const InstalledFile& f) { return f.project == distribution.project; });
    if (at != chosen.end()) {
      auto& file = proof.files.emplace_back(*at);
      file.content = content_digest(distribution);
      if (file.filename.empty()) file.filename = file.project + "-" + file.version; // uv names no file
    } else if (const auto* known = known_from_earlier(context, distributions, distribution, earlier)) {
      proof.files.push_back(*known);
    } else {
      proof.others.push_back({distribution.project, distribution.version});
    }
  }
  return proof;
}

std::vector<std::string> packages_for_people(const InstallOptions& options) {
  std::vector<std::string> packages;
  for (const auto& wanted : options.installer.packages) packages.push_back(redact::without_credentials(wanted));
  return packages;
}

Result<void> check_fit(const Environment& environment, const std::vector<InstalledFile>& files) {
  TRY(auto distributions, list_distributions(environment));
  std::set<std::string> installed;
  for (const auto& file : files) installed.insert(file.project);
  return check_consistency(environment, distributions, installed);
}

Receipt receipt_of(const InstallContext& context, const Source& source, Proof proof) {
  Receipt receipt;
  receipt.locator = source.locator;
  receipt.source = source.description;
  receipt.store = source.store;
  receipt.sealed = source.sealed;
  receipt.sets = holding_sets(source, proof.files);
  receipt.view = source.view;
  receipt.generation = source.generation;
  receipt.packages = packages_for_people(context.options);
  receipt.files = std::move(proof.files);
  receipt.others = std::move(proof.others);
  receipt.installer = to_string(context.options.installer.installer);
  receipt.python_version = context.environment.version;
  receipt.quarry_version = context.options.quarry_version;
  return receipt;
}

Result<Source> source_of(const InstallOptions& options) {
  if (options.found) return *options.found;
  return find_source(options.source);
}

/// What a failure behind the installer adds: the environment is not the one from before, and says so nowhere else.
template <class T> Result<T> after_installer(const Environment& environment, Result<T> result) {
  if (result) return result;
  auto error = std::move(result).error();
  error.details.push_back(
      fmt::format("changed  {}: the installer has run, and the receipt is missing", environment.directory));
  return fail(std::move(error));
}

} // namespace

Result<InstallOutcome> install(const InstallOptions& options, const Variables& variables, const sys::Clock& clock) {
  auto begin = clock.steady_ns();
  TRY(auto environment, open_environment(options.directory));
  InstallContext context{options, variables, environment};
  TRY(auto version, installer_version(environment, options.installer.installer, variables));
  TRY(auto source, source_of(options));
  announce(options, source);
  auto earlier = files_of_earlier(environment, source);
  TRY_DO(remove_receipt(environment));
  TRY(auto work, Workplace::create(environment));
  VerifiedPaths verified;
  TRY_DO(bring_files(context, work.at("files"), source, verified));
  TRY(auto request, adjusted(context, source));
  request.build_wheels = request.installer == Installer::pip && makes_no_wheels(version);
  TRY(auto chosen, run_install(context, source, std::move(request), work, verified));
  TRY(auto findings, check_extras(context, source)); // its error says what is installed
  TRY(auto proof,
      after_installer(environment, source.is_remote() ? freeze_remote(context, work, std::move(chosen), earlier)
                                                      : prove(environment, source, options.workers, verified,
                                                              packages_for_people(options))));
  TRY_DO(after_installer(environment, check_fit(environment, proof.files)));
  auto receipt = receipt_of(context, source, std::move(proof));
  receipt.installer_version = std::move(version);
  receipt.time = sys::rfc3339(clock.now_us());
  TRY_DO(after_installer(environment, write_receipt(environment, receipt)));
  return InstallOutcome{std::move(receipt), path::join(environment.directory, k_receipt_name),
                        static_cast<double>(clock.steady_ns() - begin) / 1e9, std::move(findings)};
}

} // namespace quarry::venv
