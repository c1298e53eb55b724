#include "pages/clash.hpp"

#include "dist/version.hpp"
#include <fmt/core.h>
#include <optional>

namespace quarry::pages {

namespace {

struct Newest {
  std::string text;
  std::optional<dist::Version> version;
};

Newest newest_of(const Offer& offer) {
  Newest newest;
  for (const auto& text : offer.versions) {
    auto version = dist::Version::parse(text);
    if (!version) {
      if (newest.text.empty()) newest.text = text;
    } else if (!newest.version || *version > *newest.version) {
      newest = {text, std::move(*version)};
    }
  }
  return newest;
}

} // namespace

std::vector<std::string> installers_would_take(const Offer& extra, const Offer& base) {
  auto ours = newest_of(extra), theirs = newest_of(base);
  bool same = ours.version == theirs.version;
  bool base_is_newer = !same && (!ours.version || (theirs.version && *theirs.version > *ours.version));
  const auto& picked = base_is_newer ? theirs : ours;
  auto where =
      same ? fmt::format("{} or {}, as it happens", extra.place, base.place) : (base_is_newer ? base : extra).place;
  return {fmt::format("pip would take  {} of {}", picked.text, where),
          fmt::format("uv would take   {} of {}, if that is its --extra-index-url", ours.text, extra.place)};
}

} // namespace quarry::pages
