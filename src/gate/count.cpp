#include "gate/count.hpp"

#include "base/text.hpp"
#include "dist/family.hpp"
#include "gate/machines.hpp"
#include "registry/evidence_counts.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::gate {

namespace {

using registry::Cell;
using registry::EvidenceRecord;
using registry::FileRecord;
using registry::Outcome;

bool is_any(std::string_view wanted, std::string_view have) { return wanted.empty() || wanted == have; }

// A plan's cell with python empty asks for any; evidence must always say where it was made.
bool same_place(const Cell& wanted, const Cell& have) {
  // A framework that is built for all families was tested on one of them.
  bool family = (wanted.family.empty() && !wanted.framework.empty()) ||
                dist::family_key(wanted.family) == dist::family_key(have.family);
  return wanted.platform == have.platform && family && is_any(wanted.python, have.python) && !have.python.empty();
}

bool same_cell(const Cell& wanted, const Cell& have) {
  return same_place(wanted, have) && wanted.framework == have.framework && wanted.backend == have.backend;
}

bool same_file(const FileRecord& a, const FileRecord& b) { return a.sha256 == b.sha256 && a.filename == b.filename; }

bool holds(const std::vector<FileRecord>& files, const FileRecord& wanted) {
  return std::any_of(files.begin(), files.end(), [&](const FileRecord& f) { return same_file(f, wanted); });
}

struct Cover {
  std::size_t matched = 0, allied = 0;
  std::string missing, foreign; ///< one name of each
};

Cover compare(const CellPlan& plan, const EvidenceRecord& evidence, const Files& allied) {
  Cover cover;
  for (const auto* file : plan.files) {
    if (holds(evidence.subjects, *file))
      ++cover.matched;
    else if (cover.missing.empty())
      cover.missing = file->filename;
  }
  for (const auto& subject : evidence.subjects) {
    bool ours =
        std::any_of(plan.files.begin(), plan.files.end(), [&](const auto* f) { return same_file(*f, subject); });
    bool known = !ours && !evidence.sets.empty() && allied.contains({subject.sha256, subject.filename});
    cover.allied += known;
    if (!ours && !known && cover.foreign.empty()) cover.foreign = subject.filename;
  }
  if (cover.missing.empty() && cover.foreign.empty() && evidence.subjects.size() != plan.files.size() + cover.allied)
    cover.foreign = "a file named twice";
  return cover;
}

std::string cover_defect(const CellPlan& plan, const EvidenceRecord& evidence, const Files& allied) {
  auto cover = compare(plan, evidence, allied);
  if (cover.matched == 0) return "is about other files";
  if (!cover.missing.empty())
    return fmt::format("covers {} of {} files ({} is missing)", cover.matched, plan.files.size(), cover.missing);
  if (!cover.foreign.empty() && !evidence.sets.empty())
    return fmt::format("was made together with {}, which neither this release nor the channel has", cover.foreign);
  if (!cover.foreign.empty()) return fmt::format("is also about {}, which the cell does not have", cover.foreign);
  return {};
}

// A record that says two things at once says nothing.
std::string contradiction(const EvidenceRecord& evidence) {
  const auto& r = evidence.result;
  if (!r.kind() || r == Outcome::skipped) return fmt::format("has the unknown outcome \"{}\"", r.text());
  if (r == Outcome::passed && (evidence.failed || evidence.errors)) return "says passed and counts failures";
  if (r == Outcome::passed && evidence.passed == 0) return "says passed, and no test has passed";
  return registry::counts_its_rows(evidence) ? "" : "has counts that do not agree with its rows";
}

/// What the policy's [[suite]] asks for, and the record does not show.
std::string suite_defect(const EvidenceRecord& evidence, const Question& question) {
  const auto& rule = *question.rule;
  const auto& cell = question.plan.cell;
  if (!rule.digests.empty() &&
      std::find(rule.digests.begin(), rule.digests.end(), evidence.suite_digest) == rule.digests.end())
    return fmt::format("ran another definition of {} ({})", rule.name, evidence.suite_digest.substr(0, 12));
  bool own = std::any_of(evidence.subjects.begin(), evidence.subjects.end(), [&](const FileRecord& f) {
    return f.project == dist::k_sdk_project && f.sha256.hex() == evidence.suite_digest;
  });
  if (rule.packaged && !own) return "did not run the tests inside the packages";
  bool whole = !evidence.shard; // the tests of all shards are counted together (gate/shards.hpp)
  if (whole && evidence.result == Outcome::passed && evidence.passed < static_cast<std::uint64_t>(rule.min_passed))
    return fmt::format("passed {} tests, and the policy asks for {}", evidence.passed, rule.min_passed);
  bool opens = evidence.result == Outcome::passed || question.failure_opens;
  if (!rule.gpu || !opens) return {}; // a failure holds wherever it happened
  if (!evidence.reported.empty() && !rule.reported)
    return "takes a report's word for the GPU, and the policy wants a machine on which quarry saw it";
  if (!evidence.reported.empty() && evidence.cell.platform != Platform::windows)
    return "takes a report's word for the GPU where quarry reads it from the kernel: run `quarry test` there";
  auto targets = evidence.machine.find("gpu_targets");
  if (targets == evidence.machine.end() || targets->second.empty())
    return "was made on a machine that shows no GPU which the tests could open";
  for (const auto& target : text::split(targets->second, ' '))
    if (cell.family.empty() || dist::belongs({target, cell.family})) return {};
  return fmt::format("was made on {}, which is not of {}", targets->second, cell.family);
}

/// `stored_us` as assess() has it. `ended_us` becomes the time at which the result counts.
std::string time_defect(const EvidenceRecord& evidence, const Question& question, std::int64_t stored_us,
                        std::int64_t& ended_us) {
  if (evidence.started.empty() || evidence.ended.empty()) return "has times that cannot be read";
  ended_us = evidence.ended.us();
  if (evidence.ended < evidence.started) return "ended before it started";
  if (stored_us && ended_us > stored_us) {
    auto ahead_us = ended_us - stored_us;
    ended_us = stored_us;
    bool opens = evidence.result == Outcome::passed || question.failure_opens;
    if (opens && ahead_us > k_clock_skew_us) // its real time is not known; a failure holds from when it was known
      return fmt::format("ended {} after it was stored, so the clock of its machine was wrong", age_text(ahead_us));
  }
  if (ended_us > question.now_us + k_clock_skew_us) return "is from the future";
  if (question.now_us - ended_us > question.max_age_us)
    return fmt::format("is {} old, and the policy takes at most {}", age_text(question.now_us - ended_us),
                       age_text(question.max_age_us));
  return {};
}

/// Why a waiver that is meant for the question does not count; empty if it does.
std::string waiver_defect(const registry::WaiverRecord& waiver, const Question& question) {
  const auto& policy = question.policy;
  const auto &created = waiver.created, &expires = waiver.expires;
  if (created.empty() || expires.empty()) return "its times cannot be read";
  if (expires.us() <= question.now_us) return fmt::format("it expired {}", waiver.expires);
  if (created.us() > question.now_us + k_clock_skew_us) return "it is from the future";
  if (expires.us() - created.us() > policy.waiver_max_age_us)
    return fmt::format("it runs for {}, and the policy allows {}", age_text(expires.us() - created.us()),
                       age_text(policy.waiver_max_age_us));
  if (std::find(policy.approvers.begin(), policy.approvers.end(), waiver.approver) == policy.approvers.end())
    return fmt::format("policy {} does not let {} waive", policy.name, waiver.approver);
  if (policy.requester == Requester::approver && waiver.requester != waiver.approver)
    return fmt::format("{} made it, and policy {} wants the approver to",
                       waiver.requester.empty() ? "nobody knows who" : waiver.requester, policy.name);
  if (policy.requester == Requester::another && (waiver.requester.empty() || waiver.requester == waiver.approver))
    return fmt::format("policy {} wants somebody else than the approver to make it", policy.name);
  if (text::trim(waiver.reason).empty()) return "it gives no reason";
  return {};
}

} // namespace

