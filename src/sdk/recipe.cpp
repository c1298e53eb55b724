#include "sdk/recipe.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "base/toml.hpp"
#include "digest/sha256.hpp"
#include "dist/name.hpp"
#include "dist/version.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::sdk {

namespace {

template <class T> T value_of(const std::string& name, std::initializer_list<std::pair<std::string_view, T>> table) {
  for (const auto& [key, value] : table)
    if (key == name) return value;
  return table.begin()->second;
}

bool all_of_words(std::string_view text, std::string_view also) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [&](char c) { return ascii::is_alnum(c) || also.find(c) != also.npos; });
}

// A script becomes a file in the environment's bin directory, on every system.
bool is_script_name(std::string_view name) {
  return all_of_words(name, "._+-") && (ascii::is_alnum(name[0]) || name[0] == '_') && name.back() != '.';
}

// The form of an SPDX license expression (SPDX 2.3, annex D): identifiers, AND, OR, WITH and parentheses; whether the
// list of SPDX knows an identifier is not looked up.
bool is_license_expression(std::string_view text) {
  auto spaced = text::replace_all(text::replace_all(text, "(", " ( "), ")", " ) ");
  int depth = 0;
  bool wants_name = true, may_have_exception = false;
  for (const auto& word : text::split_any(spaced, " ")) {
    auto upper_or_lower = text::lower(word);
    bool joins = upper_or_lower == "and" || upper_or_lower == "or" || upper_or_lower == "with";
    if (word == "(" || (!joins && word != ")")) {
      if (!wants_name) return false;
      depth += word == "(";
      if (word == "(") continue;
      auto name = word.ends_with('+') ? word.substr(0, word.size() - 1) : word;
      if (!all_of_words(name, ".-:")) return false;
      wants_name = false;
      may_have_exception = true;
      continue;
    }
    if (wants_name || (upper_or_lower == "with" && !may_have_exception)) return false;
    if (word == ")" && --depth < 0) return false;
    wants_name = word != ")";
    may_have_exception = false;
  }
  return !wants_name && depth == 0;
}

Result<void> check_globs(TomlTable& table, const std::string& key, const std::vector<std::string>& globs) {
  for (const auto& glob : globs)
    if (glob.empty() || glob.find_first_of("[]{}\\") != glob.npos || path::is_absolute(glob))
      return table.error(key, fmt::format("{:?} is not a glob of this recipe: a relative path with *, ? and **", glob));
  return {};
}

Result<void> read_selection(TomlTable& table, Selection& into) {
  TRY_DO(table.texts("artifacts", into.artifacts));
  TRY_DO(table.flag("runtime", into.runtime));
  TRY_DO(table.texts("components", into.components));
  TRY_DO(table.texts("include", into.include));
  TRY_DO(table.texts("exclude", into.exclude));
  TRY_DO(table.texts("except", into.except));
  TRY_DO(check_globs(table, "include", into.include));
  TRY_DO(check_globs(table, "exclude", into.exclude));
  std::string targets = "any";
  TRY_DO(table.choice("targets", targets, {"any", "generic", "family", "family-or-generic"}));
  into.targets = value_of<TargetRule>(targets, {{"any", TargetRule::any},
                                                {"generic", TargetRule::generic},
                                                {"family", TargetRule::family},
                                                {"family-or-generic", TargetRule::family_or_generic}});
  if (into.artifacts.empty() && !into.runtime) return table.error("artifacts", "names no artifact");
  if (into.components.empty()) return table.error("components", "names no component");
  constexpr std::string_view k_components[] = {"lib", "run", "dbg", "dev", "doc", "test"};
  for (const auto& c : into.components)
    if (std::find(std::begin(k_components), std::end(k_components), c) == std::end(k_components))
      return table.error("components", fmt::format("\"{}\" is not one of lib, run, dbg, dev, doc, test", c));
  return {};
}

Result<void> read_platforms(TomlTable& table, std::vector<Platform>& into) {
  std::vector<std::string> names;
  TRY_DO(table.texts("platforms", names));
  for (const auto& name : names) {
    into.push_back(Platform::read(name));
    if (!into.back().kind()) return table.error("platforms", fmt::format("\"{}\" is neither linux nor windows", name));
  }
  return {};
}

