#include "index/other_tool.hpp"

#include "dist/name.hpp"
#include <algorithm>
#include <string_view>

namespace quarry::index {

namespace {

/// A link that leads nowhere, and a hash or a size that is false. Installers fail for them, whoever wrote the page.
constexpr std::string_view k_false_claims[] = {"I010", "I012", "I013"};

/// Whether installers take a link to a file of this name for a package.
bool is_package_name(const std::string& name) { return dist::DistributionName::parse(name).has_value(); }

} // namespace

OtherTool::OtherTool(const Site& site, const Reading& reading) : top_(site.place_of("")) {
  if (!reading.ours) return;
  for (const auto& directory : reading.other_pages) places_.insert(site.place_of(directory));
  // A page without any link says nothing that could be true: what our rules find there stays.
  for (const auto& directory : reading.other_links)
    names_.insert({site.place_of(directory), directory, directory + "/"}); // I015 and I040 name the directory
  names_.erase("");
  if (reading.top_left) left_ = top_;
}

bool OtherTool::counts(const Finding& finding) const {
  constexpr std::string_view k_colon = ": "; // "simple/rocm/index.html: rocm-1.0.tar.gz"
  auto end = finding.place.find(k_colon);
  if (!names_.contains(finding.place.substr(0, end))) return true;
  // A note says that a link leads out of the place.
  if (finding.severity == Severity::note && end != std::string::npos &&
      !is_package_name(finding.place.substr(end + k_colon.size())))
    return false;
  return std::ranges::find(k_false_claims, finding.code) != std::end(k_false_claims);
}

void OtherTool::drop_ignored_links(Claims& claims) const {
  for (auto& [target, said] : claims)
    std::erase_if(said, [&](const Claim& claim) {
      auto page = claim.place.substr(0, claim.place.find(": "));
      return names_.contains(page) && !is_package_name(claim.file.url_name());
    });
  std::erase_if(claims, [](const auto& one) { return one.second.empty(); });
}

Findings OtherTool::findings() const {
  Findings findings;
  for (const auto& place : places_) {
    if (place == left_) continue;
    findings.push_back({"I025", Severity::warning, place, "another tool wrote this page, between pages of ours",
                        place == top_ ? "stop that tool, remove the page and run `quarry index repair`; or let it keep "
                                        "the find-links page: `quarry store setting --find-links other`"
                                      : "stop that tool or give it a directory of its own, remove the page and run "
                                        "`quarry index repair`"});
  }
  if (!left_.empty())
    findings.push_back({"I025", Severity::note, left_,
                        "another tool writes this page, and the store's setting leaves it to that tool", ""});
  return findings;
}

} // namespace quarry::index
