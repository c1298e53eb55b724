#include "artifact/descriptor.hpp"

#include "artifact/manifest.hpp"
#include "base/text.hpp"
#include "base/toml.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>

namespace quarry::artifact {

namespace {
constexpr std::string_view k_prefix = "artifact-", k_suffix = ".toml";
constexpr const char* k_hint = "docs/formats/artifact.md lists every key of a descriptor";

/// What a component takes where its descriptor says nothing else, and whose files come first.
struct Defaults {
  std::string_view component, extends;
  std::vector<std::string> include;
};
const std::vector<Defaults>& defaults() {
  static const std::vector<Defaults> table{
      {"lib", "", {"**/*.dll", "**/*.dylib", "**/*.so", "**/*.so.*"}},
      {"run", "lib", {}},
      {"dbg", "run", {".build-id/**/*.debug"}},
      {"dev",
       "dbg",
       {"**/*.a", "**/*.lib", "**/cmake/**", "**/include/**", "**/share/modulefiles/**", "**/pkgconfig/**"}},
      {"doc", "dev", {"**/share/doc/**"}},
      {"test", "doc", {}},
  };
  return table;
}

const Defaults* defaults_of(std::string_view component) {
  for (const auto& row : defaults())
    if (row.component == component) return &row;
  return nullptr;
}

bool any_match(const std::vector<std::string>& globs, std::string_view path) {
  return std::any_of(globs.begin(), globs.end(), [&](const auto& glob) { return text::glob_match(glob, path); });
}

Result<void> one_or_more(TomlTable& table, const std::string& key, std::vector<std::string>& into) {
  std::string one;
  if (table.text(key, one)) {
    if (table.has(key)) into.push_back(std::move(one));
    return {};
  }
  if (table.texts(key, into)) return {};
  return table.error(key, "must be a string or an array of strings");
}

Result<void> read_optional(TomlTable& table, const Platform& platform, bool& into) {
  if (table.flag("optional", into)) return {};
  std::vector<std::string> platforms;
  if (!one_or_more(table, "optional", platforms))
    return table.error("optional", "must be true, false, a platform or an array of platforms");
  into =
      std::any_of(platforms.begin(), platforms.end(), [&](const auto& p) { return text::lower(p) == platform.text(); });
  return {};
}

class Parser {
public:
  Parser(std::string file, Platform platform) : platform_(std::move(platform)) { result_.file = std::move(file); }

  Result<Descriptor> run(std::string_view text) {
    TRY_DO(take_name());
    TRY(auto root, TomlTable::parse({text, result_.file}, {"A023", "A024", k_hint}));
    TRY_DO(root.table("options", [&](TomlTable& t) -> Result<void> {
      TRY_DO(one_or_more(t, "unmatched_include", result_.unmatched_include));
      return one_or_more(t, "unmatched_exclude", result_.unmatched_exclude);
    }));
    TRY_DO(root.named_tables("components", [&](const std::string& name, TomlTable& t) { return component(name, t); }));
    TRY_DO(root.finish());
    TRY_DO(order(root));
    return std::move(result_);
  }

private:
  Result<void> take_name() {
    auto base = path::basename(result_.file);
    if (base.starts_with(k_prefix) && base.ends_with(k_suffix) && base.size() > k_prefix.size() + k_suffix.size())
      result_.name = base.substr(k_prefix.size(), base.size() - k_prefix.size() - k_suffix.size());
    if (!result_.name.empty() && parse_name(result_.name + "_lib_generic")) return {};
    return fail(ErrorKind::invalid_argument, "A023",
                fmt::format("{} is not called artifact-NAME.toml, so its artifact has no name", result_.file),
                "NAME becomes the first part of {name}_{component}_{target}: no underscore");
  }

  Result<void> component(const std::string& name, TomlTable& table) {
    const auto* known = defaults_of(name);
    if (!known) return table.error("", "is not one of lib, run, dbg, dev, doc, test");
    auto& rule = rules_[name];
    rule.component = name;
    if (table.has("extends"))
      TRY_DO(one_or_more(table, "extends", rule.extends));
    else if (!known->extends.empty())
      rule.extends.emplace_back(known->extends);
    for (const auto& other : rule.extends)
      if (!defaults_of(other))
        return table.error("extends", fmt::format("\"{}\" is not one of lib, run, dbg, dev, doc, test", other));
    auto keys = table.keys();
    std::erase(keys, "extends");
    std::stable_sort(keys.begin(), keys.end(),
                     [&](const auto& a, const auto& b) { return table.line_of(a) < table.line_of(b); });
    for (const auto& directory : keys) {
      TRY_DO(table.table(directory, [&](TomlTable& t) { return base(directory, t, *known, rule); }));
      rule.bases.back().place =
          fmt::format("{}:{}: components.{}.{}", result_.file, table.line_of(directory), name, directory);
    }
    return {};
  }

  Result<void> base(const std::string& directory, TomlTable& table, const Defaults& known, ComponentRule& rule) {
    auto plain = parse_manifest(directory, "it");
    if (!plain || plain->size() != 1) return table.error("", "is not a plain relative path of a directory");
    BaseRule base{.directory = plain->front()};
    bool with_defaults = true;
    TRY_DO(table.flag("default_patterns", with_defaults));
    TRY_DO(one_or_more(table, "include", base.include));
    TRY_DO(one_or_more(table, "exclude", base.exclude));
    TRY_DO(one_or_more(table, "force_include", base.force_include));
    TRY_DO(read_optional(table, platform_, base.optional));
    if (with_defaults) base.include.insert(base.include.end(), known.include.begin(), known.include.end());
    // Device code that was split off for this component, wherever its globs point.
    base.force_include.push_back(fmt::format(".kpack/{}_{}.kpm", result_.name, rule.component));
    base.force_include.push_back(fmt::format(".kpack/{}_{}_*.kpack", result_.name, rule.component));
    rule.bases.push_back(std::move(base));
    return {};
  }

  /// Those that a descriptor leaves out still stand in the chain: `dev` comes after `lib` when only these two are
  /// there.
  Result<void> order(const TomlTable& root) {
    for (const auto& row : defaults()) {
      auto& rule = rules_[std::string(row.component)];
      if (!rule.component.empty()) continue;
      rule.component = row.component;
      if (!row.extends.empty()) rule.extends.emplace_back(row.extends);
    }
    while (!rules_.empty()) {
      auto ready = std::find_if(rules_.begin(), rules_.end(), [&](const auto& entry) {
        return std::none_of(entry.second.extends.begin(), entry.second.extends.end(),
                            [&](const auto& other) { return rules_.contains(other); });
      });
      if (ready == rules_.end()) return root.error("components", "they extend each other in a circle");
      result_.components.push_back(std::move(ready->second));
      rules_.erase(ready);
    }
    return {};
  }

  Platform platform_;
  Descriptor result_;
  std::map<std::string, ComponentRule> rules_;
};
} // namespace

bool BaseRule::takes(std::string_view path) const {
  if (any_match(force_include, path)) return true;
  return (include.empty() || any_match(include, path)) && !any_match(exclude, path);
}

Result<Descriptor> parse_descriptor(NamedText named, const Platform& platform) {
  const auto text = named.text;
  const std::string file(named.name);
  return Parser(file, platform).run(text);
}

} // namespace quarry::artifact
