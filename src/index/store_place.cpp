#include "index/store_place.hpp"

#include "base/text.hpp"
#include "digest/sha256.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::index {

namespace {

constexpr std::uint64_t k_pointer_bytes_max = 64u << 20; // a pointer with many sets
constexpr std::string_view k_json = ".json";

/// Whether this file is a record of a store, and not somebody's file of that name.
bool is_record(const std::string& file, std::string_view schema) {
  auto text = sys::read_file(file, k_pointer_bytes_max);
  return text && text->find(fmt::format("\"{}", schema)) != text->npos;
}

bool has_seals(const std::string& directory) {
  auto entries = sys::list_directory(path::join(directory, "seals"));
  return entries && std::ranges::any_of(*entries, [](const sys::TreeEntry& entry) {
           return entry.path.ends_with(k_json) &&
                  Sha256::from_hex(entry.path.substr(0, entry.path.size() - k_json.size()));
         });
}

/// What of a store is here; empty: nothing.
std::string found_in(const std::string& directory) {
  auto above = path::dirname(directory);
  auto name = path::basename(directory);
  if (path::basename(above) == "channels" && is_record(directory + std::string(k_json), "quarry.channel/"))
    return fmt::format("the pages of channel {}", name);
  if (is_record(path::join(directory, "distribution.json"), "quarry.distribution/")) return "a distribution";
  auto pages = path::join(directory, "pages.json");
  if (is_record(pages, "quarry.merged/") || is_record(pages, "quarry.distribution-pages/")) return "pages";
  return has_seals(directory) ? "published packages" : "";
}

} // namespace

Result<void> refuse_place_of_store(const std::string& directory) {
  TRY(auto absolute, sys::absolute(directory));
  for (auto at = sys::without_links(absolute); !at.empty(); at.resize(at.rfind('/'))) {
    auto found = found_in(at);
    if (found.empty()) continue;
    return fail(ErrorKind::already_exists, "I026", fmt::format("a store keeps {} in {}", found, at),
                fmt::format("nothing was written to that directory; `quarry index repair {}` makes its pages again; "
                            "other pages go to a "
                            "directory of their own, such as `--output-dir site`",
                            text::shell_word(at)));
  }
  return {};
}

} // namespace quarry::index