Result<void> read_script(TomlTable& table, Script& into) {
  TRY_DO(table.text("name", into.name, true));
  TRY_DO(table.text("program", into.program, true));
  TRY_DO(table.text("expect", into.expect));
  TRY_DO(table.texts("arguments", into.arguments));
  TRY_DO(table.texts("needs", into.needs));
  TRY_DO(read_platforms(table, into.platforms));
  TRY_DO(table.text_map("environment", into.environment));
  TRY_DO(table.flag("required", into.required));
  if (!is_script_name(into.name))
    return table.error("name", fmt::format("{:?} cannot be the name of a script", into.name));
  if (into.program.empty() || path::is_absolute(into.program) || path::normal(into.program) != into.program ||
      into.program.starts_with(".."))
    return table.error("program", fmt::format("{:?} is not a path in the platform tree", into.program));
  for (const auto& need : into.needs)
    if (need != "gpu" && !need.starts_with("perl:"))
      return table.error("needs", fmt::format("\"{}\" is neither gpu nor perl:Module", need));
  return {};
}

bool is_identifier(std::string_view text) {
  return !text.empty() && !ascii::is_digit(text[0]) &&
         std::all_of(text.begin(), text.end(), [](char c) { return ascii::is_alnum(c) || c == '_'; });
}

// When a package is made, and whether it may be without files.
Result<void> read_conditions(TomlTable& table, Package& into) {
  std::string form;
  TRY_DO(table.choice("form", form, {"whole", "split"}));
  if (!form.empty()) into.form = value_of<Form>(form, {{"whole", Form::whole}, {"split", Form::split}});
  TRY_DO(read_platforms(table, into.platforms));
  TRY_DO(table.flag("required", into.required));
  return table.flag("never_empty", into.never_empty);
}

Result<void> read_package(const std::string& name, TomlTable& table, Package& into) {
  into.name = name;
  into.line = table.line();
  for (const auto& key : table.keys()) into.lines[key] = table.line_of(key);
  std::string role;
  TRY_DO(table.choice("role", role, {"meta", "runtime", "device", "devel"}, true));
  into.role = value_of<Role>(
      role, {{"meta", Role::meta}, {"runtime", Role::runtime}, {"device", Role::device}, {"devel", Role::devel}});
  bool has_files = into.role != Role::meta, own_tree = has_files && into.role != Role::device;
  TRY_DO(table.text("name", into.name));
  TRY_DO(read_conditions(table, into));
  into.per_family = into.role == Role::device;
  TRY_DO(table.flag("per_family", into.per_family));
  TRY_DO(table.text("dist", into.dist, true));
  TRY_DO(table.text("pure", into.pure, own_tree));
  TRY_DO(table.text("platform", into.platform, own_tree));
  TRY_DO(table.text("tree", into.tree, into.role != Role::device));
  TRY_DO(table.text("overlays", into.overlays, into.role == Role::device));
  TRY_DO(table.text("summary", into.summary, true));
  TRY_DO(table.text("readme", into.readme));
  TRY_DO(table.text("payload", into.payload, into.role == Role::devel));
  TRY_DO(table.texts("requires", into.requires_packages));
  TRY_DO(table.texts("links_into", into.links_into));
  TRY_DO(table.texts_map("extras", into.extras));
  TRY_DO(table.tables("select", [&](TomlTable& t) { return read_selection(t, into.select.emplace_back()); }));
  TRY_DO(table.tables("script", [&](TomlTable& t) { return read_script(t, into.scripts.emplace_back()); }));
  TRY_DO(table.tables("rpath", [&](TomlTable& t) -> Result<void> {
    auto& edge = into.rpath.emplace_back();
    TRY_DO(t.text("package", edge.package, true));
    return t.text("path", edge.path, true);
  }));
  if (has_files && into.select.empty()) return table.error_with("S003", "select", "the package selects nothing");
  return {};
}

// What becomes a project, a Python package or a directory in site-packages must be able to be one.
Result<void> check_names(const Recipe& recipe, const Package& package) {
  constexpr std::string_view k_family = "gfx1";
  auto refuse = [&](const std::string& key, const std::string& text) {
    return fail(ErrorKind::invalid_argument, "S003", recipe.place(package, key) + ": " + text);
  };
  for (const auto& [key, name] : {std::pair<std::string, std::string>{"dist", package.dist},
                                  {"pure", package.pure},
                                  {"platform", package.platform}}) {
    if (name.empty()) continue; // a meta package has no files of its own
    bool has_family = name.find("{family}") != name.npos;
    if (package.per_family && !has_family) return refuse(key, "a per-family package needs {family} in its name");
    if (has_family && !package.per_family) return refuse(key, "{family} belongs to packages with per_family = true");
    auto example = for_family({name, k_family}, NameForm::importable);
    bool fits = key == "dist" ? dist::ProjectName::parse(example).has_value() : is_identifier(example);
    if (!fits)
      return refuse(
          key, fmt::format("\"{}\" cannot be the name of a {}", name, key == "dist" ? "project" : "Python package"));
  }
  return {};
}

