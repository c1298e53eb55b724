#include "wheel/owned_files.hpp"

#include "dist/name.hpp"
#include "wheel/dist_info.hpp"
#include "wheel/installed.hpp"
#include "wheel/installed_place.hpp"
#include "zip/look.hpp"
#include <optional>
#include <utility>

namespace quarry::wheel {

namespace {
/// nullopt: headers.
std::optional<std::string> path_in_record(const InstalledPlace& place) {
  switch (place.tree) {
  case Tree::site_packages: return place.path;
  case Tree::scripts: return "../../../bin/" + place.path;
  case Tree::data: return "../../../" + place.path;
  case Tree::headers: break;
  }
  return std::nullopt;
}
} // namespace

Result<std::vector<OwnedFile>> owned_files(const content::Rope& wheel, const std::string& file_name) {
  TRY(auto name, dist::WheelName::parse(file_name));
  TRY(auto members, zip::list(wheel, file_name));
  const Placing placing{data_directory(name.dist_info()), name.project.str(), installs_on_windows(name.tags)};
  const auto own = name.dist_info() + "/";
  std::vector<OwnedFile> files;
  for (const auto& member : members) {
    if (member.name.ends_with('/') || member.name.starts_with(own)) continue;
    auto place = installed_place(member.name, placing);
    if (!place) continue;
    if (auto path = path_in_record(*place)) files.push_back({std::move(*path), member.size, member.crc});
  }
  return files;
}

} // namespace quarry::wheel
