#include "sdk/metadata.hpp"

#include "base/text.hpp"
#include "dist/name.hpp"
#include "sdk/dist_info.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::sdk {

namespace {

constexpr std::string_view k_cli_module = "python/rocm-sdk-core/rocm_sdk_core/_cli.py";

// The recipe's names are checked by dist when the wheel is packed; here only the normal form is needed.
std::string normalised(const std::string& name) {
  auto parsed = dist::ProjectName::parse(name);
  return parsed ? parsed->str() : name;
}

// The meta project is for every platform; a wheel names its own system only.
std::vector<std::string> classifiers_for(const Package& package, const Naming& naming) {
  auto all = naming.recipe->metadata.classifiers;
  constexpr std::string_view k_system = "Operating System :: ";
  auto own = std::string(k_system) + (naming.built_for == Platform::windows ? "Microsoft" : "POSIX");
  if (package.role != Role::meta)
    std::erase_if(all, [&](const std::string& c) { return c.starts_with(k_system) && !c.starts_with(own); });
  return all;
}

Result<dist::Metadata> base_metadata(const Package& package, const std::string& family, const Naming& naming,
                                     const Resources& resources) {
  const auto& defaults = naming.recipe->metadata;
  dist::Metadata m;
  m.name = naming.dist(package, family);
  m.version = naming.version.str();
  m.summary = for_family({package.summary, family}, NameForm::as_written);
  m.requires_python = defaults.requires_python;
  m.license_expression = defaults.license;
  m.author = defaults.author;
  m.keywords = defaults.keywords;
  m.classifiers = classifiers_for(package, naming);
  m.project_urls = defaults.urls;
  for (const auto& file : defaults.license_files) m.license_files.emplace_back(path::basename(file));
  if (!package.readme.empty()) {
    m.description_content_type = "text/markdown";
    TRY(m.description, read_resource(resources, package.readme));
  }
  return m;
}

std::string package_table(const Naming& naming) {
  std::vector<std::pair<std::string, std::string>> table;
  for (const auto& p : naming.recipe->packages) {
    if (p.role == Role::meta || p.role == Role::device) continue;
    std::vector<std::pair<std::string, std::string>> entry{{"dist", python_quote(p.dist)},
                                                           {"pure", python_quote(p.pure)},
                                                           {"platform", python_quote(p.platform)},
                                                           {"required", python_bool(p.required)},
                                                           {"per_family", python_bool(p.per_family)},
                                                           {"requires", python_texts(p.requires_packages)}};
    std::vector<std::string> platforms;
    for (const auto& platform : p.platforms) platforms.emplace_back(platform.text());
    if (!platforms.empty()) entry.emplace_back("platforms", python_texts(platforms));
    table.emplace_back(p.name, python_dict(entry));
  }
  return python_dict(table);
}

std::string script_table(const std::vector<Script>& scripts) {
  std::vector<std::string> rows;
  for (const auto& s : scripts) {
    std::vector<std::pair<std::string, std::string>> environment;
    for (const auto& [name, value] : s.environment) environment.emplace_back(name, python_quote(value));
    rows.push_back(python_dict({{"name", python_quote(s.name)},
                                {"program", python_quote(s.program)},
                                {"arguments", python_texts(s.arguments)},
                                {"expect", python_quote(s.expect)},
                                {"needs", python_texts(s.needs)},
                                {"environment", python_dict(environment)},
                                {"required", python_bool(s.required)}}));
  }
  return python_list(rows);
}

std::string extras_table(const Package& meta) {
  std::vector<std::pair<std::string, std::string>> table;
  for (const auto& [extra, names] : meta.extras) table.emplace_back(extra, python_texts(names));
  return python_dict(table);
}

} // namespace

std::string Naming::dist(const Package& package, const std::string& family) const {
  return normalised(for_family({package.dist, family}, NameForm::as_written));
}
std::string Naming::pure(const Package& package, const std::string& family) const {
  return for_family({package.pure, family}, NameForm::importable);
}
std::string Naming::platform(const Package& package, const std::string& family) const {
  if (package.role == Role::device) return platform(*recipe->find(package.overlays), "");
  return for_family({package.platform, family}, NameForm::importable) + nonce;
}