bool share_a_platform(const Script& a, const Script& b) {
  if (a.platforms.empty() || b.platforms.empty()) return true;
  return std::any_of(a.platforms.begin(), a.platforms.end(), [&](const Platform& p) {
    return std::find(b.platforms.begin(), b.platforms.end(), p) != b.platforms.end();
  });
}

// Two scripts with one entry point would run one program.
Result<void> check_scripts(const Recipe& recipe, const Package& package) {
  std::multimap<std::string, const Script*> seen;
  for (const auto& script : package.scripts) {
    auto attribute = entry_point_attribute(script.name);
    auto [first, last] = seen.equal_range(attribute);
    for (auto it = first; it != last; ++it)
      if (share_a_platform(*it->second, script))
        return fail(ErrorKind::invalid_argument, "S003",
                    recipe.place(package, "script") + fmt::format(": {} and {} would be one entry point, {}",
                                                                  it->second->name, script.name, attribute));
    seen.emplace(attribute, &script);
  }
  return {};
}

// Its files go into a tree that is there for every target.
Result<void> check_device(const Recipe& recipe, const Package& package) {
  const auto* other = recipe.find(package.overlays);
  if (!package.pure.empty() || !package.platform.empty() || !package.scripts.empty())
    return fail(ErrorKind::invalid_argument, "S003",
                recipe.place(package, "role") + ": a package of device code has no pure, platform or script");
  if (!other || other->role != Role::runtime || other->per_family)
    return fail(ErrorKind::invalid_argument, "S003",
                recipe.place(package, "overlays") +
                    fmt::format(": \"{}\" is not a runtime package that all targets share", package.overlays));
  return {};
}

// References between packages, checked once all are known.
Result<void> check_references(const Recipe& recipe) {
  auto missing = [&](const Package& p, const std::string& key, const std::string& name) -> Result<void> {
    if (recipe.find(name)) return {};
    return fail(ErrorKind::invalid_argument, "S003",
                recipe.place(p, key) + fmt::format(": there is no package \"{}\"", name));
  };
  std::map<std::string, std::string> owners; // of projects, and of what lies beside each other in site-packages
  auto shared = [&](const Package& p, const std::string& key, const std::string& name) -> Result<void> {
    if (name.empty()) return {};
    auto [it, fresh] = owners.emplace((key == "dist" ? "dist " : "module ") + name, p.name);
    if (fresh) return {};
    return fail(ErrorKind::invalid_argument, "S003",
                recipe.place(p, key) + fmt::format(": \"{}\" is a name of package.{} too", name, it->second));
  };
  for (const auto& p : recipe.packages) {
    TRY_DO(check_names(recipe, p));
    TRY_DO(check_scripts(recipe, p));
    for (const auto& name : p.requires_packages) TRY_DO(missing(p, "requires", name));
    for (const auto& name : p.links_into) TRY_DO(missing(p, "links_into", name));
    for (const auto& edge : p.rpath) TRY_DO(missing(p, "rpath", edge.package));
    for (const auto& [extra, names] : p.extras)
      for (const auto& name : names) TRY_DO(missing(p, "extras." + extra, name));
    if (p.role == Role::device) TRY_DO(check_device(recipe, p));
    TRY_DO(shared(p, "dist", p.dist));
    TRY_DO(shared(p, "pure", p.pure));
    TRY_DO(shared(p, "platform", p.platform));
  }
  return {};
}

Result<void> read_forms(TomlTable& root, std::vector<Form>& into) {
  std::vector<std::string> names;
  TRY_DO(root.texts("forms", names));
  if (!root.has("forms")) names.emplace_back("whole");
  for (const auto& name : names) {
    if (name != "whole" && name != "split")
      return root.error("forms", fmt::format("\"{}\" is neither whole nor split", name));
    into.push_back(name == "split" ? Form::split : Form::whole);
  }
  if (into.empty()) return root.error("forms", "is empty");
  return {};
}

// A logical name may stand twice, for artifacts in different forms.
Result<void> check_form(const Recipe& recipe, Form form) {
  auto own = recipe.in(form);
  for (const auto& package : own.packages)
    if (own.find(package.name) != &package)
      return fail(ErrorKind::invalid_argument, "S003",
                  own.place(package, "name") + fmt::format(": there are two packages \"{}\"", package.name));
  if (form == Form::split && !own.device())
    return fail(ErrorKind::invalid_argument, "S003",
                fmt::format("{}: forms: artifacts that are split need a package with role \"device\"", recipe.file));
  if (form == Form::whole && own.device())
    return fail(ErrorKind::invalid_argument, "S003",
                own.place(*own.device(), "form") + ": device code is packaged from split artifacts alone");
  return check_references(own);
}

} // namespace

