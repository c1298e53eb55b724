#include "gate/collect.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "derive/prove.hpp"
#include "gate/derived.hpp"
#include "registry/evidence_marks.hpp"
#include "registry/revocations.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <optional>
#include <set>

namespace quarry::gate {

using registry::SealedSet;

namespace {

/// What the channel shows of the projects that the source brings.
Result<registry::View> view_of_channel(store::ObjectReader& store, const std::optional<registry::Channel>& channel,
                                       const std::vector<SealedSet>& source) {
  if (!channel) return registry::View{};
  return registry::load_view_for(store, channel->record.view, source);
}

Result<Subject> subject_of(store::ObjectReader& store, const SealedSet& sealed) {
  if (sealed.set.subset_of.empty()) return Subject{sealed.digest, sealed.set};
  TRY(auto whole, registry::load_sealed(store, sealed.set.subset_of),
      "of which set:" + sealed.digest.short_hex() + " is a part");
  auto is_in_it = [&](registry::FileRecord file) {
    return std::any_of(whole.set.files.begin(), whole.set.files.end(), [&](const registry::FileRecord& original) {
      file.key = original.key; // `promote --pin` copies the same bytes elsewhere
      return file == original;
    });
  };
  for (const auto& file : sealed.set.files)
    if (!is_in_it(file))
      return fail(ErrorKind::corrupt, "O004",
                  fmt::format("set:{} says that it is a part of set:{}, which does not hold {}",
                              sealed.digest.short_hex(), whole.digest.short_hex(), file.filename));
  return Subject{whole.digest, sealed.set};
}

/// The projects that these sets were tested together with, by the evidence that names several sets.
std::set<std::string> allied_projects(const Case& input) {
  std::set<std::string> projects;
  std::vector<const registry::EvidenceRecord*> all;
  for (const auto* list : {&input.evidence, &input.inherited})
    for (const auto& stored : *list) all.push_back(&stored.record);
  for (const auto* record : all) {
    const auto& evidence = *record;
    bool ours = std::any_of(input.subjects.begin(), input.subjects.end(), [&](const Subject& subject) {
      return std::find(evidence.sets.begin(), evidence.sets.end(), subject.digest) != evidence.sets.end();
    });
    if (!ours) continue;
    for (const auto& file : evidence.subjects) projects.insert(file.project);
  }
  return projects;
}

/// What the channel shows of them. No request unless sets were tested together.
Result<std::vector<registry::FileRecord>> shown_with(store::ObjectReader& store, const Case& input) {
  std::vector<registry::FileRecord> shown;
  auto projects = allied_projects(input);
  if (projects.empty()) return shown;
  TRY(auto channel, registry::read_channel(store, input.channel));
  if (!channel) return shown;
  TRY(auto view, registry::load_view(store, channel->record.view), "while reading channel " + input.channel);
  for (const auto& project : projects) {
    TRY(auto shard, registry::load_shard_of(store, view, project), "while reading channel " + input.channel);
    if (shard) shown.insert(shown.end(), shard->files.begin(), shard->files.end());
  }
  return shown;
}

std::vector<registry::SetDigest> digests_of(const std::vector<Subject>& subjects) {
  std::vector<registry::SetDigest> digests;
  for (const auto& subject : subjects) digests.push_back(subject.digest);
  return digests;
}

void each_once(std::vector<std::string>& keys) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

/// The findings without those about more than a few objects of junk in one place, and how many there are. Whoever may
/// write evidence can write as much junk as he likes, and nobody reads 20,000 lines.
Findings told_briefly(Findings notes) {
  constexpr std::size_t k_told_max = 10; // enough to see a pattern in the names
  std::map<std::string, std::size_t> counts;
  Findings told;
  for (auto& note : notes)
    if (++counts[note.place.substr(0, note.place.rfind('/') + 1)] <= k_told_max) told.push_back(std::move(note));
  for (const auto& [place, count] : counts)
    if (count > k_told_max)
      told.push_back(
          {"R021", Severity::warning, place,
           fmt::format("{} here count for nothing; {} are named above", units::things(count, "object"), k_told_max),
           "find out who may write there, and remove them: each is read for every verdict"});
  return told;
}

/// Adds what is recorded about sets that were not asked about yet.
Result<void> add_recorded(store::ObjectReader& store, std::vector<registry::SetDigest> sets, Case& input) {
  std::erase_if(sets, [&](const registry::SetDigest& set) {
    return std::find(input.asked.begin(), input.asked.end(), set) != input.asked.end();
  });
  if (sets.empty() && !input.asked.empty()) return {};
  TRY(auto recorded, registry::recorded_about(store, sets, input.notes));
  std::set<registry::EvidenceDigest> known;
  for (const auto& stored : input.evidence) known.insert(stored.digest);
  for (auto& stored : recorded.evidence)
    if (known.insert(stored.digest).second) input.evidence.push_back(std::move(stored));
  input.stored_us.merge(recorded.since);
  input.attempts.insert(input.attempts.end(), recorded.attempts.begin(), recorded.attempts.end());
  input.keys.insert(input.keys.end(), recorded.keys.begin(), recorded.keys.end());
  input.asked.insert(input.asked.end(), sets.begin(), sets.end());
  return {};
}

} // namespace

std::vector<SealedSet> lacking(const registry::View& view, const std::vector<SealedSet>& source) {
  std::set<std::pair<std::string_view, Sha256>> shown;
  for (const auto& shard : view.shards)
    for (const auto& file : shard.files) shown.emplace(file.filename, file.sha256);
  std::vector<SealedSet> lacked;
  for (const auto& sealed : source) {
    bool adds = false;
    for (const auto& file : sealed.set.files) adds |= shown.emplace(file.filename, file.sha256).second;
    if (adds) lacked.push_back(sealed);
  }
  return lacked;
}

Result<std::vector<SealedSet>> not_blocked(const registry::ChannelRecord& channel, std::vector<SealedSet> sets,
                                           Findings& notes) {
  if (channel.guard.blocked.empty()) return sets;
  std::optional<Error> first;
  std::vector<SealedSet> good;
  for (auto& sealed : sets) {
    auto free = registry::refuse_blocked(channel, {sealed});
    if (free) {
      good.push_back(std::move(sealed));
      continue;
    }
    if (!first) first = free.error();
    notes.push_back({free.error().code, Severity::warning, "set:" + sealed.digest.short_hex(),
                     "is left out: " + free.error().message, free.error().hint});
  }
  if (first && good.empty()) return fail(std::move(*first));
  return good;
}

std::vector<Subject> others(const std::vector<SealedSet>& all, const std::vector<SealedSet>& sets) {
  std::vector<Subject> rest;
  for (const auto& sealed : all) {
    auto same = [&](const SealedSet& s) { return s.digest == sealed.digest; };
    if (std::none_of(sets.begin(), sets.end(), same)) rest.push_back({sealed.digest, sealed.set});
  }
  return rest;
}

Result<Case> collect(store::ObjectReader& store, const std::string& channel, const std::vector<SealedSet>& sets,
                     std::int64_t now_us) {
  Case input;
  input.channel = channel;
  input.now_us = now_us;
  for (const auto& sealed : sets) {
    TRY(auto subject, subject_of(store, sealed));
    input.subjects.push_back(std::move(subject));
  }
  TRY_DO(add_recorded(store, digests_of(input.subjects), input));
  TRY(auto waivers, registry::list_waivers(store, input.notes));
  for (const auto& stored : waivers) input.keys.push_back(registry::waiver_key(stored.digest));
  input.waivers = std::move(waivers);
  for (const auto& junk : input.notes) // of evidence the keys are known, and attempts are not listed again
    if (junk.place.starts_with("waivers/")) input.keys.push_back(junk.place);
  input.notes = told_briefly(std::move(input.notes));
  TRY(auto revoked, registry::list_revoked(store));
  for (const auto& waiver : revoked) {
    input.keys.push_back(registry::revocation_key(waiver));
    input.revoked.insert(waiver);
  }
  TRY(input.shown, shown_with(store, input));
  each_once(input.keys);
  return input;
}

namespace {

/// The keys of the records that count for something, sorted.
std::vector<std::string> readable_keys(const Case& input) {
  std::vector<std::string> keys;
  for (const auto& stored : input.evidence) keys.push_back(registry::evidence_key(stored.digest));
  for (const auto& stored : input.waivers) keys.push_back(registry::waiver_key(stored.digest));
  for (const auto& waiver : input.revoked) keys.push_back(registry::revocation_key(waiver));
  std::sort(keys.begin(), keys.end());
  return keys;
}

} // namespace

Result<std::vector<registry::Disappeared>> find_disappeared(store::ObjectReader& store, const Case& input) {
  return registry::find_disappeared(store, digests_of(input.subjects), readable_keys(input));
}

namespace {

Result<void> refuse_disappeared(store::ObjectReader& store, const Case& input) {
  return registry::refuse_disappeared(store, digests_of(input.subjects), readable_keys(input));
}

Result<void> load_signatures(store::ObjectReader& store, const Policy& policy, Case& input) {
  if (policy.signers.empty()) return {};
  auto asked = [&](const registry::SetDigest& set) {
    return std::any_of(input.subjects.begin(), input.subjects.end(), [&](const Subject& s) { return s.digest == set; });
  };
  std::set<Sha256> records;
  for (const auto* all : {&input.evidence, &input.inherited})
    for (const auto& [digest, evidence] : *all)
      if (asked(evidence.set) || std::any_of(evidence.sets.begin(), evidence.sets.end(), asked))
        records.insert(*digest.sha256());
  for (const auto& [digest, waiver] : input.waivers)
    if (waiver.channel == input.channel) records.insert(*digest.sha256());
  TRY(input.signatures, signature::load(store, records));
  return {};
}

/// Whether a record does not hold, as opposed to a store that could not be read.
bool is_of_record(const Error& error) {
  if (registry::is_transport_error(error)) return false;
  auto kind = error.kind;
  return kind == ErrorKind::corrupt || kind == ErrorKind::not_found || kind == ErrorKind::invalid_argument ||
         kind == ErrorKind::failed || kind == ErrorKind::resource_exhausted || kind == ErrorKind::unsupported;
}

/// How much of what records say is looked at.
struct Proving {
  Derivations derivations;
  Proofs* proofs;
};

/// The candidate of which the subject was made.
Result<SealedSet> candidate_of(store::ObjectReader& store, const Subject& subject,
                               const registry::DerivationRecord& record, const Proving& proving) {
  constexpr unsigned k_files_proven_at_once = 4;
  if (proving.derivations == Derivations::believed) return derive::check_derivation(store, subject.set, record);
  // A part is proven by its own files, so the whole set's proof is another one.
  Proofs::Key key{registry::digest_of(subject.set), sha256(registry::to_json(record))};
  if (proving.proofs)
    if (auto known = proving.proofs->find(key)) {
      if (!*known) return fail(std::move(*known).error());
      return derive::check_derivation(store, subject.set, record);
    }
  auto proven = derive::prove_derivation(store, subject.set, record, k_files_proven_at_once);
  bool settled = proven || is_of_record(proven.error());
  if (proving.proofs && settled)
    proving.proofs->add(key, proven ? std::optional<Error>() : std::optional(proven.error()));
  return proven;
}

/// nullopt: the set was not made of a candidate, or what says so does not hold, which is noted.
Result<std::optional<Derived>> derived_from(store::ObjectReader& store, const Subject& subject, const Proving& proving,
                                            Findings& notes) {
  auto record = registry::load_derivation(store, subject.digest);
  if (record && !*record) return std::optional<Derived>();
  auto proven = record ? candidate_of(store, subject, **record, proving) : Result<SealedSet>(fail(record.error()));
  auto asked = proven ? subject_of(store, *proven) : Result<Subject>(fail(proven.error()));
  if (asked) return std::optional(Derived{subject, std::move(**record), asked->digest});
  if (!is_of_record(asked.error())) return fail(std::move(asked).error());
  notes.push_back({"G024", Severity::warning, registry::derivation_key(subject.digest),
                   "the candidate's evidence does not count: " + asked.error().message,
                   "make the release again with `quarry release finalize`, or test its own files"});
  return std::optional<Derived>();
}

/// The candidate's file that the channel blocks; nullptr: it blocks none. Tests have let it in once, and it turned out
/// to be bad: they prove nothing of what was made from it.
const registry::BlockedFile* blocked_in(const registry::ChannelRecord& channel, const Derived& derived) {
  for (const auto& file : derived.record.files) {
    auto found = std::ranges::find(channel.guard.blocked, file.candidate_sha256, &registry::BlockedFile::sha256);
    if (found != channel.guard.blocked.end()) return &*found;
  }
  return nullptr;
}

/// Leaves out what was made from a candidate that was taken out of the channel.
Result<void> leave_out_blocked(store::ObjectReader& store, std::vector<Derived>& derived, Case& input) {
  if (derived.empty()) return {};
  TRY(auto channel, registry::read_channel(store, input.channel), "while reading channel " + input.channel);
  if (!channel) return {};
  std::erase_if(derived, [&](const Derived& one) {
    const auto* file = blocked_in(channel->record, one);
    if (!file) return false;
    input.notes.push_back(
        {"G033", Severity::warning, registry::derivation_key(one.made.digest),
         fmt::format("the evidence of {} does not count: channel {} blocks its {}{}", one.record.candidate_version,
                     input.channel, file->filename, file->reason.empty() ? "" : " (" + file->reason + ")"),
         fmt::format("test the release's own files; or, if the candidate was good, let it in again: `quarry channel "
                     "unblock {} {} --reason TEXT`",
                     input.channel, text::shell_word(file->filename))});
    return true;
  });
  return {};
}

Result<void> load_derived(store::ObjectReader& store, const Policy& policy, Case& input, const Proving& proving) {
  if (policy.derived_suites.empty()) return {};
  std::vector<Derived> derived;
  // What is only tested together with them decides, too, which results count for them.
  for (const auto* subjects : {&input.subjects, &input.present})
    for (const auto& subject : *subjects) {
      TRY(auto one, derived_from(store, subject, proving, input.notes));
      if (one) derived.push_back(std::move(*one));
    }
  TRY_DO(leave_out_blocked(store, derived, input));
  if (derived.empty()) return {};
  std::vector<registry::SetDigest> candidates;
  for (const auto& one : derived) candidates.insert(candidates.end(), {one.record.candidate, one.asked});
  auto attempts = input.attempts; // those of the candidates are not attempts to test these files
  TRY_DO(add_recorded(store, std::move(candidates), input));
  input.attempts = std::move(attempts);
  each_once(input.keys);
  inherit(input, derived);
  TRY(input.shown, shown_with(store, input));
  return {};
}

} // namespace

Result<void> load_for_policy(store::ObjectReader& store, const Policy& policy, Case& input, Derivations derivations,
                             Proofs* proofs) {
  if (derivations == Derivations::proven) TRY_DO(refuse_disappeared(store, input));
  TRY_DO(load_derived(store, policy, input, {derivations, proofs}));
  return load_signatures(store, policy, input);
}

Result<Case> collect_new(store::ObjectReader& store, const std::string& channel, const registry::Resolved& source,
                         std::int64_t now_us) {
  TRY(auto now, registry::read_channel(store, channel), "while reading channel " + channel);
  return collect_new(store, {channel, now}, source, now_us);
}

Result<Case> collect_new(store::ObjectReader& store, const Target& target, const registry::Resolved& source,
                         std::int64_t now_us) {
  const auto& [channel, now] = target;
  TRY(auto view, view_of_channel(store, now, source.sets), "while reading channel " + channel);
  auto sets = lacking(view, source.sets);
  auto present = others(source.sets, sets);
  Findings blocked;
  if (now) {
    TRY(sets, not_blocked(now->record, std::move(sets), blocked));
  }
  // A promotion refuses it whatever the gate says, so no verdict may say that it is ready.
  TRY_DO(registry::check_extension(view, sets), "in channel " + channel);
  TRY(auto input, collect(store, channel, sets, now_us));
  if (now) {
    input.after = now->record.ledger;
    input.bound = now->record.guard.policy;
  }
  input.present = std::move(present);
  input.notes.insert(input.notes.end(), blocked.begin(), blocked.end());
  return input;
}

} // namespace quarry::gate
