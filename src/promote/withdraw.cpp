#include "promote/withdraw.hpp"

#include "pages/merged.hpp"
#include "pages/projection.hpp"
#include "promote/named_files.hpp"
#include "promote/signed_moves.hpp"
#include "publish/move.hpp"
#include "registry/bound.hpp"
#include "registry/empty_extras.hpp"
#include "registry/waived.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <set>

namespace quarry::promote {

using registry::FileRecord;
using registry::SealedSet;
using store::ObjectReader;
using store::ObjectStore;

namespace {

constexpr std::string_view k_set_word = "set:";

/// What leaves: whole sets, and files wherever they are.
struct Leaving {
  std::set<registry::SetDigest> sets;
  std::set<Sha256> files;
};

bool is_named(const FileRecord& file, const std::string& word) {
  return file.filename == word || file.sha256.hex() == word;
}

Result<Leaving> find_leaving(ObjectReader& store, const registry::ChannelRecord& channel,
                             const std::vector<SealedSet>& shown, const std::vector<std::string>& what) {
  Leaving leaving;
  for (const auto& word : what) {
    bool shows = false;
    if (word.starts_with(k_set_word)) {
      TRY(auto digest, registry::complete_set_digest(store, word.substr(k_set_word.size())));
      for (const auto& sealed : shown)
        if (sealed.digest == digest || sealed.set.subset_of == digest) {
          leaving.sets.insert(sealed.digest);
          shows = true;
        }
    } else {
      for (const auto& sealed : shown)
        for (const auto& file : sealed.set.files)
          if (is_named(file, word)) {
            leaving.files.insert(file.sha256);
            shows = true;
          }
    }
    if (shows) continue;
    // It left already, perhaps by this very command, which was killed before it had written the pages.
    auto blocked = channel.guard.blocked;
    TRY(auto left, take_named(store, word, blocked));
    if (left.empty()) return not_shown(channel, word);
  }
  return leaving;
}

/// Every file of what was named is in sets that stay.
Unexpected kept_by(const std::string& channel, const std::vector<SealedSet>& shown,
                   const std::set<registry::SetDigest>& leaving, const std::vector<SealedSet>& stay) {
  std::set<Sha256> wanted;
  for (const auto& sealed : shown)
    if (leaving.contains(sealed.digest))
      for (const auto& file : sealed.set.files) wanted.insert(file.sha256);
  std::vector<std::string> keepers;
  for (const auto& sealed : stay)
    if (std::any_of(sealed.set.files.begin(), sealed.set.files.end(),
                    [&](const FileRecord& file) { return wanted.contains(file.sha256); }))
      keepers.push_back("set:" + sealed.digest.short_hex());
  return fail(Error::of(ErrorKind::precondition_failed, "O026",
                        fmt::format("no file would leave channel {}: other sets keep them all", channel))
                  .with_details(std::move(keepers))
                  .with_hint("nothing was changed: name these sets, too, or the files themselves"));
}

/// What stays of a set; it names the whole, whose evidence it stands on.
SealedSet rest_of(const SealedSet& whole, const std::set<Sha256>& leaving) {
  SealedSet rest;
  rest.set = whole.set;
  rest.set.subset_of = whole.set.subset_of.empty() ? whole.digest : whole.set.subset_of;
  std::erase_if(rest.set.files, [&](const FileRecord& file) { return leaving.contains(file.sha256); });
  rest.digest = registry::digest_of(rest.set);
  return rest;
}

/// The files of the sets that are shown and in none of those that stay.
std::vector<registry::BlockedFile> gone(const std::vector<SealedSet>& shown, const std::vector<SealedSet>& stay,
                                        std::uint64_t generation) {
  std::set<Sha256> kept;
  for (const auto& sealed : stay)
    for (const auto& file : sealed.set.files) kept.insert(file.sha256);
  std::map<Sha256, registry::BlockedFile> blocked;
  for (const auto& sealed : shown)
    for (const auto& file : sealed.set.files)
      if (!kept.contains(file.sha256))
        blocked.try_emplace(file.sha256, registry::BlockedFile{file.sha256, file.filename, "", generation, {}});
  std::vector<registry::BlockedFile> files;
  for (auto& [digest, file] : blocked) files.push_back(std::move(file));
  return files;
}

} // namespace

Result<Withdrawal> plan_withdrawal(ObjectReader& store, const std::string& channel,
                                   const std::vector<std::string>& what) {
  Withdrawal plan;
  TRY(plan.expected, registry::require_channel(store, channel));
  const auto& now = plan.expected.record;
  TRY(auto view, registry::load_view(store, now.view), "while reading channel " + channel);
  TRY(auto shown, registry::load_all_sealed(store, view.sets), "while reading channel " + channel);
  TRY(auto leaving, find_leaving(store, now, shown, what));
  if (leaving.sets.empty() && leaving.files.empty()) { // all of it left before
    TRY_DO(registry::last_move(store, now));           // by a move, and not because somebody wrote so into the record
    plan.view.digest = now.view;
    plan.stay = std::move(shown);
    return plan;
  }
  std::vector<SealedSet> stay;
  for (const auto& sealed : shown) {
    if (leaving.sets.contains(sealed.digest)) continue;
    auto loses = [&](const FileRecord& file) { return leaving.files.contains(file.sha256); };
    if (std::none_of(sealed.set.files.begin(), sealed.set.files.end(), loses)) {
      stay.push_back(sealed);
      continue;
    }
    auto rest = rest_of(sealed, leaving.files);
    if (rest.set.files.empty()) continue;
    plan.derived.push_back(rest.set);
    stay.push_back(std::move(rest));
  }
  plan.blocked = gone(shown, stay, now.generation + 1);
  if (plan.blocked.empty()) return kept_by(channel, shown, leaving.sets, stay);
  TRY(plan.view, registry::make_view(stay), "in channel " + channel);
  auto extras = registry::empty_extras_of(view);
  std::erase_if(extras, [&](const auto& one) { return !plan.view.record.shards.contains(one.project); });
  registry::set_empty_extras(plan.view.record, std::move(extras));
  auto waived = registry::waived_of(view);
  auto shows = [&](const std::string& project) { return plan.view.record.shards.contains(project); };
  std::erase_if(waived, [&](const auto& one) {
    return std::none_of(
               stay.begin(), stay.end(),
               [&](const SealedSet& sealed) { return sealed.digest == one.set || sealed.set.subset_of == one.set; }) ||
           (!one.projects.empty() && std::none_of(one.projects.begin(), one.projects.end(), shows));
  });
  registry::set_waived(plan.view.record, std::move(waived));
  plan.view.digest = registry::digest_of(plan.view.record);
  plan.stay = std::move(stay);
  std::set<Sha256> leaves;
  for (const auto& file : plan.blocked) leaves.insert(file.sha256);
  for (const auto& sealed : shown)
    for (const auto& file : sealed.set.files)
      if (leaves.contains(file.sha256)) {
        plan.projects.insert(file.project);
        if (!sealed.set.directory.empty()) plan.runs[sealed.set.directory].insert(file.filename);
      }
  return plan;
}

Result<Withdrawn> withdraw(ObjectStore& store, const Withdrawal& plan, const Author& author) {
  const auto& now = plan.expected.record;
  if (!plan.moves()) {
    TRY(auto bound, registry::bound_by_moves(store, now)); // the pages would show what somebody wrote into the record
    TRY_DO(registry::check_bound(bound, now.name));
    TRY_DO(pages::project_channel(store, now.name));
    TRY(auto merged, pages::merge_channel(store, now.name));
    return Withdrawn{now, std::move(merged.notes)};
  }
  auto yank = registry::Action::read("yank"); // older programs keep and show a word that they do not know
  TRY_DO(check_signer(store, plan.expected, {now.name, yank}, author.key));
  for (const auto& set : plan.derived) {
    TRY(auto digest, registry::put_set(store, set));
    TRY_DO(registry::seal(store, digest, author.when));
  }
  std::map<Sha256, registry::BlockedFile> blocked;
  for (const auto& file : now.guard.blocked) blocked.emplace(file.sha256, file);
  for (auto file : plan.blocked) {
    file.reason = author.why;
    blocked.try_emplace(file.sha256, std::move(file));
  }
  publish::Reason reason;
  reason.action = yank;
  reason.who = author.who;
  reason.when = author.when;
  reason.why = author.why;
  reason.key = author.key;
  reason.guard = registry::Guard{now.guard.policy, {}, now.guard.keeps_from};
  for (auto& [digest, file] : blocked) reason.guard->blocked.push_back(std::move(file));
  TRY(auto moved, publish::move_channel(store, now.name, plan.expected, plan.view, reason));
  auto what_is_left = fmt::format("after channel {} has moved: the same command writes its pages", now.name);
  TRY_DO(pages::project_channel(store, now.name, pages::Extent::changed, {}, moved), what_is_left);
  TRY(auto merged, pages::merge_channel(store, now.name), what_is_left);
  return Withdrawn{std::move(moved.record), std::move(merged.notes)};
}

} // namespace quarry::promote
