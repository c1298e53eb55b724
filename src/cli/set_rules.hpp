#pragma once
// The rules of sets with what the command line says about them; shared by `set check` and `publish`.
#include "cli/command.hpp"
#include "closure/set_rules.hpp"
#include "inspect/device_code.hpp"
#include <functional>
#include <string>
#include <vector>

namespace quarry::cli {

class BaseIndex;

/// `--allow-missing PROJECT`, repeated.
Flag allow_missing_flag();
/// `--against`, `--budget` and `--claims`: what a set is compared with.
std::vector<Flag> expectation_flags();

/// Opens the store that --store names. Fails with invalid_argument Q006 if it names none.
closure::OpenStore opener_of_store(const Context& context, const Arguments& arguments);

/// What --allow-missing and expectation_flags() say, with data/coherence.toml. Fails with C006 for a budget, Q434 for
/// claims, Q410 for the data, and as closure::packages_of() does for the last good set.
Result<closure::SetRules> read_set_rules(const Context& context, const Arguments& arguments);
/// `base` may be null, and must outlive the rules.
void set_base(closure::SetRules& rules, BaseIndex* base);

/// Looks for the claimed targets in the device code of the wheels (Q433). Asks for no wheel if no target is claimed.
using Wheels = std::function<Result<std::vector<inspect::DeviceOperand>>()>;
Result<Findings> findings_of_claimed_targets(const Context& context, const closure::SetRules& rules,
                                             const Wheels& wheels);

} // namespace quarry::cli
