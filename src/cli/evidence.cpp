#include "cli/evidence.hpp"

#include "base/one_line.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/facts.hpp"
#include "cli/next_command.hpp"
#include "cli/records.hpp"
#include "registry/registry.hpp"
#include "trial/foreign.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

using registry::EvidenceRecord;
using registry::Outcome;

constexpr std::size_t k_failures_shown = 20;

Json subjects_json(const EvidenceRecord& e) {
  Json list = Json::array();
  for (const auto& subject : e.subjects)
    list.push_back({{"filename", subject.filename}, {"sha256", subject.sha256.hex()}});
  return list;
}

} // namespace

std::string counts_text(const EvidenceRecord& e) {
  auto text = fmt::format("{} passed", e.passed);
  if (e.failed) text += fmt::format(", {} failed", e.failed);
  if (e.errors) text += ", " + units::things(e.errors, "error");
  if (e.skipped) text += fmt::format(", {} skipped", e.skipped);
  return text;
}

std::string suite_text(const EvidenceRecord& e) {
  auto suite = text::one_line(e.suite);
  return e.shard ? fmt::format("{} (shard {} of {})", suite, e.shard->index, e.shard->total) : suite;
}

Json test_summary(const EvidenceRecord& e, const std::string& digest) {
  return {
      {"evidence", digest},
      {"result", e.result},
      {"suite", e.suite},
      {"cell", cell_json(e.cell)},
      {"counts", {{"passed", e.passed}, {"failed", e.failed}, {"skipped", e.skipped}, {"errors", e.errors}}},
      {"set", e.set},
      {"sets", e.sets},
      {"sealed", e.sealed},
      {"reported", e.reported},
      {"shard", e.shard ? Json{{"index", e.shard->index}, {"total", e.shard->total}, {"run", e.shard->run}} : Json()},
      {"started", e.started},
      {"ended", e.ended},
      {"log", e.log}};
}

Tone outcome_tone_of(const Outcome& result) { return result == Outcome::passed ? Tone::good : Tone::bad; }

std::string rows_text(const EvidenceRecord& e, const std::vector<Outcome>& outcomes, Look look) {
  std::vector<std::string> lines;
  for (const auto& row : e.rows) {
    if (std::find(outcomes.begin(), outcomes.end(), row.outcome) == outcomes.end()) continue;
    auto message = text::lines(row.message); // what is printed of it is one line, as the name
    auto word = row.outcome == Outcome::failed    ? painted("FAILED", Tone::bad, look.color)
                : row.outcome == Outcome::skipped ? std::string("skipped")
                                                  : painted("ERROR ", Tone::bad, look.color);
    auto name = text::one_line(row.name);
    lines.push_back(fmt::format("  {}  {}{}", word, name, message.empty() ? "" : ": " + text::one_line(message[0])));
  }
  return first_rows(std::move(lines), k_failures_shown);
}

std::string failures_text(const EvidenceRecord& e, Look look) {
  return rows_text(e, {Outcome::failed, Outcome::error}, look);
}

void warn_of_clock(Context& context, store::ObjectReader& store, const registry::EvidenceRecord& evidence,
                   const registry::EvidenceDigest& digest) {
  auto key = registry::evidence_key(digest);
  auto info = store.head(key);
  auto ahead = trial::ahead_of(evidence, info && *info ? (*info)->modified_us : 0);
  if (ahead.empty()) return;
  bool passed = evidence.result == Outcome::passed;
  context.out.findings({{"X032", Severity::warning, key,
                         fmt::format("{}, so it {}", ahead,
                                     passed ? "does not count for any gate" : "counts from the time it was stored"),
                         "set the clock of the machine that tested (`timedatectl`), and test again"}});
}

void say_recorded(Context& context, const RecordedEvidence& recorded) {
  const auto& [evidence, digest, store, schema] = recorded;
  context.out.data(failures_text(evidence, context.out.data_look()));
  context.out.data(fact("evidence", "{}", digest) + fact("log", "{}", evidence.log));
  auto document = test_summary(evidence, digest);
  document["schema"] = schema;
  document["subjects"] = subjects_json(evidence);
  context.out.document(document);
  if (evidence.result != Outcome::passed)
    context.out.note("next: " +
                     NextCommand(context, "evidence log").operand(digest.substr(0, 12)).set("--store", store).text());
}

} // namespace quarry::cli
