#include "release/stored_plan.hpp"

#include "base/codes.hpp"
#include "base/json.hpp"
#include "content/rope.hpp"
#include "digest/sha256.hpp"
#include "store/put_once.hpp"
#include "thread/pool.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::release {

using store::ObjectReader;
using store::ObjectStore;

namespace {

constexpr const char* k_plan_schema = "quarry.release-plan/1";
constexpr const char* k_flags = "flags";
constexpr std::string_view k_plans = "plans/", k_json = ".json";
constexpr std::uint64_t k_plan_bytes_max = 1u << 20; // 4,000 channels
constexpr unsigned k_reads = 8;

std::string plan_key(const registry::PlanDigest& digest) {
  return std::string(k_plans) + digest.hex() + std::string(k_json);
}

std::optional<registry::PlanDigest> digest_in_key(const std::string& key) {
  std::string_view name(key);
  name.remove_prefix(k_plans.size());
  if (!name.ends_with(k_json)) return std::nullopt;
  return registry::PlanDigest::parse(name.substr(0, name.size() - k_json.size()));
}

std::map<std::string, std::vector<std::string>> flags_in(const Json& object) {
  std::map<std::string, std::vector<std::string>> flags;
  auto given = object.find(k_flags);
  if (given == object.end() || !given->is_object()) return flags;
  for (const auto& [flag, values] : given->items()) {
    auto& list = flags[flag];
    if (!values.is_array()) continue;
    for (const auto& value : values)
      if (value.is_string()) list.push_back(value.get<std::string>());
  }
  return flags;
}

Result<StoredPlan> parse_plan(const std::string& bytes, const std::string& what) {
  TRY(auto object, json::parse({bytes, what}));
  TRY_DO(json::require_schema({object, what}, k_plan_schema));
  auto invalid = [&] { return fail(ErrorKind::corrupt, "R012", fmt::format("{} is not a plan of a release", what)); };
  auto text_of = [](const Json& from, const char* key) {
    auto found = from.find(key);
    return found != from.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  StoredPlan plan{text_of(object, "source"), text_of(object, "pattern"), {}, flags_in(object)};
  auto list = object.find("channels");
  if (list == object.end() || !list->is_array()) return invalid();
  for (const auto& item : *list) {
    if (!item.is_object()) return invalid();
    auto digest = registry::PlanDigest::parse(text_of(item, "plan"));
    auto generation = item.find("generation"), moves = item.find("moves");
    bool good = digest && registry::check_channel_name(text_of(item, "channel")) && generation != item.end() &&
                generation->is_number_unsigned() && moves != item.end() && moves->is_boolean();
    if (!good) return invalid();
    plan.channels.push_back({text_of(item, "channel"), *digest, text_of(item, "request"),
                             generation->get<std::uint64_t>(), moves->get<bool>()});
  }
  return plan;
}

Result<FoundPlan> load_plan(ObjectReader& store, const registry::PlanDigest& digest) {
  auto key = plan_key(digest);
  TRY(auto bytes, store.get(key, k_plan_bytes_max));
  if (!bytes) return fail(ErrorKind::not_found, "R010", fmt::format("{} holds no record {}", store.describe(), key));
  if (registry::PlanDigest(sha256(*bytes)) != digest)
    return fail(ErrorKind::corrupt, "R011", fmt::format("the record {} was altered", key),
                "do not use it; look at `--dry-run` again, then execute its digest");
  TRY(auto plan, parse_plan(*bytes, key));
  return FoundPlan{digest, std::move(plan)};
}

} // namespace

std::string to_json(const StoredPlan& plan) {
  auto channels = Json::array();
  for (const auto& channel : plan.channels)
    channels.push_back({{"channel", channel.name},
                        {"plan", channel.plan},
                        {"request", channel.request},
                        {"generation", channel.generation},
                        {"moves", channel.moves}});
  Json json{{"schema", k_plan_schema}, {"source", plan.source}, {"pattern", plan.pattern}, {"channels", channels}};
  if (!plan.flags.empty()) json[k_flags] = plan.flags; // a plan of an older program keeps its digest
  return json::text(json);
}

const StoredChannel* channel_of(const StoredPlan& plan, const std::string& name) {
  auto found = std::find_if(plan.channels.begin(), plan.channels.end(),
                            [&](const StoredChannel& channel) { return channel.name == name; });
  return found == plan.channels.end() ? nullptr : &*found;
}

Result<void> put_plan(ObjectStore& store, const std::string& document) {
  auto digest = sha256(document);
  auto key = plan_key(registry::PlanDigest(digest));
  TRY(auto present, store.get(key, k_plan_bytes_max));
  if (present && *present == document) return {};
  TRY_DO(store::put_once(
      store, key,
      {content::Rope::literal(document), digest, "application/json", "public, max-age=31536000, immutable"}));
  return {};
}

Result<std::optional<FoundPlan>> find_plan(ObjectReader& store, const registry::ReviewedPlan& reviewed) {
  TRY(auto objects, store.list(std::string(k_plans) + reviewed.digits()));
  for (const auto& object : objects) {
    auto digest = digest_in_key(object.key);
    if (!digest) continue;
    TRY(auto found, load_plan(store, *digest));
    return std::optional(std::move(found));
  }
  return std::optional<FoundPlan>();
}

Result<std::vector<FoundPlan>> list_plans(ObjectReader& store) {
  TRY(auto listed, store.children(std::string(k_plans)));
  std::vector<std::optional<FoundPlan>> found(listed.objects.size());
  TRY_DO(parallel_for(found.size(), k_reads, [&](std::size_t i) -> Result<void> {
    auto digest = digest_in_key(listed.objects[i].key);
    if (!digest) return {};
    auto plan = load_plan(store, *digest);
    if (plan) found[i] = std::move(*plan);
    if (!plan && !registry::is_lost(plan.error()) && !plan.error().is(codes::other_schema))
      return fail(std::move(plan).error());
    return {};
  }));
  std::vector<FoundPlan> plans;
  for (auto& plan : found)
    if (plan) plans.push_back(std::move(*plan));
  return plans;
}

} // namespace quarry::release
