#include "wheel/edit.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "dist/resolver_fields.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "wheel/rewriting.hpp"
#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace quarry::wheel {

namespace {

constexpr std::string_view k_first_with_licenses = "2.4"; // Metadata-Version

/// In lower case, as core metadata 2.5 has them:
/// https://packaging.python.org/en/latest/specifications/core-metadata/
constexpr std::array<std::string_view, 32> k_field_names{"author",
                                                         "author-email",
                                                         "classifier",
                                                         "description",
                                                         "description-content-type",
                                                         "download-url",
                                                         "dynamic",
                                                         "home-page",
                                                         "import-name",
                                                         "import-namespace",
                                                         "keywords",
                                                         "license",
                                                         "license-expression",
                                                         "license-file",
                                                         "maintainer",
                                                         "maintainer-email",
                                                         "metadata-version",
                                                         "name",
                                                         "obsoletes",
                                                         "obsoletes-dist",
                                                         "platform",
                                                         "project-url",
                                                         "provides",
                                                         "provides-dist",
                                                         "provides-extra",
                                                         "requires",
                                                         "requires-dist",
                                                         "requires-external",
                                                         "requires-python",
                                                         "summary",
                                                         "supported-platform",
                                                         "version"};

Unexpected no_edit(std::string message) {
  return fail(ErrorKind::invalid_argument, "W026", std::move(message),
              "`quarry wheel edit --help` shows what may be changed");
}

/// A field with its continuation lines, as written.
struct FieldLines {
  std::string name; ///< lower case
  std::string lines;
};

struct MetadataLines {
  std::vector<FieldLines> fields;
  std::string body; ///< with the empty line before it
};

MetadataLines lines_of(const std::string& metadata) {
  MetadataLines parts;
  std::size_t at = 0;
  while (at < metadata.size()) {
    auto end = std::min(metadata.find('\n', at), metadata.size());
    auto line = std::string_view(metadata).substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) break;
    bool more = (line[0] == ' ' || line[0] == '\t') && !parts.fields.empty();
    if (more)
      parts.fields.back().lines += fmt::format("{}\n", line);
    else
      parts.fields.push_back({text::lower(line.substr(0, line.find(':'))), fmt::format("{}\n", line)});
    at = end + 1;
  }
  if (at < metadata.size()) parts.body = metadata.substr(at);
  return parts;
}

Result<void> check_field(const std::string& name) {
  constexpr std::array<std::string_view, 4> k_fixed{"name", "version", "metadata-version", "license-file"};
  if (std::ranges::find(k_fixed, text::lower(name)) == k_fixed.end()) return {};
  return no_edit(fmt::format("{} follows from the wheel's name and files, so it cannot be set", name));
}

/// A field that METADATA does not know can be removed, and not be set: readers would ignore it, or take a misspelled
/// name for one that is missing.
Result<FieldLines> field_of(const Edit::Field& field) {
  TRY_DO(check_field(field.first));
  if (std::ranges::find(k_field_names, text::lower(field.first)) == k_field_names.end())
    return fail(ErrorKind::invalid_argument, "W026", fmt::format("`{}` is not a field of METADATA", field.first),
                fmt::format("the fields are {}",
                            text::join(std::vector<std::string>(k_field_names.begin(), k_field_names.end()), ", ")));
  bool plain = text::is_valid_utf8(field.second) && !text::trim(field.second).empty() &&
               std::ranges::none_of(field.second, [](char c) { return c >= 0 && c < ' '; });
  if (!plain) return no_edit(fmt::format("the value of {} must be one line of text", field.first));
  return FieldLines{text::lower(field.first), fmt::format("{}: {}\n", field.first, text::trim(field.second))};
}

/// The new field takes the place of the first old one.
void set_field(MetadataLines& parts, FieldLines field) {
  auto same = [&](const FieldLines& each) { return each.name == field.name; };
  auto first = std::ranges::find_if(parts.fields, same);
  if (first == parts.fields.end()) return parts.fields.push_back(std::move(field));
  auto at = first - parts.fields.begin();
  std::erase_if(parts.fields, same);
  parts.fields.insert(parts.fields.begin() + at, std::move(field));
}

Result<void> check_sbom(const AddedText& sbom) {
  auto document = json::parse({sbom.text, sbom.name});
  if (document && document->is_object() && json::string_or(*document, "bomFormat", "") == "CycloneDX" &&
      !json::string_or(*document, "specVersion", "").empty())
    return {};
  return no_edit(fmt::format("{} is not a CycloneDX document as JSON", sbom.name));
}

bool is_base_name(const std::string& name) {
  bool plain = text::is_valid_utf8(name) && text::trim(name) == name &&
               std::ranges::none_of(name, [](char c) { return c >= 0 && c < ' '; });
  return plain && !name.empty() && name != "." && name != ".." && name.find_first_of("/\\") == name.npos;
}

