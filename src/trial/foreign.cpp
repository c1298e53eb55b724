#include "trial/foreign.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "dist/family.hpp"
#include "dist/name.hpp"
#include "registry/registry.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "trial/device_code.hpp"
#include "trial/evidence.hpp"
#include "trial/trial.hpp"
#include "venv/proof.hpp"
#include "venv/stage.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <set>

namespace quarry::trial {

namespace {

using registry::Outcome;

constexpr std::size_t k_text_bytes_max = 1024; // a fact of a machine, a name, a version: a line

class ForeignReader {
public:
  ForeignReader(const Json& document, std::string what) : document_(document), what_(std::move(what)) {}

  Result<void> read(ForeignReport& into) {
    TRY_DO(read_facts(into));
    TRY(const auto* claims, list(document_, "distributions"));
    std::set<std::string> projects;
    for (const auto& item : *claims) {
      TRY(auto claim, read_claim(item));
      if (!projects.insert(claim.project).second) return lacking(claim.project + " is listed twice");
      into.claims.push_back(std::move(claim));
    }
    if (into.claims.empty()) return lacking("it lists no installed distribution");
    TRY(const auto* others, list(document_, "others"));
    for (const auto& item : *others) {
      TRY(auto project, line(item, "project"));
      TRY(auto version, line(item, "version"));
      into.others.push_back({std::move(project), std::move(version)});
    }
    return {};
  }

private:
  Unexpected lacking(std::string_view why) const {
    return fail(ErrorKind::corrupt, "X013", fmt::format("{} is not enough for evidence: {}", what_, why),
                "make it with `rocm-sdk test --json FILE` of a release that reports its files");
  }

  Result<std::string> line(const Json& object, std::string_view key, bool may_be_empty = false) const {
    auto found = object.is_object() ? object.find(key) : object.end();
    if (!object.is_object() || found == object.end() || !found->is_string())
      return lacking(fmt::format("it lacks \"{}\"", key));
    auto value = found->get<std::string>();
    if (value.size() > k_text_bytes_max || value.find('\n') != value.npos || (value.empty() && !may_be_empty))
      return lacking(fmt::format("\"{}\" is not one line of text", key));
    return value;
  }

  Result<const Json*> list(const Json& object, std::string_view key) const {
    auto found = object.find(key);
    if (found == object.end() || !found->is_array()) return lacking(fmt::format("it lacks \"{}\"", key));
    if (found->size() > k_distributions_max)
      return lacking(fmt::format("\"{}\" has more than {} items", key, k_distributions_max));
    return &*found;
  }

  Result<void> read_facts(ForeignReport& into) {
    TRY(auto platform, line(document_, "platform"));
    into.platform = Platform::read(platform);
    if (!into.platform.kind()) return lacking(fmt::format("its platform is \"{}\"", platform));
    TRY(into.python, line(document_, "python"));
    TRY(into.family, line(document_, "family", true));
    TRY(auto started_text, line(document_, "started"));
    TRY(auto ended_text, line(document_, "ended"));
    auto started = sys::Timestamp::parse(started_text), ended = sys::Timestamp::parse(ended_text);
    if (!started || !ended || *ended < *started)
      return lacking("it ends before it starts, or one of the two times cannot be read");
    into.started = std::move(*started);
    into.ended = std::move(*ended);
    TRY(const auto* only, list(document_, "only"));
    if (!only->empty())
      return fail(ErrorKind::corrupt, "X014", fmt::format("{} is of some tests only", what_),
                  "run `rocm-sdk test --json FILE` without --only");
    auto machine = document_.find("machine");
    if (machine == document_.end() || !machine->is_object() || machine->size() > 100)
      return lacking("it lacks \"machine\"");
    for (const auto& [key, value] : machine->items()) {
      TRY(into.machine[key], line(*machine, key, true));
    }
    if (!into.machine.contains("host")) return lacking("it does not name its host");
    return {};
  }

  Result<Sha256> digest(const Json& value, std::string_view key) const {
    auto found = value.is_string() ? Sha256::from_hex(value.get<std::string>()) : std::nullopt;
    if (!found) return lacking(fmt::format("\"{}\" is not a sha256", key));
    return *found;
  }

