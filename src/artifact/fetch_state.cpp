#include "artifact/fetch_state.hpp"

#include "base/json.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include <algorithm>
#include <nlohmann/json.hpp>

namespace quarry::artifact {

namespace {
constexpr std::string_view k_fetch_schema = "quarry.fetch-state/1";
constexpr std::string_view k_listing_suffix = ".files";
constexpr std::uint64_t k_state_bytes_max = 64u << 10;    // one small object
constexpr std::uint64_t k_listing_bytes_max = 1ull << 30; // a million paths of a kilobyte

std::string state_path(const std::string& output_directory, const Name& name, std::string_view suffix = ".json") {
  return path::join(path::join(output_directory, k_fetch_directory), name.text() + std::string(suffix));
}

/// Not synced: the state holds its digest, so what a power loss leaves of it is not believed.
Result<void> write_listing(const std::string& path, std::string_view text) {
  TRY_DO(sys::remove_file(path)); // never write through a link
  TRY(auto file, sys::File::create_new(path));
  return file.write(text);
}
} // namespace

std::optional<FetchState> read_fetch_state(const std::string& output_directory, const Name& name) {
  auto path = state_path(output_directory, name);
  auto text = sys::read_file(path, k_state_bytes_max);
  if (!text) return std::nullopt;
  auto object = json::parse({*text, path});
  if (!object || !json::require_schema({*object, path}, k_fetch_schema)) return std::nullopt;
  auto files = json::unsigned_at({*object, path}, "files"), bytes = json::unsigned_at({*object, path}, "bytes");
  auto source = json::string_at({*object, path}, "source");
  if (!files || !bytes || !source) return std::nullopt;
  FetchState state{*source, Sha256::from_hex(json::string_or(*object, "sha256", "")), false, *files, *bytes};
  if (auto verified = object->find("verified"); verified != object->end() && verified->is_boolean())
    state.verified = verified->get<bool>();
  state.listing = Sha256::from_hex(json::string_or(*object, "listing", ""));
  return state;
}

Result<void> write_fetch_state(const std::string& output_directory, const Name& name, const FetchState& state,
                               const Listing& listing) {
  auto lines = listing_text(listing);
  TRY_DO(write_listing(state_path(output_directory, name, k_listing_suffix), lines));
  Json object{{"schema", k_fetch_schema}, {"source", state.source},     {"files", state.files},
              {"bytes", state.bytes},     {"verified", state.verified}, {"listing", sha256(lines).hex()}};
  if (state.digest) object["sha256"] = state.digest->hex();
  TRY(auto text, json::canonical(object));
  return sys::write_file(state_path(output_directory, name), text);
}

bool still_complete(const std::string& output_directory, const Name& name, const FetchState& state) {
  if (!state.listing) return false;
  auto text = sys::read_file(state_path(output_directory, name, k_listing_suffix), k_listing_bytes_max);
  if (!text || sha256(*text) != state.listing) return false;
  auto recorded = parse_listing(*text);
  auto found = sys::list_tree(path::join(output_directory, name.text()));
  return recorded && found &&
         std::equal(recorded->begin(), recorded->end(), found->begin(), found->end(),
                    [](const auto& a, const auto& b) { return a.path == b.path && same_entry(a, b); });
}

} // namespace quarry::artifact
