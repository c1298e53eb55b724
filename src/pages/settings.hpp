#pragma once
// The settings of a store: `settings.json` (docs/formats/store.md, "Settings"). Every command that writes into the
// store follows them.
#include "base/result.hpp"
#include "index/site.hpp"
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
/// Replaces the settings, also damaged ones and what a later version has added. Returns true if it has written, false
/// if the store has exactly these bytes, or has no settings and these are the defaults. Fails with R007 if the stored
/// object has more than 64 KiB, and with the errors of put(). If another writer was faster, that is R003, or R002 if
/// the store had no settings. Costs a read and a write.
Result<bool> write_settings(store::ObjectStore& store, const StoreSettings& settings);

/// Whether the store around an index leaves find-links pages to another tool. Looks for `settings.json` in the index's
/// own directory, then in up to eight directories above it. Ignores objects without the text `quarry.settings/`
/// (another program's), objects to which access is denied, and files of this machine that cannot be read or have more
/// than 64 KiB. The first object that is not ignored decides. Returns false if all are ignored or missing. Fails with
/// B002 to B004 or P115 if the object that decides is not valid, with R007 for an object above 64 KiB, and with the
/// errors of the site. Up to nine reads.
Result<bool> find_links_left_at(index::Site& site);

/// "ours" or "other".
std::string word_of(FindLinks find_links);
/// invalid_argument P115.
Result<FindLinks> parse_find_links(const std::string& word);

} // namespace quarry::pages