std::vector<std::string> Naming::all_families() const {
  std::vector<std::string> all = linux_families;
  all.insert(all.end(), windows_families.begin(), windows_families.end());
  if (all.empty()) all = families;
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::string Naming::default_family() const {
  auto all = all_families();
  auto both = std::find_if(all.begin(), all.end(), [&](const std::string& f) {
    return std::find(linux_families.begin(), linux_families.end(), f) != linux_families.end() &&
           std::find(windows_families.begin(), windows_families.end(), f) != windows_families.end();
  });
  if (both != all.end()) return *both;
  return all.empty() ? "" : all.front();
}

// As the runtime settles it for a machine without a GPU (rocm_sdk._families.default_family).
std::string Naming::devel_family() const {
  auto wanted = default_family();
  bool built = std::find(families.begin(), families.end(), wanted) != families.end();
  return built || families.empty() ? wanted : families.front();
}

std::vector<std::string> Naming::requirements(const Package& package, const std::string& family) const {
  std::vector<std::string> out;
  for (const auto& name : package.requires_packages) {
    const auto* other = recipe->find(name);
    if (other->per_family && family.empty()) continue;
    // With several families, an extra of the meta package chooses the family that the machine needs.
    if (other->per_family && !package.per_family && families.size() > 1) continue;
    out.push_back(fmt::format("{}=={}", dist(*other, family), version.str()));
  }
  return out;
}

Result<std::string> read_resource(const Resources& resources, std::string_view name) {
  if (auto text = resources.read(name)) return std::move(*text);
  return fail(ErrorKind::internal, "S009", fmt::format("{} is not part of this program", name),
              "name it relative to the repository's root, or rebuild the program");
}

Result<std::vector<std::pair<std::string, std::string>>> pure_tree(const Package& package, const Resources& resources) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& name : resources.list(package.tree + "/")) {
    TRY(auto text, read_resource(resources, name));
    files.emplace_back(name.substr(package.tree.size() + 1), std::move(text));
  }
  // A console script needs the module that hands over to its program.
  bool own = std::any_of(files.begin(), files.end(), [](const auto& file) { return file.first == "_cli.py"; });
  if (!package.scripts.empty() && !own) {
    TRY(auto text, read_resource(resources, k_cli_module));
    files.emplace_back("_cli.py", std::move(text));
  }
  return files;
}

Result<wheel::WheelSpec> wheel_frame(const Package& package, const std::string& family, const Naming& naming,
                                     const Resources& resources) {
  wheel::WheelSpec spec;
  TRY(spec.metadata, base_metadata(package, family, naming, resources));
  spec.metadata.requires_dist = naming.requirements(package, family);
  for (const auto& file : naming.recipe->metadata.license_files) {
    TRY(auto text, read_resource(resources, file));
    spec.dist_info.push_back(
        {"licenses/" + std::string(path::basename(file)), content::Rope::literal(std::move(text)), false});
  }
  return spec;
}

std::string dist_info(const Package& package, const std::string& family, const Naming& naming,
                      const Holdings& holdings) {
  PythonModule module("Facts about this build, written by quarry sdk build. Plain literals only.");
  module.text("__version__", naming.version.str());
  module.text("PY_PACKAGE_SUFFIX_NONCE", naming.nonce);
  module.text("DEFAULT_TARGET_FAMILY", naming.default_family());
  module.texts("AVAILABLE_TARGET_FAMILIES", naming.all_families());
  module.texts("LINUX_TARGET_FAMILIES", naming.linux_families);
  module.texts("WINDOWS_TARGET_FAMILIES", naming.windows_families);
  if (family.empty())
    module.none("THIS_TARGET_FAMILY");
  else
    module.text("THIS_TARGET_FAMILY", family);
  module.text("THIS_PACKAGE_ENTRY", package.name);
  module.raw("ALL_PACKAGES", package_table(naming));
  if (const auto* device = naming.recipe->device()) {
    module.text("DEVICE_PACKAGE", device->dist);
    module.text("DEVICE_OVERLAYS", device->overlays);
  }
  if (package.role == Role::meta) module.raw("EXTRAS", extras_table(package));
  module.raw("CONSOLE_SCRIPTS", script_table(holdings.scripts));
  module.texts("LIBRARIES", holdings.libraries);
  return module.str();
}

namespace {
/// What the meta project requires, as its build backend (python/rocm/backend) will say it on some machine. The backend
/// decides where it is installed, so the fields stay Dynamic and installers do not read them here; `publish` records
/// them, so that it can be told beforehand whether they can be had. Where several families are released, an extra such
/// as `libraries` alone names what the machine has, so its packages are listed under `libraries-FAMILY` only. Nothing
/// here depends on which families this build made, because the builds of all families and platforms publish one and the
/// same file.
class MetaRequirements {
public:
  MetaRequirements(const Naming& naming, dist::Metadata& metadata)
      : naming_(naming), all_(naming.all_families()), metadata_(metadata) {}