/// The licences and SBOMs as files of the wheel.
Result<std::vector<NewFile>> added_files(const Opened& wheel, const Edit& edit) {
  std::vector<NewFile> files;
  auto add = [&](std::string_view directory, const AddedText& added) -> Result<void> {
    auto path = fmt::format("{}/{}/{}", wheel.dist_info, directory, added.name);
    auto same = [&](const NewFile& file) { return file.first == path; };
    if (!is_base_name(added.name)) return no_edit(fmt::format("`{}` is not the name of a file", added.name));
    if (wheel.zip.find(path) || std::ranges::any_of(files, same))
      return no_edit(fmt::format("the wheel has {} already", path));
    files.emplace_back(path, added.text);
    return {};
  };
  for (const auto& license : edit.licenses) {
    if (!text::is_valid_utf8(license.text)) // PEP 639: tools must read them as UTF-8
      return no_edit(fmt::format("{} is not UTF-8, as a licence must be", license.name));
    TRY_DO(add("licenses", license));
  }
  for (const auto& sbom : edit.sboms) {
    TRY_DO(check_sbom(sbom));
    TRY_DO(add("sboms", sbom));
  }
  return files;
}

/// Before Metadata-Version 2.4 licence files were in dist-info itself. Once the version is raised, they are looked for
/// in dist-info/licenses, so a copy goes there.
Result<void> add_old_licenses(const Opened& wheel, const std::string& metadata, std::vector<NewFile>& files) {
  TRY(auto read, dist::Metadata::parse(metadata));
  if (read.metadata_version < k_first_with_licenses) return {};
  for (const auto& name : read.license_files) {
    auto modern = fmt::format("{}/licenses/{}", wheel.dist_info, name);
    auto same = [&](const NewFile& file) { return file.first == modern; };
    if (wheel.zip.find(modern) || std::ranges::any_of(files, same)) continue;
    if (!wheel.zip.find(fmt::format("{}/{}", wheel.dist_info, name))) continue;
    TRY(auto text, text_of(wheel, name, dist::k_metadata_bytes_max));
    files.emplace_back(modern, std::move(text));
  }
  return {};
}

bool is_same_file(const std::string& a, const std::string& b) {
  auto left = sys::real_path(a), right = sys::real_path(b);
  return left && right && *left == *right;
}

} // namespace

Result<std::string> edited_metadata(const std::string& metadata, const Edit& edit) {
  TRY(auto before, dist::Metadata::parse(metadata));
  auto parts = lines_of(metadata);
  for (const auto& name : edit.remove) {
    TRY_DO(check_field(name));
    auto removed = std::erase_if(parts.fields, [&](const FieldLines& each) { return each.name == text::lower(name); });
    if (removed == 0) return no_edit(fmt::format("METADATA has no field {}", name));
  }
  std::set<std::string> fields_set;
  for (const auto& each : edit.set) {
    TRY(auto field, field_of(each));
    if (!fields_set.insert(field.name).second)
      return no_edit(fmt::format("{} is set twice: use --add for the second value", each.first));
    set_field(parts, std::move(field));
  }
  for (const auto& each : edit.add) {
    TRY(auto field, field_of(each));
    parts.fields.push_back(std::move(field));
  }
  TRY(auto version, dist::Version::parse(before.metadata_version));
  TRY(auto with_licenses, dist::Version::parse(k_first_with_licenses));
  if (!edit.licenses.empty() && version < with_licenses)
    set_field(parts, {"metadata-version", fmt::format("Metadata-Version: {}\n", k_first_with_licenses)});
  for (const auto& license : edit.licenses)
    if (std::ranges::find(before.license_files, license.name) == before.license_files.end())
      parts.fields.push_back({"license-file", fmt::format("License-File: {}\n", license.name)});
  std::string made;
  for (const auto& field : parts.fields) made += field.lines;
  made += parts.body;
  auto after = dist::Metadata::parse(made);
  if (!after) return no_edit(fmt::format("the result could not be read: {}", after.error().message));
  for (const auto& finding : dist::check_resolver_fields(*after, "METADATA"))
    if (finding.severity == Severity::error) return no_edit(finding.message);
  return made;
}

Result<Rewritten> edit(const std::string& path, const Edit& edit, const std::string& output_dir,
                       const std::function<void(std::uint64_t)>& on_progress) {
  TRY(auto wheel, open_wheel(path));
  std::string file_name(path::basename(path));
  Rewritten target{file_name, path::join(output_dir, file_name), 0};
  if (is_same_file(path, target.path)) return no_edit(fmt::format("{} would be replaced by its own copy", path));
  TRY(auto before, text_of(wheel, "METADATA", dist::k_metadata_bytes_max));
  TRY(auto after, edited_metadata(before, edit));
  TRY(auto files, added_files(wheel, edit));
  if (!edit.licenses.empty()) TRY_DO(add_old_licenses(wheel, after, files));
  if (after == before && files.empty()) return no_edit("nothing would change");
  files.emplace_back(wheel.dist_info + "/METADATA", std::move(after));
  TRY(auto made, files_after(wheel, files, path));
  TRY_DO(check_files_after(wheel, made, file_name));
  return write_files_after(wheel, std::move(made), target, on_progress);
}

} // namespace quarry::wheel
