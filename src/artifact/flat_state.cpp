#include "artifact/flat_state.hpp"

#include "artifact/fetch_state.hpp"
#include "base/json.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include <nlohmann/json.hpp>

namespace quarry::artifact {

namespace {
constexpr std::string_view k_flat_schema = "quarry.fetch-flat/2", k_older_schema = "quarry.fetch-flat/1";
constexpr std::uint64_t k_flat_bytes_max = 1ull << 30; // a million paths of a kilobyte

std::string state_path(const std::string& output) {
  return path::join(path::join(output, k_fetch_directory), "flat.json");
}

/// nullopt: `text` is not a path that a fetch makes.
std::optional<std::string> plain_path(const std::string& text) {
  auto entry = parse_listing_line(text + "\t/");
  return entry ? std::optional(entry->path) : std::nullopt;
}

/// Paths without sizes: nothing can be compared with them, so their owner is done again.
bool take_older_owner(const Json& json, FlatState::Owner& owner) {
  for (const auto& path : json.at("paths")) {
    auto plain = plain_path(path.get<std::string>());
    if (!plain) return false;
    owner.entries.emplace_back().path = std::move(*plain);
  }
  return true;
}

bool take_owner(const Json& json, FlatState::Owner& owner) {
  owner.complete = json.at("complete").get<bool>();
  auto digest = json.at("sha256").get<std::string>();
  owner.digest = Sha256::from_hex(digest);
  if (!digest.empty() && !owner.digest) return false;
  owner.verified = json.at("verified").get<bool>();
  owner.files = json.at("files").get<std::uint64_t>();
  owner.bytes = json.at("bytes").get<std::uint64_t>();
  for (const auto& line : json.at("entries")) {
    auto entry = parse_listing_line(line.get<std::string>());
    if (!entry) return false;
    owner.entries.push_back(std::move(*entry));
  }
  return true;
}

bool take_state(const Json& json, FlatState& state) {
  bool older = json.at("schema") == k_older_schema;
  for (const auto& [name, owner] : json.at("artifacts").items())
    if (!(older ? take_older_owner : take_owner)(owner, state.owners[name])) return false;
  if (older) return true;
  for (const auto& path : json.at("passing")) {
    auto plain = plain_path(path.get<std::string>());
    if (!plain) return false;
    state.passing.insert(std::move(*plain));
  }
  return true;
}
} // namespace

FlatState read_flat_state(const std::string& output) {
  auto path = state_path(output);
  auto text = sys::read_file(path, k_flat_bytes_max);
  auto object = text ? json::parse({*text, path}) : Result<Json>(fail(text.error()));
  if (!object ||
      (!json::require_schema({*object, path}, k_flat_schema) && !json::require_schema({*object, path}, k_older_schema)))
    return {};
  FlatState state;
  try {
    if (!take_state(*object, state)) return {};
  } catch (const Json::exception&) {
    return {};
  }
  return state;
}

Result<void> write_flat_state(const std::string& output, const FlatState& state) {
  Json owners = Json::object();
  for (const auto& [name, owner] : state.owners) {
    Json lines = Json::array();
    for (const auto& entry : owner.entries) lines.push_back(listing_line(entry));
    owners[name] = {{"complete", owner.complete}, {"sha256", owner.digest ? owner.digest->hex() : ""},
                    {"verified", owner.verified}, {"files", owner.files},
                    {"bytes", owner.bytes},       {"entries", std::move(lines)}};
  }
  TRY(auto text, json::canonical({{"schema", k_flat_schema}, {"artifacts", owners}, {"passing", state.passing}}));
  return sys::write_file(state_path(output), text);
}

} // namespace quarry::artifact
