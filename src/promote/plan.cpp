#include "promote/closed.hpp"
#include "promote/pin.hpp"
#include "promote/planning.hpp"
#include "promote/signed_moves.hpp"
#include "promote/waived.hpp"

#include "base/json.hpp"
#include "gate/collect.hpp"
#include "publish/verify.hpp"
#include "registry/bound.hpp"
#include "registry/revocations.hpp"
#include "registry/verdicts.hpp"
#include "sys/clock.hpp"
#include "sys/path.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace quarry::promote {

using registry::FileRecord;
using registry::SealedSet;
using registry::View;
using store::ObjectReader;

std::uint64_t Plan::generation() const {
  auto now = expected ? expected->record.generation : 0;
  return moves() ? now + 1 : now;
}

namespace {

using Objects = std::vector<store::ObjectInfo>; // sorted by their keys

Objects::const_iterator listed_at(const Objects& listed, const std::string& key) {
  auto found = std::ranges::lower_bound(listed, key, {}, &store::ObjectInfo::key);
  return found != listed.end() && found->key == key ? found : listed.end();
}

Result<void> check_present(const ObjectReader& store, const Wanted& wanted, const Objects& listed) {
  const auto& file = *wanted.file;
  auto found = listed_at(listed, file.key);
  bool cut = found != listed.end() && found->size != file.size;
  bool whole = found != listed.end() && !cut &&
               (!file.metadata_sha256 || listed_at(listed, file.key + ".metadata") != listed.end());
  if (whole) return {};
  return fail(ErrorKind::corrupt, "O003",
              fmt::format("{} holds no complete {}, which {} names", store.describe(), file.key, wanted.named_by),
              cut ? "restore the file from a copy, or take another source; `quarry set verify` lists all that is wrong"
                  : "publish the run again, or take another source; `quarry set verify` lists all that is missing");
}

} // namespace

Result<void> check_presence(ObjectReader& store, const std::vector<Wanted>& files) {
  std::map<std::string, std::vector<const Wanted*>> by_directory;
  for (const auto& wanted : files) by_directory[path::dirname(wanted.file->key) + "/"].push_back(&wanted);
  std::vector<std::string> directories;
  for (const auto& [directory, in_it] : by_directory) directories.push_back(directory);
  return parallel_for(directories.size(), k_looks, [&](std::size_t i) -> Result<void> {
    TRY(auto listed, store.children(directories[i]));
    for (const auto* wanted : by_directory.at(directories[i])) TRY_DO(check_present(store, *wanted, listed.objects));
    return {};
  });
}

namespace {

std::vector<Wanted> files_of(const std::vector<SealedSet>& sets) {
  std::vector<Wanted> files;
  for (const auto& sealed : sets) {
    auto name = "set:" + sealed.digest.short_hex();
    for (const auto& file : sealed.set.files) files.push_back({&file, name});
  }
  return files;
}

/// What was tested is what is released: the bytes, not only their names. Object storage keeps the digest that it
/// checked when it took the bytes; where it does not, they are read. Whoever may overwrite a package can also write the
/// recorded digest, so what goes into a protected channel is read in any case.
Result<void> check_bytes(ObjectReader& store, const Request& request, const Plan& plan) {
  bool is_protected = plan.expected && !plan.expected->record.guard.policy.empty();
  publish::VerifyOptions options{std::max(request.workers, k_looks), {}, !is_protected};
  if (is_protected) options.hashed = request.hashed.get();
  TRY(auto found, publish::verify_sets(store, plan.sets, options));
  if (found.empty()) return {};
  return fail(ErrorKind::corrupt, "O003", fmt::format("{} {}", found.front().place, found.front().message),
              found.front().fix + "; `quarry set verify` lists all that is wrong");
}

Result<gate::Case> judge(ObjectReader& store, const Request& request, gate::Case input, Plan& plan) {
  if (plan.expected) {
    input.after = plan.expected->record.ledger;
    input.bound = plan.expected->record.guard.policy;
  }
  for (const auto& sealed : request.elsewhere)
    (request.ready_cells_only ? input.elsewhere : input.present).push_back({sealed.digest, sealed.set});
  input.expectations = request.expectations;
  TRY_DO(gate::load_for_policy(store, request.policy, input, gate::Derivations::proven, request.proofs.get()));
  plan.judgement.verdict = gate::judge(request.policy, input);
  auto unasked = signatures_not_asked_for(input, request.policy);
  for (const auto* notes : {&input.notes, &unasked, &plan.judgement.verdict.notes})
    plan.notes.insert(plan.notes.end(), notes->begin(), notes->end());
  plan.judgement.records = input.keys;
  plan.judgement.asked = input.asked;
  plan.judgement.about = judged_in(input);
  plan.judgement.subjects =
      request.ready_cells_only ? input.subjects : std::move(input.subjects); // else nobody judges again
  return input;
}

/// What is decided, and by whose waivers. Evidence is left out: another result with the same outcome is not another
/// decision, so it does not make a reviewed plan stale.
registry::VerdictDocument decision_of(const gate::Verdict& verdict) {
  registry::VerdictDocument document;
  document.verdict = gate::to_string(verdict.verdict);
  document.policy = verdict.policy_digest;
  for (const auto& cell : verdict.cells)
    document.cells.push_back(
        {cell.cell, cell.set, std::string(gate::to_string(cell.verdict)), cell.waived, cell.waivers, cell.files, {}});
  return document;
}

} // namespace

