#include "run/layout.hpp"

#include "base/text.hpp"
#include "run/locator.hpp"
#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>

namespace quarry::run {

namespace {
constexpr std::size_t k_component_max = 255; // NAME_MAX: every key must also be a path of the file store
constexpr std::size_t k_run_id_max = 128;    // GitHub's ids have 11 digits; people name local runs

Unexpected refused(std::string_view what, std::string_view value, std::string_view why) {
  return fail(ErrorKind::invalid_argument, "L020", fmt::format("{} {:?} {}", what, std::string(value), why),
              "docs/formats/run-layout.md says what may be there");
}

Result<void> check_characters(std::string_view value, std::string_view what, std::string_view extra) {
  if (value.empty()) return refused(what, value, "is empty");
  if (value.size() > k_component_max)
    return refused(what, value.substr(0, 32),
                   fmt::format("… has {} bytes, more than {}", value.size(), k_component_max));
  if (value.front() == '.') return refused(what, value, "begins with a dot");
  for (char c : value)
    if (!std::isalnum(static_cast<unsigned char>(c)) && extra.find(c) == extra.npos)
      return refused(what, value, fmt::format("may hold letters, digits and `{}` only", extra));
  return {};
}
} // namespace

Result<void> check_component(NamedText component) {
  return check_characters(component.text, component.name, "._-+~:@");
}

Result<void> check_run_id(std::string_view run_id) {
  TRY_DO(check_characters(run_id, "run id", "._-"));
  if (run_id.size() > k_run_id_max)
    return refused("run id", run_id, fmt::format("has more than {} characters", k_run_id_max));
  if (run_id.front() == '-') return refused("run id", run_id, "begins with a hyphen");
  for (const auto& platform : Platform::all())
    if (run_id.ends_with(fmt::format("-{}", platform)))
      return refused("run id", run_id, "ends in a platform, so it could not be distinguished from another run");
  return {};
}

Result<void> check_platform(const Platform& platform) {
  if (platform.kind()) return {};
  return refused("platform", platform.text(), fmt::format("is not one of: {}", fmt::join(Platform::k_texts, ", ")));
}

Result<void> check_group(std::string_view group) {
  if (group.empty()) return {};
  TRY_DO(check_component({group, "artifact group"}));
  constexpr std::array<std::string_view, 8> taken{"dist",    "simple", "simple-json", "seals",
                                                  "retired", "merged", "index.html",  "pages.json"};
  if (std::find(taken.begin(), taken.end(), group) != taken.end())
    return refused("artifact group", group, "is the name of a directory of ours");
  return {};
}

Result<Layout> Layout::create(Parts parts) {
  if (parts.external_repo.ends_with('/')) parts.external_repo.pop_back();
  if (!parts.external_repo.empty()) TRY_DO(check_component({parts.external_repo, "external repository"}));
  TRY_DO(check_run_id(parts.run_id));
  TRY_DO(check_platform(parts.platform));
  Layout layout;
  layout.external_repo_ = parts.external_repo.empty() ? "" : parts.external_repo + "/";
  layout.run_id_ = std::move(parts.run_id);
  layout.platform_ = std::move(parts.platform);
  return layout;
}

Result<Layout> Layout::parse(std::string_view prefix) {
  auto text = prefix.ends_with('/') ? prefix.substr(0, prefix.size() - 1) : prefix;
  Parts parts;
  if (auto slash = text.find('/'); slash != text.npos) {
    parts.external_repo = text.substr(0, slash);
    if (parts.external_repo.empty()) return refused("run prefix", prefix, "begins with a slash");
    text.remove_prefix(slash + 1);
  }
  auto hyphen = text.rfind('-');
  if (hyphen == text.npos) return refused("run prefix", prefix, "is not {run_id}-{platform}");
  parts.run_id = text.substr(0, hyphen);
  parts.platform = Platform::read(text.substr(hyphen + 1));
  return create(std::move(parts));
}

std::string Layout::prefix() const { return fmt::format("{}{}-{}/", external_repo_, run_id_, platform_); }

Result<std::string> Layout::artifact(std::string_view file) const {
  TRY_DO(check_component({file, "artifact file"}));
  return prefix() + std::string(file);
}

namespace {
Result<std::string> below(const std::string& root, std::string_view group, std::string_view name) {
  TRY_DO(check_group(group));
  TRY_DO(check_component({name, "file name"}));
  return root + (group.empty() ? "" : std::string(group) + "/") + std::string(name);
}
} // namespace

Result<std::string> Layout::log(std::string_view group, std::string_view name) const {
  return below(prefix() + "logs/", group, name);
}
Result<std::string> Layout::manifest(std::string_view group, std::string_view name) const {
  return below(prefix() + "manifests/", group, name);
}
Result<std::string> Layout::tarball(std::string_view file) const { return below(prefix() + "tarballs/", "", file); }

Result<PackageDirectory> Layout::packages(std::string_view area, std::string_view group, PackageForm form) const {
  TRY_DO(check_group(group));
  const auto& areas = package_areas();
  if (std::find(areas.begin(), areas.end(), area) == areas.end())
    return refused("package area", area, "is not one of: " + text::join(areas, ", "));
  bool grouped = !group.empty() && (form != PackageForm::aug || !group.starts_with("multi-arch"));
  auto top = form == PackageForm::aug ? std::string_view("python") : area; // all areas lie in one directory there
  PackageDirectory d;
  d.root = prefix() + std::string(top) + "/" + (grouped ? std::string(group) + "/" : "");
  d.dist = form == PackageForm::quarry ? d.root + "dist/" : d.root;
  d.simple = d.root + "simple/";
  d.simple_json = d.root + "simple-json/";
  d.index_html = d.root + "index.html";
  d.seals = d.root + "seals/";
  return d;
}

const std::vector<std::string>& package_areas() {
  static const std::vector<std::string> areas{"python", "pytorch", "jax"};
  return areas;
}

std::string run_of(std::string_view directory) {
  for (const auto& area : package_areas()) {
    auto at = fmt::format("{}/", directory).find("/" + area + "/");
    if (at == std::string::npos) continue;
    auto rest = directory.substr(std::min(directory.size(), at + area.size() + 2));
    auto layout = Layout::parse(directory.substr(0, at));
    if (layout && rest.find('/') == rest.npos) return std::string(directory.substr(0, at));
  }
  return {};
}

std::string group_of(std::string_view directory) {
  auto run = run_of(directory);
  if (run.empty()) return {};
  auto area_and_group = directory.substr(run.size() + 1);
  auto slash = area_and_group.find('/');
  return slash == area_and_group.npos ? std::string() : std::string(area_and_group.substr(slash + 1));
}

} // namespace quarry::run