EvidenceStatus assess(const EvidenceRecord& evidence, const Question& question, std::int64_t stored_us) {
  const auto& plan = question.plan;
  if (evidence.suite != question.suite || !same_cell(plan.cell, evidence.cell)) return {};
  auto cover = cover_defect(plan, evidence, question.allied);
  bool together = std::find(evidence.sets.begin(), evidence.sets.end(), plan.set) != evidence.sets.end();
  if (evidence.set != plan.set && !together) {
    // Most records are about earlier sets; only one about the very same files is worth explaining.
    if (!cover.empty()) return {};
    return {Standing::refused,
            evidence.set.empty() && evidence.sets.empty() ? "is not bound to a set"
            : evidence.set.empty()                        ? "is for other sets"
                                                          : fmt::format("is for set {}", evidence.set.short_hex()),
            0};
  }
  EvidenceStatus result;
  auto time = time_defect(evidence, question, stored_us, result.ended_us);
  auto why = !evidence.sealed ? std::string("was made from an unsealed source")
             : !cover.empty() ? cover
             : !time.empty()  ? time
                              : contradiction(evidence);
  if (why.empty()) why = set_aside(question.policy, evidence, question.now_us);
  if (why.empty() && question.rule) why = suite_defect(evidence, question);
  result.standing = why.empty() ? Standing::counts : Standing::refused;
  result.why = std::move(why);
  return result;
}