namespace {
/// The records that can have decided: a store has those of years.
std::vector<std::string> records_read(const gate::Case& input) {
  auto judged = [&](const registry::SetDigest& set) {
    return std::any_of(input.subjects.begin(), input.subjects.end(), [&](const auto& s) { return s.digest == set; });
  };
  std::vector<std::string> keys;
  for (const auto* all : {&input.evidence, &input.inherited})
    for (const auto& [digest, evidence] : *all)
      if (judged(evidence.set) || std::any_of(evidence.sets.begin(), evidence.sets.end(), judged))
        keys.push_back(registry::evidence_key(digest));
  for (const auto& [digest, waiver] : input.waivers) {
    if (waiver.channel != input.channel) continue;
    keys.push_back(registry::waiver_key(digest));
    if (input.revoked.contains(digest)) keys.push_back(registry::revocation_key(digest));
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end()); // several releases inherit one record
  return keys;
}

} // namespace

Judged judged_in(const gate::Case& input) { return {input.channel, input.after, records_read(input)}; }

// Without prose: reasons say how long ago, which changes by the minute. With the channel and its last move: what is
// signed lets in one promotion, and does not do so again after a rollback.
std::string verdict_document(const gate::Verdict& verdict, const Judged& about) {
  auto document = decision_of(verdict);
  for (std::size_t i = 0; i < verdict.cells.size(); ++i) document.cells[i].evidence = verdict.cells[i].evidence;
  document.read = about.read;
  document.channel = about.channel;
  document.after = about.after;
  return registry::to_json(document);
}

registry::PlanDigest digest_of(const Plan& plan) {
  auto sets = Json::array();
  for (const auto& sealed : plan.sets) sets.push_back(sealed.digest);
  Json json{{"schema", "quarry.promote-plan/1"},
            {"action", plan.action},
            {"channel", plan.channel},
            {"from", plan.expected ? sha256(registry::to_json(plan.expected->record)).hex() : ""},
            {"sets", sets},
            {"to_view", plan.view.digest},
            {"verdict", sha256(registry::to_json(decision_of(plan.judgement.verdict))).hex()}};
  if (!plan.distribution.empty()) json["distribution"] = plan.distribution;
  if (!plan.judgement.policy.empty()) json["policy"] = plan.judgement.policy;
  if (plan.guard.after)
    for (const auto& file : plan.guard.after->blocked) json["blocked"].push_back(file.sha256.hex());
  return registry::PlanDigest(sha256(json::text(json)));
}