std::string_view to_string(Form form) { return form == Form::split ? "split" : "whole"; }

const Package* Recipe::find(std::string_view logical) const {
  auto it = std::find_if(packages.begin(), packages.end(), [&](const Package& p) { return p.name == logical; });
  return it == packages.end() ? nullptr : &*it;
}

const Package* Recipe::meta() const {
  auto it = std::find_if(packages.begin(), packages.end(), [](const Package& p) { return p.role == Role::meta; });
  return it == packages.end() ? nullptr : &*it;
}

const Package* Recipe::device() const {
  auto it = std::find_if(packages.begin(), packages.end(), [](const Package& p) { return p.role == Role::device; });
  return it == packages.end() ? nullptr : &*it;
}

bool Recipe::takes(Form form) const { return std::find(forms.begin(), forms.end(), form) != forms.end(); }

Recipe Recipe::in(Form form) const {
  auto out = *this;
  std::erase_if(out.packages, [&](const Package& p) { return p.form && *p.form != form; });
  out.forms = {form};
  return out;
}

std::string Recipe::place(const Package& package, const std::string& key) const {
  auto top = key.substr(0, key.find('.')); // extras.NAME stands in the table extras
  auto line = package.lines.find(top);
  return fmt::format("{}:{}: package.{}.{}", file, line == package.lines.end() ? package.line : line->second,
                     package.name, key);
}

Result<Recipe> parse_recipe(NamedText named) {
  const auto text = named.text;
  const std::string file(named.name);
  TRY(auto root,
      TomlTable::parse({text, file}, {"S001", "S002", "docs/formats/recipe.md lists every key of a recipe"}));
  Recipe recipe;
  recipe.file = file;
  recipe.digest = sha256(text).hex();
  std::string schema;
  TRY_DO(root.choice("schema", schema, {"quarry.sdk-recipe/1"}, true));
  TRY_DO(root.text("name", recipe.name, true));
  if (recipe.name.empty()) return root.error("name", "is empty");
  TRY_DO(read_forms(root, recipe.forms));
  TRY_DO(root.named_tables("package", [&](const std::string& name, TomlTable& t) {
    return read_package(name, t, recipe.packages.emplace_back());
  }));
  if (!root.has("metadata")) return root.error("metadata", "is missing");
  TRY_DO(root.table("metadata", [&](TomlTable& t) -> Result<void> {
    auto& m = recipe.metadata;
    TRY_DO(t.text("requires_python", m.requires_python, true));
    TRY_DO(t.text("license", m.license, true));
    if (auto python = dist::Specifiers::parse(m.requires_python); !python || m.requires_python.empty())
      return t.error("requires_python",
                     fmt::format("{:?} is not a version specifier such as >=3.10", m.requires_python));
    if (!is_license_expression(m.license))
      return t.error("license",
                     fmt::format("{:?} has not the form of an SPDX expression such as MIT OR Apache-2.0", m.license));
    TRY_DO(t.text("author", m.author));
    TRY_DO(t.texts("license_files", m.license_files));
    m.license_files_line = t.line_of("license_files");
    TRY_DO(t.texts("keywords", m.keywords));
    TRY_DO(t.texts("classifiers", m.classifiers));
    return t.text_map("urls", m.urls);
  }));
  TRY_DO(root.finish());
  if (recipe.packages.empty()) return root.error_with("S003", "package", "the recipe has no package");
  for (auto form : recipe.forms) TRY_DO(check_form(recipe, form));
  return recipe;
}

std::string entry_point_attribute(const std::string& script) {
  std::string out;
  char previous = 0;
  for (char c : script) {
    bool word = ascii::is_alnum(c) || c == '_';
    if (c == '+')
      out += previous == '+' ? "p" : "_p";
    else
      out += word ? c : '_';
    previous = c;
  }
  return !out.empty() && ascii::is_digit(out[0]) ? "_" + out : out;
}

std::string for_family(const FamilyPattern& wanted, NameForm form) {
  const auto& [pattern, family] = wanted;
  const bool importable = form == NameForm::importable;
  auto name = importable ? text::replace_all(family, "-", "_") : std::string(family);
  return text::replace_all(pattern, "{family}", name);
}

} // namespace quarry::sdk
