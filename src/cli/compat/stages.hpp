#pragma once
// What the actions of artifact_manager share: the stage's names, the run's place.
#include "artifact/topology.hpp"
#include "cli/compat/script.hpp"
#include <optional>
#include <set>
#include <string>

namespace quarry::cli::compat {

/// The topology that --topology names, or that lies in the working directory. not_found D001, invalid_argument A095.
Result<artifact::Topology> topology_of(const Arguments& arguments);

/// Names of artifacts; nullopt: all.
using Names = std::optional<std::set<std::string>>;
/// What goes into the stage of --stage; of `all`, what the topology has, and everything where there is none.
Result<Names> inbound_of(const Arguments& arguments);
/// What the stages of --stage make, which commas separate.
Result<Names> produced_of(const Arguments& arguments);

/// The run of --run-id, THEROCK_RUN_ID or GITHUB_RUN_ID; a staging directory takes the place of the bucket.
Result<Place> staged_place(Context& context, const Arguments& arguments);

/// Expressions that together fit the names of artifacts: these names, of the targets that the flags say and the generic
/// ones, without the components that --exclude-components names. There is one for each name, because one for all is
/// longer than artifact::Pattern allows.
Result<std::vector<std::string>> expressions_of(const Context& context, const Arguments& arguments, const Names& names);

Result<int> fetch_stage(Context& context, const Arguments& arguments);
Result<int> push_stage(Context& context, const Arguments& arguments);
Result<int> copy_stages(Context& context, const Arguments& arguments);
Result<int> show_stage(Context& context, const Arguments& arguments);
Result<int> list_stages(Context& context, const Arguments& arguments);

} // namespace quarry::cli::compat
