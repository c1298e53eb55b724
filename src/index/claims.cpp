#include "index/claims.hpp"

#include "dist/name.hpp"
#include "dist/version.hpp"
#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace quarry::index {

namespace {

Finding warning_at(std::string place, std::string code, std::string message, std::string_view fix = k_rebuild) {
  return {std::move(code), Severity::warning, std::move(place), std::move(message), std::string(fix)};
}

void judge_name(const Claim& claim, const std::string& project, Findings& findings) {
  auto name = dist::DistributionName::parse(claim.file.filename);
  if (!name)
    findings.push_back(error_at(claim.place, "I017", name.error().message));
  else if (!project.empty() && name->project.str() != project)
    findings.push_back(error_at(claim.place, "I017", fmt::format("the file belongs to {}", name->project.str())));
  if (claim.file.url_name() != claim.file.filename)
    findings.push_back(error_at(claim.place, "I017", fmt::format("the link ends in {:?}", claim.file.url_name())));
}

Finding null_field(const std::string& place, const std::string& field) {
  if (field == "legacy") return warning_at(place, "I016", "data-dist-info-metadata makes pip 22.3 and 23.0 drop files");
  return error_at(place, "I016",
                  fmt::format("\"{}\" is null or of the wrong type, for which uv rejects the page", field));
}

void judge_fields(const Claim& claim, Findings& findings) {
  const auto& file = claim.file;
  if (file.hashes.empty() && file.untested)
    findings.push_back(
        warning_at(claim.place, "I011", "no hash: untested history, whose bytes nobody has read",
                   "`quarry set adopt --seal` reads them, and its pages have hashes; after a rollback it says "
                   "what to unblock first"));
  else if (file.hashes.empty())
    findings.push_back(error_at(claim.place, "I011", "no hash"));
  else if (!file.sha256())
    findings.push_back(error_at(claim.place, "I011", "no sha256 that can be read"));
  for (const auto& field : file.nulls) findings.push_back(null_field(claim.place, field));
  if (file.url.find('?') != std::string::npos)
    findings.push_back(error_at(claim.place, "I016", "a query in a link breaks the address of its metadata"));
  if (!dist::Specifiers::parse(file.requires_python))
    findings.push_back(
        warning_at(claim.place, "I016",
                   fmt::format("requires-python {:?} cannot be read, so uv drops the file", file.requires_python),
                   "correct the distribution's metadata"));
  if (!file.core_metadata.empty() && !file.filename.ends_with(".whl"))
    findings.push_back(
        error_at(claim.place, "I014",
                 "a source distribution with a metadata file is installed without being asked for its dependencies"));
}

void add_altered(Judgement& judgement, Finding finding) {
  judgement.altered = true;
  judgement.findings.push_back(std::move(finding));
}

void judge_sidecar(const Claim& claim, const FileFacts& facts, Judgement& judgement) {
  if (claim.file.core_metadata.empty())
    return judgement.findings.push_back(
        warning_at(claim.place, "I014", "no metadata file is offered, so resolvers fetch the wheel"));
  const auto& sidecar = facts.sidecar;
  if (!sidecar)
    return judgement.findings.push_back(
        error_at(claim.place, "I014", "the metadata file that the page offers does not exist, which stops every pip"));
  auto expected = claim.file.core_metadata == "true" ? "true" : "sha256=" + sha256(*sidecar).hex();
  if (claim.file.core_metadata != expected)
    add_altered(judgement,
                error_at(claim.place, "I014", "the metadata file does not have the hash that the page says"));
  if (facts.read && *sidecar != facts.metadata)
    add_altered(judgement, error_at(claim.place, "I014", "the metadata file is not a copy of the wheel's METADATA"));
}

} // namespace

Finding error_at(std::string place, std::string code, std::string message, std::string_view fix) {
  return {std::move(code), Severity::error, std::move(place), std::move(message), std::string(fix)};
}

Findings judge_page(const Site& site, const PageOfFiles& where, const IndexPage& page, Claims& claims) {
  Findings findings;
  if (page.has_base) findings.push_back(error_at(where.place, "I016", "<base> is read differently by installers"));
  std::set<std::string> names;
  for (const auto& file : page.files) {
    Claim claim{where.place + ": " + file.filename, file};
    if (!names.insert(file.filename).second)
      findings.push_back(error_at(claim.place, "I017", "the file is listed twice"));
    judge_name(claim, where.project, findings);
    judge_fields(claim, findings);
    if (auto target = site.target(where.directory, file.url))
      claims[*target].push_back(std::move(claim));
    else
      findings.push_back({"I010", Severity::note, claim.place, "the link leads elsewhere and was not followed", ""});
  }
  return findings;
}

Judgement judge_claim(const Claim& claim, const std::string& target, const FileFacts& facts) {
  Judgement judgement;
  if (!facts.exists) {
    auto state = facts.denied ? "is refused (403)" : "does not exist";
    judgement.findings.push_back(
        error_at(claim.place, "I010", fmt::format("the link leads to {}, which {}", shown_target(target), state)));
    return judgement;
  }
  if (claim.file.size && claim.file.size != facts.size)
    add_altered(judgement,
                error_at(claim.place, "I013",
                         fmt::format("the page says {} bytes, the file has {}", *claim.file.size, facts.size)));
  if (auto expected = claim.file.sha256(); facts.read && expected && *expected != facts.sha256)
    add_altered(judgement,
                error_at(claim.place, "I012",
                         fmt::format("the page says sha256 {}, the file has {}", expected->hex(), facts.sha256.hex()),
                         "the file was altered: publish it again from its source"));
  if (facts.read && facts.findings.empty() && claim.file.requires_python != facts.requires_python)
    judgement.findings.push_back(error_at(claim.place, "I019",
                                          fmt::format("the page requires Python {:?}, the file {:?}",
                                                      claim.file.requires_python, facts.requires_python)));
  if (claim.file.filename.ends_with(".whl")) judge_sidecar(claim, facts, judgement);
  return judgement;
}

} // namespace quarry::index
