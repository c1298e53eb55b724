#include "cli/commands.hpp"
#include "cli/facts.hpp"
#include "cli/families.hpp"
#include "cli/keys.hpp"
#include "cli/next_command.hpp"
#include "cli/records.hpp"
#include "cli/suggest.hpp"
#include "cli/verdict.hpp"
#include "cli/waivers.hpp"

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
  for (const auto& channel : channels) {
    TRY(auto judged, judge_channel(context, arguments, *store, judged_source, channel));
    context.out.findings(judged.input.notes);
    context.out.data(
        verdict_text(judged.verdict, judged.input.subjects, {name, channel.channel, context.out.data_look()}));
    auto of_channel = arguments; // what helps is for this channel
    of_channel.values["--to"] = {channel.channel};
    context.out.data(held_text(context, of_channel, {judged.policy, judged.verdict, judged.input.subjects}));
    if (!judged.verdict.openly.empty())
      context.out.note(fmt::format("policy {}{}", judged.policy.name, openly_text(judged.verdict)));
    if (key) TRY_DO(sign_verdict(context, *store, *key, judged));
    all.push_back(std::move(judged));
  }
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
  return any([](const Judged& judged) { return judged.verdict.verdict == gate::Decision::held; }) ? 10 : 0;
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

// waive

Unexpected cannot_waive(std::string message, std::string hint) {
  return fail(ErrorKind::invalid_argument, "G006", std::move(message), std::move(hint));
}

/// An age ("14d"), a day or a time.
Result<std::int64_t> expiry(const std::string& text, std::int64_t now_us) {
  if (auto age = gate::parse_age(text)) return now_us + *age;
  auto until = gate::parse_until(text);
  if (until) return until;
  until.error().hint = "write it as an age such as 7d or 12h, as 2026-12-15, or as 2026-12-15T18:00:00Z";
  return until;
}

/// A name that nothing has is a mistake or early: the waiver counts for nothing until it exists. Best effort: what
/// cannot be looked up is not mentioned.
Findings unknown_names(const Context& context, store::ObjectReader& store, const registry::WaiverRecord& waiver) {
  Findings found;
  auto channels = registry::list_channels(store);
  if (channels && std::find(channels->begin(), channels->end(), waiver.channel) == channels->end())
    found.push_back({"G008", Severity::warning, "--to",
                     fmt::format("there is no channel {} in {} yet", waiver.channel, store.describe()),
                     channels->empty() ? "" : did_you_mean(waiver.channel, *channels)});
  const auto& family = waiver.cell.family;
  auto families = load_families(context, "");
  if (!family.empty() && families && families->targets_of(family).empty())
    found.push_back({"G008", Severity::warning, "--family",
                     fmt::format("the families table has neither a family nor a target {}", family),
                     "`quarry matrix targets` lists them"});
  return found;
}

/// Where the policy asks for signatures, one of the approver's keys must have signed.
Result<void> check_signature(const gate::Policy& policy, const registry::WaiverRecord& waiver,
                             const std::optional<Ed25519PrivateKey>& key) {
  bool asked = false, has_key = false;
  for (const auto& signer : policy.signers) {
    asked |= signer.waivers;
    if (!signer.waivers || signer.name != waiver.approver || !signer.revoked.empty()) continue;
    has_key = true;
    if (key && key->public_key().base64() == signer.key) return {};
  }
  if (!asked) return {};
  if (!has_key)
    return cannot_waive(fmt::format("policy {} has no key of {} that counts", policy.name, waiver.approver),
                        "name another approver, or add the key to the policy");
  return cannot_waive(fmt::format("policy {} wants waivers signed by their approver", policy.name),
                      fmt::format("sign it: --sign KEY, with a key of {}", waiver.approver));
}

