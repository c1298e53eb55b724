#include "gate/shards.hpp"

#include "base/text.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <tuple>
#include <utility>

namespace quarry::gate {

namespace {

using registry::EvidenceRecord;

/// What the shards of one result have in common. In another shard of a workflow's run, the suite may have run on
/// another Python, or a framework with another ROCm.
using ShardedRun = std::tuple<std::string, std::uint64_t, std::string, registry::Cell, registry::SetDigest,
                              std::vector<registry::SetDigest>, std::vector<Sha256>, bool>;
using Newest = std::map<std::uint64_t, Counted>; // by the number of the shard

ShardedRun run_of(const Counted& one) {
  const auto& record = one.stored->record;
  std::vector<Sha256> files;
  for (const auto& file : record.subjects) files.push_back(file.sha256);
  std::sort(files.begin(), files.end());
  return {record.shard->run, record.shard->total, record.suite_digest, record.cell,
          record.set,        record.sets,         std::move(files),    one.inherited};
}

/// The numbers of the shards whose newest result is not a pass, or is missing.
std::vector<std::string> without_pass(const Newest& shards, const Policy& policy) {
  std::vector<std::string> numbers;
  for (std::uint64_t i = 1; i <= shards.begin()->second.stored->record.shard->total; ++i) {
    auto found = shards.find(i);
    if (found == shards.end() || !is_pass(found->second.stored->record, policy)) numbers.push_back(std::to_string(i));
  }
  return numbers;
}

/// One record of all: the oldest with the sums of the counts, and what their machines have in common. Had it the time
/// of the newest, a shard that is run once more would hide a failure that came since the others passed.
Counted joined(const Newest& shards) {
  const Counted* oldest = &shards.begin()->second;
  for (const auto& [index, one] : shards)
    if (one.ended_us < oldest->ended_us) oldest = &one;
  auto sum = std::make_shared<registry::Stored<EvidenceRecord>>(*oldest->stored);
  Counted whole{sum.get(), oldest->ended_us, oldest->inherited, {}, sum};
  auto& record = sum->record;
  record.shard.reset();
  record.rows.clear();
  record.passed = record.skipped = 0; // a shard that has passed has no failures
  for (const auto& [index, one] : shards) {
    const auto& part = one.stored->record;
    record.passed += part.passed;
    record.skipped += part.skipped;
    record.started = std::min(record.started, part.started);
    std::erase_if(record.machine, [&](const auto& fact) {
      auto same = part.machine.find(fact.first);
      return same == part.machine.end() || same->second != fact.second;
    });
    whole.parts.push_back(one.stored);
  }
  return whole;
}

std::uint64_t asked_tests(const Newest& shards, const SuiteRule* rule) {
  auto asked = rule ? static_cast<std::uint64_t>(rule->min_passed) : 0;
  for (const auto& [index, one] : shards) asked = std::max(asked, one.stored->record.shard->min_passed);
  return asked;
}

void take_run(const Newest& shards, const Question& question, Sorted& into) {
  auto refuse = [&](const std::string& why) {
    for (const auto& [index, one] : shards)
      if (is_pass(one.stored->record, question.policy)) into.refused.push_back({one.stored, one.ended_us, why});
  };
  auto total = shards.begin()->second.stored->record.shard->total;
  if (auto missing = without_pass(shards, question.policy); !missing.empty())
    return refuse(fmt::format("is a shard, and in its run {} {} of {} {} not passed",
                              missing.size() == 1 ? "shard" : "shards", text::first(missing, 5), total,
                              missing.size() == 1 ? "has" : "have"));
  auto whole = joined(shards);
  auto asked = asked_tests(shards, question.rule);
  if (whole.stored->record.passed < asked)
    return refuse(fmt::format("is one of {} shards, which passed {} tests together, and {} are asked for", total,
                              whole.stored->record.passed, asked));
  into.counted.push_back(std::move(whole));
}

} // namespace

void join_shards(const Question& question, Sorted& sorted) {
  std::map<ShardedRun, Newest> runs;
  for (const auto& one : sorted.counted)
    if (const auto& shard = one.stored->record.shard)
      runs[run_of(one)].insert_or_assign(shard->index, one); // the oldest comes first
  if (runs.empty()) return;
  // A failure counts no more once the same shard has passed later.
  std::erase_if(sorted.counted, [&](const Counted& one) {
    const auto& record = one.stored->record;
    if (!record.shard || is_pass(record, question.policy)) return record.shard.has_value();
    const auto& newest = runs.at(run_of(one)).at(record.shard->index);
    return question.policy.flaky == Flaky::latest && is_pass(newest.stored->record, question.policy);
  });
  for (const auto& [run, shards] : runs) take_run(shards, question, sorted);
  put_in_order(question.policy, sorted);
}

} // namespace quarry::gate
