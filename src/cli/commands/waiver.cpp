// What was waived, and taking it back; `waive` itself is in waive.cpp.
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/records.hpp"
#include "cli/shared_flags.hpp"
#include "cli/table.hpp"
#include "cli/waivers.hpp"
#include "registry/revocations.hpp"
#include "sys/clock.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

/// What stands in the table: "in force", "expired", "revoked by ann: fixed".
std::string state_of(const registry::WaiverRecord& waiver, const registry::RevocationRecord* revoked,
                     std::int64_t now_us) {
  if (revoked) {
    auto who = revoked->who.empty() ? std::string("somebody") : revoked->who;
    return fmt::format("revoked by {}{}", who, revoked->reason.empty() ? "" : ": " + revoked->reason);
  }
  return waiver.expires.us() <= now_us ? "expired" : "in force";
}

Result<int> run_waiver_list(Context& context, const Arguments& arguments) {
  TRY(auto store, open_store(context, arguments.get("--store")));
  Findings skipped;
  TRY(auto waivers, registry::list_waivers(*store, skipped));
  TRY(auto revocations, registry::load_revocations(*store));
  context.out.findings(skipped);
  auto channel = arguments.get("--channel");
  std::erase_if(waivers, [&](const auto& waiver) { return !channel.empty() && waiver.record.channel != channel; });
  std::stable_sort(waivers.begin(), waivers.end(),
                   [](const auto& a, const auto& b) { return a.record.created > b.record.created; });
  auto list = Json::array();
  TableRows rows;
  for (const auto& waiver : waivers) {
    auto revoked = revocations.find(waiver.digest);
    const auto* by = revoked == revocations.end() ? nullptr : &revoked->second;
    list.push_back(waiver_json(waiver, by));
    rows.push_back({waiver.digest.short_hex(), waiver.record.channel,
                    state_of(waiver.record, by, context.clock.now_us()), waiver_text(waiver.record)});
  }
  context.out.data(table({k_text, k_name, k_text, k_text}, rows, context.out.data_look()));
  if (waivers.empty())
    context.out.note(fmt::format("there are no waivers{} in {}", channel.empty() ? "" : " for channel " + channel,
                                 store->describe()));
  context.out.document({{"waivers", list}, {"notes", findings_json(skipped)}});
  return 0;
}

Result<int> run_waiver_revoke(Context& context, const Arguments& arguments) {
  TRY_DO(check_line("--reason", arguments.get("--reason")));
  if (text::trim(arguments.get("--reason")).empty())
    return fail(ErrorKind::invalid_argument, "O015", "the reason is empty",
                "say why: whoever looks at the release in a year has only the records");
  TRY(auto store, open_store(context, arguments.get("--store")));
  TRY(auto digest, registry::complete_waiver_digest(*store, arguments.operands.at(0)));
  registry::RevocationRecord record{digest, who(context), arguments.get("--reason"),
                                    sys::Timestamp::from_us(context.clock.now_us())};
  TRY(bool written, registry::revoke(*store, record));
  context.out.data(fmt::format("{}  {}\n", written ? "revoked" : "revoked before", digest));
  context.out.document({{"waiver", digest}, {"written", written}});
  return 0;
}

} // namespace

Command waiver_list_command() {
  return {.path = {"waiver", "list"},
          .summary = "list what was waived, newest first",
          .description = "One line for each waiver: its digest, the channel, whether it is in force, what it covers, "
                         "until when, and who approved it. With `--json` also who made it, and in which job.",
          .operands = {},
          .flags = {{.name = "--channel", .value = "NAME", .help = "only waivers for this channel"}, store_flag()},
          .examples = {{"quarry waiver list --channel stable", "which risks were taken for stable"}},
          .exit_codes = {},
          .schema = "quarry.waiver-list/1",
          .run = run_waiver_list};
}

Command waiver_revoke_command() {
  return {.path = {"waiver", "revoke"},
          .summary = "take a waiver back",
          .description = "Records that the waiver counts for nothing from now on. What was promoted with it "
                         "stays where it is; `quarry rollback` takes that back. A revocation is never removed: make "
                         "a new waiver if it was a mistake.",
          .operands = {{"DIGEST", "the waiver's digest, or its first 8 or more digits"}},
          .flags = {{.name = "--reason", .value = "TEXT", .help = "why", .required = true}, store_flag()},
          .examples = {{"quarry waiver revoke 4f2a91c07d3e --reason \"the machine is back\"",
                        "from now on the tests count again"}},
          .exit_codes = {{3, "the waiver does not exist"}},
          .schema = "quarry.waiver-revoke/1",
          .run = run_waiver_revoke};
}

} // namespace quarry::cli