Result<void> check_waiver(Context& context, const Arguments& arguments, store::ObjectReader& store,
                          const registry::WaiverRecord& waiver) {
  auto now_us = context.clock.now_us();
  if (text::trim(waiver.reason).empty() || text::trim(waiver.approver).empty())
    return cannot_waive("a waiver needs a reason and an approver", "give --reason and --approver");
  if (waiver.expires.us() <= now_us)
    return cannot_waive(fmt::format("the waiver would have ended already: {}", waiver.expires),
                        "give --expires a day to come, or an age such as 7d");
  TRY(auto policy, policy_for(context, arguments, store, waiver.channel));
  if (std::find(policy.approvers.begin(), policy.approvers.end(), waiver.approver) == policy.approvers.end())
    return cannot_waive(
        fmt::format("{} is not an approver of policy {}", waiver.approver, policy.name),
        policy.approvers.empty()
            ? fmt::format("policy {} has no approvers; `--policy FILE` names another one", policy.name)
            : fmt::format("ask one of: {}; `--policy FILE` names another policy", text::join(policy.approvers, ", ")));
  bool same = waiver.requester == waiver.approver;
  if (policy.requester == gate::Requester::approver && !same)
    return cannot_waive(
        fmt::format("policy {} wants the approver to make the waiver, and you are {}", policy.name, waiver.requester),
        fmt::format("{} runs this command", waiver.approver));
  if (policy.requester == gate::Requester::another && same)
    return cannot_waive(fmt::format("policy {} wants somebody else than the approver to make the waiver", policy.name),
                        "the one who needs it runs this command, and names the approver");
  if (waiver.expires.us() - now_us > policy.waiver_max_age_us)
    return cannot_waive(fmt::format("policy {} does not allow waivers until {}", policy.name, waiver.expires),
                        fmt::format("the latest end is {}", sys::rfc3339(now_us + policy.waiver_max_age_us)));
  TRY(auto key, signing_key(arguments));
  return check_signature(policy, waiver, key);
}

Result<registry::WaiverRecord> make_waiver(const Context& context, const Arguments& arguments,
                                           store::ObjectReader& store) {
  auto now_us = context.clock.now_us();
  registry::WaiverRecord waiver;
  waiver.channel = arguments.get("--to");
  TRY_DO(registry::check_channel_name(waiver.channel));
  waiver.suite = arguments.find("--suite").value_or("");
  TRY_DO(check_line("--reason", arguments.get("--reason")));
  TRY_DO(check_line("--approver", arguments.get("--approver")));
  waiver.reason = arguments.get("--reason");
  waiver.approver = arguments.get("--approver");
  waiver.requester = who(context);
  waiver.repository = context.variable("GITHUB_REPOSITORY");
  waiver.run = run_url(context);
  waiver.cell = {Platform::read(arguments.find("--platform").value_or("")), arguments.find("--family").value_or(""),
                 arguments.find("--python").value_or(""), arguments.find("--framework").value_or("")};
  for (auto digits : arguments.list("--set")) {
    if (digits.starts_with("set:")) digits = digits.substr(4);
    TRY(auto digest, registry::complete_set_digest(store, digits));
    waiver.sets.push_back(digest);
  }
  waiver.created = sys::Timestamp::from_us(now_us);
  TRY(auto expires_us, expiry(arguments.get("--expires"), now_us));
  waiver.expires = sys::Timestamp::from_us(expires_us);
  return waiver;
}

/// A waiver that names no set covers those that nobody has built yet.
Result<void> check_sets(const Arguments& arguments) {
  bool sets = !arguments.list("--set").empty(), any = arguments.has("--any-set"), all = arguments.has("--everything");
  if (any && (sets || all))
    return cannot_waive(fmt::format("--any-set and {} exclude each other", sets ? "--set" : "--everything"),
                        "use only one of them");
  if (sets || any || all) return {};
  return cannot_waive("the waiver would cover every set, also those of later runs",
                      "name the sets with `--set DIGEST`, or use --any-set");
}

