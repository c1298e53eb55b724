#include "cli/places.hpp"

#include "cli/records.hpp"
#include "store/denied.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::cli {

bool is_distribution(const std::string& operand) { return operand.find('/') != operand.npos; }

Result<std::optional<run::StorePlace>> written_out_distribution(const Context& context, const std::string& text) {
  auto whole = text;
  while (whole.size() > 1 && whole.ends_with('/')) whole.pop_back();
  auto store = open_store_to_write(context, whole);
  if (!store) return std::optional<run::StorePlace>();
  TRY(auto directory, registry::directory_of_distribution(**store));
  if (directory.empty() || !whole.ends_with("/" + directory)) return std::optional<run::StorePlace>();
  return std::optional(run::StorePlace{whole.substr(0, whole.size() - directory.size() - 1), directory});
}

Result<run::StorePlace> place_in_bucket(const Context& context, const std::string& text) {
  TRY(auto place, run::split_store(text));
  TRY(auto pointed, written_out_distribution(context, text));
  if (pointed) return std::move(*pointed);
  TRY(auto bucket, open_store(context, place.store));
  for (auto end = place.key.rfind('/'); end != place.key.npos && end != 0; end = place.key.rfind('/', end - 1)) {
    auto sets = place.key.substr(0, end) + "/sets/";
    auto found = bucket->children(sets.substr(0, sets.size() - 1));
    if (!found && store::is_denied(found.error())) continue; // these credentials may list only the directory itself
    if (!found) return fail(std::move(found).error());
    if (std::ranges::find(found->directories, sets) == found->directories.end()) continue;
    return run::StorePlace{place.store + "/" + place.key.substr(0, end), place.key.substr(end + 1)};
  }
  return place;
}

Result<DistributionPlace> distribution_of(const Context& context, const Arguments& arguments,
                                          const std::string& operand) {
  auto said = arguments.find("--store");
  if (said && store::check_key(operand)) {
    TRY(auto store, open_store(context, *said));
    TRY(auto pointer, store->head(registry::distribution_key(operand)));
    if (pointer) return DistributionPlace{std::move(store), operand};
  }
  TRY(auto place, written_out_distribution(context, operand));
  if (!place)
    return fail(ErrorKind::not_found, "P120", fmt::format("{} is not a distribution", operand),
                "write it out with its store, as `quarry promote --to-store` prints it: s3://BUCKET/v2/gfx94X-dcgpu; "
                "a channel has no slash in its name");
  TRY(auto store, open_store(context, place->store));
  return DistributionPlace{std::move(store), place->key};
}

} // namespace quarry::cli
