#include "release/deliver.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "pages/projection.hpp"
#include "promote/fed_moves.hpp"
#include "publish/before_distribute.hpp"
#include "publish/shown.hpp"
#include "publish/unseen.hpp"
#include "registry/feeders.hpp"
#include "release/fed.hpp"
#include "release/remarks.hpp"
#include <fmt/core.h>
#include <set>

namespace quarry::release {

namespace {
/// `planned` are the sets of `what`, in its order.
Result<publish::Feeders> feeders_of(const Consignment& what, const std::vector<publish::Distributed>& planned) {
  std::map<std::string, std::set<std::string>> channels; // by directory
  for (std::size_t i = 0; i < planned.size(); ++i) {
    channels[planned[i].set.directory].merge(channels_of(what, what.sets[i]));
  }
  publish::Feeders feeders;
  for (const auto& [directory, names] : channels) {
    TRY(feeders[directory], registry::feeders_of(what.source, {names.begin(), names.end()}));
  }
  return feeders;
}

/// A move that lets a channel in, tells the directory another policy, or that a waiver was revoked, needs the key that
/// the channel's own moves need: `channel verify` of the directory asks for it. What the sets need was asked before
/// (accept_copies()).
Result<void> check_feeding_signed(const Consignment& what, const publish::Feeders& feeders,
                                  const promote::Options& options) {
  auto& target = *what.to.store;
  for (const auto& [directory, own] : feeders) {
    TRY(auto now, registry::read_distribution(target, directory));
    registry::DistributionRecord record;
    if (now) record = std::move(now->record);
    record.directory = directory;
    TRY(auto fed_by, registry::admit(what.source, {record, publish::address_of(target, directory)}, own));
    TRY(auto revoked, registry::revoked_since(what.source, record.shown));
    if (fed_by == record.fed_by && revoked.empty()) continue;
    record.fed_by = own;
    std::erase_if(record.fed_by, [](const registry::Feeder& one) { return one.policy.empty(); });
    TRY_DO(promote::check_signer_there(what.source, record, registry::Action::promote, options.key));
  }
  return {};
}

/// What a directory shows and none of the channels that feed it: it came while no policy protected the channel, or left
/// the channel and not the directory.
Result<void> note_strays(const Consignment& what, const std::string& directory, Findings& notes) {
  TRY(auto now, registry::read_distribution(*what.to.store, directory));
  if (!now || now->record.fed_by.empty()) return {};
  std::set<std::string> channels;
  for (const auto& feeder : now->record.fed_by) channels.insert(feeder.channel);
  TRY(auto digests, strays_of(what.source, now->record, channels));
  if (!digests || digests->empty()) return {};
  std::vector<std::string> strays;
  for (const auto& digest : *digests) strays.push_back("set:" + digest.short_hex());
  constexpr std::size_t k_named = 5;
  auto address = publish::address_of(*what.to.store, directory);
  auto names = text::join(std::vector<std::string>(channels.begin(), channels.end()), ", ");
  notes.push_back(
      {"O062", Severity::warning, address,
       fmt::format("shows {} that {} {} not show: {}", units::things(strays.size(), "set"), names,
                   channels.size() == 1 ? "does" : "do", text::first(strays, k_named)),
       fmt::format("if people must not install it: `quarry yank {} --channel {} --reason TEXT{}`", strays.front(),
                   address, promote::wants_signed_moves_there(*what.to.store, now->record) ? " --sign KEY" : "")});
  return {};
}
} // namespace

Result<void> check_feeders(const Consignment& what) {
  auto& target = *what.to.store;
  TRY(auto planned, publish::plan_distribution(what.sets, what.to.prefix));
  TRY(auto feeders, feeders_of(what, planned));
  for (const auto& [directory, own] : feeders) {
    TRY(auto now, registry::read_distribution(target, directory));
    TRY_DO(registry::admit(what.source,
                           {now ? now->record : registry::DistributionRecord{}, publish::address_of(target, directory)},
                           own));
  }
  return {};
}

Result<void> check_delivery(const Consignment& what, const Means& means, const promote::Options& given) {
  const auto& [source, to, sets] = what;
  TRY_DO(check_feeders(what));
  TRY(auto planned, publish::plan_distribution(sets, to.prefix));
  if (!given.dry_run) {
    TRY(auto feeders, feeders_of(what, planned));
    TRY_DO(check_feeding_signed(what, feeders, given));
  }
  publish::HistoryOptions options;
  options.transfers = means.transfers;
  options.temporary = means.temporary;
  options.let_go = to.let_go;
  options.let_go_elsewhere = to.let_go_elsewhere;
  options.hash_bytes = to.hash_bytes;
  TRY(auto histories, publish::check_distribution(*to.store, planned, options));
  for (auto& history : histories) {
    auto& found = (*to.found)[history.directory];
    history.used.merge(found.used); // two channels may go to one directory
    found = std::move(history);
  }
  return {};
}

Result<void> check_replaced(const Destination& to) {
  std::set<std::string> used;
  for (const auto& [directory, history] : *to.found) used.insert(history.used.begin(), history.used.end());
  return publish::refuse_unused(to.let_go, used, to.prefix);
}

namespace {
/// A dry run has no key yet, and says that the copy will need one.
Result<void> note_key(const Consignment& what, Delivery& done, const promote::Options& options) {
  TRY(auto feeders, feeders_of(what, done.sets));
  auto checked = check_feeding_signed(what, feeders, options);
  if (checked) return {};
  auto error = std::move(checked).error();
  if (error.kind != ErrorKind::held) return fail(std::move(error));
  done.receipt.notes.push_back({error.code, Severity::warning, what.to.locator, error.message, error.hint});
  return {};
}
} // namespace

Result<void> check_together(const Destination& to, const std::vector<registry::SealedSet>& sets) {
  TRY(auto planned, publish::plan_distribution(sets, to.prefix));
  return publish::refuse_two_contents(planned);
}

Result<void> check_writable(const Consignment& what, bool signs) {
  TRY(auto planned, publish::plan_distribution(what.sets, what.to.prefix));
  TRY(auto feeders, feeders_of(what, planned));
  return publish::check_writable(*what.to.store, planned, feeders, signs);
}

Result<Delivery> deliver(const Consignment& what, const Means& means, const promote::Options& options) {
  const auto& [source, to, sets] = what;
  Delivery done;
  bool looked = true;
  TRY(done.sets, publish::plan_distribution(sets, to.prefix));
  for (const auto& set : done.sets) done.receipt.directories.push_back(set.set.directory);
  if (options.dry_run) {
    auto checked = check_delivery(what, means, options);
    if (!checked && !publish::could_not_look(checked.error())) return fail(std::move(checked).error());
    looked = checked.has_value();
    if (!looked)
      done.receipt.notes.push_back(publish::not_looked(to.locator, checked.error(),
                                                       "which names are there with other bytes or in its base index"));
    if (looked) TRY_DO(note_key(what, done, options));
  } else {
    publish::DistributeOptions copying{options.when, means.transfers, to.hash_bytes};
    for (const auto& [directory, history] : *to.found) copying.histories.push_back(history);
    TRY(copying.feeders, feeders_of(what, done.sets));
    TRY_DO(check_feeding_signed(what, copying.feeders, options));
    TRY_DO(add_remarks(what, done.sets));
    copying.who = options.who, copying.why = options.why, copying.tool = means.tool;
    copying.before_showing = to.before_showing;
    copying.key = options.key;
    TRY(done.receipt, publish::distribute(source, *to.store, done.sets, copying));
  }
  for (const auto& [directory, history] : *to.found) {
    done.receipt.notes.insert(done.receipt.notes.end(), history.notes.begin(), history.notes.end());
    if (!history.empty()) done.histories.push_back(history);
  }
  std::set<std::string> directories(done.receipt.directories.begin(), done.receipt.directories.end());
  for (const auto& directory : directories) {
    if (to.hash_bytes && looked) TRY_DO(note_strays(what, directory, done.receipt.notes));
    auto root = options.public_url.of(*to.store, directory) + "/";
    if (!looked) {
      done.urls.push_back(std::move(root));
      continue;
    }
    TRY(auto at, pages::addresses_of(*to.store, options.public_url, directory));
    if (!at.find_links.empty()) done.find_links.push_back(root + "index.html");
    done.urls.push_back(std::move(root));
    if (!at.merged_url.empty()) done.merged.push_back(std::move(at.merged_url));
  }
  return done;
}

} // namespace quarry::release
