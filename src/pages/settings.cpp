#include "pages/settings.hpp"

#include "base/json.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <optional>

namespace quarry::pages {

namespace {

constexpr const char* k_settings_schema = "quarry.settings/1";
constexpr const char* k_settings_family = "quarry.settings/";
constexpr std::uint64_t k_settings_bytes_max = 64u << 10;

std::string bytes_of(const StoreSettings& settings) {
  return json::text({{"schema", k_settings_schema}, {"find_links", word_of(settings.find_links)}});
}

/// Fails with B002 to B004 and P115.
Result<StoreSettings> parse_settings(const std::string& bytes) {
  StoreSettings settings;
  TRY(auto object, json::parse({bytes, k_settings_key}));
  TRY_DO(json::require_schema({object, k_settings_key}, k_settings_schema));
  auto said = object.find("find_links");
  if (said == object.end()) return settings;
  TRY(settings.find_links, parse_find_links(said->is_string() ? said->get<std::string>() : json::text(*said)));
  return settings;
}

} // namespace

std::string word_of(FindLinks find_links) { return find_links == FindLinks::other ? "other" : "ours"; }

Result<FindLinks> parse_find_links(const std::string& word) {
  if (word == "ours") return FindLinks::ours;
  if (word == "other") return FindLinks::other;
  return fail(ErrorKind::invalid_argument, "P115", fmt::format("find_links is \"{}\" and must be ours or other", word),
              "`quarry store setting --find-links ours|other` writes it");
}

Result<StoreSettings> read_settings(store::ObjectReader& store) {
  TRY(auto bytes, store.get(k_settings_key, k_settings_bytes_max));
  return bytes ? parse_settings(*bytes) : StoreSettings();
}

Result<bool> find_links_left_at(index::Site& site) {
  constexpr int k_directories_max = 9; // a structured distribution lies four below its store
  std::string way = k_settings_key, last;
  for (int i = 0; i < k_directories_max; ++i, way.insert(0, "../")) {
    auto target = site.target("", way);
    if (!target || *target == last) return false;
    last = *target;
    TRY(auto bytes, site.read(*target, k_settings_bytes_max));
    // Another program may keep a file of this name above the store.
    if (!bytes || bytes->find(k_settings_family) == bytes->npos) continue;
    TRY(auto settings, parse_settings(*bytes));
    return settings.find_links == FindLinks::other;
  }
  return false;
}

Result<bool> write_settings(store::ObjectStore& store, const StoreSettings& settings) {
  std::string etag;
  TRY(auto there, store.get(k_settings_key, k_settings_bytes_max, &etag));
  auto bytes = bytes_of(settings);
  if (there == bytes || (!there && bytes == bytes_of({}))) return false;
  store::PutOptions options;
  options.precondition = there ? store::Precondition::if_match(etag) : store::Precondition::if_absent();
  options.content_type = "application/json";
  options.cache_control = "no-cache";
  TRY_DO(store.put(k_settings_key, content::Rope::literal(std::move(bytes)), options));
  return true;
}

} // namespace quarry::pages
