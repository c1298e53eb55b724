#include "base/one_line.hpp"
#include "cli/commands.hpp"
#include "cli/distributions.hpp"
#include "cli/history.hpp"
#include "cli/identity.hpp"
#include "cli/places.hpp"
#include "cli/records.hpp"
#include "cli/shared_flags.hpp"
#include "promote/bound.hpp"
#include "registry/registry.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

Json move_json(const registry::Stored<registry::LedgerRecord>& move, const std::string& signer) {
  const auto& m = move.record;
  return {{"ledger", move.digest},
          {"generation", m.generation},
          {"action", m.action},
          {"from_view", m.from_view.empty() ? Json(nullptr) : Json(m.from_view)},
          {"to_view", m.to_view},
          {"plan", m.plan},
          {"verdict", m.verdict},
          {"who", m.who},
          {"when", m.when},
          {"why", m.why},
          {"identity", identity_json(m.identity, signer)}};
}

Result<int> run_channel_log(Context& context, const Arguments& arguments) {
  const auto& name = arguments.operands.at(0);
  if (is_distribution(name)) return show_distribution_log(context, arguments);
  TRY(auto at, store_named(arguments));
  TRY(auto store, open_store(context, at));
  TRY(auto channel, registry::require_channel(*store, name));
  TRY(auto moves, registry::ledger_chain(*store, channel.record));
  std::vector<gate::Policy> policies;
  if (auto policy = promote::policy_of(*store, name); policy && *policy) policies.push_back(std::move(**policy));
  auto list = Json::array();
  for (const auto& move : moves) {
    const auto& m = move.record;
    std::string signer;
    if (m.identity) signer = signer_of(*store, policies, m.action.text(), {"move", *move.digest.sha256()});
    list.push_back(move_json(move, signer));
    context.out.data(fmt::format("{:>4}  {}  {:<9}  view {}  by {}{}\n", m.generation, short_time(m.when.text()),
                                 m.action.text(), m.to_view.short_hex(), m.who.empty() ? "-" : text::one_line(m.who),
                                 m.why.empty() ? "" : ": " + text::one_line(m.why)));
  }
  context.out.document({{"name", name}, {"moves", list}});
  return 0;
}

} // namespace

Command channel_log_command() {
  return {.path = {"channel", "log"},
          .summary = "list the moves of a channel or a distribution, newest first",
          .description = "Follows the ledger from the channel to its first move. Each entry names the one before by "
                         "its digest, so a move cannot be changed or left out unnoticed. A distribution has the same "
                         "chain of moves. With `--json` also the job that made each move: `unverified`, unless a "
                         "signer of such moves has signed it.",
          .operands = {{"NAME", "the channel (`quarry channel list` names them), or a distribution: "
                                "s3://BUCKET/v2/gfx94X-dcgpu"}},
          .flags = {store_of_channel_flag()},
          .examples = {{"quarry channel log stable --store file:store", "who moved stable, when and why"},
                       {"quarry channel log s3://dist/v2/gfx94X-dcgpu", "what people could install, since when"}},
          .exit_codes = {{3, "the channel does not exist"}, {6, "the ledger is broken"}},
          .schema = "quarry.channel-log/1",
          .run = run_channel_log};
}

} // namespace quarry::cli
