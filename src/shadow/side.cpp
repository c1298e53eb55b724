#include "shadow/side.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::shadow {

namespace {
constexpr std::uint64_t k_text_bytes_max = 64 * units::k_mib; // a page of a hundred thousand files

bool holds_packages(std::string_view area) { return area == "python" || area == "pytorch" || area == "jax"; }
bool is_package(std::string_view name) { return name.ends_with(".whl") || name.ends_with(".tar.gz"); }
} // namespace

std::string Side::key(std::string_view name) const { return path::join(directory, name); }

Result<Side> look_at_run(std::shared_ptr<store::ObjectStore> store, const std::string& directory) {
  Side side{std::move(store), directory, {}};
  auto prefix = directory.empty() ? "" : directory + "/";
  TRY(auto listed, side.store->list(prefix));
  for (auto& object : listed) {
    auto name = object.key.substr(prefix.size());
    if (!name.empty() && name.back() != '/') side.objects.emplace(std::move(name), std::move(object));
  }
  if (side.objects.empty())
    return fail(ErrorKind::not_found, "Q501",
                fmt::format("{} holds nothing", path::join(side.store->describe(), directory)),
                "name the directory of one run, such as s3://bucket/42-linux or file:/srv/store/42-linux");
  return side;
}

PackageDirectories package_directories(const Side& side) {
  PackageDirectories found;
  for (const auto& [name, object] : side.objects) {
    auto parts = path::components(name);
    if (parts.size() < 2 || !holds_packages(parts.front()) || !is_package(parts.back())) continue;
    if (std::any_of(parts.begin(), parts.end(), [](const auto& part) { return part.starts_with('.'); })) continue;
    auto directory = path::dirname(name);
    if (path::basename(directory) == "dist") directory = path::dirname(directory);
    found[directory].emplace(text::lower(parts.back()), name);
  }
  return found;
}

Result<std::optional<std::string>> text_of(const Side& side, const std::string& name) {
  if (!side.objects.contains(name)) return std::optional<std::string>();
  return side.store->get(side.key(name), k_text_bytes_max);
}

} // namespace quarry::shadow