namespace {

/// The part of a set that may move, as a set of its own.
SealedSet part_of(const SealedSet& whole, const std::vector<std::string>& filenames) {
  SealedSet part;
  part.set = whole.set;
  part.set.subset_of = whole.set.subset_of.empty() ? whole.digest : whole.set.subset_of;
  std::erase_if(part.set.files, [&](const FileRecord& file) {
    return !std::binary_search(filenames.begin(), filenames.end(), file.filename);
  });
  part.digest = registry::digest_of(part.set);
  return part;
}

/// The sets of `plan`, or the parts of them, that are ready.
std::vector<SealedSet> ready_of(const Plan& plan) {
  std::vector<SealedSet> chosen;
  for (const auto& sealed : plan.sets) {
    auto asked = sealed.set.subset_of.empty() ? sealed.digest : sealed.set.subset_of;
    for (const auto& movable : gate::movable(plan.judgement.verdict)) {
      if (movable.set != asked || movable.files.empty()) continue;
      auto part = part_of(sealed, movable.files);
      // A set with files that no cell installs still moves whole when nothing of it is held.
      bool whole = movable.whole || part.set.files.size() == sealed.set.files.size();
      if (whole)
        chosen.push_back(sealed);
      else
        chosen.push_back(std::move(part));
    }
  }
  return chosen;
}

/// Takes over what is held in `again`, which was judged without the sets that stay behind. Whether anything is new.
bool hold_more(const gate::Verdict& again, gate::Verdict& verdict) {
  bool more = false;
  for (const auto& cell : again.cells) {
    if (cell.verdict != gate::Decision::held) continue;
    auto same = std::find_if(verdict.cells.begin(), verdict.cells.end(), [&](const gate::CellVerdict& known) {
      return known.set == cell.set && known.cell == cell.cell && (!cell.set.empty() || known.reasons == cell.reasons);
    });
    if (same != verdict.cells.end() && same->verdict == gate::Decision::held) continue;
    more = true;
    if (same == verdict.cells.end())
      verdict.cells.push_back(cell);
    else
      *same = cell;
  }
  return more;
}

/// What moves without the rest must be ready without it, and installable: a set that was tested together with one that
/// stays behind stays, too, and so does a package that requires one.
Result<void> choose_ready(Closed& closed, const Request& request, gate::Case& input, Plan& plan) {
  auto chosen = ready_of(plan);
  // What stays behind is held, not missing: a family of it must not be told as one that no set brings.
  input.elsewhere.insert(input.elsewhere.end(), input.subjects.begin(), input.subjects.end());
  for (bool again = true; again && !chosen.empty();) {
    input.subjects.clear();
    for (const auto& sealed : chosen)
      input.subjects.push_back({sealed.set.subset_of.empty() ? sealed.digest : sealed.set.subset_of, sealed.set});
    again = hold_more(gate::judge(request.policy, input), plan.judgement.verdict);
    if (!again) {
      TRY(again, closed.hold(chosen, plan.judgement.verdict));
    }
    if (again) chosen = ready_of(plan);
  }
  for (const auto& sealed : chosen) {
    auto same = [&](const SealedSet& known) { return known.digest == sealed.digest; };
    if (std::none_of(plan.sets.begin(), plan.sets.end(), same)) plan.preparation.subsets.push_back(sealed.set);
  }
  plan.sets = std::move(chosen);
  return {};
}

/// The extras that were empty before and still are, and those of what moves now.
void note_empty_extras(const Closed& closed, registry::View& view) {
  auto extras = registry::empty_extras_of(view.record);
  extras.insert(extras.end(), closed.empty_extras().begin(), closed.empty_extras().end());
  registry::set_empty_extras(view.record, std::move(extras));
}

} // namespace

std::string digest_of(const Request& request) {
  Json json{{"schema", "quarry.promote-request/1"},
            {"source", request.source.source},
            {"channel", request.channel},
            {"policy", request.policy.digest},
            {"cells", request.ready_cells_only ? "ready" : "all"},
            {"distribution", request.distribution}};
  if (request.pin_from) json["pin"] = true;
  if (!request.base_index_name.empty()) json["base_index"] = request.base_index_name;
  for (const auto& sealed : request.elsewhere) json["elsewhere"].push_back(sealed.digest);
  for (const auto& expectation : request.expectations) {
    auto& expect = json["expect"].emplace_back(Json{{"platforms", expectation.platforms},
                                                    {"families", expectation.families},
                                                    {"pythons", expectation.pythons},
                                                    {"projects", expectation.projects}});
    if (!expectation.frameworks.empty()) expect["frameworks"] = expectation.frameworks;
  }
  return sha256(json::text(json)).hex();
}

Result<void> check_policy(const registry::ChannelRecord& channel, const gate::Policy& policy) {
  const auto& bound = channel.guard.policy;
  if (bound.empty() || bound.hex() == policy.digest) return {};
  return fail(Error::of(ErrorKind::held, "O012",
                        fmt::format("channel {} is protected by another policy than {}", channel.name, policy.name))
                  .with_details({"the channel's  " + bound.hex(), "this one       " + policy.digest})
                  .with_hint(fmt::format(
                      "run it again without --policy: the channel's own is used; to bind another one: `quarry "
                      "channel protect {} --policy FILE --reason TEXT`",
                      channel.name)));
}

