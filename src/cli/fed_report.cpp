#include "cli/fed_report.hpp"

#include "base/codes.hpp"
#include "base/one_line.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/delivery.hpp"
#include "cli/next_command.hpp"
#include "cli/records.hpp"
#include "cli/waivers.hpp"
#include "publish/shown.hpp"
#include "release/carry.hpp"
#include "release/plan.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

constexpr std::size_t k_fed_sets_named = 5; // of one row; --json has all

std::string named(const std::vector<registry::SetDigest>& sets) {
  std::vector<std::string> words;
  for (const auto& digest : sets) words.push_back("set:" + digest.short_hex());
  return text::first(words, k_fed_sets_named);
}

std::string fed_text(const release::FedDistribution& one, const std::string& address) {
  auto channels = one.channels.empty() ? "no channel" : text::join(one.channels, ", ");
  auto generation = one.generation ? fmt::format("@{}", *one.generation) : std::string();
  auto text = fmt::format("{}{}   {}, fed by {}\n", address, generation, units::things(one.sets, "set"), channels);
  if (one.lost) text += fmt::format("  LOST      {}\n", one.lost->message);
  if (!one.lacks.empty())
    text += fmt::format("  BEHIND    lacks {} that its channels show: {}\n", units::things(one.lacks.size(), "set"),
                        named(one.lacks));
  if (!one.blocked.empty())
    text += fmt::format("  BLOCKED   a file of {} is blocked there, so it is not copied (R022)\n", named(one.blocked));
  if (!one.strays.empty())
    text += fmt::format("  STRAY     shows {} that its channels do not show: {}\n",
                        units::things(one.strays.size(), "set"), named(one.strays));
  if (!one.other_policy.empty())
    text +=
        fmt::format("  BEHIND    goes by an older policy of {}: keys that the newer one revokes still sign its moves\n",
                    text::join(one.other_policy, ", "));
  if (!one.pages_current) text += "  BEHIND    its pages show an earlier generation\n";
  for (const auto& remark : waiver_remarks(one.revoked))
    text +=
        fmt::format("  REVOKED   since it was copied, and its pages do not say so: {}\n", text::one_line(remark.text));
  for (const auto& finding : one.moves) {
    bool of_pointer = finding.place == registry::distribution_key(one.directory);
    text += fmt::format("  {:<8}  {}\n", of_pointer ? "ALTERED" : "UNSIGNED", text::one_line(finding.message));
  }
  return text;
}

Json fed_json(const release::FedDistribution& one, const std::string& address) {
  Json generation = nullptr, lost = nullptr;
  if (one.generation) generation = *one.generation;
  if (one.lost) lost = {{"code", one.lost->code}, {"message", one.lost->message}};
  return {{"address", address},
          {"directory", one.directory},
          {"generation", generation},
          {"channels", one.channels},
          {"sets", one.sets},
          {"lacks", one.lacks},
          {"blocked", one.blocked},
          {"strays", one.strays},
          {"revoked", waiver_remarks_json(waiver_remarks(one.revoked))},
          {"other_policy", one.other_policy},
          {"unsigned_moves", findings_json(one.moves)},
          {"lost", lost},
          {"pages_current", one.pages_current}};
}

/// The channel that shows a set which the distribution lacks.
std::string channel_of(const release::Feeding& feeding, const registry::SetDigest& set) {
  for (const auto& [channel, copies] : feeding.sets)
    for (const auto& copy : copies)
      if (copy.source == set) return channel;
  return {};
}

} // namespace

Result<void> FedReport::open() {
  if (!arguments_.has("--to-store")) {
    if (!arguments_.has("--prefix")) return {};
    return fail(ErrorKind::invalid_argument, "O008", "--prefix needs --to-store: it is a directory in another store",
                "add `--to-store s3://BUCKET`");
  }
  all_channels_ = arguments_.operands.empty();
  if (arguments_.has("--prefix") && all_channels_)
    return fail(ErrorKind::invalid_argument, "O022", "`--prefix` needs the channel whose packages go there",
                "name it: `quarry status CHANNEL --to-store STORE --prefix PREFIX`");
  TRY(target_, open_store(context_, arguments_.get("--to-store")));
  return {};
}

