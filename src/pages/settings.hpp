#pragma once
// Settings of a store, which every command follows that writes into it: `settings.json`
// (docs/formats/store.md, "Settings").
#include "base/result.hpp"
#include "store/object_store.hpp"
#include <cstdint>
#include <string>

namespace quarry::pages {

inline constexpr const char* k_settings_key = "settings.json";

/// Who writes `index.html` of package directories and distributions.
enum class FindLinks : std::uint8_t {
  ours,
  other, ///< another tool, such as a function that the bucket calls after each upload
};

struct StoreSettings {
  FindLinks find_links = FindLinks::ours;
};

/// The defaults if the object does not exist. Fails with B002 to B004, with R007 if it has more than 64 KiB, and with
/// invalid_argument P115 for a value that this program does not know. One read.
Result<StoreSettings> read_settings(store::ObjectReader& store);
/// Replaces the settings, also damaged ones and what a later version has added; returns false if the store has exactly
/// these, or none and these are the defaults. Fails with R007 if the object there has more than 64 KiB, and as put():
/// if another writer was faster, with R003, or R002 if it wrote the first settings. A read and a write.
Result<bool> write_settings(store::ObjectStore& store, const StoreSettings& settings);

/// "ours" or "other".
std::string word_of(FindLinks find_links);
/// invalid_argument P115.
Result<FindLinks> parse_find_links(const std::string& word);

} // namespace quarry::pages
