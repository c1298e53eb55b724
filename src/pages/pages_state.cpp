#include "pages/channel_pages.hpp"

#include "base/json.hpp"
#include "pages/page_writer.hpp"
#include <nlohmann/json.hpp>

namespace quarry::pages {

namespace {
constexpr std::string_view k_pages_schema = "quarry.pages/1";
} // namespace

std::string to_json(const PagesState& state) {
  Json json{{"schema", k_pages_schema},
            {"channel", state.channel},
            {"generation", state.generation},
            {"view", state.view.hex()},
            {"files", state.files}};
  if (state.slash_keys) json["slash_keys"] = true;
  if (!state.policy.empty()) json["policy"] = state.policy;
  if (!state.openly.empty()) json["openly"] = state.openly;
  if (!state.revoked.empty()) json["revoked"] = state.revoked;
  add_to(json, state.recent);
  return json::text(json);
}

PagesState parse_pages_state(const std::string& bytes) {
  PagesState state;
  auto json = json::parse({bytes, k_state_name});
  if (!json || !json->is_object() || !json::require_schema({*json, k_state_name}, k_pages_schema)) return state;
  auto generation = json::unsigned_at({*json, k_state_name}, "generation");
  auto files = json::unsigned_at({*json, k_state_name}, "files");
  auto recent = recent_moves_of(*json);
  if (!generation || !files || !recent) return state;
  auto view = registry::ViewDigest::parse(json::string_or(*json, "view", ""));
  bool slash_keys = json->value("slash_keys", Json()) == Json(true);
  state = {json::string_or(*json, "channel", ""),
           *generation,
           view.value_or(registry::ViewDigest()),
           *files,
           slash_keys,
           std::move(*recent),
           registry::PolicyDigest::parse(json::string_or(*json, "policy", "")).value_or(registry::PolicyDigest())};
  if (auto openly = json->find("openly"); openly != json->end() && openly->is_array())
    for (const auto& sentence : *openly)
      if (sentence.is_string()) state.openly.push_back(sentence.get<std::string>());
  if (auto revoked = json->find("revoked"); revoked != json->end() && revoked->is_array())
    for (const auto& one : *revoked)
      if (auto waiver = registry::WaiverDigest::parse(one.is_string() ? one.get<std::string>() : std::string()))
        state.revoked.insert(*waiver);
  return state;
}

} // namespace quarry::pages