/// A waiver for all that ever moves to a channel must be meant: a flag that was forgotten would give the same.
Result<void> check_scope(const Arguments& arguments) {
  std::vector<std::string> given, known = {"--platform", "--family", "--python", "--framework", "--suite", "--set"};
  for (const auto& flag : known)
    if (!arguments.list(flag).empty()) given.push_back(flag);
  for (const auto& flag : given) // an empty value is a variable that is not set
    if (arguments.get(flag).empty())
      return cannot_waive(fmt::format("{} is empty", flag), "is a variable unset? omit the flag to cover all of them");
  if (arguments.has("--everything") && !given.empty())
    return cannot_waive(fmt::format("--everything and {} exclude each other", given.front()), "use only one of them");
  if (!arguments.has("--everything") && given.empty())
    return cannot_waive(fmt::format("the waiver would cover every suite on every cell of {}", arguments.get("--to")),
                        fmt::format("limit it with {}, or use --everything", text::join(known, ", ")));
  return check_sets(arguments);
}

Result<int> run_waive(Context& context, const Arguments& arguments) {
  TRY_DO(check_scope(arguments));
  TRY(auto key, signing_key(arguments));
  TRY(auto store, open_store(context, arguments.get("--store")));
  TRY(auto waiver, make_waiver(context, arguments, *store));
  TRY_DO(check_waiver(context, arguments, *store, waiver));
  auto unknown = unknown_names(context, *store, waiver);
  context.out.findings(unknown);
  bool dry = arguments.has("--dry-run");
  auto digest = registry::digest_of(waiver);
  if (!dry) {
    TRY(digest, registry::put_waiver(*store, waiver));
    TRY_DO(sign_record(context, *store, {"waiver", *digest.sha256()}, key));
  }
  context.out.data(
      fmt::format("{}  {}  {}\n", dry ? "would waive" : "waived", digest.short_hex(), waiver_text(waiver)));
  context.out.document({{"schema", "quarry.waive/1"},
                        {"waiver", digest},
                        {"written", !dry},
                        {"channel", waiver.channel},
                        {"expires", waiver.expires},
                        {"approver", waiver.approver},
                        {"requester", waiver.requester},
                        {"run", url_json(waiver.run)},
                        {"notes", findings_json(unknown)}});
  return 0;
}

Command waive_command() {
  return {
      .path = {"waive"},
      .summary = "record an exception to a policy",
      .description =
          "Writes a waiver into the store: for this channel, these cells and suites count as ready until the "
          "waiver expires, although evidence is missing or bad. The policy says who may waive and for how long; the "
          "waiver is checked against it at once, so name with `--policy` the one that will judge.\n\n"
          "Say what is waived: a cell, a suite, a set, or `--everything`. A waiver that names no `--set` needs "
          "`--any-set`, because it covers sets of later runs, too. The record says who made it and in which job; "
          "`quarry waiver revoke` takes it back.",
      .operands = {},
      .flags = {{"--to", "CHANNEL", "the channel that it is for", {}, {}, {}, true},
                {"--reason", "TEXT", "why the risk is taken", {}, {}, {}, true},
                {"--approver", "NAME", "who takes it; one of the policy's approvers", {}, {}, {}, true},
                {"--expires", "WHEN", "2026-12-15, an RFC 3339 time, or an age such as 7d", {}, {}, {}, true},
                {"--platform", "P", "only on this platform"},
                {"--family", "F", "only for this GPU family"},
                {"--python", "V", "only for this Python, such as 3.12"},
                {"--framework", "NAME", "only for this framework"},
                {"--suite", "NAME", "only for this suite"},
                {"--set", "DIGEST", "only for this set", {}, {}, {}, false, true},
                {"--any-set", "", "for every set, also of later runs"},
                {"--everything", "", "every suite on every cell of every set"},
                {"--policy", "FILE", "the policy that will judge", {}, "default"},
                sign_flag(),
                {"--dry-run", "", "check and show it, write nothing", {}, {}, {}, false, false, 'n'},
                store_flag()},
      .examples = {{"quarry waive --to stable --family gfx1153 --any-set --approver release-owner --expires 14d "
                    "--reason \"no lab machine until December\"",
                    "one family, for two weeks"}},
      .exit_codes = {{2, "the waiver would not count"}},
      .schema = "quarry.waive/1",
      .run = run_waive};
}

} // namespace

std::vector<Command> gate_commands() {
  return {gate_command(), waive_command(), waiver_list_command(), waiver_revoke_command()};
}

} // namespace quarry::cli
