#include "inspect/package_table.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "dist/requirement.hpp"
#include "inspect/python_literal.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <nlohmann/json.hpp>

namespace quarry::inspect {

namespace {
constexpr std::uint64_t k_table_bytes_max = 1u << 20; // as for other modules: the largest of ROCm's has 20 KB
constexpr std::string_view k_table = "ALL_PACKAGES", k_extras = "EXTRAS", k_family = "{family}";

/// The JSON spelling of one token of a literal; empty for anything else.
std::string json_spelling(const PythonToken& token) {
  using TokenKind = PythonToken::Kind;
  constexpr std::string_view k_signs = "{}[]:,";
  if (token.kind == TokenKind::sign)
    return token.text.size() == 1 && k_signs.find(token.text) != k_signs.npos ? std::string(token.text) : "";
  if (token.kind == TokenKind::word)
    return token.text == "True" ? "true" : token.text == "False" ? "false" : token.text == "None" ? "null" : "";
  auto literal = read_python_literal({&token, 1});
  return literal ? literal->text : "";
}

/// A value that the module writes down as dictionaries, lists, texts, truth values and None; null for anything else.
Json value_of(const PythonModule& module, std::string_view name) {
  auto found = module.values.find(std::string(name));
  if (found == module.values.end()) return {};
  auto scan = scan_python(found->second);
  if (!scan.problem.empty() || scan.statements.size() != 1) return {};
  std::string out;
  for (const auto& token : scan.statements[0].tokens) {
    auto spelling = json_spelling(token);
    if (spelling.empty()) return {};
    if ((spelling == "}" || spelling == "]") && out.ends_with(',')) out.pop_back();
    out += spelling;
  }
  auto parsed = json::parse({out, std::string(name)});
  return parsed ? std::move(*parsed) : Json();
}

std::string text_value(const PythonModule& module, std::string_view name) {
  auto value = value_of(module, name);
  return value.is_string() ? value.get<std::string>() : "";
}

std::vector<std::string> texts_in(const Json& value) {
  std::vector<std::string> out;
  if (!value.is_array()) return out;
  for (const auto& each : value)
    if (each.is_string()) out.push_back(each.get<std::string>());
  return out;
}

std::string in_normal_form(const std::string& name) {
  auto parsed = dist::ProjectName::parse(name);
  return parsed ? parsed->str() : name;
}

struct TableEntry {
  std::string logical, dist, pure, platform;
  bool required = false;
  std::vector<std::string> requires_entries, platforms;
};

/// What the module says about the packages of its release.
struct Claims {
  std::vector<TableEntry> entries;
  std::string nonce, device;     ///< `device`: the pattern of packages of device code
  bool several_families = false; ///< the machine that installs them chooses one
};

bool is_per_family(const std::string& pattern) { return pattern.find(k_family) != pattern.npos; }

/// The family that makes `pattern` this project, in normal form: "" where it has none, nullopt where it is another
/// project. Which families exist is not asked here: that list is compared as a value of its own.
std::optional<std::string> family_that_makes(const std::string& pattern, const std::string& project) {
  auto at = pattern.find(k_family);
  if (at == pattern.npos) return in_normal_form(pattern) == project ? std::optional<std::string>("") : std::nullopt;
  std::string_view begin = std::string_view(pattern).substr(0, at);
  std::string_view end = std::string_view(pattern).substr(at + k_family.size());
  bool fits = project.size() > begin.size() + end.size() && project.starts_with(begin) && project.ends_with(end);
  if (!fits) return std::nullopt;
  return project.substr(begin.size(), project.size() - begin.size() - end.size());
}

std::optional<TableEntry> entry_of(const std::string& logical, const Json& value) {
  auto field = [&](const char* name) { return json::string_or(value, name, ""); };
  if (!value.is_object() || !value.contains("required") || !value["required"].is_boolean()) return std::nullopt;
  TableEntry entry{logical,
                   field("dist"),
                   field("pure"),
                   field("platform"),
                   value["required"].get<bool>(),
                   texts_in(value.value("requires", Json())),
                   texts_in(value.value("platforms", Json()))};
  if (entry.dist.empty() || entry.pure.empty() || entry.platform.empty()) return std::nullopt;
  return entry;
}

std::optional<Claims> claims_of(const PythonModule& module) {
  auto table = value_of(module, k_table);
  if (!table.is_object()) return std::nullopt;
  Claims claims;
  for (const auto& [logical, value] : table.items()) {
    auto entry = entry_of(logical, value);
    if (!entry) return std::nullopt;
    claims.entries.push_back(std::move(*entry));
  }
  claims.nonce = text_value(module, "PY_PACKAGE_SUFFIX_NONCE");
  claims.device = text_value(module, "DEVICE_PACKAGE");
  claims.several_families = texts_in(value_of(module, "AVAILABLE_TARGET_FAMILIES")).size() > 1;
  return claims;
}

bool is_wheel(const HeldPackage& held) { return held.package->kind == dist::DistributionKind::wheel; }

std::string platform_of_tags(const std::string& tags) { return tags.find("-win") != tags.npos ? "windows" : "linux"; }

/// "windows" if one of the wheels is for it.
std::string platform_of(const std::vector<HeldPackage>& beside) {
  bool windows =
      std::ranges::any_of(beside, [](const auto& held) { return platform_of_tags(held.package->tags) == "windows"; });
  return windows ? "windows" : "linux";
}

bool exists_for(const TableEntry& entry, const std::string& platform) {
  return entry.platforms.empty() || std::ranges::count(entry.platforms, platform) != 0;
}

/// The projects that a package asks for on its platform, without an extra or with this one.
std::set<std::string> asked_for(const Package& package, const std::string& platform, const std::string& extra = "") {
  std::set<std::string> out;
  dist::MarkerEnvironment machine{{"sys_platform", platform == "windows" ? "win32" : "linux"}};
  for (const auto& text : package.metadata.requires_dist) {
    auto parsed = dist::Requirement::parse(text);
    if (!parsed || !parsed->marker.holds(machine, extra)) continue;
    if (extra.empty() || !parsed->marker.holds(machine)) out.insert(parsed->project.str());
  }
  return out;
}

const TableEntry* entry_for(const Claims& claims, const std::string& project) {
  for (const auto& entry : claims.entries)
    if (family_that_makes(entry.dist, project)) return &entry;
  return nullptr;
}

/// Upper and lower case, and '-' and '_', count as one: a project's name does not tell how its family is spelt.
std::string folded(std::string_view name) { return text::replace_all(text::lower(name), "-", "_"); }

bool has_directory(const HeldPackage& held, const std::string& name, bool per_family) {
  if (!per_family) return held.directories.contains(name);
  return std::ranges::any_of(held.directories, [&](const auto& each) { return folded(each) == folded(name); });
}

std::string directory_problem(const Claims& claims, const HeldPackage& held, const TableEntry& entry) {
  auto family = *family_that_makes(entry.dist, held.package->project);
  for (const auto& pattern : {entry.pure, entry.platform + claims.nonce}) {
    auto name = text::replace_all(pattern, k_family, family);
    if (!has_directory(held, name, is_per_family(pattern)))
      return fmt::format("{} holds no directory {}", held.package->file, name);
  }
  return "";
}

std::string wheel_problem(const Claims& claims, const HeldPackage& held, const TableEntry& entry) {
  if (auto problem = directory_problem(claims, held, entry); !problem.empty()) return problem;
  const auto& package = *held.package;
  auto asked = asked_for(package, platform_of_tags(package.tags));
  for (const auto& project : asked)
    if (const auto* other = entry_for(claims, project);
        other && std::ranges::count(entry.requires_entries, other->logical) == 0)
      return fmt::format("{} requires {}, and the entry {} does not say so", package.file, project, entry.logical);
  for (const auto& name : entry.requires_entries) {
    auto other = std::ranges::find(claims.entries, name, &TableEntry::logical);
    if (other == claims.entries.end()) return fmt::format("{} requires {}, which has no entry", entry.logical, name);
    if (!is_per_family(other->dist) && !asked.contains(in_normal_form(other->dist)))
      return fmt::format("{} does not require {}, and the entry {} says so", package.file, other->dist, entry.logical);
  }
  return "";
}

/// The source distribution, which asks for the packages; nullptr without one.
const Package* source_distribution(const std::vector<HeldPackage>& beside) {
  for (const auto& held : beside)
    if (!is_wheel(held)) return held.package;
  return nullptr;
}

std::string required_problem(const Claims& claims, const std::vector<HeldPackage>& beside,
                             const std::string& platform) {
  const auto* source = source_distribution(beside);
  if (!source) return "no source distribution beside it says which packages are required";
  auto asked = asked_for(*source, platform);
  for (const auto& entry : claims.entries) {
    if (!exists_for(entry, platform)) continue;
    bool found = std::ranges::any_of(
        asked, [&](const auto& project) { return family_that_makes(entry.dist, project).has_value(); });
    bool one_of_several = is_per_family(entry.dist) && claims.several_families;
    if (found != entry.required && !(entry.required && one_of_several))
      return fmt::format("{} {} {}, and the entry {} says otherwise", source->file,
                         found ? "requires" : "does not require", entry.dist, entry.logical);
  }
  return "";
}
} // namespace

Result<std::vector<HeldPackage>> Neighbours::of_version(const std::string& version) {
  TRY_DO(look());
  std::vector<HeldPackage> found;
  std::ranges::copy_if(*held_, std::back_inserter(found),
                       [&](const auto& held) { return held.package->version == version; });
  return found;
}

Result<void> Neighbours::look() {
  if (held_) return {};
  std::vector<HeldPackage> found;
  auto top = [](const std::string& path) { return path.substr(0, path.find('/')); };
  for (const auto& package : packages_) {
    HeldPackage one{&package, {}};
    if (is_wheel(one))
      for (const auto& [path, entry] : package.entries) {
        one.directories.insert(top(path));
        if (!is_payload(path)) continue;
        TRY(auto members, read_payload(path, entry, options_));
        for (const auto& [member, unused] : members) one.directories.insert(top(member));
      }
    found.push_back(std::move(one));
  }
  held_ = std::move(found);
  return {};
}

std::string package_table_problem(const PythonModule& module, const std::vector<HeldPackage>& beside) {
  auto claims = claims_of(module);
  if (!claims) return "the table is not written down as python/README.md says";
  auto platform = platform_of(beside);
  std::set<std::string> named;
  for (const auto& held : beside) {
    const auto& package = *held.package;
    if (!is_wheel(held)) continue;
    if (!claims->device.empty() && family_that_makes(claims->device, package.project)) continue;
    const auto* entry = entry_for(*claims, package.project);
    if (!entry || !exists_for(*entry, platform)) return fmt::format("no entry names {} for {}", package.file, platform);
    named.insert(entry->logical);
    if (auto problem = wheel_problem(*claims, held, *entry); !problem.empty()) return problem;
  }
  for (const auto& entry : claims->entries)
    if (exists_for(entry, platform) && !named.contains(entry.logical))
      return fmt::format("the entry {} names {}, and no such package lies beside it", entry.logical, entry.dist);
  return required_problem(*claims, beside, platform);
}

std::string extras_problem(const PythonModule& module, const std::vector<HeldPackage>& beside) {
  auto claims = claims_of(module);
  auto extras = value_of(module, k_extras);
  const auto* source = source_distribution(beside);
  if (!claims || !extras.is_object() || !source) return "the extras cannot be held against packages";
  auto platform = platform_of(beside);
  for (const auto& [extra, names] : extras.items()) {
    std::set<std::string> said, asked;
    for (const auto& name : texts_in(names)) {
      auto entry = std::ranges::find(claims->entries, name, &TableEntry::logical);
      if (entry == claims->entries.end()) return fmt::format("the extra {} brings {}, which has no entry", extra, name);
      // With several families, the machine that installs it chooses the package.
      bool one_of_several = is_per_family(entry->dist) && claims->several_families;
      if (exists_for(*entry, platform) && !one_of_several) said.insert(name);
    }
    for (const auto& project : asked_for(*source, platform, in_normal_form(extra)))
      if (const auto* entry = entry_for(*claims, project)) asked.insert(entry->logical);
    if (said != asked)
      return fmt::format("{} asks for other packages under the extra {} than EXTRAS says", source->file, extra);
  }
  return "";
}

Result<void> hold_package_tables(const OurModule& ours, Neighbours& beside, std::vector<Part>& parts) {
  auto find = [&](std::string_view name) {
    return std::ranges::find_if(parts, [&](const auto& part) {
      return part.place == fmt::format("{}!value:{}", ours.place, name) && part.kind != Kind::only_right;
    });
  };
  auto table = find(k_table), extras = find(k_extras);
  if (table == parts.end() && extras == parts.end()) return {};
  TRY(auto text, ours.bytes.read_all(k_table_bytes_max), "while reading " + ours.place);
  TRY(auto held, beside.of_version(ours.version));
  auto module = read_module(text);
  if (table != parts.end()) {
    auto problem = package_table_problem(module, held);
    if (problem.empty())
      table->place += "!held";
    else
      *table = {table->place, Kind::content, problem};
  }
  if (extras == parts.end()) return {};
  if (auto problem = extras_problem(module, held); !problem.empty()) *extras = {extras->place, Kind::content, problem};
  return {};
}

} // namespace quarry::inspect
