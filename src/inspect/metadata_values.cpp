#include "inspect/metadata_values.hpp"

#include "base/text.hpp"
#include "base/toml.hpp"

namespace quarry::inspect {

namespace {
std::set<std::string> in_lower_case(const std::vector<std::string>& names) {
  std::set<std::string> lower;
  for (const auto& name : names) lower.insert(text::lower(name));
  return lower;
}
} // namespace

Result<MetadataValues> parse_metadata_values(NamedText named) {
  TRY(auto root, TomlTable::parse(named, {"Q014", "Q014", "data/metadata-values.toml"}));
  MetadataValues values;
  std::string schema;
  std::vector<std::string> licenses, exceptions, classifiers;
  TRY_DO(root.choice("schema", schema, {"quarry.metadata-values/1"}, true));
  TRY_DO(root.text("spdx", values.spdx, true));
  TRY_DO(root.text("trove_classifiers", values.trove_classifiers, true));
  TRY_DO(root.texts("licenses", licenses));
  TRY_DO(root.texts("exceptions", exceptions));
  TRY_DO(root.texts("classifiers", classifiers));
  TRY_DO(root.tables("deprecated", [&](TomlTable& table) -> Result<void> {
    std::string old;
    std::vector<std::string> use;
    TRY_DO(table.text("classifier", old, true));
    TRY_DO(table.texts("use", use));
    values.deprecated.emplace(std::move(old), std::move(use));
    return {};
  }));
  TRY_DO(root.finish());
  if (licenses.empty()) return root.error("licenses", "it is empty");
  if (classifiers.empty()) return root.error("classifiers", "it is empty");
  values.licenses = in_lower_case(licenses);
  values.exceptions = in_lower_case(exceptions);
  values.classifiers.insert(classifiers.begin(), classifiers.end());
  return values;
}

std::vector<std::string> unlisted_licenses(std::string_view expression, const MetadataValues& values) {
  std::vector<std::string> unlisted;
  bool exception = false; // what follows WITH
  for (const auto& word : text::split_any(expression, " \t()")) {
    auto name = text::lower(word);
    if (name == "and" || name == "or" || name == "with") {
      exception = name == "with";
      continue;
    }
    if (name.ends_with('+')) name.pop_back();
    bool own = !exception && name.starts_with("licenseref-");
    if (!own && !(exception ? values.exceptions : values.licenses).contains(name)) unlisted.push_back(word);
    exception = false;
  }
  return unlisted;
}

} // namespace quarry::inspect