namespace {

/// What the channel shows of the projects that the source brings.
Result<View> view_of(ObjectReader& store, const std::optional<registry::Channel>& channel,
                     const std::vector<SealedSet>& source) {
  if (!channel) return View{};
  return registry::load_view_for(store, channel->record.view, source);
}

std::shared_ptr<const pages::KnownViews> known_views(View before, const View& after) {
  pages::KnownViews known;
  known.add(std::move(before));
  known.add(after);
  return std::make_shared<const pages::KnownViews>(std::move(known));
}

} // namespace

namespace {
/// A clock that is behind makes old results fresh and expired waivers good.
void note_clock(const registry::LedgerRecord& last, std::int64_t now_us, Findings& notes) {
  constexpr std::int64_t k_skew_us = 5ll * 60 * 1'000'000;
  if (last.when.us() <= now_us + k_skew_us) return;
  notes.push_back(
      {"O054", Severity::warning, last.channel,
       fmt::format("moved last at {}, and the clock of this machine says {}", last.when, sys::rfc3339(now_us)),
       "compare this clock with the right time: if it is behind, results and waivers count that are too old"});
}
} // namespace

Result<Plan> plan_promotion(ObjectReader& store, const Request& request) {
  return plan_promotion_at(store, request, request.now_us);
}

Result<Plan> plan_promotion_at(ObjectReader& store, const Request& request, std::int64_t now_us) {
  Plan plan;
  plan.action = registry::Action::promote;
  plan.channel = request.channel;
  plan.source = request.source.source;
  plan.distribution = request.distribution;
  plan.request = digest_of(request);
  if (auto policy = registry::PolicyDigest::parse(request.policy.digest)) plan.judgement.policy = *policy;
  TRY(plan.expected, registry::read_channel(store, request.channel));
  if (plan.expected) {
    TRY_DO(check_policy(plan.expected->record, request.policy));
    TRY(plan.last, registry::last_move(store, plan.expected->record));
    note_clock(*plan.last, now_us, plan.notes);
  }
  TRY(auto base, view_of(store, plan.expected, request.source.sets), "while reading channel " + request.channel);
  plan.sets = gate::lacking(base, request.source.sets);
  auto present = gate::others(request.source.sets, plan.sets);
  if (plan.expected) {
    TRY(plan.sets, gate::not_blocked(plan.expected->record, std::move(plan.sets), plan.notes));
  }
  TRY_DO(registry::check_extension(base, plan.sets),
         "in channel " + request.channel); // a conflict is one whatever the gate says
  TRY_DO(check_presence(store, files_of(plan.sets)));
  TRY(auto input, gate::collect(store, request.channel, plan.sets, now_us));
  input.present = std::move(present);
  TRY(input, judge(store, request, std::move(input), plan));
  bool only_ready = request.ready_cells_only && request.policy.mode == gate::Mode::enforce;
  Closed closed(store, request, base.record);
  if (only_ready) TRY_DO(choose_ready(closed, request, input, plan));
  bool holds = plan.judgement.verdict.verdict == gate::Decision::held;
  auto notes = closed.notes();
  plan.notes.insert(plan.notes.end(), notes.begin(), notes.end());
  plan.judgement.document = verdict_document(plan.judgement.verdict, plan.judgement.about);
  plan.judgement.digest = registry::VerdictDigest(sha256(plan.judgement.document));
  if (holds && request.ready_cells_only)
    plan.sets = gate::lacking(base, plan.sets); // what is ready may be there since an earlier partial promotion
  plan.held = holds && (!request.ready_cells_only || plan.sets.empty());
  if (!plan.held && !request.decide_only) TRY_DO(check_bytes(store, request, plan));
  if (!plan.held && request.pin_from) TRY_DO(pin_what_expires(*request.pin_from, plan));
  TRY(plan.view, registry::extend_view(base, plan.sets));
  if (!plan.held) {
    note_empty_extras(closed, plan.view);
    note_waived(input.waivers, plan);
  }
  plan.view.digest = registry::digest_of(plan.view.record);
  plan.known = known_views(std::move(base), plan.view);
  plan.digest = digest_of(plan);
  return plan;
}

} // namespace quarry::promote
