#include "publish/distribute.hpp"

#include "base/text.hpp"
#include "base/toml.hpp"
#include "index/store_place.hpp"
#include "pages/channel_pages.hpp"
#include "pages/merged.hpp"
#include "pages/page_writer.hpp"
#include "publish/adoption.hpp"
#include "publish/before_distribute.hpp"
#include "publish/content_type.hpp"
#include "publish/placement.hpp"
#include "publish/plan.hpp"
#include "publish/publish.hpp"
#include "publish/resolve.hpp"
#include "publish/shown.hpp"
#include "registry/feeders.hpp"
#include "run/locator.hpp"
#include "store/put_once.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <map>
#include <set>

namespace quarry::publish {

using registry::FileRecord;
using store::ObjectReader;
using store::ObjectStore;

namespace {

constexpr std::string_view k_distributions_schema = "quarry.distributions/1";
constexpr const char* k_hint = "docs/formats/distributions.md lists every key";

Result<void> read_row(TomlTable& table, DistributionRules& rules) {
  std::string channel, prefix;
  TRY_DO(table.text("channel", channel, true));
  TRY_DO(table.text("prefix", prefix, true));
  if (channel != "*")
    if (auto good = registry::check_channel_name(channel); !good)
      return table.error("channel", fmt::format("\"{}\" is neither a channel nor *", channel));
  if (prefix.empty() || prefix.starts_with('/') || prefix.ends_with('/'))
    return table.error("prefix", "is empty, or has a slash at an end");
  rules.rows.emplace_back(std::move(channel), std::move(prefix));
  return {};
}

/// Refuses directories that the store uses itself, and the base index, where our projects would be mixed with foreign
/// ones.
Result<void> check_not_taken(const std::string& directory) {
  constexpr std::string_view k_taken[] = {
      pages::k_base_index, "channels", "evidence",   "gc",       "ledger", "plans",  "policies",
      "releases",          "sets",     "signatures", "verdicts", "views",  "waivers"};
  auto first = directory.substr(0, directory.find('/'));
  bool taken = std::find(std::begin(k_taken), std::end(k_taken), first) != std::end(k_taken);
  if (!taken && !run::is_run_place(first)) return {};
  return fail(ErrorKind::invalid_argument, "P041",
              fmt::format("`{}` is in {}/, which {}", directory, first, taken ? "the store itself uses" : "is a run's"),
              "a prefix is a directory of its own, like v2/{family}");
}

/// Whether a repository has such a key, `rest` below its directory: its own pages, or a project's.
bool belongs_to_a_repository(const std::string& rest) {
  auto parts = text::split(rest, '/');
  if (parts.size() < 2) return true; // a file of a package, or somebody's own beside them
  const auto& first = parts[0];
  if (first == "seals" || first == "views" || first == "history" || first == "simple" || first == "simple-json" ||
      first == "merged")
    return true;
  if (parts.size() == 2 && (parts[1] == "index.html" || parts[1].empty())) return true;
  constexpr std::string_view k_sidecar = ".metadata"; // of a structured index: {project}/{file}
  return !package_at(rest.ends_with(k_sidecar) ? rest.substr(0, rest.size() - k_sidecar.size()) : rest).empty();
}

Unexpected nested(ObjectReader& target, const std::string& directory, const std::string& what) {
  return fail(
      ErrorKind::already_exists, "P052",
      fmt::format("{} cannot be a repository in {}: {}", directory, target.describe(), what),
      "nothing was changed; a repository is a directory of its own: name another, such as `--prefix v2/{family}`");
}

struct Copy {
  std::string from, to;
  store::Once once;
};

std::vector<Copy> copies_of(const Distributed& set, bool hash) {
  std::vector<Copy> copies;
  for (std::size_t i = 0; i < set.set.files.size(); ++i) {
    const auto& file = set.set.files[i];
    copies.push_back({set.from[i],
                      file.key,
                      {{}, file.sha256, content_type_of(file.filename), std::string(k_immutable), {}, file.size}});
    if (file.metadata_sha256) // after its wheel, before any page
      copies.push_back({set.from[i] + ".metadata",
                        file.key + ".metadata",
                        {{}, *file.metadata_sha256, std::string(k_sidecar_type), std::string(k_immutable)}});
  }
  for (auto& copy : copies) copy.once.hash = hash;
  return copies;
}

/// What is copied of all sets. Sets that the target shows already stay as they came there, before the channel was
/// protected by their recorded digests.
Result<std::vector<Copy>> copies_of(store::ObjectReader& target, const std::vector<Distributed>& sets,
                                    bool hash_bytes) {
  std::vector<registry::SetDigest> to_hash;
  if (hash_bytes) {
    TRY(to_hash, not_there_yet(target, sets));
  }
  std::vector<Copy> copies;
  for (const auto& set : sets) {
    auto more = copies_of(set, std::ranges::find(to_hash, set.source) != to_hash.end());
    std::ranges::move(more, std::back_inserter(copies));
  }
  return copies;
}

/// Whoever takes something out of a directory has its store alone at hand, and the policies say who may.
Result<void> bring_policies(ObjectReader& source, ObjectStore& target, const Feeders& feeders) {
  for (const auto& digest : policies_of(feeders)) {
    TRY(auto there, target.head(registry::policy_key(digest)));
    if (there) continue;
    TRY(auto policy, registry::load_policy(source, digest), "which protects what feeds " + target.describe());
    TRY_DO(registry::put_policy(target, policy));
  }
  return {};
}

struct Feeding {
  ObjectReader& source;
  const ObjectReader& target;
  const Feeders& feeders;
};

Admission admission_of(const Feeding& feeding, const std::string& directory) {
  return [feeding, directory](const registry::DistributionRecord& now) {
    auto own = feeding.feeders.find(directory);
    return registry::admit(feeding.source, {now, address_of(feeding.target, directory)},
                           own == feeding.feeders.end() ? std::vector<registry::Feeder>() : own->second);
  };
}

} // namespace

Result<std::vector<store::ObjectInfo>> check_place(ObjectReader& target, const std::string& directory) {
  TRY_DO(check_not_taken(directory));
  for (auto end = directory.rfind('/'); end != directory.npos;
       end = end == 0 ? directory.npos : directory.rfind('/', end - 1)) {
    auto parent = directory.substr(0, end);
    TRY(auto pointer, target.head(registry::distribution_key(parent)));
    if (pointer) return nested(target, directory, parent + " is one");
  }
  TRY(auto objects, target.list(directory + "/"));
  for (const auto& object : objects) {
    auto below = object.key.substr(directory.size() + 1);
    if (!belongs_to_a_repository(below)) return nested(target, directory, object.key + " is something else");
    if (below != pages::k_state_name) continue;
    TRY(auto state, target.get(object.key, pages::k_page_bytes_max));
    auto channel = pages::parse_pages_state(state.value_or("")).channel;
    if (!channel.empty()) return nested(target, directory, "the pages of channel " + channel + " are there");
  }
  return objects;
}

Result<std::vector<registry::SetDigest>> not_there_yet(ObjectReader& target, const std::vector<Distributed>& sets) {
  std::map<std::string, std::set<registry::SetDigest>> shown; // by directory
  for (const auto& set : sets) {
    auto [known, is_new] = shown.try_emplace(set.set.directory);
    if (!is_new) continue;
    TRY(auto there, registry::read_distribution(target, set.set.directory));
    if (!there) continue;
    for (const auto& one : there->record.shown.sets) known->second.insert(one.set);
  }
  std::vector<registry::SetDigest> lacking;
  for (const auto& set : sets)
    if (!shown[set.set.directory].contains(set.digest)) lacking.push_back(set.source);
  return lacking;
}

bool DistributionRules::names(const std::string& channel) const {
  return std::ranges::any_of(rows, [&](const auto& row) { return row.first == channel; });
}

Result<std::string> DistributionRules::prefix_of(const std::string& channel) const {
  for (const auto& [wanted, prefix] : rows)
    if (wanted == channel || wanted == "*") return prefix;
  return fail(ErrorKind::not_found, "P040",
              fmt::format("{} does not say where channel {} is distributed", name, channel),
              "add a row to it, or use `--prefix v2/{family}`");
}

Result<DistributionRules> parse_distribution_rules(NamedText named) {
  DistributionRules rules;
  std::string schema;
  TRY(auto root, TomlTable::parse({named.text, named.name}, {"P042", "P042", k_hint}));
  TRY_DO(root.text("schema", schema, true));
  if (schema != k_distributions_schema)
    return root.error("schema", fmt::format("is not \"{}\"", k_distributions_schema));
  TRY_DO(root.text("name", rules.name, true));
  TRY_DO(root.tables("distribution", [&](TomlTable& table) { return read_row(table, rules); }));
  TRY_DO(root.finish());
  return rules;
}

Result<DistributionRules> find_distribution_rules(const Resources& resources, const std::string& named) {
  constexpr std::uint64_t k_rules_bytes_max = 1u << 20;
  bool is_word = named.find_first_of("/.") == named.npos;
  auto shipped = is_word ? resources.read("data/distributions/" + named + ".toml") : std::nullopt;
  if (shipped) return parse_distribution_rules({*shipped, named});
  TRY(auto text, sys::read_file(named, k_rules_bytes_max), "while reading the distributions");
  return parse_distribution_rules({text, named});
}

Result<std::string> expand_prefix(const std::string& prefix, const registry::Origin& origin) {
  auto expanded = prefix;
  for (const auto& [name, value] :
       {std::pair{"{family}", std::string_view(origin.group)}, std::pair{"{platform}", origin.platform.text()}}) {
    if (expanded.find(name) == expanded.npos) continue;
    if (value.empty())
      return fail(ErrorKind::invalid_argument, "P041",
                  fmt::format("the prefix {} asks for {}, which run {} does not have", prefix, name, origin.run_id),
                  "publish with --artifact-group, or use a prefix without it");
    expanded = text::replace_all(expanded, name, value);
  }
  if (expanded.find_first_of("{}") != expanded.npos || !store::check_key(expanded))
    return fail(ErrorKind::invalid_argument, "P041", fmt::format("`{}` cannot be a directory in a store", expanded),
                "a prefix is like v2/{family}; it may use {family} and {platform}");
  TRY_DO(check_not_taken(expanded));
  return expanded;
}

namespace {
/// Where a directory of a store ("" or "a/b/") is: on this machine the path without links, as far as it exists.
std::string place_of(const ObjectReader& store, const std::string& directory) {
  auto path = path_of_key(store, directory + "x");
  if (!path) return store.describe() + "/" + directory;
  path->resize(path->size() - 2);
  return sys::without_links(std::move(*path)) + "/";
}
/// A protected channel may have fed the directory since it was looked at; from then on `set adopt` alone takes files
/// over.
Result<void> refuse_guarded_since(ObjectReader& target, const HistoryPlan& history) {
  if (history.files.empty()) return {};
  TRY(auto there, registry::read_distribution(target, history.directory));
  if (!there || there->record.fed_by.empty()) return {};
  return fail(ErrorKind::precondition_failed, "P111",
              fmt::format("channel {} has fed {} since it was looked at, so {} of another tool is not taken over",
                          there->record.fed_by.front().channel, history.directory, history.files.front().filename),
              "nothing was taken over: run the same command again, which leaves such files out");
}

} // namespace

Result<void> refuse_inside(const ObjectReader& source, const ObjectReader& target, const std::string& prefix) {
  if (auto below = path_of_key(target, "x"))
    if (auto free = index::refuse_place_of_store(path::dirname(*below)); !free)
      return fail(ErrorKind::invalid_argument, "P041",
                  fmt::format("{} cannot be a store: {}", target.describe(), free.error().message),
                  "name the store around it as --to-store, and the rest as --prefix");
  auto store = place_of(source, {}), root = place_of(target, {}), place = place_of(target, prefix + "/");
  if (!place.starts_with(store) || root == store) return {}; // in the same store expand_prefix() looks
  if (place == store)
    return fail(ErrorKind::invalid_argument, "P041",
                fmt::format("`{}` of {} is the store that the packages come from", prefix, target.describe()),
                "a prefix is a directory of its own, like v2/{family}");
  return check_not_taken(place.substr(store.size()));
}

Result<std::vector<Distributed>> plan_distribution(const std::vector<registry::SealedSet>& sets,
                                                   const std::string& prefix) {
  std::vector<Distributed> planned;
  for (const auto& sealed : sets) {
    Distributed copy{sealed.digest, sealed.set, {}, {}};
    TRY(auto placement, placement_of(prefix, sealed.set));
    copy.set.directory = placement.directory;
    copy.set.subset_of = {}; // that set is not in the other store
    for (auto& file : copy.set.files) {
      copy.from.push_back(file.key);
      file.key = placement.key_of(file);
    }
    copy.digest = registry::digest_of(copy.set);
    planned.push_back(std::move(copy));
  }
  return planned;
}

Result<void> check_distribution(ObjectStore& target, const std::vector<Distributed>& sets, unsigned transfers) {
  HistoryOptions options;
  options.transfers = transfers;
  TRY_DO(check_distribution(target, sets, options));
  return {};
}

Result<std::vector<HistoryPlan>> check_distribution(ObjectStore& target, const std::vector<Distributed>& sets,
                                                    const HistoryOptions& options) {
  TRY_DO(refuse_two_contents(sets));
  std::map<std::string, std::vector<FileRecord>> directories;
  std::map<std::string, std::vector<registry::SealedSet>> brought;
  for (const auto& set : sets) {
    TRY_DO(refuse_names_of_the_base_index(target, set.set));
    auto& planned = directories[set.set.directory];
    planned.insert(planned.end(), set.set.files.begin(), set.set.files.end());
    brought[set.set.directory].push_back({set.digest, set.set, {}});
  }
  std::vector<HistoryPlan> histories;
  std::set<std::string> used;
  for (const auto& [directory, planned] : directories) {
    TRY(auto there, registry::read_distribution(target, directory));
    if (there) TRY_DO(registry::refuse_blocked(there->record, brought[directory], address_of(target, directory)));
    if (!there) TRY_DO(registry::refuse_lost_pointer(target, directory));
    TRY(auto objects, check_place(target, directory));
    bool guarded = there && !there->record.fed_by.empty();
    TRY(auto history, plan_history(target, {directory, std::move(objects), planned, guarded}, options));
    used.insert(history.used.begin(), history.used.end());
    if (!history.empty() || !history.used.empty()) histories.push_back(std::move(history));
  }
  if (!options.let_go_elsewhere && !directories.empty())
    TRY_DO(refuse_unused(options.let_go, used, directories.begin()->first));
  TRY(auto copies, copies_of(target, sets, options.hash_bytes));
  TRY_DO(parallel_for(copies.size(), options.transfers, [&](std::size_t i) -> Result<void> {
    const auto& copy = copies[i];
    TRY(auto there, target.head(copy.to));
    if (!there) return {};
    auto digest = copy.once.hash ? std::nullopt : store::recorded_at(*there, copy.once.size);
    if (!digest) {
      TRY(digest, target.digest(copy.to));
    }
    if (!digest || *digest == copy.once.sha256) return {};
    auto error =
        Error::of(ErrorKind::already_exists, "R009", fmt::format("{} holds another {}", target.describe(), copy.to))
            .with_hint("nothing was moved; a published name never gets other bytes: name another --prefix, or remove "
                       "what exists");
    error.details = {"there  sha256 " + digest->hex(), "ours   sha256 " + copy.once.sha256.hex()};
    return fail(std::move(error));
  }));
  return histories;
}

Result<DistributeReceipt> distribute(ObjectStore& source, ObjectStore& target, const std::vector<Distributed>& sets,
                                     const DistributeOptions& options) {
  auto before = target.counters(), read_before = source.counters();
  TRY(auto copies, copies_of(target, sets, options.hash_bytes));
  std::map<std::string, std::vector<registry::ShownSet>> brought; // by directory
  DistributeReceipt receipt;
  for (const auto& set : sets) {
    brought[set.set.directory].push_back({set.digest, set.source, set.remarks});
    receipt.files += set.set.files.size();
  }
  for (const auto& history : options.histories) { // before our pointer: then its files count as ours
    HistoryMove move{options.now, options.who, options.why, options.tool, options.transfers};
    TRY_DO(refuse_guarded_since(target, history));
    TRY_DO(take_over(target, history, move));
  }
  for (const auto& [directory, shown] : brought) TRY_DO(record_first_adoptions(target, directory));
  for (const auto& [directory, shown] : brought) TRY_DO(registry::claim_distribution(target, directory));
  TRY_DO(parallel_for(copies.size(), options.transfers, [&](std::size_t i) -> Result<void> {
    TRY_DO(store::copy_once(source, copies[i].from, target, copies[i].to, copies[i].once),
           "while copying to " + target.describe());
    return {};
  }));
  receipt.bytes_through_us = source.counters().bytes_read - read_before.bytes_read;
  for (const auto& set : sets) {
    TRY(auto digest, registry::put_set(target, set.set));
    TRY_DO(registry::seal(target, digest, options.now));
  }
  TRY_DO(bring_policies(source, target, options.feeders));
  if (options.before_showing) TRY_DO(options.before_showing());
  // All pointers, then all pages: what the caller has just looked at must not get old meanwhile.
  registry::DistributionMove move{registry::Action::promote, {}, options.who, options.now, options.why};
  Result<void> all;
  for (const auto& [directory, shown] : brought) {
    Showing showing{admission_of({source, target, options.feeders}, directory), &source, options.key};
    auto moved = show_sets(target, directory, shown, move, showing);
    if (!moved) {
      all = fail(std::move(moved).error());
      break; // those before it have moved, and get their pages
    }
    receipt.directories.push_back(directory);
  }
  for (const auto& directory : receipt.directories) {
    TRY(auto displayed, display(target, directory));
    std::ranges::move(displayed.notes, std::back_inserter(receipt.notes));
    if (displayed.has_merged) receipt.merged.push_back(pages::merged_directory(directory));
  }
  TRY_DO(std::move(all));
  receipt.writes = writes_between(before, target.counters());
  return receipt;
}

} // namespace quarry::publish
