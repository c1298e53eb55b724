#pragma once
// Moves of a channel for people and for programs: `promote` and `rollback`.
#include "base/json.hpp"
#include "cli/base_index.hpp"
#include "cli/command.hpp"
#include "cli/next_command.hpp"
#include "promote/distributions.hpp"
#include "promote/guard.hpp"
#include "promote/promote.hpp"
#include <string>

namespace quarry::cli {

/// From --dry-run, --execute, --reason, --sign and --public-url, with the ledger's author and time. invalid_argument
/// O006, O009; B006 of the key.
Result<promote::Options> promote_options_of(Context& context, const Arguments& arguments);
/// The author of a move that needs a reason, from --reason and --sign, with the time of now. invalid_argument O015;
/// B006 of the key.
Result<promote::Author> author_of(Context& context, const Arguments& arguments);
/// "undo: quarry rollback …": what takes the move back that `arguments` have made. With a placeholder if it was signed.
std::string undo_note(const Context& context, const Arguments& arguments, const std::string& channel);
/// Where the dependencies of `--cells ready` come from: `--base-index`, else that of the store; null if there is
/// nothing to ask. invalid_argument C006 for `--base-index` without `--cells ready`; else as open_base_index().
Result<std::unique_ptr<BaseIndex>> dependencies_of(const Context& context, const Arguments& arguments);
/// Whether `promote --cells ready` would move anything of `request` (held_text() in verdict.hpp). Decides as the
/// promotion does and reads no packages; false if it cannot, because the command would end there, too. Refers to its
/// parameters.
std::function<bool()> asks_ready_moves(const Context& context, const Arguments& arguments, store::ObjectReader& store,
                                       promote::Request request);
Json receipt_json(const promote::Receipt& receipt, const char* schema, bool dry_run);
/// What was done: "moved       stable@3  view 1f2e…".
std::string moved_text(const promote::Receipt& receipt);
/// What would be done: the sets, then the step from generation to generation.
std::string promote_plan_text(const promote::Plan& plan);
/// Whether the channel of this plan is protected by a policy that takes only signed moves: then a command to paste has
/// `--sign`. One read, if the channel is protected; a policy that cannot be read counts as one that does not.
bool wants_signature(store::ObjectReader& store, const promote::Plan& plan);
/// The end of a dry run: what to type next. A channel that has all of it may still have to be copied (`delivers`).
std::string promote_dry_run_text(const promote::Receipt& receipt, NextCommand command, bool delivers = false);
/// A distribution that went back, alone or along with its channel.
Json carried_json(const promote::DistributionReceipt& receipt);
std::string carried_text(const promote::DistributionReceipt& receipt, bool dry_run);
Flag move_dry_run_flag(); ///< `--dry-run`, `-n`
Flag move_execute_flag(); ///< `--execute DIGEST`
Flag move_reason_flag();  ///< `--reason TEXT`, not required

} // namespace quarry::cli
