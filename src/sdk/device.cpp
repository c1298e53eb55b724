#include "sdk/device.hpp"

#include "base/text.hpp"
#include <fmt/core.h>

namespace quarry::sdk {

namespace {
constexpr std::size_t k_copies_shown = 3;

Result<bool> same_content(const content::Rope& one, const content::Rope& other) {
  if (one.size() != other.size()) return false;
  TRY(auto left, content::sha256_of(one));
  TRY(auto right, content::sha256_of(other));
  return left == right;
}

Finding two_owners(const std::string& dist, const std::string& path, const FileOwners::Owner& owner, bool same) {
  return {"S062", Severity::error, dist + "!" + path,
          fmt::format("{} holds this file, too{}: whoever removes one of the packages would remove it for both",
                      owner.dist, same ? "" : ", with other content"),
          "let one artifact alone bring it; what all targets need belongs in the generic one"};
}
} // namespace

void FileOwners::add(const std::string& platform, const std::string& dist, const Population& population) {
  for (const auto& [path, file] : population.files) owners_.try_emplace(platform + "/" + path, Owner{dist, file.data});
}

const FileOwners::Owner* FileOwners::find(const std::string& path) const {
  auto it = owners_.find(path);
  return it == owners_.end() ? nullptr : &it->second;
}

Result<void> leave_to_owners(const PackageInputs& inputs, const Instance& instance, Population& population,
                             FileOwners& owners, Findings& findings) {
  const auto& naming = inputs.naming;
  auto dist = naming.dist(instance.package, instance.family);
  auto platform = naming.platform(instance.package, instance.family);
  auto below = naming.dist(*inputs.recipe.find(instance.package.overlays), "");
  std::vector<std::string> left;
  for (auto it = population.files.begin(); it != population.files.end();) {
    const auto* owner = owners.find(platform + "/" + it->first);
    if (!owner) {
      ++it;
      continue;
    }
    TRY(bool same, same_content(owner->data, it->second.data));
    if (!same || owner->dist != below) {
      findings.push_back(two_owners(dist, it->first, *owner, same));
      ++it;
      continue;
    }
    left.push_back(it->first);
    population.bytes -= it->second.data.size();
    it = population.files.erase(it);
  }
  if (population.files.empty() && !left.empty())
    return fail(ErrorKind::not_found, "S006",
                fmt::format("family {} has no files of its own for {}: {} is in {}, too, with the same bytes",
                            instance.family, dist, text::first(left, k_copies_shown), below),
                fmt::format("the generic artifact holds code of this target as well; build it again, or name the other "
                            "families with --{}-amdgpu-families",
                            inputs.request.platform));
  owners.add(platform, dist, population);
  return {};
}

} // namespace quarry::sdk
