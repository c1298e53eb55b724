#include "inspect/metadata_rules.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "dist/license_expression.hpp"
#include "dist/platform_parts.hpp"
#include "dist/requirement.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <map>
#include <set>

namespace quarry::inspect {

namespace {
constexpr std::size_t k_metadata_findings_max = 100;
constexpr std::size_t k_files_named = 5;
// Bounds of PyPI: warehouse, forklift/metadata.py.
constexpr std::size_t k_summary_characters_max = 512, k_label_characters_max = 32;

// Versions in their order; 2.0 was never accepted. Core metadata specification, "History".
constexpr std::array<std::string_view, 8> k_metadata_versions{"1.0", "1.1", "1.2", "2.1", "2.2", "2.3", "2.4", "2.5"};

struct FieldOfMetadata {
  std::string_view name, since; ///< lower case; the version that added it
};
constexpr std::array k_fields_of_metadata{
    FieldOfMetadata{"metadata-version", "1.0"},
    FieldOfMetadata{"name", "1.0"},
    FieldOfMetadata{"version", "1.0"},
    FieldOfMetadata{"platform", "1.0"},
    FieldOfMetadata{"summary", "1.0"},
    FieldOfMetadata{"description", "1.0"},
    FieldOfMetadata{"keywords", "1.0"},
    FieldOfMetadata{"home-page", "1.0"},
    FieldOfMetadata{"author", "1.0"},
    FieldOfMetadata{"author-email", "1.0"},
    FieldOfMetadata{"license", "1.0"},
    FieldOfMetadata{"supported-platform", "1.1"},
    FieldOfMetadata{"download-url", "1.1"},
    FieldOfMetadata{"classifier", "1.1"},
    FieldOfMetadata{"requires", "1.1"},
    FieldOfMetadata{"provides", "1.1"},
    FieldOfMetadata{"obsoletes", "1.1"},
    FieldOfMetadata{"maintainer", "1.2"},
    FieldOfMetadata{"maintainer-email", "1.2"},
    FieldOfMetadata{"requires-dist", "1.2"},
    FieldOfMetadata{"provides-dist", "1.2"},
    FieldOfMetadata{"obsoletes-dist", "1.2"},
    FieldOfMetadata{"requires-python", "1.2"},
    FieldOfMetadata{"requires-external", "1.2"},
    FieldOfMetadata{"project-url", "1.2"},
    FieldOfMetadata{"description-content-type", "2.1"},
    FieldOfMetadata{"provides-extra", "2.1"},
    FieldOfMetadata{"dynamic", "2.2"},
    FieldOfMetadata{"license-expression", "2.4"},
    FieldOfMetadata{"license-file", "2.4"},
    FieldOfMetadata{"import-name", "2.5"},
    FieldOfMetadata{"import-namespace", "2.5"},
};

const FieldOfMetadata* known_field(std::string_view lower_name) {
  auto found = std::ranges::find(k_fields_of_metadata, lower_name, &FieldOfMetadata::name);
  return found == k_fields_of_metadata.end() ? nullptr : &*found;
}

/// The names of the header fields, each once, as written. The text has passed dist::Metadata::parse().
std::vector<std::string> field_names(std::string_view metadata) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  while (!metadata.empty()) {
    auto line = metadata.substr(0, metadata.find('\n'));
    metadata.remove_prefix(std::min(metadata.size(), line.size() + 1));
    if (text::trim(line).empty()) break;
    auto colon = line.find(':');
    if (line.starts_with(' ') || line.starts_with('\t') || colon == line.npos) continue;
    auto name = line.substr(0, colon);
    if (seen.insert(text::lower(name)).second) names.emplace_back(name);
  }
  return names;
}

std::size_t characters(std::string_view utf8) {
  return static_cast<std::size_t>(
      std::ranges::count_if(utf8, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

/// One wheel's METADATA and the findings about it.
struct MetadataReport {
  const WheelContents& wheel;
  const dist::Metadata& metadata;
  const dist::WheelName& name;
  std::string dist_info; ///< the directory; empty if RECORD does not list METADATA
  Findings findings;

  void add(std::string_view code, Severity severity, std::string message, std::string fix) {
    if (findings.size() < k_metadata_findings_max)
      findings.push_back({std::string(code), severity, fmt::format("{}!{}/METADATA", wheel.file, dist_info),
                          std::move(message), std::move(fix)});
  }
  void warn(std::string_view code, std::string message, std::string fix) {
    add(code, Severity::warning, std::move(message), std::move(fix));
  }
  bool is_since(std::string_view version) const {
    auto own = std::ranges::find(k_metadata_versions, metadata.metadata_version);
    return own >= std::ranges::find(k_metadata_versions, version);
  }
};

/// setuptools wrote it under 2.1 for years, and PyPI takes that.
constexpr std::string_view k_written_early = "license-file";

void check_fields(MetadataReport& report) {
  const auto& version = report.metadata.metadata_version;
  bool known_version = std::ranges::find(k_metadata_versions, version) != k_metadata_versions.end();
  if (!known_version)
    report.warn(
        "Q201", fmt::format("Metadata-Version {} does not exist", version),
        fmt::format("write the version of the newest field that is used, at most {}", k_metadata_versions.back()));
  for (const auto& name : field_names(report.wheel.report.metadata_text)) {
    const auto* field = known_field(text::lower(name));
    if (!field)
      report.warn("Q203", fmt::format("{} is not a field of core metadata", name), "remove the field");
    else if (known_version && !report.is_since(field->since) && field->name != k_written_early)
      report.warn("Q202",
                  fmt::format("{} exists since metadata {}, and Metadata-Version is {}", name, field->since, version),
                  fmt::format("write Metadata-Version {}, or remove the field", field->since));
  }
}

void check_dynamic(MetadataReport& report) {
  for (const auto& value : report.metadata.dynamic) {
    auto field = text::lower(value);
    if (field == "name" || field == "version" || field == "metadata-version" || !known_field(field))
      report.warn("Q213", fmt::format("Dynamic: {} is not a field that may be dynamic", value), "remove the value");
  }
}

void check_license_files(MetadataReport& report) {
  if (!report.is_since("2.4")) return; // not a field before; W008 says so
  for (const auto& path : report.metadata.license_files) {
    bool relative = !path.starts_with('/') && path.find('\\') == path.npos && path.find(':') == path.npos;
    if (path.find("..") != path.npos || path.find('*') != path.npos || !relative)
      report.warn("Q205", fmt::format("License-File {:?} is not a relative path with `/` below licenses/", path),
                  "write the path of the file below dist-info/licenses/");
  }
  if (report.dist_info.empty()) return;
  auto top = report.dist_info + "/licenses/";
  std::vector<std::string> unlisted;
  for (const auto& row : report.wheel.report.record)
    if (row.path.starts_with(top) && std::ranges::find(report.metadata.license_files, row.path.substr(top.size())) ==
                                         report.metadata.license_files.end())
      unlisted.push_back(row.path.substr(top.size()));
  if (!unlisted.empty())
    report.warn("Q204",
                fmt::format("METADATA does not list files of licenses/: {}", text::first(unlisted, k_files_named)),
                "add a License-File line for each of them");
}

void check_license(MetadataReport& report, const MetadataValues& values) {
  const auto& metadata = report.metadata;
  if (metadata.license_expression.empty()) return;
  if (auto checked = dist::check_license_expression(metadata.license_expression); !checked)
    report.warn("Q206", "License-Expression: " + checked.error().message, checked.error().hint);
  else if (auto unlisted = unlisted_licenses(metadata.license_expression, values); !unlisted.empty())
    report.warn("Q206",
                fmt::format("License-Expression: not in the SPDX licence list {}: {}", values.spdx,
                            text::first(unlisted, k_files_named)),
                "write the identifier of https://spdx.org/licenses, or LicenseRef-NAME for a licence of your own");
  auto stated = std::ranges::any_of(
      metadata.other, [](const auto& field) { return text::lower(field.first) == "license" && !field.second.empty(); });
  if (stated) report.warn("Q207", "License and License-Expression state the licence twice", "remove License");
  auto classifier =
      std::ranges::find_if(metadata.classifiers, [](const auto& c) { return c.starts_with("License ::"); });
  if (classifier != metadata.classifiers.end())
    report.warn("Q207", fmt::format("the classifier {:?} states the licence beside License-Expression", *classifier),
                "remove the classifier");
}

/// The text in quotes at the begin of `rest`, or nothing.
std::string_view quoted(std::string_view rest) {
  rest = text::trim(rest);
  if (rest.empty() || (rest.front() != '"' && rest.front() != '\'')) return {};
  auto end = rest.find(rest.front(), 1);
  return end == rest.npos ? std::string_view() : rest.substr(1, end - 1);
}

/// The extras that a marker compares with: `extra == "x"`, `"x" == extra`. The marker has passed its parser.
std::vector<std::string> extras_of(std::string_view marker) {
  constexpr std::string_view k_word = "abcdefghijklmnopqrstuvwxyz_.", k_extra = "extra";
  std::vector<std::string> extras;
  std::string_view before; // the quoted text that only an operator separates from the place
  for (std::size_t at = 0; at < marker.size();) {
    char c = marker[at];
    auto end = std::min(marker.find_first_not_of(k_word, at), marker.size());
    if (c == '"' || c == '\'') {
      end = std::min(marker.find(c, at + 1), marker.size() - 1);
      before = marker.substr(at + 1, end - at - 1);
      at = end + 1;
    } else if (marker.substr(at, end - at) == k_extra) {
      auto rest = text::trim(marker.substr(end));
      bool first = rest.starts_with("==") || rest.starts_with("!=");
      extras.emplace_back(first ? quoted(rest.substr(2)) : before);
      before = {};
      at = end;
    } else {
      if (end > at || c == '(' || c == ')') before = {};
      at = std::max(end, at + 1);
    }
  }
  std::erase(extras, "");
  return extras;
}

void check_extras(MetadataReport& report) {
  std::map<std::string, std::string> declared; // normal form -> as written
  for (const auto& extra : report.metadata.provides_extra) {
    auto name = dist::ProjectName::parse(extra);
    if (!name) continue; // M011 says so
    auto [other, added] = declared.emplace(name->str(), extra);
    if (!added)
      report.warn("Q209", fmt::format("the extras {} and {} are one extra", other->second, extra),
                  "remove one of them");
    else if (report.is_since("2.3") && extra != name->str())
      report.warn("Q209", fmt::format("the extra {} is not in normal form", extra),
                  fmt::format("write {}", name->str()));
  }
  std::set<std::string> said;
  for (const auto& text : report.metadata.requires_dist) {
    auto requirement = dist::Requirement::parse(text);
    if (!requirement) continue; // M010 says so
    for (const auto& extra : extras_of(requirement->marker.str())) {
      auto name = dist::ProjectName::parse(extra);
      if (!declared.contains(name ? name->str() : extra) && said.insert(extra).second)
        report.warn("Q208",
                    fmt::format("Requires-Dist names the extra {:?}, which Provides-Extra does not declare", extra),
                    fmt::format("add Provides-Extra: {}: nobody can ask for an extra that is not declared", extra));
    }
    if (!requirement->url.empty())
      report.add("Q211", Severity::note, fmt::format("{} is required by a direct URL", requirement->project.str()),
                 "require a version, if the wheel is meant for PyPI");
  }
}

/// Why PyPI would not take a content type; empty if it does. packaging.metadata, Description-Content-Type.
std::string content_type_defect(std::string_view value) {
  auto parts = text::split(value, ';');
  auto type = text::lower(text::trim(parts[0]));
  if (type != "text/plain" && type != "text/x-rst" && type != "text/markdown")
    return fmt::format("{:?} is not text/plain, text/x-rst or text/markdown", type);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    auto equals = parts[i].find('=');
    if (equals == std::string::npos) return fmt::format("{:?} is not a parameter", text::trim(parts[i]));
    auto key = text::lower(text::trim(std::string_view(parts[i]).substr(0, equals)));
    auto given = text::trim(std::string_view(parts[i]).substr(equals + 1));
    if (auto inside = quoted(given); !inside.empty()) given = inside;
    if (key == "charset" && text::lower(given) != "utf-8") return fmt::format("the charset {} is not UTF-8", given);
    if (key == "variant" && type == "text/markdown" && given != "GFM" && given != "CommonMark")
      return fmt::format("the variant {} is not GFM or CommonMark", given);
  }
  return {};
}

void check_description(MetadataReport& report) {
  const auto& metadata = report.metadata;
  if (metadata.description_content_type.empty()) {
    if (!text::trim(metadata.description).empty())
      report.add("Q210", Severity::note,
                 "the description has no Description-Content-Type, so it is read as reStructuredText",
                 "add Description-Content-Type: text/markdown, or what it is");
    return;
  }
  if (auto defect = content_type_defect(metadata.description_content_type); !defect.empty())
    report.warn("Q210", "Description-Content-Type: " + defect,
                "write text/markdown; charset=UTF-8, or what the description is");
}

/// A name that begins with "Private ::" is there to be refused.
void check_classifiers(MetadataReport& report, const MetadataValues& values) {
  for (const auto& classifier : report.metadata.classifiers) {
    if (values.classifiers.contains(classifier) || classifier.starts_with("Private ::")) continue;
    auto old = values.deprecated.find(classifier);
    if (old == values.deprecated.end())
      report.add("Q213", Severity::note,
                 fmt::format("the classifier {:?} is not one of PyPI's (trove-classifiers {})", classifier,
                             values.trove_classifiers),
                 "take one of https://pypi.org/classifiers; what is meant for nobody else begins with `Private ::`");
    else
      report.add("Q213", Severity::note, fmt::format("the classifier {:?} is deprecated", classifier),
                 old->second.empty() ? "remove it" : "write " + text::join(old->second, ", ") + " instead");
  }
}

void check_limits(MetadataReport& report) {
  if (report.metadata.summary.find('\n') != std::string::npos)
    report.warn("Q213", "Summary has more than one line", "write one line; the rest belongs into the description");
  if (characters(report.metadata.summary) > k_summary_characters_max)
    report.warn("Q213", fmt::format("Summary has more than {} characters", k_summary_characters_max), "shorten it");
  for (const auto& [label, url] : report.metadata.project_urls) {
    if (label.empty() || url.empty())
      report.warn("Q213",
                  fmt::format("Project-URL {:?} is not a label, a comma and a URL", label.empty() ? url : label),
                  "write it like Project-URL: Source, https://example.com/source");
    else if (characters(label) > k_label_characters_max)
      report.warn(
          "Q213",
          fmt::format("the label {:?} of Project-URL has more than {} characters", label, k_label_characters_max),
          "shorten it");
  }
}

/// The machines of manylinux and musllinux tags that PyPI takes (warehouse, forklift/legacy.py).
constexpr std::string_view k_pypi_machines[] = {"x86_64", "i686",    "aarch64", "armv7l",
                                                "ppc64",  "ppc64le", "s390x",   "riscv64"};

void check_names(MetadataReport& report) {
  const auto& name = report.name;
  if (!report.dist_info.empty() && report.dist_info != name.dist_info())
    report.warn("Q214",
                fmt::format("the directory is {}, the file name makes it {}", report.dist_info, name.dist_info()),
                "build the wheel again with one spelling");
  if (name.raw_name != name.project.file_form())
    report.add(
        "Q214", Severity::note,
        fmt::format("the file name begins with {}, in normal form with {}", name.raw_name, name.project.file_form()),
        "build the wheel with a newer tool, if it is meant for PyPI");
  if (!name.version.local().empty())
    report.add("Q212", Severity::note, fmt::format("{} is a local version", name.version.str()),
               "publish to an index of your own, or drop the part after `+`");
  for (const auto& platform : text::split(name.tags.platform, '.')) {
    auto parts = dist::platform_parts(platform);
    bool promises = parts.system == "manylinux" || parts.system == "musllinux";
    if (promises && std::ranges::find(k_pypi_machines, parts.machine) == std::end(k_pypi_machines))
      report.add("Q215", Severity::note, fmt::format("{} is for a machine that PyPI has no wheels for", platform),
                 "publish to an index of your own");
    if (platform.starts_with("linux_") && platform != "linux_armv6l" && platform != "linux_armv7l")
      report.add("Q215", Severity::note, fmt::format("{} promises nothing about the system's libraries", platform),
                 "if `quarry wheel check` names a manylinux tag that holds, set it with `quarry wheel retag`");
  }
}

void check_size(MetadataReport& report) {
  constexpr std::uint64_t k_pypi_bytes_max = 100 * units::k_mib; // of a project that did not ask for more
  if (report.wheel.report.size <= k_pypi_bytes_max) return;
  report.findings.push_back(
      {"Q216", Severity::note, report.wheel.file,
       fmt::format("the file has {}; PyPI takes {} at most, unless it raised the limit for the project",
                   units::bytes(report.wheel.report.size), units::bytes(k_pypi_bytes_max)),
       "ask PyPI for a higher limit, make the file smaller (`quarry wheel thin`), or publish to an index of your own"});
}

std::string dist_info_of(const WheelContents& wheel) {
  constexpr std::string_view k_end = ".dist-info/METADATA";
  for (const auto& row : wheel.report.record)
    if (row.path.ends_with(k_end) && row.path.find('/') == row.path.size() - std::string_view("/METADATA").size())
      return row.path.substr(0, row.path.find('/'));
  return {};
}
} // namespace

Findings check_metadata(const WheelContents& wheel, const MetadataValues& values) {
  if (!wheel.report.metadata || !wheel.report.name) return {};
  MetadataReport report{wheel, *wheel.report.metadata, *wheel.report.name, dist_info_of(wheel), {}};
  check_fields(report);
  check_dynamic(report);
  check_license_files(report);
  check_license(report, values);
  check_extras(report);
  check_description(report);
  check_classifiers(report, values);
  check_limits(report);
  check_names(report);
  check_size(report);
  return std::move(report.findings);
}

} // namespace quarry::inspect
