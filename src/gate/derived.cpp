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

Successors successors_of(const std::vector<Derived>& derived) {
  Successors all;
  for (const auto& one : derived) {
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
  auto successors = successors_of(derived);
  for (const auto& one : derived) input.derived.emplace(one.made.digest, one.record.candidate_version);
  for (const auto& stored : input.evidence) {
    auto copy = stored;
    if (translate(copy.record, successors)) input.inherited.push_back(std::move(copy));
  }
}

} // namespace quarry::gate
