#include "venv/run_install.hpp"

#include "base/codes.hpp"
#include "base/redact.hpp"
#include "base/text.hpp"
#include "sys/beneath.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "sys/process.hpp"
#include "sys/tree.hpp"
#include "venv/installed.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <span>

namespace quarry::venv {

namespace {

constexpr std::size_t k_tool_lines = 6;
constexpr std::uint64_t k_frozen_bytes_max = 256u << 20; // as much as pip's report, which says more

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

/// Runs one command of the installer. A silent pause between tries looks like a hang, so it is told.
Result<void> run_command(const InstallContext& context, const Source& source, const InstallerRequest& request,
                         const std::vector<std::string>& command, std::function<void(std::string_view)> on_line) {
  const auto& options = context.options;
  auto wait = [&](std::uint64_t milliseconds, const std::string& reason) -> Result<void> {
    if (options.on_note)
      options.on_note(fmt::format("{} failed: {}; trying again in {} s, for at most {} s in all",
                                  to_string(request.installer), reason, milliseconds / 1000,
                                  request.retry_timeout_ms / 1000));
    return options.wait ? options.wait(milliseconds) : sys::pause_ms(milliseconds);
  };
  InstallerHooks hooks{std::move(on_line), wait};
  return run_installer({command, context.environment, context.variables}, source, request, hooks);
}

/// What uv chose, and the request that installs exactly that.
struct Frozen {
  std::vector<InstalledFile> files;
  InstallerRequest request;
};

Result<Frozen> freeze_with_uv(const InstallContext& context, const Source& source, const InstallerRequest& request,
                              const Workplace& work, const std::string& addresses) {
  auto wanted = work.at("wanted.in"), frozen = work.at("frozen.txt");
  TRY_DO(sys::write_file(wanted, text::join(request.packages, "\n") + "\n"));
  auto compile = request;
  compile.packages.clear();
  auto command = installer_command(context.environment, source, compile, {{}, {}, {}, addresses, {}});
  command[2] = "compile";
  // `compile` reads the addresses as one more input.
  std::erase_if(command, [](const std::string& word) { return word == "--reinstall" || word == "--requirement"; });
  command.insert(command.end(), {"--generate-hashes", "--no-header", "--no-annotate", "--output-file", frozen, wanted});
  TRY_DO(run_command(context, source, request, command, {}));
  TRY(auto text, sys::read_file(frozen, k_frozen_bytes_max));
  TRY(auto files, parse_hashed_requirements(text));
  compile.requirements = frozen;
  return Frozen{std::move(files), std::move(compile)};
}

/// What setup_venv.py does before it installs from links alone: an sdist with a setup.py is built by the environment's
/// own tools. `reason` is the error that stays when they cannot be had.
Result<void> add_build_tools(const InstallContext& context, Installer installer, Error reason) {
  TRY(auto distributions, list_distributions(context.environment));
  auto present = [&](std::string_view project) {
    return std::any_of(distributions.begin(), distributions.end(), [&](const auto& d) { return d.project == project; });
  };
  if (present("setuptools") && present("wheel")) return {};
  if (context.options.on_note)
    context.options.on_note("a source distribution needs setuptools and wheel: installing them");
  sys::ProcessSpec spec;
  spec.argv = build_tools_command(context.environment, installer);
  spec.environment = user_variables(context.environment, context.variables);
  spec.merge_stderr = true;
  TRY(auto done, sys::run_process(spec));
  if (done.exit_code == 0) return {};
  for (auto& line : last_lines(done.out, k_tool_lines))
    reason.details.push_back("  " + redact::without_credentials(line));
  return fail(std::move(reason));
}

/// After a failure: an altered file is the better explanation, when there is one.
Result<void> verify_all(const Source& source, unsigned workers, VerifiedPaths& verified) {
  std::vector<const Offered*> all;
  for (const auto& offered : source.files) all.push_back(&offered);
  return verify_files(source, all, workers, verified);
}

} // namespace

Result<std::vector<InstalledFile>> run_install(const InstallContext& context, const Source& source,
                                               InstallerRequest request, const Workplace& work,
                                               VerifiedPaths& verified) {
  InstallerPlaces places{work.at("links"), work.at("report.json"), work.at("cache"), {}, {}};
  TRY(places.addresses, private_file(work.at("addresses.txt"), source_addresses(source)));
  TRY(places.packages, private_file(work.at("packages.txt"), secret_packages(request.packages)));
  if (!source.is_remote()) TRY_DO(make_links(source, places.links));
  std::vector<InstalledFile> chosen;
  auto install_once = [&]() -> Result<void> {
    if (source.is_remote() && request.installer == Installer::uv && request.requirements.empty()) {
      TRY(auto frozen, freeze_with_uv(context, source, request, work, places.addresses));
      chosen = std::move(frozen.files);
      request = std::move(frozen.request);
    }
    auto command = installer_command(context.environment, source, request, places);
    return run_command(context, source, request, command, context.options.on_output);
  };
  auto done = install_once();
  if (!done && done.error().is(codes::build_tools_missing) && !request.no_isolation) {
    TRY_DO(add_build_tools(context, request.installer, std::move(done).error()));
    request.no_isolation = true;
    done = install_once();
  }
  if (done) return chosen;
  TRY_DO(verify_all(source, context.options.workers, verified));
  return fail(std::move(done).error());
}

} // namespace quarry::venv