Result<void> FedReport::add(store::ObjectReader& store, const std::string& channel,
                            const std::vector<registry::SealedSet>& sets) {
  if (!target_) return {};
  auto prefix = delivery_prefix(context_, arguments_, channel);
  if (!prefix) { // no row for this channel, or the rules cannot be read
    bool no_row = prefix.error().kind == ErrorKind::not_found && !prefix.error().is(codes::cannot_read);
    if (no_row && arguments_.operands.empty()) return {};
    return fail(std::move(prefix).error());
  }
  release::Given given{channel, sets, {}};
  auto moved = release::by_last_rollback(store, channel);
  if (moved) given.taken_back = std::move(moved->leave);
  // What was taken back long ago may have been removed since: then nobody is told to take it out of a distribution.
  if (!moved && !registry::is_lost(moved.error())) return fail(std::move(moved).error());
  release::add_feeding(feedings_, given, *prefix);
  return {};
}

/// The sets that a release brought are judged together, also when they are only copied: the channel's policy may expect
/// what the others of them bring.
Result<std::string> FedReport::completing(store::ObjectReader& store, const registry::SetDigest& set,
                                          const std::string& channel, bool alone) const {
  NextCommand promote(context_, "promote");
  std::optional<release::AskedFor> asked;
  if (!alone) {
    TRY(asked, release::release_of_last_move(store, channel));
  }
  auto arguments = arguments_;
  arguments.values["--from"] = asked ? asked->locators() : std::vector<std::string>{"set:" + set.short_hex()};
  return promote.flags_of(arguments).set("--to", asked ? asked->pattern : channel).text();
}

std::string FedReport::verifying(const std::string& address) const {
  return NextCommand(context_, "channel verify").operand(address).set("--channels", arguments_.get("--store")).text();
}

Result<std::string> FedReport::help_for(store::ObjectReader& store, const release::FedDistribution& one,
                                        const release::Feeding& feeding) const {
  auto address = publish::address_of(*target_, one.directory);
  if (one.lost) return std::string(); // the finding says it
  if (!one.moves.empty()) return verifying(address);
  auto is_blocked = [&](const auto& set) { return std::ranges::find(one.blocked, set) != one.blocked.end(); };
  if (auto lacks = std::ranges::find_if_not(one.lacks, is_blocked); lacks != one.lacks.end())
    return completing(store, *lacks, channel_of(feeding, *lacks), !one.blocked.empty());
  if (!one.strays.empty()) {
    const auto& stray = one.strays.front();
    if (auto back = feeding.taken_back.find(stray); back != feeding.taken_back.end())
      return NextCommand(context_, "rollback").operand(back->second).flags_of(arguments_).text();
    NextCommand yank(context_, "yank");
    yank.operand("set:" + stray.short_hex()).set("--channel", address).set("--reason", "TEXT");
    return yank.signed_if(one.wants_signatures).text();
  }
  if (!one.pages_current) return NextCommand(context_, "index repair").operand(address).text();
  for (const auto& [channel, copies] : feeding.sets) {
    bool asked = std::ranges::find(one.other_policy, channel) != one.other_policy.end();
    if (asked && !copies.empty()) return completing(store, copies.front().source, channel, false);
  }
  for (const auto& set : one.revoked)
    if (auto channel = channel_of(feeding, set.source); !channel.empty())
      return completing(store, set.source, channel, false);
  return std::string();
}

Result<void> FedReport::tell_one(store::ObjectReader& store, const release::FedDistribution& one,
                                 const release::Feeding& feeding, Told& told) const {
  auto address = publish::address_of(*target_, one.directory);
  context_.out.data(fed_text(one, address));
  told.rows.push_back(fed_json(one, address));
  if (one.lost) told.lost.push_back({one.lost->code, Severity::error, address, one.lost->message, one.lost->hint});
  told.altered = told.altered || !one.moves.empty();
  TRY(auto line, help_for(store, one, feeding));
  bool is_new = !line.empty() && std::ranges::find(told.help, line) == told.help.end(); // a release fills several
  if (is_new) told.help.push_back(std::move(line));
  return {};
}

Result<FedReport::Told> FedReport::tell(store::ObjectReader& store) {
  Told told;
  for (auto& [directory, feeding] : feedings_) {
    feeding.all_channels = all_channels_;
    TRY(auto one, release::look_at_distribution(store, *target_, directory, feeding));
    // Rules of distributions name directories that a team may not use: those are told only to who asks for the channel.
    bool was_never_filled = !one.generation && !one.lost;
    if (was_never_filled && arguments_.operands.empty()) continue;
    TRY_DO(tell_one(store, one, feeding, told));
  }
  return told;
}

} // namespace quarry::cli
