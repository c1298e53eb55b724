#include "gate/derived.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace quarry::gate {

namespace {

using registry::EvidenceRecord;
using registry::FileRecord;

/// What was made of what, over all derived sets: the sets of a release were tested together.
struct Successors {
  std::map<registry::SetDigest, registry::SetDigest> sets;
  std::map<std::pair<Sha256, std::string>, const FileRecord*> files; ///< by digest and name of the candidate's file
  std::map<std::string, std::string> digests;                        ///< of the candidate's files, as hex: a suite's
};

const registry::SetDigest& asked_of(const Derived& one) { return one.asked.empty() ? one.record.candidate : one.asked; }

/// Each list has one set for each candidate: sets of one release were tested together, not those of two.
std::vector<std::vector<const Derived*>> by_release(const std::vector<Derived>& derived) {
  std::map<registry::SetDigest, std::vector<const Derived*>> of_candidate;
  std::size_t releases = 0;
  for (const auto& one : derived) {
    auto& made = of_candidate[asked_of(one)];
    made.push_back(&one);
    releases = std::max(releases, made.size());
  }
  for (auto& [candidate, made] : of_candidate)
    std::stable_sort(made.begin(), made.end(),
                     [](const Derived* a, const Derived* b) { return a->record.version < b->record.version; });
  std::vector<std::vector<const Derived*>> lists(releases);
  for (std::size_t i = 0; i < releases; ++i)
    for (const auto& [candidate, made] : of_candidate) lists[i].push_back(made[std::min(i, made.size() - 1)]);
  return lists;
}

Successors successors_of(const std::vector<const Derived*>& derived) {
  Successors all;
  for (const auto* each : derived) {
    const auto& one = *each;
    all.sets.emplace(asked_of(one), one.made.digest);
    all.sets.emplace(one.record.candidate, one.made.digest);
    for (const auto& file : one.record.files) {
      auto made = std::find_if(one.made.set.files.begin(), one.made.set.files.end(), [&](const FileRecord& f) {
        return f.filename == file.filename && f.sha256 == file.sha256;
      });
      if (made == one.made.set.files.end()) continue;
      all.files.emplace(std::pair(file.candidate_sha256, file.candidate), &*made);
      all.digests.emplace(file.candidate_sha256.hex(), file.sha256.hex());
    }
  }
  return all;
}

/// The record as one about the sets that were made; false if it is about none of the candidates.
bool translate(EvidenceRecord& evidence, const Successors& successors) {
  bool any = false;
  auto move_on = [&](registry::SetDigest& set) {
    auto found = successors.sets.find(set);
    if (found == successors.sets.end()) return;
    set = found->second;
    any = true;
  };
  move_on(evidence.set);
  for (auto& set : evidence.sets) move_on(set);
  if (!any) return false;
  for (auto& subject : evidence.subjects)
    if (auto found = successors.files.find({subject.sha256, subject.filename}); found != successors.files.end())
      subject = *found->second;
  // The tests inside the packages are named by the package that brings them.
  if (auto found = successors.digests.find(evidence.suite_digest); found != successors.digests.end())
    evidence.suite_digest = found->second;
  return true;
}

} // namespace

void inherit(Case& input, const std::vector<Derived>& derived) {
  for (const auto& one : derived) input.derived.emplace(one.made.digest, one.record.candidate_version);
  for (const auto& release : by_release(derived)) {
    auto successors = successors_of(release);
    for (const auto& stored : input.evidence) {
      auto copy = stored;
      if (!translate(copy.record, successors)) continue;
      auto same = [&](const auto& known) {
        return known.digest == copy.digest && known.record.set == copy.record.set &&
               known.record.sets == copy.record.sets;
      };
      if (std::none_of(input.inherited.begin(), input.inherited.end(), same))
        input.inherited.push_back(std::move(copy));
    }
  }
}

} // namespace quarry::gate
