#pragma once
// A gate's verdict for people and for programs, and the policy that a command names; for `gate` and `promote`.
#include "base/json.hpp"
#include "cli/command.hpp"
#include "gate/gate.hpp"
#include "registry/registry.hpp"
#include "release/source.hpp"
#include "store/object_store.hpp"
#include <functional>
#include <optional>
#include <string>

namespace quarry::cli {

/// A file, or the name of a policy inside the program ("default", "policies/default.toml"); a bare word that is such a
/// name is never a file. not_found G007, G00x.
Result<gate::Policy> load_policy(Context& context, const std::string& named);

/// The policy of `--policy` for this channel; without the flag, the one that protects the channel, else `default`.
/// held O012 if another one protects the channel. Errors as load_policy() and promote::policy_of().
Result<gate::Policy> policy_for(Context& context, const Arguments& arguments, store::ObjectReader& store,
                                const std::string& channel);
/// The same for a channel that was read already; nullopt: it does not exist.
Result<gate::Policy> policy_for(Context& context, const Arguments& arguments, store::ObjectReader& store,
                                const std::optional<registry::Channel>& now);

/// `--expect FILE`: what must be there besides what the policy expects.
Flag expect_flag();
/// The sets that every `--from` means, and what `--expect` and the releases among them expect. Only sealed sets; L008,
/// L009, R0xx; G001, G002.
Result<release::Source> source_of(const Arguments& arguments, store::ObjectReader& store);

/// From where to where the sets go, and how the table looks.
struct VerdictLine {
  const std::string &from, &to;
  Look look;
};
/// One line of headline, then the cells below the set that they are of: digest, run, version.
std::string verdict_text(const gate::Verdict& verdict, const std::vector<gate::Subject>& subjects,
                         const VerdictLine& line);

/// What to type when a cell is held: first how to test it, then how to promote the others, at last the waiver. Empty
/// when none is. `arguments` are those of `gate` or `promote`.
struct Held {
  const gate::Policy& policy;
  const gate::Verdict& verdict;
  const std::vector<gate::Subject>& subjects;
  /// Whether `promote --cells ready` would move anything; asked only if a cell is ready. Unset: taken as given.
  std::function<bool()> ready_moves = {};
  bool is_of_pattern = false; ///< of several channels: ready_text() follows after the last of them
};
std::string held_text(const Context& context, const Arguments& arguments, const Held& held);
/// The command that promotes what is ready in these channels, which `--to` names; empty if nothing is, or `arguments`
/// ask for it.
std::string ready_text(const Context& context, const Arguments& arguments, const std::vector<Held>& channels);

/// " (openly nothing_expected, unsigned)": what the policy says that it lacks; empty if nothing.
std::string openly_text(const gate::Verdict& verdict);
/// verdict, would_hold, mode, policy, cells: [{cell: {platform, family, python, framework}, set, verdict, waived,
/// reasons, suites: [{suite, state, job}], evidence, untested, failed}]
Json verdict_json(const gate::Verdict& verdict);

} // namespace quarry::cli
