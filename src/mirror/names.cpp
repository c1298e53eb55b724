#include "mirror/names.hpp"

#include "base/text.hpp"
#include "base/toml.hpp"
#include "mirror/sync.hpp"
#include "registry/registry.hpp"
#include "thread/pool.hpp"
#include <fmt/core.h>
#include <mutex>

namespace quarry::mirror {

namespace {

Unexpected refused(const std::string& project, const std::string& by, const std::string& why) {
  return fail(
      ErrorKind::invalid_argument, "U005",
      fmt::format("{} (asked for by {}) may not come from another index: {}", project, by, why),
      fmt::format("take {} out of the requirements; installers find it at the index of its run or channel", project));
}

} // namespace

Result<std::vector<Reserved>> parse_reserved(NamedText named) {
  const auto text = named.text;
  const std::string file(named.name);
  TRY(auto root, TomlTable::parse({text, file}, {"U012", "U012", "docs/formats/mirror.md describes the file"}));
  std::string schema;
  TRY_DO(root.choice("schema", schema, {"quarry.mirror-names/1"}, true));
  std::vector<Reserved> reserved;
  TRY_DO(root.tables("reserved", [&](TomlTable& table) -> Result<void> {
    std::vector<std::string> names;
    std::string why;
    TRY_DO(table.texts("names", names));
    TRY_DO(table.text("why", why, true));
    for (auto& name : names) reserved.push_back({std::move(name), why});
    return {};
  }));
  TRY_DO(root.finish());
  return reserved;
}

Result<std::map<std::string, std::string>> owned_names(store::ObjectReader& store, unsigned transfers) {
  constexpr std::string_view k_sets = "sets/", k_json = ".json";
  TRY(auto objects, store.list(std::string(k_sets)));
  std::map<std::string, std::string> owned;
  std::mutex mutex;
  TRY_DO(parallel_for(objects.size(), transfers, [&](std::size_t i) -> Result<void> {
    std::string_view key = objects[i].key;
    if (!key.ends_with(k_json)) return {};
    key.remove_prefix(k_sets.size());
    key.remove_suffix(k_json.size());
    auto digest = registry::SetDigest::parse(key);
    if (!digest) return {};
    TRY(auto set, registry::load_set(store, *digest));
    if (set.directory == k_directory) return {};
    std::lock_guard lock(mutex);
    for (const auto& file : set.files) owned.try_emplace(file.project, set.directory);
    return {};
  }));
  return owned;
}

Guard make_guard(std::vector<Reserved> reserved, std::map<std::string, std::string> owned) {
  return [reserved = std::move(reserved), owned = std::move(owned)](const std::string& project,
                                                                    const std::string& by) -> Result<void> {
    if (auto owner = owned.find(project); owner != owned.end())
      return refused(project, by, "this store publishes it in " + owner->second);
    for (const auto& one : reserved)
      if (text::glob_match(one.pattern, project)) return refused(project, by, one.why);
    return {};
  };
}

} // namespace quarry::mirror