  void add(const Package& meta) {
    for (const auto& package : naming_.recipe->packages)
      if (package.required && package.role != Role::meta) require(package, "");
    for (const auto& [extra, names] : meta.extras) add_extra(normalised(extra), names);
    if (const auto* device = naming_.recipe->device()) add_device(*device);
  }

private:
  void add_extra(const std::string& extra, const std::vector<std::string>& names) {
    metadata_.provides_extra.push_back(extra);
    for (const auto& name : names) require(*naming_.recipe->find(name), extra);
    bool by_family = all_.size() > 1 && std::any_of(names.begin(), names.end(), [&](const std::string& name) {
                       return naming_.recipe->find(name)->per_family;
                     });
    if (!by_family) return;
    for (const auto& family : all_) {
      auto own = extra + "-" + normalised(family);
      metadata_.provides_extra.push_back(own);
      for (const auto& name : names) require_of(*naming_.recipe->find(name), {family, own});
    }
  }

  void add_device(const Package& device) {
    metadata_.provides_extra.emplace_back("device-all");
    for (const auto& family : all_) require_of(device, {family, "device-all"});
    for (const auto& family : all_) {
      auto own = "device-" + normalised(family);
      metadata_.provides_extra.push_back(own);
      require_of(device, {family, own});
    }
  }

  /// Packages of one family among several are left out: the machine chooses.
  void require(const Package& package, const std::string& extra) {
    if (package.per_family && all_.size() != 1) return;
    require_of(package, {package.per_family ? all_.front() : "", extra});
  }

  struct Place {
    std::string family, extra; ///< each may be empty
  };
  void require_of(const Package& package, const Place& place) {
    const auto& [family, extra] = place;
    std::vector<std::string> conditions;
    if (auto platform = platform_of(package, family); !platform.empty())
      conditions.push_back(fmt::format("sys_platform == \"{}\"", platform));
    if (!extra.empty()) conditions.push_back(fmt::format("extra == \"{}\"", extra));
    auto marker = conditions.empty() ? "" : " ; " + text::join(conditions, " and ");
    metadata_.requires_dist.push_back(
        fmt::format("{}=={}{}", naming_.dist(package, family), naming_.version.str(), marker));
  }

  /// The marker's word for the one platform that has the package; empty: both have it, or it is not known that there
  /// are two.
  std::string platform_of(const Package& package, const std::string& family) const {
    auto word = [](bool windows) { return windows ? std::string("win32") : std::string("linux"); };
    if (package.platforms.size() == 1) return word(package.platforms.front() == Platform::windows);
    const auto &on_linux = naming_.linux_families, &on_windows = naming_.windows_families;
    auto has = [&](const std::vector<std::string>& families) {
      return std::find(families.begin(), families.end(), family) != families.end();
    };
    bool both = on_linux.empty() || on_windows.empty() || has(on_linux) == has(on_windows);
    return family.empty() || both ? std::string() : word(has(on_windows));
  }

  const Naming& naming_;
  std::vector<std::string> all_;
  dist::Metadata& metadata_;
};
} // namespace

Result<SdistPlan> plan_sdist(const Package& meta, const Naming& naming, const Resources& resources) {
  SdistPlan plan;
  auto name = naming.dist(meta, "");
  auto file_form = text::replace_all(name, "-", "_");
  plan.top = file_form + "-" + naming.version.str();
  plan.file_name = plan.top + ".tar.gz";
  TRY(auto files, pure_tree(meta, resources));
  for (auto& [path, text] : files) plan.files[path] = {std::move(text), false};
  TRY(auto m, base_metadata(meta, "", naming, resources));
  m.dynamic = {"Requires-Dist", "Provides-Extra"};
  MetaRequirements(naming, m).add(meta);
  plan.files["PKG-INFO"] = {m.render(), false};
  auto module = meta.pure.empty() ? std::string("rocm_sdk") : meta.pure;
  plan.files["src/" + module + "/_dist_info.py"] = {dist_info(meta, "", naming, {}), false};
  for (const auto& file : naming.recipe->metadata.license_files) {
    TRY(auto text, read_resource(resources, file));
    plan.files[std::string(path::basename(file))] = {std::move(text), false};
  }
  return plan;
}

} // namespace quarry::sdk
