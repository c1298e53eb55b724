#include "cli/commands.hpp"
#include "cli/facts.hpp"
#include "cli/keys.hpp"
#include "cli/moves.hpp"
#include "cli/next_command.hpp"
#include "cli/records.hpp"
#include "cli/verdict.hpp"

#include "base/text.hpp"
#include "cli/shared_flags.hpp"
#include "gate/collect.hpp"
#include "gate/gate.hpp"
#include "gate/signers.hpp"
#include "promote/plan.hpp"
#include "promote/signed_moves.hpp"
#include "release/plan.hpp"
#include "sys/clock.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

// gate

/// What the gate says about one channel.
struct Judged {
  std::string channel;
  gate::Policy policy;
  gate::Case input;
  gate::Verdict verdict;
  registry::VerdictDigest stored = {}; ///< with `--sign`
};

/// Stores the verdict as a promotion would, and signs it.
Result<void> sign_verdict(Context& context, store::ObjectStore& store, const Ed25519PrivateKey& key, Judged& judged) {
  auto defect = gate::wants_signed_verdicts(judged.policy)
                    ? gate::defect_of_key(judged.policy, "verdicts", key.public_key())
                    : std::string();
  if (!defect.empty())
    return fail(ErrorKind::held, "O042",
                fmt::format("channel {} takes only signed verdicts, and this one {}", judged.channel, defect),
                fmt::format("nothing was stored; sign with the key of a [[signer]] that policy {} names for verdicts",
                            judged.policy.name));
  auto document = promote::verdict_document(judged.verdict, promote::judged_in(judged.input));
  TRY(judged.stored, registry::put_verdict(store, document));
  context.out.data(fact("verdict", "{}", judged.stored));
  return sign_record(context, store, {"verdict", *judged.stored.sha256()}, key);
}

/// One channel, or those of a pattern such as `stable-{family}`.
Result<std::vector<release::ChannelSets>> channels_of(const release::Source& source, const std::string& to) {
  if (release::is_pattern(to)) return release::by_channel(source.resolved.sets, to);
  return std::vector<release::ChannelSets>{{to, source.resolved.sets}};
}

/// What is judged, for one channel after the other.
struct JudgedSource {
  const release::Source& source;
  gate::Proofs proofs = {};
};

Result<Judged> judge_channel(Context& context, const Arguments& arguments, store::ObjectReader& store,
                             JudgedSource& from, const release::ChannelSets& to) {
  Judged judged;
  judged.channel = to.channel;
  TRY(auto now, registry::read_channel(store, to.channel), "while reading channel " + to.channel);
  TRY(judged.policy, policy_for(context, arguments, store, now));
  registry::Resolved here;
  here.sets = to.sets;
  TRY(judged.input, gate::collect_new(store, {to.channel, now}, here, context.clock.now_us()));
  for (auto& other : gate::others(from.source.resolved.sets, to.sets)) judged.input.present.push_back(std::move(other));
  judged.input.expectations = from.source.expectations;
  TRY_DO(gate::load_for_policy(store, judged.policy, judged.input, gate::Derivations::proven, &from.proofs));
  judged.verdict = gate::judge(judged.policy, judged.input);
  auto unasked = promote::signatures_not_asked_for(judged.input, judged.policy);
  judged.input.notes.insert(judged.input.notes.end(), unasked.begin(), unasked.end());
  const auto& suspects = judged.verdict.notes;
  judged.input.notes.insert(judged.input.notes.end(), suspects.begin(), suspects.end());
  return judged;
}

Json gate_json(const std::vector<Judged>& all) {
  auto document = verdict_json(all.front().verdict);
  auto notes = Findings();
  for (const auto& judged : all) notes.insert(notes.end(), judged.input.notes.begin(), judged.input.notes.end());
  document["notes"] = findings_json(notes);
  if (!all.front().stored.empty()) document["stored"] = all.front().stored;
  if (all.size() == 1) return document;
  auto cells = Json::array(), channels = Json::array();
  bool held = false, would_hold = false;
  for (const auto& judged : all) {
    auto one = verdict_json(judged.verdict);
    for (const auto& cell : one["cells"]) cells.push_back(cell);
    held |= judged.verdict.verdict == gate::Decision::held;
    would_hold |= judged.verdict.would_hold;
    one["channel"] = judged.channel;
    if (!judged.stored.empty()) one["stored"] = judged.stored;
    channels.push_back(std::move(one));
  }
  document["verdict"] = gate::to_string(held ? gate::Decision::held : gate::Decision::ready);
  document["would_hold"] = would_hold;
  document["cells"] = std::move(cells);
  document.erase("stored"); // each channel has its own
  document["channels"] = std::move(channels);
  return document;
}

/// The command line and what it names.
struct GateCall {
  const Context& context;
  const Arguments& arguments;
  store::ObjectReader& store;
  const release::Source& source;
};