  Result<std::optional<Sha256>> digest_at(const Json& object, std::string_view key) const {
    auto found = object.find(key);
    if (found == object.end()) return std::optional<Sha256>();
    TRY(auto value, digest(*found, key));
    return std::optional(value);
  }

  Result<venv::Claim> read_claim(const Json& item) const {
    venv::Claim claim;
    TRY(auto name, line(item, "project"));
    auto project = dist::ProjectName::parse(name);
    if (!project) return lacking(project.error().message);
    claim.project = project->str();
    TRY(claim.version, line(item, "version"));
    TRY(auto content, digest_at(item, "content_sha256"));
    if (!content) return lacking(fmt::format("{} has no \"content_sha256\"", claim.project));
    claim.content = *content;
    TRY(claim.payload, digest_at(item, "payload_sha256"));
    TRY(claim.expanded, digest_at(item, "expanded_sha256"));
    if (!item.contains("files")) return claim;
    TRY(const auto* files, list(item, "files"));
    for (const auto& row : *files) {
      if (!row.is_array() || row.size() < 2 || !row[0].is_string()) return lacking("a file has no path and sha256");
      TRY(claim.files[row[0].get<std::string>()], digest(row[1], "sha256"));
    }
    return claim;
  }

  const Json& document_;
  std::string what_;
};

Result<venv::Source> sealed_source(const RecordOptions& options, store::ObjectReader& store) {
  venv::SourceRequest request;
  request.locator = options.locator;
  request.store = &store;
  TRY(auto source, venv::find_source(request));
  if (!source.sealed || source.is_remote())
    return fail(ErrorKind::invalid_argument, "X015",
                fmt::format("{} is not a sealed set, so there is nothing to bind a report to", source.description),
                "name the published set: --from run:ID, set:DIGEST or channel:NAME");
  return source;
}

/// Fetches from a remote store only the files that the report names: a run has packages of other families, too.
Result<void> bring_here(venv::Source& source, const ForeignReport& report, const RecordOptions& options,
                        store::ObjectReader& store, venv::VerifiedPaths& verified) {
  std::set<std::string> claimed;
  for (const auto& claim : report.claims) claimed.insert(claim.project);
  std::erase_if(source.files,
                [&](const auto& file) { return file.path.empty() && !claimed.contains(file.file.project); });
  return venv::stage_files(source, &store, options.directory, options.workers, verified);
}

Outcome result_of(Report& tests) {
  if (tests.errors) return Outcome::error;
  if (tests.failed) return Outcome::failed;
  if (tests.passed) return Outcome::passed;
  tests.add({"report", Outcome::error, "no test has passed", 0});
  return Outcome::error;
}

// "3.12.4" -> "3.12"
std::string minor_of(const std::string& python) {
  auto parts = text::split(python, '.');
  parts.resize(std::min<std::size_t>(parts.size(), 2));
  return text::join(parts, ".");
}

/// What a report says of itself must not contradict which files it proves to have had.
Result<void> check_agreement(const ForeignReport& report, const std::vector<venv::InstalledFile>& files,
                             const std::string& what) {
  auto contradiction = [&](const std::string& why) {
    return fail(ErrorKind::corrupt, "X013", fmt::format("{} contradicts itself: {}", what, why),
                "make it with `rocm-sdk test --json FILE` on the machine that has the packages");
  };
  for (const auto& file : files) {
    bool windows = file.filename.ends_with("-win_amd64.whl");
    bool linux = file.filename.ends_with("_x86_64.whl") && file.filename.find("linux_") != file.filename.npos;
    if ((windows && report.platform != Platform::windows) || (linux && report.platform != Platform::linux))
      return contradiction(fmt::format("its platform is {}, and it had {}", report.platform, file.filename));
    if (file.project == dist::k_sdk_project && !report.tests.version.empty() && report.tests.version != file.version)
      return contradiction(fmt::format("it tested {}, and it had {}", report.tests.version, file.filename));
  }
  return {};
}

// If several families are installed, the report says which was tested.
std::string family_wanted(const RecordOptions& options, const ForeignReport& report,
                          const std::vector<venv::InstalledFile>& files) {
  if (!options.family.empty() || family_of(files, "")) return options.family;
  return report.family;
}

void describe(const ForeignReport& report, const RecordOptions& options, const venv::Source& source,
              const std::vector<venv::InstalledFile>& files, registry::EvidenceRecord& evidence) {
  evidence.cell.platform = report.platform;
  evidence.cell.python = minor_of(report.python);
  evidence.cell.framework = options.framework;
  evidence.cell.backend = options.backend;
  evidence.suite = k_packaged_suite;
  for (const auto& file : files)
    if (file.project == dist::k_sdk_project) evidence.suite_digest = file.sha256.hex();
  evidence.subjects = subjects_of(files);
  evidence.sealed = true;
  evidence.identity = options.identity;
  auto sets = venv::holding_sets(source, files);
  if (sets.size() == 1)
    evidence.set = sets.front();
  else
    evidence.sets = std::move(sets);
  evidence.machine = report.machine;
  evidence.started = report.started;
  evidence.ended = report.ended;
  evidence.reported = "rocm-sdk.test/1 of " + report.machine.at("host");
  evidence.tools = {{"quarry", options.quarry_version}, {"python", report.python}, {"source", source.description}};
  for (const auto& other : report.others) evidence.tools["with " + other.project] = other.version;
  std::erase_if(evidence.tools, [](const auto& tool) { return tool.second.empty(); });
}

} // namespace

Result<ForeignReport> parse_foreign_report(NamedText named) {
  const auto text = named.text;
  const std::string what(named.name);
  ForeignReport report;
  TRY(report.tests, parse_rocm_sdk_report({text, what}));
  TRY(auto document, json::parse({text, what}));
  TRY_DO(ForeignReader(document, what).read(report));
  return report;
}

Result<void> check_job(const registry::EvidenceRecord& evidence, const std::string& job_result) {
  if (job_result.empty() || job_result == "success" || evidence.result != Outcome::passed) return {};
  return fail(
      ErrorKind::corrupt, "X023",
      fmt::format("the result says that {} passed, and the job that made it ended with {}", evidence.suite, job_result),
      "nothing was recorded: look at the log of that job");
}

std::string ahead_of(const registry::EvidenceRecord& evidence, std::int64_t stored_us) {
  constexpr std::int64_t k_minute_us = 60'000'000, k_skew_us = 5 * k_minute_us; // as the gate takes it
  if (evidence.ended.empty() || stored_us == 0) return {};
  auto ahead_us = evidence.ended.us() - stored_us;
  if (ahead_us <= k_skew_us) return {};
  return fmt::format("{} says that it ended at {}, and it was stored at {}", evidence.suite, evidence.ended,
                     sys::rfc3339(stored_us));
}

Result<void> check_time(const registry::EvidenceRecord& evidence, std::int64_t now_us) {
  auto ahead = ahead_of(evidence, now_us);
  if (ahead.empty() || evidence.result != Outcome::passed) return {};
  return fail(ErrorKind::corrupt, "X032", fmt::format("the clock of the machine that tested was wrong: {}", ahead),
              "nothing was recorded: set the clock of that machine (`timedatectl`), and test again");
}

Result<Recorded> record_report(const RecordOptions& options, store::ObjectStore& store) {
  TRY(auto text, sys::read_file(options.report, k_report_bytes_max), "while reading the report");
  TRY(auto report, parse_foreign_report({text, options.report}));
  TRY(auto source, sealed_source(options, store));
  const auto offered = source.files; // also what is not brought here
  venv::VerifiedPaths verified;
  TRY_DO(bring_here(source, report, options, store, verified));
  TRY(auto files, venv::match_claims(source, report.claims, verified));
  TRY_DO(check_agreement(report, files, options.report));
  TRY_DO(check_framework(files, options.framework));
  const std::vector<std::string> asked; // a report does not say what was asked for
  TRY_DO(check_device_code({files, report.others, asked, offered, options.backend}));
  Recorded done;
  auto& evidence = done.evidence;
  describe(report, options, source, files, evidence);
  TRY(evidence.cell.family, family_of(files, family_wanted(options, report, files)));
  evidence.result = result_of(report.tests);
  take_report(std::move(report.tests), evidence);
  TRY_DO(check_job(evidence, options.job_result));
  TRY_DO(check_time(evidence, options.now_us));
  TRY(evidence.log, store_log(store, std::move(text)));
  TRY(done.digest, registry::put_evidence(store, evidence));
  return done;
}

} // namespace quarry::trial
