#pragma once
// The rules that `publish` asks beyond what it always refuses: those of sets, and those of wheels if the rule profile
// wants them.
#include "cli/command.hpp"
#include "publish/plan.hpp"
#include <vector>

namespace quarry::cli {

/// `--profile`, `--suppressions`, `--base-index`, `--allow-missing`, `--amdgpu-family`, `--families-file`, and
/// expectation_flags()
std::vector<Flag> publish_rule_flags();

/// Adds what the rules find to the plan's notes. Fails with failed P091 if the profile calls one of them an error. The
/// profile `store` has no such rule, reads METADATA only, which is at hand, and asks a base index only if one is named
/// or the store has one.
Result<void> add_findings_of_rules(Context& context, const Arguments& arguments, publish::Plan& plan);

} // namespace quarry::cli
