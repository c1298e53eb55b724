#include "artifact/fetch_state.hpp"

#include "base/json.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include <nlohmann/json.hpp>

namespace quarry::artifact {

namespace {
constexpr std::string_view k_schema = "quarry.fetch-state/1";
constexpr std::uint64_t k_state_bytes_max = 64u << 10; // one small object

std::string state_path(const std::string& output_directory, const Name& name) {
  return path::join(path::join(output_directory, k_fetch_directory), name.text() + ".json");
}
} // namespace

std::optional<FetchState> read_fetch_state(const std::string& output_directory, const Name& name) {
  auto path = state_path(output_directory, name);
  auto text = sys::read_file(path, k_state_bytes_max);
  if (!text) return std::nullopt;
  auto object = json::parse(*text, path);
  if (!object || !json::require_schema(*object, k_schema, path)) return std::nullopt;
  auto files = json::unsigned_at(*object, "files", path), bytes = json::unsigned_at(*object, "bytes", path);
  auto source = json::string_at(*object, "source", path);
  if (!files || !bytes || !source) return std::nullopt;
  FetchState state{*source, Sha256::from_hex(json::string_or(*object, "sha256", "")), false, *files, *bytes};
  if (auto verified = object->find("verified"); verified != object->end() && verified->is_boolean())
    state.verified = verified->get<bool>();
  return state;
}

Result<void> write_fetch_state(const std::string& output_directory, const Name& name, const FetchState& state) {
  Json object{{"schema", k_schema},
              {"source", state.source},
              {"files", state.files},
              {"bytes", state.bytes},
              {"verified", state.verified}};
  if (state.digest) object["sha256"] = state.digest->hex();
  TRY(auto text, json::canonical(object));
  return sys::write_file(state_path(output_directory, name), text);
}

bool still_complete(const std::string& artifact_directory, const FetchState& state) {
  auto entries = sys::list_tree(artifact_directory);
  if (!entries) return false;
  std::uint64_t files = 0, bytes = 0;
  for (const auto& entry : *entries) {
    if (entry.type == sys::EntryType::directory) continue;
    ++files;
    bytes += entry.size;
  }
  return files == state.files && bytes == state.bytes;
}

} // namespace quarry::artifact
