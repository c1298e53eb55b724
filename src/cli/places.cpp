#include "cli/places.hpp"

#include "base/units.hpp"
#include "cli/records.hpp"
#include "store/denied.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

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

Result<int> show_distribution_log(Context& context, const Arguments& arguments) {
  constexpr std::size_t k_moves_shown = 100'000;
  TRY(auto place, distribution_of(context, arguments, arguments.operands.at(0)));
  TRY(auto now, registry::require_distribution(*place.store, place.directory));
  TRY(auto moves, registry::distribution_moves(*place.store, now.record, k_moves_shown));
  auto list = Json::array();
  for (const auto& one : moves) {
    const auto& m = one.move;
    list.push_back({{"generation", one.generation},
                    {"action", m.action},
                    {"sets", one.shown.sets.size()},
                    {"blocked", one.shown.blocked.size()},
                    {"plan", m.plan},
                    {"who", m.who},
                    {"when", m.when},
                    {"why", m.why}});
    context.out.data(fmt::format("{:>4}  {}  {:<9}  {}  by {}{}\n", one.generation, short_time(m.when.text()),
                                 m.action.text(), units::things(one.shown.sets.size(), "set"),
                                 m.who.empty() ? "-" : m.who, m.why.empty() ? "" : ": " + m.why));
  }
  if (moves.empty()) context.out.note("no move was recorded: its pointer was written by an earlier version");
  context.out.document({{"name", place.directory}, {"moves", list}});
  return 0;
}

} // namespace quarry::cli