/// `judged` must outlive it.
Held held_of(const GateCall& asked, const release::ChannelSets& to, const Judged& judged) {
  promote::Request request{asked.source.resolved, to.channel, judged.policy};
  request.source.sets = to.sets;
  request.now_us = asked.context.clock.now_us();
  request.expectations = asked.source.expectations;
  return {judged.policy, judged.verdict, judged.input.subjects,
          asks_ready_moves(asked.context, asked.arguments, asked.store, std::move(request)),
          release::is_pattern(asked.arguments.get("--to"))};
}

/// The channels of a pattern move by one command.
std::string ready_of_pattern(const GateCall& asked, const std::vector<release::ChannelSets>& channels,
                             const std::vector<Judged>& judged) {
  std::vector<Held> all;
  bool is_held = false;
  for (std::size_t i = 0; i < judged.size(); ++i) {
    all.push_back(held_of(asked, channels[i], judged[i]));
    is_held = is_held || judged[i].verdict.verdict == gate::Decision::held;
  }
  return is_held ? ready_text(asked.context, asked.arguments, all) : std::string();
}

Result<int> run_gate(Context& context, const Arguments& arguments) {
  auto to = arguments.get("--to");
  TRY(auto key, signing_key(arguments));
  TRY(auto store, open_store(context, arguments.get("--store")));
  TRY(auto source, source_of(arguments, *store));
  TRY(auto channels, channels_of(source, to));
  const auto& from = source.resolved;
  auto name = from.generation ? fmt::format("{}@{}", from.source, from.generation) : from.source;
  std::vector<Judged> all;
  JudgedSource judged_source{source};
  const GateCall asked{context, arguments, *store, source};
  for (const auto& channel : channels) {
    TRY(auto judged, judge_channel(context, arguments, *store, judged_source, channel));
    context.out.findings(judged.input.notes);
    context.out.data(
        verdict_text(judged.verdict, judged.input.subjects, {name, channel.channel, context.out.data_look()}));
    auto of_channel = arguments; // what helps is for this channel
    of_channel.values["--to"] = {channel.channel};
    context.out.data(held_text(context, of_channel, held_of(asked, channel, judged)));
    if (!judged.verdict.openly.empty())
      context.out.note(fmt::format("policy {}{}", judged.policy.name, openly_text(judged.verdict)));
    if (key) TRY_DO(sign_verdict(context, *store, *key, judged));
    all.push_back(std::move(judged));
  }
  if (release::is_pattern(to)) context.out.data(ready_of_pattern(asked, channels, all));
  auto document = gate_json(all);
  document["schema"] = "quarry.gate/1";
  document["source"] = name;
  document["channel"] = to;
  context.out.document(document);
  auto any = [&](auto is) { return std::any_of(all.begin(), all.end(), is); };
  auto is_signed = [](const Judged& judged) {
    return !judged.input.bound.empty() && gate::wants_signed_moves(judged.policy);
  };
  bool open = !any([](const Judged& judged) { return judged.verdict.would_hold; });
  if (open && any([](const Judged& judged) { return !judged.verdict.cells.empty(); }))
    context.out.note("next: " + NextCommand(context, "promote").flags_of(arguments).signed_if(any(is_signed)).text());
  bool held = any([](const Judged& judged) { return judged.verdict.verdict == gate::Decision::held; });
  return held ? traits(ErrorKind::held).exit_code : 0;
}

Command gate_command() {
  return {
      .path = {"gate"},
      .summary = "judge whether sets may move to a channel",
      .description =
          "Lays a policy over the sets of `--from` that the channel does not have, and over all evidence and "
          "waivers in the store. A cell is ready when every required suite has passed, lately enough, on exactly "
          "the files of that cell; silence holds. Nothing is changed.\n\nWith `--sign` the verdict is stored and "
          "signed, also one that holds. A "
          "channel whose policy names signers of verdicts takes a promotion only with the signed verdict on exactly "
          "these sets and results.\n\nA release, or several `--from`, are judged as "
          "a whole: what one set lacks another may bring. With `--to 'stable-{family}'` each set is judged for the "
          "channel of its family.\n\nA policy is a TOML file "
          "(docs/formats/policy.md), or the name of one inside the program: default, demo, incumbent-feb.",
      .operands = {},
      .flags = {{"--to", "CHANNEL", "where the sets are to go: a channel, or stable-{family}", {}, {}, {}, true},
                {"--from",
                 "LOCATOR",
                 "the sets: run:ID, set:DIGEST, channel:NAME or release:DIGEST",
                 {},
                 {},
                 {},
                 true,
                 true},
                expect_flag(),
                {"--policy", "FILE", "a policy file, or the name of a shipped one", {}, "default"},
                sign_flag(),
                store_flag()},
      .examples = {{"quarry gate --to stable --from channel:staging --policy default", "what would be held, and why"}},
      .exit_codes = {{0, "every cell is ready, or the policy only reports"}, {10, "held"}},
      .schema = "quarry.gate/1",
      .run = run_gate};
}

} // namespace

std::vector<Command> gate_commands() {
  return {gate_command(), waive_command(), waiver_list_command(), waiver_revoke_command()};
}

} // namespace quarry::cli
