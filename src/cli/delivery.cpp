#include "cli/delivery.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/dry_run.hpp"
#include "cli/history.hpp"
#include "cli/records.hpp"
#include "cli/version.hpp"
#include "sys/file.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <set>

namespace quarry::cli {

namespace {

constexpr std::uint64_t k_rules_bytes_max = 1u << 20;

Result<publish::DistributionRules> load_rules(Context& context, const std::string& named) {
  bool is_word = named.find_first_of("/.") == named.npos;
  auto shipped = is_word ? context.resources.read("data/distributions/" + named + ".toml") : std::nullopt;
  if (shipped) return publish::parse_distribution_rules(*shipped, named);
  TRY(auto text, sys::read_file(named, k_rules_bytes_max), "while reading the distributions");
  return publish::parse_distribution_rules(text, named);
}

Result<Destination> destination_for(Context& context, const Arguments& arguments, const std::string& to_channel) {
  Destination to;
  to.locator = arguments.find("--to-store").value_or("");
  if (to.locator.empty()) {
    if (arguments.has("--prefix"))
      return fail(ErrorKind::invalid_argument, "O008", "--prefix needs --to-store: it is a directory in another store",
                  "add `--to-store s3://BUCKET`");
    return to;
  }
  to.prefix = arguments.find("--prefix").value_or("");
  while (to.prefix.ends_with('/')) to.prefix.pop_back();
  if (arguments.has("--prefix") && to.prefix.empty())
    return fail(ErrorKind::invalid_argument, "O010", "--prefix is empty: packages do not go to the root of a bucket",
                "name a directory, such as `--prefix v2/{family}`, or omit it for that of the channel");
  if (to.prefix.empty()) {
    TRY(auto rules, load_rules(context, arguments.get("--distributions")));
    // All channels of `stable-{family}` go where `stable` goes.
    auto channel = text::replace_all(to_channel, "-{family}", "");
    TRY(to.prefix, rules.prefix_of(text::replace_all(channel, "-{platform}", "")));
  }
  if (to.locator.starts_with("http:") || to.locator.starts_with("https:"))
    return fail(ErrorKind::invalid_argument, "R030",
                fmt::format("{} is a web server: stores there are read-only", to.locator),
                "use the store itself, such as `--to-store s3://bucket/prefix`");
  TRY(to.store, open_store_to_write(context, to.locator));
  return to;
}

/// The sets that the view `before` shows and `after` does not.
Result<std::vector<registry::SealedSet>> sets_that_left(store::ObjectStore& source, const registry::ViewDigest& before,
                                                        const std::vector<registry::SetDigest>& after) {
  TRY(auto view, registry::load_view(source, before));
  std::set<registry::SetDigest> shown(after.begin(), after.end());
  std::vector<registry::SetDigest> left;
  for (const auto& set : view.sets)
    if (!shown.contains(set)) left.push_back(set);
  return registry::load_all_sealed(source, left);
}

/// Those of the plan, or those of the channel's last move.
Result<std::vector<registry::SealedSet>> leaving(store::ObjectStore& source, const promote::Receipt& receipt,
                                                 bool dry_run) {
  if (dry_run && receipt.plan.moves() && receipt.plan.expected)
    return sets_that_left(source, receipt.plan.expected->record.view, receipt.plan.view.record.sets);
  TRY(auto channel, registry::require_channel(source, receipt.plan.channel));
  TRY(auto last, registry::load_ledger(source, channel.record.ledger));
  if (last.action != registry::Action::rollback) return std::vector<registry::SealedSet>();
  TRY(auto now, registry::load_view(source, last.to_view));
  return sets_that_left(source, last.from_view, now.sets);
}

} // namespace

Result<Destination> destination_of(Context& context, const Arguments& arguments) {
  if (!arguments.has("--to-store") && arguments.has("--replace"))
    return fail(ErrorKind::invalid_argument, "O008", "--replace needs --to-store: it is about packages there",
                "add `--to-store s3://BUCKET`");
  TRY(auto to, destination_for(context, arguments, arguments.get("--to")));
  to.let_go = arguments.list("--replace");
  return to;
}

Result<TakenOut> take_out(Context& context, const Arguments& arguments, store::ObjectStore& source,
                          const promote::Receipt& receipt) {
  TakenOut done;
  TRY(auto to, destination_for(context, arguments, receipt.plan.channel));
  bool dry_run = arguments.has("--dry-run");
  TRY(auto sets, leaving(source, receipt, dry_run));
  TRY(done.sets, publish::plan_distribution(sets, to.prefix));
  if (!dry_run) {
    TRY(done.receipt, publish::undistribute(*to.store, done.sets));
  }
  return done;
}

std::string taken_out_text(const TakenOut& done, const std::string& locator, bool dry_run) {
  if (dry_run)
    return fmt::format("distribution  would take {} out of {}\n", units::things(done.sets.size(), "set"), locator);
  auto text = fmt::format("distribution  {} of {} no longer listed in {}  {} written\n",
                          units::things(done.receipt.files, "file"), units::things(done.sets.size(), "set"), locator,
                          units::things(done.receipt.writes, "object"));
  for (const auto& directory : done.receipt.directories) text += fmt::format("  {}\n", directory);
  return text;
}

Json taken_out_json(const TakenOut& done, const std::string& locator) {
  auto sets = Json::array();
  for (const auto& set : done.sets)
    sets.push_back({{"source", set.source}, {"set", set.digest}, {"directory", set.set.directory}});
  return {{"store", locator},
          {"sets", sets},
          {"directories", done.receipt.directories},
          {"files", done.receipt.files},
          {"writes", done.receipt.writes},
          {"notes", findings_json(done.receipt.notes)}};
}

Result<Delivery> deliver(Context& context, store::ObjectStore& source, const Destination& to,
                         const std::vector<registry::SealedSet>& sets, const promote::Options& options,
                         bool without_looking) {
  Delivery done;
  bool looked = true;
  TRY(done.sets, publish::plan_distribution(sets, to.prefix));
  for (const auto& set : done.sets) done.receipt.directories.push_back(set.set.directory);
  if (options.dry_run) {
    auto checked = check_delivery(context, to, sets);
    if (!checked && !(without_looking && could_not_look(checked.error()))) return fail(std::move(checked).error());
    looked = checked.has_value();
    if (!looked)
      done.receipt.notes.push_back(
          not_looked(to.locator, checked.error(), "which names are there with other bytes or in its base index"));
  } else {
    publish::DistributeOptions copying{options.when, std::max(4u, context.jobs)};
    for (const auto& [directory, history] : *to.found) copying.histories.push_back(history);
    copying.who = options.who, copying.why = options.why, copying.tool = fmt::format("quarry {}", program_version());
    TRY(done.receipt, publish::distribute(source, *to.store, done.sets, copying));
  }
  for (const auto& [directory, history] : *to.found) {
    done.receipt.notes.insert(done.receipt.notes.end(), history.notes.begin(), history.notes.end());
    done.histories.push_back(history);
  }
  std::set<std::string> directories(done.receipt.directories.begin(), done.receipt.directories.end());
  for (const auto& directory : directories) {
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

Result<void> check_delivery(const Context& context, const Destination& to,
                            const std::vector<registry::SealedSet>& sets) {
  TRY(auto planned, publish::plan_distribution(sets, to.prefix));
  publish::HistoryOptions options;
  options.transfers = std::max(4u, context.jobs);
  options.temporary = temporary_of(context);
  options.let_go = to.let_go;
  TRY(auto histories, publish::check_distribution(*to.store, planned, options));
  for (auto& history : histories) to.found->insert_or_assign(history.directory, std::move(history));
  return {};
}

std::string delivery_text(const Destination& to, const Delivery& done, bool dry_run) {
  std::size_t files = 0;
  for (const auto& set : done.sets) files += set.set.files.size();
  auto text = dry_run
                  ? fmt::format("distribute  {} to {}\n", units::things(files, "file"), to.locator)
                  : fmt::format("distributed {} to {}  {} written, {} of files through here\n",
                                units::things(files, "file"), to.locator, units::things(done.receipt.writes, "object"),
                                units::bytes(done.receipt.bytes_through_us));
  for (const auto& history : done.histories) text += history_text(history, dry_run);
  for (const auto& url : done.urls) text += fmt::format("repository  {}\n", url);
  for (const auto& url : done.find_links) text += fmt::format("find-links  {}\n", url);
  for (const auto& url : done.merged) text += fmt::format("merged      {}\n", url);
  return text;
}

Json delivery_json(const Destination& to, const Delivery& done) {
  auto sets = Json::array();
  for (const auto& set : done.sets)
    sets.push_back({{"source", set.source}, {"set", set.digest}, {"directory", set.set.directory}});
  return {{"store", to.locator},
          {"prefix", to.prefix},
          {"sets", sets},
          {"repositories", done.urls},
          {"find_links_urls", done.find_links},
          {"merged_index_urls", done.merged},
          {"notes", findings_json(done.receipt.notes)},
          {"history", histories_json(done.histories)},
          {"files", done.receipt.files},
          {"writes", done.receipt.writes},
          {"bytes_through", done.receipt.bytes_through_us}};
}

} // namespace quarry::cli
