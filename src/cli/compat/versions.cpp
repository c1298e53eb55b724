#include "base/codes.hpp"
#include "base/text.hpp"
#include "cli/compat/script.hpp"
#include "cli/switches.hpp"
#include "sys/file.hpp"
#include "version/forward.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli::compat {

namespace {

std::vector<Flag> with(std::vector<Flag> flags, const std::vector<Flag>& more) {
  flags.insert(flags.end(), more.begin(), more.end());
  return flags;
}

// compute_rocm_package_version

Result<int> compute_version(Context& context, const Arguments& arguments) {
  auto type = said(arguments, "--release-type"), suffix = said(arguments, "--custom-version-suffix");
  auto candidate = said(arguments, "--prerelease-version");
  if (!type && !suffix) return usage("neither --release-type nor --custom-version-suffix is given", "give one of them");
  if (type && suffix) return usage("--release-type and --custom-version-suffix exclude each other", "omit one of them");
  if (candidate && type != "prerelease")
    return usage("--prerelease-version is for --release-type prerelease only", "omit one of them");
  Words words{"version", "compute", "--era", arguments.get("--era")};
  if (arguments.has("--version-file")) pass(words, arguments, "--version-file");
  pass(words, arguments, "--package-type");
  pass(words, arguments, "--release-type");
  pass(words, arguments, "--custom-version-suffix");
  pass(words, arguments, "--prerelease-version");
  pass(words, arguments, "--override-base-version", "--base");
  pass(words, arguments, "--override-git-sha", "--sha");
  auto done = run_words(context, words);
  if (!done && done.error().is(codes::cannot_read))
    done.error().hint = "give the base version with --override-base-version, or the file with --version-file";
  return done;
}

Script compute_script() {
  return {.name = "compute_rocm_package_version",
          .summary = "the SDK's package version, compatible with TheRock's script",
          .description =
              "Runs `quarry version compute`: the outputs `rocm_package_version`, `rocm_deb_package_version` "
              "and `rocm_rpm_package_version` go to GITHUB_OUTPUT. The base version is read from "
              "`version.json` in the working directory.",
          .operands = {},
          .flags = {{"--package-type", "TYPE", "the output of this type alone", {"wheel", "deb", "rpm"}},
                    {"--release-type", "TYPE", "the kind of release"},
                    {"--custom-version-suffix", "S", "the base and this"},
                    {"--prerelease-version", "N", "the number of the release candidate"},
                    {"--override-base-version", "V", "instead of the one in the file"},
                    {"--override-git-sha", "SHA", "the commit, 40 hex digits"},
                    {"--version-file", "FILE", "Quarry only: where the base version is", {}, "version.json"},
                    k_era},
          .refused = {},
          .only_feb = {"--package-type"},
          .only_aug = {},
          .examples = {{"quarry compat compute_rocm_package_version --release-type nightly", "tonight's versions"}},
          .exit_codes = {{2, "a flag is missing, contradictory or makes no version"}},
          .schema = "quarry.version-compute/1",
          .run = compute_version};
}

// determine_version

Result<int> determine_version(Context& context, const Arguments& arguments) {
  TRY(auto to_job, switched(arguments, "--write-env-file", true));
  TRY(auto verbose, switched(arguments, "--verbose"));
  TRY(auto reference, version::sdk_reference(arguments.get("--rocm-version")));
  auto build = reference.build_arguments();
  if (verbose)
    context.out.data(fmt::format("ROCm version: {}\n--rocm-sdk-version: {}\n--version-suffix: {}\n\n",
                                 reference.version, reference.requirement, reference.suffix));
  context.out.data(build + "\n");
  context.out.document({{"optional_build_prod_arguments", build},
                        {"rocm_version", reference.version},
                        {"version_suffix", reference.suffix}});
  if (!to_job) return 0;
  TRY_DO(tell_job(context, "GITHUB_ENV",
                  {{"optional_build_prod_arguments", build}, {"version_suffix", reference.suffix}}));
  return 0;
}

Script determine_script() {
  return {.name = "determine_version",
          .summary = "how a framework's build names the SDK, compatible with TheRock's script",
          .description = "Prints the two flags for a build of PyTorch and hands `optional_build_prod_arguments` and "
                         "`version_suffix` to the later steps by GITHUB_ENV.",
          .operands = {},
          .flags = with({{"--rocm-version", "V", "the SDK's version", {}, {}, {}, true}},
                        with(both_ways("--write-env-file", "hand the values to the job's later steps (default)"),
                             both_ways("--verbose", "print the parts, too"))),
          .refused = {},
          .only_feb = {},
          .only_aug = {},
          .examples = {{"quarry compat determine_version --rocm-version 7.12.0a20261121", "for a nightly SDK"}},
          .exit_codes = {{2, "it is not a version"}},
          .schema = "quarry.compat-determine-version/1",
          .run = determine_version};
}

// python_to_cp_version

Result<int> python_directory(Context& context, const Arguments& arguments) {
  TRY(auto to_job, switched(arguments, "--write-env-file", true));
  TRY(auto directory, version::python_directory(arguments.get("--python-version")));
  context.out.data(directory + "\n");
  context.out.document({{"cp_version", directory}});
  if (to_job) TRY_DO(tell_job(context, "GITHUB_ENV", {{"cp_version", directory}}));
  return 0;
}

Script python_script() {
  return {.name = "python_to_cp_version",
          .summary = "the directory of a Python in a manylinux image, compatible with TheRock's script",
          .description = "`3.12` is `cp312-cp312`. `3.13t` is `cp313-cp313t`, the directory that is really there. "
                         "GITHUB_ENV gets `cp_version`.",
          .operands = {},
          .flags = with({{"--python-version", "V", "such as 3.12", {}, {}, {}, true}},
                        both_ways("--write-env-file", "hand it to the job's later steps (default)")),
          .refused = {},
          .only_feb = {},
          .only_aug = {},
          .examples = {{"quarry compat python_to_cp_version --python-version 3.12", "cp312-cp312"}},
          .exit_codes = {{2, "it is not a version of Python"}},
          .schema = "quarry.compat-python-to-cp-version/1",
          .run = python_directory};
}

// write_torch_versions, write_jax_versions

const Flag k_dist_dir{"--dist-dir", "DIR", "the directory with the wheels (default: PACKAGE_DIST_DIR)"};

Result<std::string> dist_dir(const Context& context, const Arguments& arguments) {
  auto directory = said(arguments, "--dist-dir").value_or(context.variable("PACKAGE_DIST_DIR"));
  if (!directory.empty()) return directory;
  return usage("nothing says where the wheels are", "give --dist-dir DIR, or set PACKAGE_DIST_DIR");
}

Result<int> write_torch(Context& context, const Arguments& arguments) {
  TRY(auto directory, dist_dir(context, arguments));
  Words words{"version", "write", "torch", "--dist-dir", directory};
  if (arguments.has("--torch-only"))
    for (const auto* project : {"torchaudio", "torchvision", "triton", "apex"})
      words.insert(words.end(), {"--optional", project});
  return run_words(context, words);
}

Script torch_script() {
  return {.name = "write_torch_versions",
          .summary = "the versions of PyTorch's wheels, compatible with TheRock's script",
          .description = "Runs `quarry version write torch`: `torch_version`, `torchaudio_version`, "
                         "`torchvision_version`, `triton_version` and `apex_version` go to GITHUB_OUTPUT.",
          .operands = {},
          .flags = {k_dist_dir, {"--torch-only", "", "only torch has to be there"}},
          .refused = {},
          .only_feb = {},
          .only_aug = {},
          .examples = {{"quarry compat write_torch_versions --dist-dir dist", "after a build"}},
          .exit_codes = {{2, "a project has several wheels"}, {3, "a project has no wheel"}},
          .schema = "quarry.version-write/1",
          .run = write_torch};
}

using Outputs = std::vector<std::pair<std::string, std::string>>;

/// Today's names, in today's order.
Outputs jax_outputs(const Json& document) {
  Outputs outputs;
  for (auto [name, end] :
       {std::pair{"jaxlib_version", "jaxlib"}, {"jax_plugin_version", "-plugin"}, {"jax_pjrt_version", "-pjrt"}})
    for (const auto& wheel : document["wheels"])
      if (wheel["project"].get<std::string>().ends_with(end))
        outputs.emplace_back(name, wheel["version"].get<std::string>());
  outputs.emplace_back("jax_version", document["jax_version"].get<std::string>());
  return outputs;
}

Result<int> write_jax(Context& context, const Arguments& arguments) {
  TRY(auto directory, dist_dir(context, arguments));
  TRY(auto document, ask_words(context, {"version", "write", "jax", "--dist-dir", directory}));
  auto outputs = jax_outputs(document);
  if (is_feb(arguments) && outputs.front().first != "jaxlib_version")
    return fail(ErrorKind::not_found, "N010", "there is no wheel of jaxlib, which February's script needs",
                "build it, or use --era aug");
  for (const auto& [name, value] : outputs) {
    context.out.data(fmt::format("{}={}\n", name, value));
    document[name] = value;
  }
  context.out.document(document);
  TRY_DO(tell_job(context, "GITHUB_OUTPUT", outputs));
  return 0;
}

Script jax_script() {
  return {.name = "write_jax_versions",
          .summary = "the versions of JAX's wheels, compatible with TheRock's script",
          .description = "Asks `quarry version write jax`: `jaxlib_version` where there is one, `jax_plugin_version`, "
                         "`jax_pjrt_version` and `jax_version` go to GITHUB_OUTPUT.",
          .operands = {},
          .flags = {k_dist_dir, k_era},
          .refused = {},
          .only_feb = {},
          .only_aug = {},
          .examples = {{"quarry compat write_jax_versions --dist-dir wheelhouse", "after a build"}},
          .exit_codes = {{2, "a project has several wheels, or the wheels do not belong together"},
                         {3, "a project has no wheel"}},
          .schema = "quarry.version-write/1",
          .run = write_jax};
}

// compute_jax_package_version

Result<int> compute_jax(Context& context, const Arguments& arguments) {
  auto file = arguments.get("--jax-requirements");
  constexpr std::uint64_t k_requirements_max = 4u << 20;
  TRY(auto text, sys::read_file(file, k_requirements_max), "while reading --jax-requirements");
  TRY(auto versions, version::jax_versions({text, file}, arguments.get("--rocm-version")));
  Outputs values{{"JAX_VERSION", versions.jax}, {"JAXLIB_VERSION", versions.jaxlib}};
  for (const auto& [name, value] : values) context.out.data(fmt::format("{}={}\n", name, value));
  context.out.document({{"jax_version", versions.jax}, {"jaxlib_version", versions.jaxlib}});
  TRY_DO(tell_job(context, "GITHUB_ENV", values));
  return 0;
}

Script compute_jax_script() {
  return {.name = "compute_jax_package_version",
          .summary = "what JAX's wheels are called for an SDK, compatible with TheRock's script",
          .description = "Takes the version of JAX from the first line of a requirements file that pins jax or jaxlib, "
                         "adds the SDK's version, and hands `JAX_VERSION` and `JAXLIB_VERSION` to the later steps by "
                         "GITHUB_ENV. For a test that no build of JAX has called; `quarry version write jax` reads the "
                         "versions from wheels.",
          .operands = {},
          .flags = {{"--rocm-version", "V", "the SDK's version", {}, {}, {}, true},
                    {"--jax-requirements", "FILE", "requirements of JAX's build", {}, {}, {}, true}},
          .refused = {},
          .only_feb = {},
          .only_aug = {},
          .examples = {{"quarry compat compute_jax_package_version --rocm-version 7.12.0 --jax-requirements "
                        "build/requirements.txt",
                        "for a released SDK"}},
          .exit_codes = {{2, "no line pins JAX, or something is not a version"}, {3, "the file does not exist"}},
          .schema = "quarry.compat-compute-jax-package-version/1",
          .run = compute_jax};
}

} // namespace

std::vector<Command> version_scripts() {
  return {command_of(compute_script()), command_of(determine_script()), command_of(python_script()),
          command_of(torch_script()),   command_of(jax_script()),       command_of(compute_jax_script())};
}

} // namespace quarry::cli::compat
