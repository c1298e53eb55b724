#include "cli/distributions.hpp"

#include "base/one_line.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/facts.hpp"
#include "cli/guard.hpp"
#include "cli/places.hpp"
#include "cli/records.hpp"
#include "cli/signed_moves.hpp"
#include "cli/table.hpp"
#include "cli/waivers.hpp"
#include "pages/projection.hpp"
#include "promote/fed_moves.hpp"
#include "promote/verify_fed.hpp"
#include "publish/verify.hpp"
#include "registry/history.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <set>

namespace quarry::cli {

namespace {

Json distribution_move_json(const registry::DistributionView& one) {
  const auto& m = one.move;
  return {{"generation", one.generation},
          {"action", m.action},
          {"sets", one.shown.sets.size()},
          {"blocked", one.shown.blocked.size()},
          {"plan", m.plan},
          {"who", m.who},
          {"when", m.when},
          {"why", m.why}};
}

std::string distribution_move_text(const registry::DistributionView& one) {
  const auto& m = one.move;
  return fmt::format("{:>4}  {}  {:<9}  {}  by {}{}\n", one.generation, short_time(m.when.text()), m.action.text(),
                     units::things(one.shown.sets.size(), "set"), m.who.empty() ? "-" : m.who,
                     m.why.empty() ? "" : ": " + m.why);
}

/// What people see in the directory.
struct ShownThere {
  std::vector<registry::FileRecord> files; ///< sorted by filename
  std::vector<std::string> projects;
  std::size_t of_another_tool = 0; ///< of `files`: taken over, untested
};

Result<ShownThere> shown_there(store::ObjectReader& store, const registry::DistributionRecord& record) {
  TRY(auto sets, registry::sealed_of(store, record.shown));
  TRY(auto own, registry::union_of(sets), "in " + record.directory);
  TRY(auto history, registry::history_of(store, record.directory));
  TRY_DO(registry::hide_yanked(store, record, history));
  auto count = own.size();
  ShownThere there{registry::with_history(std::move(own), history), {}, 0};
  there.of_another_tool = there.files.size() - count;
  std::ranges::sort(there.files, {}, &registry::FileRecord::filename);
  std::set<std::string> projects;
  for (const auto& file : there.files) projects.insert(file.project);
  there.projects.assign(projects.begin(), projects.end());
  return there;
}

/// What was waived, as the pages say it, and which of it was revoked since.
struct WaivedThere {
  std::vector<registry::Remark> remarks; ///< each sentence once
  std::vector<registry::Remark> untold;  ///< revoked, and the pages do not say so
  bool is_revoked(const registry::Shown& shown, const registry::Remark& remark) const {
    return std::ranges::binary_search(shown.revoked, remark.waiver) ||
           std::ranges::find(untold, remark.text, &registry::Remark::text) != untold.end();
  }
};

/// Revocations are in the store of the channels. Without `--channels` the distribution's own is asked: it may be both.
Result<WaivedThere> waived_there(Context& context, const Arguments& arguments, store::ObjectReader& own,
                                 const registry::Shown& shown) {
  std::unique_ptr<store::ObjectStore> channels;
  if (arguments.has("--channels")) {
    TRY(channels, open_store(context, arguments.get("--channels")));
  }
  TRY(auto revoked, registry::revoked_since(channels ? *channels : own, shown));
  return WaivedThere{waiver_remarks(shown.sets), waiver_remarks(revoked)};
}

std::string waived_text(const registry::Shown& shown, const WaivedThere& waived) {
  std::string text;
  for (const auto& one : waived.remarks)
    text += fact(waived.is_revoked(shown, one) ? "revoked" : "waived", "{}", text::one_line(one.text));
  return text;
}

Json waived_there_json(const registry::Shown& shown, const WaivedThere& waived) {
  auto list = waiver_remarks_json(waived.remarks);
  for (std::size_t i = 0; i < waived.remarks.size(); ++i)
    list[i]["revoked"] = waived.is_revoked(shown, waived.remarks[i]);
  return list;
}

std::string distribution_text(const registry::DistributionRecord& record, const ShownThere& there,
                              const std::vector<registry::DistributionView>& moves) {
  auto text = fmt::format("{}@{}   {} in {}, from {}\n", record.directory, record.generation,
                          units::things(there.files.size(), "file"), units::things(there.projects.size(), "project"),
                          units::things(record.shown.sets.size(), "set"));
  if (!record.view.empty())
    text += fact(
        "view", "{}{}", record.view.short_hex(),
        moves.empty() || moves.front().previous.empty() ? "" : "   before that " + moves.front().previous.short_hex());
  for (const auto& feeder : record.fed_by)
    text += fact("fed by", "channel {}, protected by policy {}", feeder.channel, feeder.policy.short_hex());
  if (there.of_another_tool != 0)
    text += fact("history", "{} of another tool, untested", units::things(there.of_another_tool, "file"));
  text += guard_text({{}, record.shown.blocked, 0});
  for (const auto& one : moves) text += distribution_move_text(one);
  return text;
}

Json feeders_json(const registry::DistributionRecord& record) {
  auto list = Json::array();
  for (const auto& feeder : record.fed_by) list.push_back({{"channel", feeder.channel}, {"policy", feeder.policy}});
  return list;
}

} // namespace

Result<int> show_distribution(Context& context, const Arguments& arguments) {
  constexpr std::size_t k_moves_told = 5;
  TRY(auto public_url, public_url_of(arguments));
  TRY(auto place, distribution_of(context, arguments, arguments.operands.at(0)));
  TRY(auto now, registry::require_distribution(*place.store, place.directory));
  const auto& record = now.record;
  TRY(auto moves, registry::distribution_moves(*place.store, record, k_moves_told));
  TRY(auto there, shown_there(*place.store, record));
  TRY(auto pages_generation, pages::projected_distribution(*place.store, place.directory));
  TRY(auto at, pages::addresses_of(*place.store, public_url, place.directory, there.projects));
  TRY(auto waived, waived_there(context, arguments, *place.store, record.shown));
  context.out.data(distribution_text(record, there, moves) + waived_text(record.shown, waived) + addresses_text(at) +
                   files_text(there.files, context.out.data_look()));
  if (!waived.untold.empty())
    context.out.warn(
        "its pages do not say yet that a waiver was revoked: run the channel's last `promote … --to-store` "
        "again");
  if (pages_generation < record.generation)
    context.out.warn(fmt::format("its pages still show generation {}: `quarry index repair {}`", pages_generation,
                                 arguments.operands.at(0)));
  auto list = Json::array(), sets = Json::array();
  for (const auto& one : moves) list.push_back(distribution_move_json(one));
  for (const auto& one : record.shown.sets) sets.push_back(one.set);
  auto previous = moves.empty() || moves.front().previous.empty() ? Json(nullptr) : Json(moves.front().previous);
  context.out.document({{"name", record.directory},
                        {"generation", record.generation},
                        {"view", record.view.empty() ? Json(nullptr) : Json(record.view)},
                        {"previous", std::move(previous)},
                        {"policy", nullptr},
                        {"fed_by", feeders_json(record)},
                        {"blocked", blocked_json(record.shown.blocked)},
                        {"waived", waived_there_json(record.shown, waived)},
                        {"index_url", url_json(at.index_url)},
                        {"find_links_urls", at.find_links},
                        {"merged_index_url", url_json(at.merged_url)},
                        {"pages_generation", pages_generation},
                        {"moves", list},
                        {"sets", sets},
                        {"untested", there.of_another_tool},
                        {"files", files_json(there.files)}});
  return 0;
}

/// Warnings, not errors: what was moved was lawful for all that the directory could know.
Findings older_policies(store::ObjectReader& channels, const registry::DistributionRecord& record) {
  Findings findings;
  for (const auto& channel : promote::with_another_policy_by_now(channels, record))
    findings.push_back(
        {"O064", Severity::warning, registry::distribution_key(record.directory),
         fmt::format("{} goes by an older policy of channel {}: a key that the newer one revokes still signs its moves",
                     record.directory, channel),
         fmt::format("a promotion to {} with `--to-store` brings the newer one", channel)});
  return findings;
}

Result<int> verify_distribution(Context& context, const Arguments& arguments) {
  const auto& named = arguments.operands.at(0);
  TRY(auto place, distribution_of(context, arguments, named));
  TRY(auto now, registry::require_distribution(*place.store, place.directory));
  const auto& record = now.record;
  std::unique_ptr<store::ObjectStore> channels;
  if (arguments.has("--channels")) {
    TRY(channels, open_store(context, arguments.get("--channels")));
  }
  TRY(auto verified, promote::verify_moves_there(*place.store, record, channels.get()));
  auto found = std::move(verified.findings);
  if (channels) {
    auto older = older_policies(*channels, record);
    found.insert(found.end(), older.begin(), older.end());
  }
  TRY(auto pages_generation, pages::projected_distribution(*place.store, place.directory));
  if (pages_generation < record.generation)
    found.push_back({"P094", Severity::error, place.directory + "/pages.json",
                     fmt::format("says that the pages show generation {}, and the distribution is at {}",
                                 pages_generation, record.generation),
                     fmt::format("`quarry index repair {}` writes them again", text::shell_word(named))});
  bool deep = arguments.has("--deep");
  TRY(auto sets, registry::sealed_of(*place.store, record.shown));
  if (deep) {
    auto lost = promote::lost_sets(record, sets);
    found.insert(found.end(), lost.begin(), lost.end());
    auto progress = context.out.progress("verifying", 0);
    publish::VerifyOptions options{context.jobs, [&](std::uint64_t bytes) { progress->update(bytes); }};
    TRY(auto of_files, publish::verify_sets(*place.store, sets, options));
    progress->finish();
    found.insert(found.end(), of_files.begin(), of_files.end());
  }
  context.out.findings(found);
  context.out.findings(verified.acknowledged);
  bool good = std::ranges::none_of(found, [](const Finding& one) { return one.severity == Severity::error; });
  const auto* words = deep ? "all as sealed and moved" : "all moves as they must be";
  context.out.data(signed_text(verified.moves));
  context.out.data(fmt::format("{}@{}  {}  {}  {}\n", record.directory, record.generation,
                               units::things(sets.size(), "set"), units::things(verified.moves.size(), "move"),
                               painted(good ? words : fmt::format("NOT {}", words), good ? Tone::good : Tone::bad,
                                       context.out.data_look().color)));
  context.out.document({{"schema", "quarry.distribution-verify/1"},
                        {"directory", record.directory},
                        {"generation", record.generation},
                        {"view", record.view.empty() ? Json(nullptr) : Json(record.view)},
                        {"deep", deep},
                        {"sets", sets.size()},
                        {"moves", signed_json(verified.moves)},
                        {"acknowledged", findings_json(verified.acknowledged)},
                        {"findings", findings_json(found)}});
  return good ? 0 : 6;
}

Result<int> show_distribution_log(Context& context, const Arguments& arguments) {
  TRY(auto place, distribution_of(context, arguments, arguments.operands.at(0)));
  TRY(auto now, registry::require_distribution(*place.store, place.directory));
  TRY(auto moves, registry::distribution_moves(*place.store, now.record, registry::k_all_distribution_moves));
  auto list = Json::array();
  for (const auto& one : moves) {
    list.push_back(distribution_move_json(one));
    context.out.data(distribution_move_text(one));
  }
  if (moves.empty())
    context.out.note(now.record.generation == 0
                         ? "no move was recorded: nothing was shown here yet but files of other tools"
                         : "no move was recorded: its pointer was written by an earlier version");
  context.out.document({{"name", place.directory}, {"moves", list}});
  return 0;
}

Flag channels_flag() {
  return {
      .name = "--channels", .value = "LOCATOR", .help = "of a distribution: the store of the channels that feed it"};
}

Result<void> refuse_channels_of_channel(const Arguments& arguments) {
  if (!arguments.has("--channels")) return {};
  return fail(ErrorKind::invalid_argument, "C006", "--channels is for distributions, and this is a channel",
              "leave it out");
}

} // namespace quarry::cli
