// `waive`: a waiver is checked against the policy that will judge, then written.
#include "base/platform.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/families.hpp"
#include "cli/keys.hpp"
#include "cli/records.hpp"
#include "cli/shared_flags.hpp"
#include "cli/suggest.hpp"
#include "cli/verdict.hpp"
#include "cli/waivers.hpp"
#include "content/rope.hpp"
#include "gate/policy.hpp"
#include "sys/clock.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <set>

namespace quarry::cli {

namespace {

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

Finding unknown_name(std::string flag, std::string message, std::string hint) {
  return {"G008", Severity::warning, std::move(flag), std::move(message), std::move(hint)};
}

/// The suites that the policy asks for.
std::vector<std::string> suites_of(const gate::Policy& policy) {
  std::set<std::string> names(policy.derived_suites.begin(), policy.derived_suites.end());
  for (const auto& suite : policy.suites) names.insert(suite.name);
  for (const auto& requirement : policy.requirements)
    names.insert(requirement.suites.begin(), requirement.suites.end());
  return {names.begin(), names.end()};
}

bool has_wheel_for_mac(store::ObjectReader& store, const std::vector<registry::SetDigest>& sets) {
  for (const auto& digest : sets)
    if (auto set = registry::load_set(store, digest))
      for (const auto& file : set->files)
        if (file.filename.find("-macosx_") != std::string::npos) return true;
  return false;
}

/// A name that nothing has is a mistake or early: the waiver counts for nothing until it exists. Best effort: what
/// cannot be looked up is not mentioned.
Findings unknown_names(const Context& context, store::ObjectReader& store, const gate::Policy& policy,
                       const registry::WaiverRecord& waiver) {
  Findings found;
  auto channels = registry::list_channels(store);
  if (channels && std::find(channels->begin(), channels->end(), waiver.channel) == channels->end())
    found.push_back(unknown_name("--to",
                                 fmt::format("channel {} does not exist in {} yet", waiver.channel, store.describe()),
                                 channels->empty() ? "" : did_you_mean(waiver.channel, *channels)));
  if (!waiver.cell.family.empty())
    if (auto unknown = unknown_family(context, "--family", waiver.cell.family)) found.push_back(std::move(*unknown));
  std::vector<std::string> platforms(PlatformWords::k_texts.begin(), PlatformWords::k_texts.end());
  auto platform = std::string(waiver.cell.platform.text());
  if (has_wheel_for_mac(store, waiver.sets)) platforms.emplace_back("macos"); // no run is for it
  if (!platform.empty() && std::ranges::find(platforms, platform) == platforms.end())
    found.push_back(unknown_name("--platform", fmt::format("no package is for the platform {}", platform),
                                 "it is one of: " + text::join(platforms, ", ")));
  const auto& python = waiver.cell.python;
  auto parts = text::split(python, '.');
  if (!python.empty() && (parts.size() != 2 || !text::parse_u64(parts[0]) || !text::parse_u64(parts[1])))
    found.push_back(
        unknown_name("--python", fmt::format("{} is not the version of a Python", python), "write it as 3.12"));
  auto suites = suites_of(policy);
  if (!waiver.suite.empty() && std::ranges::find(suites, waiver.suite) == suites.end())
    found.push_back(unknown_name("--suite", fmt::format("policy {} asks for no suite {}", policy.name, waiver.suite),
                                 did_you_mean(waiver.suite, suites)));
  for (const auto& set : waiver.sets)
    if (auto record = store.head(registry::set_key(set)); record && !*record)
      found.push_back(unknown_name("--set",
                                   fmt::format("set {} does not exist in {}", set.short_hex(), store.describe()),
                                   "`quarry set list` shows the sets"));
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

/// Returns the policy that the waiver was checked against.
Result<gate::Policy> check_waiver(Context& context, const Arguments& arguments, store::ObjectReader& store,
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
  TRY_DO(check_signature(policy, waiver, key));
  return policy;
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
  if (auto file = arguments.find("--attachment")) {
    TRY(auto digest, content::sha256_of_file(*file), "while reading the attachment");
    waiver.attachment = registry::Attachment{std::string(path::basename(*file)), digest};
    TRY_DO(check_line("--attachment", waiver.attachment->name));
    if (waiver.attachment->name.empty()) return cannot_waive("--attachment names no file", "name a file");
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
  TRY(auto policy, check_waiver(context, arguments, *store, waiver));
  auto unknown = unknown_names(context, *store, policy, waiver);
  context.out.findings(unknown);
  bool dry = arguments.has("--dry-run");
  auto digest = registry::digest_of(waiver);
  if (!dry) {
    TRY(digest, registry::put_waiver(*store, waiver));
    TRY_DO(sign_record(context, *store, {"waiver", *digest.sha256()}, key));
  }
  context.out.data(
      fmt::format("{}  {}  {}\n", dry ? "would waive" : "waived", digest.short_hex(), waiver_text(waiver)));
  context.out.document({{"waiver", digest},
                        {"written", !dry},
                        {"channel", waiver.channel},
                        {"expires", waiver.expires},
                        {"approver", waiver.approver},
                        {"requester", waiver.requester},
                        {"run", url_json(waiver.run)},
                        {"attachment", attachment_json(waiver)},
                        {"notes", findings_json(unknown)}});
  return 0;
}

} // namespace

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
          "`quarry waiver revoke` takes it back. `--attachment` binds it to a file, such as a report of risks, which "
          "is "
          "not stored: the record has its name and sha256, and whoever has the file can compare them.",
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
                {"--attachment", "FILE", "what the approver has looked at: its name and sha256 are recorded"},
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

} // namespace quarry::cli
