#include "venv/extras.hpp"

#include "base/edit_distance.hpp"
#include "base/text.hpp"
#include "dist/family.hpp"
#include "dist/metadata.hpp"
#include "dist/requirement.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::venv {

namespace {
constexpr std::size_t k_extra_bytes_max = 100; // for the comparison of two words

const Distribution* find(const std::vector<Distribution>& distributions, const std::string& project) {
  auto at =
      std::find_if(distributions.begin(), distributions.end(), [&](const auto& d) { return d.project == project; });
  return at == distributions.end() ? nullptr : &*at;
}

std::optional<dist::Metadata> metadata_of(const Environment& environment, const Distribution& distribution) {
  auto path = path::join(path::join(environment.site_packages, distribution.dist_info), "METADATA");
  auto text = sys::read_file(path, dist::k_metadata_bytes_max);
  auto metadata = text ? dist::Metadata::parse(*text) : Result<dist::Metadata>(fail(text.error()));
  return metadata ? std::optional(std::move(*metadata)) : std::nullopt;
}

/// The known extra that is a typing error away; empty: none.
std::string likeliest(const UnknownExtra& unknown) {
  std::string best;
  std::size_t distance = unknown.extra.size() / 3 + 2;
  for (const auto& known : unknown.known) {
    if (known.size() > k_extra_bytes_max || unknown.extra.size() > k_extra_bytes_max) continue;
    if (auto d = text::edit_distance(unknown.extra, known); d < distance) best = known, distance = d;
  }
  return best;
}
} // namespace

std::vector<UnknownExtra> unknown_extras(const Environment& environment, const std::vector<Distribution>& distributions,
                                         const std::vector<std::string>& packages) {
  std::vector<UnknownExtra> found;
  for (const auto& package : packages) {
    auto requirement = dist::Requirement::parse(package);
    if (!requirement || requirement->extras.empty()) continue;
    const auto* distribution = find(distributions, requirement->project.str());
    auto metadata = distribution ? metadata_of(environment, *distribution) : std::nullopt;
    if (!metadata) continue;
    std::vector<std::string> known;
    // Extras are compared like the names of families: case and separators do not count (PEP 685).
    for (const auto& extra : metadata->provides_extra) known.push_back(dist::family_key(extra));
    std::sort(known.begin(), known.end());
    for (const auto& extra : requirement->extras)
      if (!std::binary_search(known.begin(), known.end(), dist::family_key(extra)))
        found.push_back({metadata->name, metadata->version, extra, known});
  }
  return found;
}

Error unknown_extra_error(const std::vector<UnknownExtra>& unknown) {
  std::vector<std::string> names;
  for (const auto& each : unknown) names.push_back(each.extra);
  const auto& first = unknown.front();
  auto error =
      Error::of(ErrorKind::invalid_argument, "V015",
                fmt::format("{} {} has no extra {}", first.project, first.version, text::join(names, ", ")))
          .with_detail(fmt::format("its extras  {}", first.known.empty() ? "none" : text::join(first.known, ", ")))
          .with_detail("installed   the packages without it; there is no receipt")
          .with_hint("name extras that the package has, or say --allow-unknown-extras");
  if (auto meant = likeliest(first); !meant.empty())
    error.hint = fmt::format("did you mean {}[{}]?", first.project, meant);
  return error;
}

} // namespace quarry::venv
