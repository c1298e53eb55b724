#pragma once
// The incumbent's scripts as commands: their flags and variables in, our commands' words out (docs/guides/drop-in.md).
// Each file of this directory holds the scripts of one concern. Errors: C040 … C044.
#include "cli/command.hpp"
#include "cli/delegate.hpp"
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quarry::cli::compat {

/// A flag that the script has and that we do not follow.
struct RefusedFlag {
  Flag flag;
  std::string why, hint;
};

struct Script {
  std::string name;    ///< "fetch_artifacts"
  std::string summary; ///< as Command::summary
  std::string description;
  std::vector<Operand> operands;
  std::vector<Flag> flags; ///< today's, then ours
  std::vector<RefusedFlag> refused;
  std::vector<std::string> only_feb, only_aug; ///< of `flags`: those that the other month's script lacks
  std::vector<Example> examples;
  std::vector<std::pair<int, std::string>> exit_codes;
  std::string schema; ///< of what it runs
  std::function<Result<int>(Context&, const Arguments&)> run;
};

/// Refuses what is refused and what the other month alone has, then runs.
Command command_of(Script script);

// Flags that several scripts share.
extern const Flag k_era, k_store, k_workflow_run;
bool is_feb(const Arguments& arguments);
/// Workflows pass `--flag=${{ inputs.x }}` with nothing in it, and the scripts take that for absent.
std::optional<std::string> said(const Arguments& arguments, std::string_view flag);
/// Appends flag and value when something was said.
void pass(Words& words, const Arguments& arguments, std::string_view flag, std::string_view ours = {});
Unexpected usage(std::string message, std::string hint); ///< C042
/// C042 if two of these flags were given on the command line: one of them would count for nothing. A value of the
/// environment or of a file of settings gives way to the flag.
Result<void> only_one_of(const Arguments& arguments, std::initializer_list<std::string_view> flags);

/// Lines `name=value` for the file that a variable of the job names; without that variable a note. A last line that an
/// earlier step left without its end stays a line of its own.
Result<void> tell_job(Context& context, const std::string& variable,
                      const std::vector<std::pair<std::string, std::string>>& values);

/// Where today's rules put a run: from `run locate`, by --run-id, --platform, --run-github-repo, --workflow-run and
/// --release-type.
struct Place {
  std::string bucket, external_repo, prefix; ///< prefix: "{external_repo}{run_id}-{platform}"
  std::string store;                         ///< --store, else "s3://{bucket}"
  /// The command's, and for today's bucket what the scripts assume: its region, and no signature without credentials.
  std::map<std::string, std::string> environment;
  std::string locator() const { return "run:" + prefix; }
};
struct PlaceRequest {
  std::string run_id, platform, bucket, store; ///< the last two: asked for, or empty
};
/// invalid_argument L02x.
Result<Place> place_of(Context& context, const Arguments& arguments, const PlaceRequest& request);
/// A store outside any run, to read from: in today's region, unsigned when nothing names credentials.
Place place_to_read(const Context& context, std::string store);
/// A store outside any run, to write to: in today's region, with signed requests.
Place place_to_write(const Context& context, std::string store);
/// `context` with the place's environment; both must outlive it.
Context at(const Context& context, const Place& place);

std::vector<Command> version_scripts();   // compute_rocm_package_version, determine_version, python_to_cp_version, …
std::vector<Command> artifact_scripts();  // fetch_artifacts, install_rocm_from_artifacts
std::vector<Command> package_scripts();   // build_python_packages, upload_python_packages
std::vector<Command> venv_scripts();      // setup_venv
std::vector<Command> index_scripts();     // indexer, manage, update_dependencies
std::vector<Command> run_scripts();       // find_artifacts_for_commit, post_build_upload
std::vector<Command> job_scripts();       // expand_amdgpu_families, sanity_check_wheel, capture_job_summary
std::vector<Command> stage_scripts();     // artifact_manager, post_stage_upload
std::vector<Command> framework_scripts(); // configure_pytorch_release_matrix, configure_target_run, …
std::vector<Command> ci_scripts();        // configure_ci, configure_multi_arch_ci
Command february_ci_command();            // configure_ci
std::vector<Command> promotion_scripts(); // promote_wheels_based_on_policy
std::vector<Command> release_scripts();   // publish_rocm_to_release_buckets, publish_pytorch_to_release_bucket, …

} // namespace quarry::cli::compat