std::string near_miss(const EvidenceRecord& evidence, const Question& question) {
  const auto &wanted = question.plan.cell, &have = evidence.cell;
  bool about_it = evidence.suite == question.suite && same_place(wanted, have) &&
                  (evidence.set == question.plan.set || std::ranges::count(evidence.sets, question.plan.set)) &&
                  cover_defect(question.plan, evidence, question.allied).empty();
  if (!about_it) return {};
  if (wanted.framework != have.framework)
    return have.framework.empty() ? fmt::format("does not say `--framework {}`", wanted.framework)
                                  : fmt::format("is about framework {}", have.framework);
  if (wanted.backend == have.backend) return {};
  return have.backend.empty() ? fmt::format("does not say `--backend {}`", wanted.backend)
                              : fmt::format("was computed on {}", have.backend);
}

WaiverStatus assess(const registry::WaiverRecord& waiver, const std::string& channel, const Question& question) {
  const auto& cell = question.plan.cell;
  bool meant = waiver.channel == channel && is_any(waiver.suite, question.suite) &&
               is_any(waiver.cell.platform.text(), cell.platform.text()) &&
               (waiver.cell.family.empty() || dist::family_key(waiver.cell.family) == dist::family_key(cell.family)) &&
               is_any(waiver.cell.python, cell.python) && is_any(waiver.cell.framework, cell.framework) &&
               is_any(waiver.cell.backend, cell.backend);
  if (!waiver.sets.empty())
    meant = meant && std::find(waiver.sets.begin(), waiver.sets.end(), question.plan.set) != waiver.sets.end();
  if (!meant) return {};
  auto why = waiver_defect(waiver, question);
  return {why.empty() ? Standing::counts : Standing::refused, std::move(why)};
}

std::string age_text(std::int64_t age_us) {
  auto minutes = std::max<std::int64_t>(0, age_us) / 60'000'000;
  if (minutes < 1) return "less than a minute";
  if (minutes < 120) return fmt::format("{} min", minutes);
  if (minutes < 48 * 60) return fmt::format("{} h", minutes / 60);
  return fmt::format("{} d", minutes / (24 * 60));
}

} // namespace quarry::gate
