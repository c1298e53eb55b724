#include "registry/requirements.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "dist/version.hpp"
#include <algorithm>
#include <nlohmann/json.hpp>

namespace quarry::registry {

namespace {
constexpr const char* k_requires = "requires_dist";
constexpr const char* k_extras = "provides_extra";

bool is_dynamic(const dist::Metadata& metadata, std::string_view field) {
  return std::ranges::any_of(metadata.dynamic,
                             [&](const std::string& name) { return text::lower(name) == text::lower(field); });
}

/// Since Metadata-Version 2.2 a field that is absent and not Dynamic is absent from every wheel, too (PEP 643).
bool absence_counts(const dist::Metadata& metadata) {
  auto version = dist::Version::parse(metadata.metadata_version);
  auto since = dist::Version::parse("2.2");
  return version && since && *version >= *since && !is_dynamic(metadata, "Requires-Dist");
}

std::optional<std::vector<std::string>> texts_of(const Json& object, const char* key) {
  if (!object.contains(key)) return std::vector<std::string>();
  const auto& list = object[key];
  if (!list.is_array() || !std::ranges::all_of(list, [](const Json& each) { return each.is_string(); }))
    return std::nullopt;
  return list.get<std::vector<std::string>>();
}
} // namespace

std::optional<SdistRequirements> requirements_of_sdist(const dist::Metadata& metadata) {
  if (metadata.requires_dist.empty() && !absence_counts(metadata)) return std::nullopt;
  return SdistRequirements{metadata.requires_dist, metadata.provides_extra};
}

void record_requirements(FileRecord& file, const SdistRequirements& requirements) {
  Json object = Json::object();
  if (auto kept = json::parse({file.unknown.empty() ? "{}" : file.unknown, "kept fields"}); kept && kept->is_object())
    object = std::move(*kept);
  object.erase(k_extras);
  object[k_requires] = requirements.requires_dist;
  if (!requirements.extras.empty()) object[k_extras] = requirements.extras;
  if (auto bytes = json::canonical(object)) file.unknown = std::move(*bytes);
}

std::optional<SdistRequirements> recorded_requirements(const FileRecord& file) {
  if (file.unknown.empty()) return std::nullopt;
  auto object = json::parse({file.unknown, "kept fields"});
  if (!object || !object->is_object() || !object->contains(k_requires)) return std::nullopt;
  auto requires_dist = texts_of(*object, k_requires), extras = texts_of(*object, k_extras);
  if (!requires_dist || !extras) return std::nullopt;
  return SdistRequirements{std::move(*requires_dist), std::move(*extras)};
}

} // namespace quarry::registry
