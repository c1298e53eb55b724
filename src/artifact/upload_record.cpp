#include "artifact/upload_record.hpp"

#include "base/json.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::artifact {

namespace {
constexpr std::string_view k_upload_schema = "quarry.run-upload/1";

bool truth_at(const Json& object, const char* key) {
  auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}
} // namespace

std::string upload_record_text(const UploadRecord& record) {
  Json archives = Json::array();
  for (const auto& [file, digest] : record.archives) archives.push_back({{"file", file}, {"sha256", digest.hex()}});
  return json::pretty({{"schema", k_upload_schema},
                       {"group", record.group},
                       {"complete", record.complete},
                       {"build_failed", record.build_failed},
                       {"archives", archives}});
}

Result<UploadRecord> parse_upload_record(std::string_view text, std::string_view what) {
  TRY(auto object, json::parse({text, what}));
  TRY_DO(json::require_schema({object, what}, k_upload_schema));
  UploadRecord record{
      json::string_or(object, "group", ""), truth_at(object, "complete"), truth_at(object, "build_failed"), {}};
  auto archives = object.find("archives");
  for (const auto& entry : archives == object.end() ? Json::array() : *archives) {
    TRY(auto file, json::string_at({entry, what}, "file"));
    auto digest = Sha256::from_hex(json::string_or(entry, "sha256", ""));
    if (!digest)
      return fail(ErrorKind::corrupt, "A041", fmt::format("{} gives no sha256 for {}", what, file),
                  "upload the run's outputs again");
    record.archives.emplace(std::move(file), *digest);
  }
  return record;
}

} // namespace quarry::artifact
