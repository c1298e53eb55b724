#include "artifact/case_rule.hpp"
#include "artifact/verify.hpp"
#include "base/codes.hpp"
#include "base/units.hpp"
#include "cli/artifacts.hpp"
#include "cli/commands.hpp"
#include "cli/records.hpp"
#include "cli/table.hpp"
#include "run/locator.hpp"
#include <fmt/core.h>
#include <map>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {
using artifact::SourceItem;

// list

std::string artifact_form_of(const SourceItem& item) {
  return item.exploded ? "directory" : std::string(suffix_of(item.compression)).substr(1);
}

std::string dash_if_empty(const std::string& text) { return text.empty() ? "-" : text; }

/// What the artifacts of one component and target hold together.
class Totals {
public:
  void add(const artifact::Name& name, std::uint64_t bytes) {
    auto& row = rows_[{name.component, name.target}];
    ++row.first;
    row.second += bytes;
  }
  TableRows rows() const {
    TableRows out{{"component", "target", "artifacts", "size"}};
    for (const auto& [key, row] : rows_)
      out.push_back(
          {dash_if_empty(key.first), dash_if_empty(key.second), std::to_string(row.first), units::bytes(row.second)});
    return out;
  }
  Json json() const {
    Json out = Json::array();
    for (const auto& [key, row] : rows_)
      out.push_back({{"component", key.first}, {"target", key.second}, {"artifacts", row.first}, {"size", row.second}});
    return out;
  }

private:
  std::map<std::pair<std::string, std::string>, std::pair<std::uint64_t, std::uint64_t>> rows_;
};

Result<int> run_artifact_list(Context& context, const Arguments& arguments) {
  TRY(auto source, artifact_source(context, arguments.operands[0], arguments));
  for (const auto& line : source.incomplete)
    source.findings.push_back({"A035", Severity::warning, source.description, line, "more may come, or be missing"});
  TRY(auto items, selected_artifacts(context, source, arguments, arguments.list("--include")));
  Json list = Json::array();
  TableRows rows{{"name", "component", "target", "form", "size", "checksum"}};
  std::uint64_t total = 0;
  Totals totals;
  for (const auto& item : items) {
    TRY(auto size, size_of(item));
    total += size.bytes;
    totals.add(item.name, size.bytes);
    auto checksum = item.defect     ? item.defect->code
                    : item.checksum ? "sha256 " + item.checksum->short_hex()
                    : item.exploded ? "-"
                                    : "none";
    rows.push_back({item.name.name, dash_if_empty(item.name.component), dash_if_empty(item.name.target),
                    artifact_form_of(item), units::bytes(size.bytes), checksum});
    auto entry = name_json(item.name);
    entry.update({{"form", artifact_form_of(item)},
                  {"file", item.file},
                  {"size", size.bytes},
                  {"sha256", digest_json(item.checksum)}});
    if (item.defect) {
      source.findings.push_back(
          {item.defect->code, Severity::error, item.file, item.defect->message, item.defect->hint});
      entry["defect"] = item.defect->code;
    }
    list.push_back(std::move(entry));
  }
  context.out.data(
      table({k_name, k_text, k_text, k_text, k_number, k_text}, rows, context.out.data_look()) + "\n" +
      table({k_text, k_text, k_number, k_number}, totals.rows(), context.out.data_look()) +
      fmt::format("\n{}  {}  {}\n", units::things(items.size(), "artifact"), units::bytes(total), source.description));
  context.out.document({{"source", source.description},
                        {"artifacts", list},
                        {"totals", totals.json()},
                        {"size", total},
                        {"findings", findings_json(source.findings)}});
  context.out.findings(source.findings);
  return has_errors(source.findings) ? traits(ErrorKind::corrupt).exit_code : 0;
}

Command artifact_list_command() {
  return {.path = {"artifact", "list"},
          .summary = "names, components, targets and sizes",
          .description = "Lists the artifacts of a directory or a run, then how much each component and target holds. "
                         "No archive is opened: `quarry artifact verify` "
                         "looks inside. Artifacts that exist there "
                         "twice, have a malformed checksum file or lack their manifest are findings.",
          .operands = {{.name = "LOCATOR", .help = std::string(k_artifact_locator_help)}},
          .flags = joined({artifact_source_flags(), {include_flag()}, artifact_selection_flags()}),
          .examples = {{"quarry artifact list run:42 --store file:store", "what run 42 left"},
                       {"quarry artifact list s3://therock-ci-artifacts/19680190301-linux", "of a run in a bucket"}},
          .exit_codes = {{3, "no artifact there, or none for the group"},
                         {6, "an artifact is defective; its finding says how"}},
          .schema = "quarry.artifact-list/1",
          .run = run_artifact_list};
}

// verify

/// Nothing was fetched here, so there is nothing to repeat: an archive is got, or made, again.
Error with_next_step(Error error, const std::string& locator) {
  if (!error.is(codes::checksum_differs)) return error;
  auto parsed = run::parse_locator(locator);
  error.hint =
      parsed && parsed->kind == run::LocatorKind::path
          ? "get it again with `quarry artifact fetch --no-extract --from LOCATOR --output-dir DIR`, or make it "
            "again with `quarry artifact pack`"
          : "the upload is damaged: build and `quarry run upload` as another run, since a stored name never gets "
            "other bytes";
  return error;
}

Result<int> run_artifact_verify(Context& context, const Arguments& arguments) {
  TRY(auto source, artifact_source(context, arguments.operands[0], arguments));
  for (const auto& line : source.incomplete)
    source.findings.push_back({"A035", Severity::warning, source.description, line, "more may come, or be missing"});
  TRY(auto items, selected_artifacts(context, source, arguments, arguments.list("--include")));
  artifact::VerifyOptions options;
  options.jobs = context.jobs;
  TRY(options.at_once, archives_at_once(source, arguments));
  options.remote = source.remote;
  options.allow_unverified = arguments.has("--allow-unverified");
  TRY(options.max_ratio, max_ratio(arguments));
  std::uint64_t total = 0;
  for (const auto& item : items) total += item.size;
  Meter meter(context, "verifying", total);
  options.on_bytes = [&](std::uint64_t bytes) { meter.add(bytes); };
  TRY(auto verdicts, artifact::verify(items, options));
  auto seconds = meter.finish();

  Json list = Json::array();
  TableRows rows;
  std::size_t sound = 0;
  std::uint64_t looked_at = 0; // of archives, what is in them
  for (const auto& verdict : verdicts) {
    std::string state = verdict.error ? "damaged" : verdict.verified ? "sound" : "unverified";
    auto facts = verdict.error
                     ? verdict.error->code
                     : fmt::format("{}  {}{}", units::things(verdict.files, "file"), units::bytes(verdict.bytes),
                                   verdict.exploded   ? "  exploded directory, has no checksum"
                                   : verdict.verified ? ""
                                                      : "  no checksum file");
    looked_at += verdict.bytes;
    artifact::note_case_pairs(verdict.case_pairs, verdict.file, source.findings);
    auto tone = verdict.error ? Tone::bad : verdict.verified ? Tone::good : Tone::doubtful;
    rows.push_back({{state, tone}, verdict.file, facts});
    auto entry = name_json(verdict.name);
    entry.update({{"file", verdict.file},
                  {"state", state},
                  {"sha256", digest_json(verdict.digest)},
                  {"files", verdict.files},
                  {"size", verdict.bytes}});
    if (verdict.error) {
      entry["error"] = error_json(*verdict.error);
      context.out.warn(render(with_next_step(*verdict.error, arguments.operands[0])));
    } else
      ++sound;
    list.push_back(std::move(entry));
  }
  context.out.data(table({k_text, k_name, k_text}, rows, context.out.data_look()));
  context.out.data(fmt::format("{} of {} sound  {}  {}\n", sound, units::things(verdicts.size(), "artifact"),
                               units::bytes(looked_at), units::seconds(seconds)));
  context.out.document(
      {{"source", source.description}, {"artifacts", list}, {"findings", findings_json(source.findings)}});
  context.out.findings(source.findings);
  return artifact::exit_code_of(verdicts);
}

Command artifact_verify_command() {
  return {.path = {"artifact", "verify"},
          .summary = "checksums and structure, nothing written",
          .description = "Reads every archive to its last byte: its checksum file, the compression's own checks, every "
                         "tar header, names and links that would lead outside, "
                         "the manifest and what it names. Exploded directories have no checksum: their manifest, names "
                         "and links are checked, and the result says so.",
          .operands = {{.name = "LOCATOR", .help = std::string(k_artifact_locator_help)}},
          .flags =
              joined({artifact_source_flags(), {include_flag()}, artifact_selection_flags(), artifact_trust_flags()}),
          .examples = {{"quarry artifact verify run:42 --store file:store", "is the upload complete and undamaged?"}},
          .exit_codes = {{3, "no artifact there"}, {6, "an artifact is damaged, or has no checksum file"}},
          .schema = "quarry.artifact-verify/1",
          .run = run_artifact_verify};
}

} // namespace

std::vector<Command> artifact_commands() {
  return {artifact_fetch_command(), artifact_find_command(),    artifact_list_command(),
          artifact_pack_command(),  artifact_tarball_command(), artifact_verify_command()};
}

} // namespace quarry::cli
