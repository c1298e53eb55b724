#pragma once
// What people should know of packages before they install them. Pure, but for revoked_of().
#include "registry/distributions.hpp"
#include "registry/records.hpp"
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::pages {

using Revoked = std::set<registry::WaiverDigest>;

/// Sentences about a project of a channel's view, or about all of them if `project` is empty: extras that cannot be
/// installed (registry/empty_extras.hpp) and waivers (registry/waived.hpp). Waivers
/// of `revoked` are named so.
std::vector<std::string> remarks_about(const registry::ViewRecord& view, const std::string& project,
                                       const Revoked& revoked);
/// Returns the remarks that a distribution keeps when it gets a copy of `sealed`, a set that the view shows: those
/// about its extras and its waivers.
std::vector<registry::Remark> remarks_about(const registry::ViewRecord& view, const registry::SealedSet& sealed);
/// Which of the waivers that the view names somebody has taken back. One listing; no request if it names none.
Result<Revoked> revoked_of(store::ObjectReader& store, const registry::ViewRecord& view);
/// Returns a sentence for each of these that a channel's policy openly does without: signatures, an [expect]. `policy`
/// is the JSON of the policy's record.
std::vector<std::string> openly_said(std::string_view policy);

/// What the pages of a distribution say.
struct Remarks {
  std::vector<std::string> all; ///< each once
  std::map<std::string, std::vector<std::string>> by_project;
};
/// Returns the remarks of the sets that are in both `shown` and `sealed`, without those about a package that one of
/// these sets has. Waivers of `shown.revoked` are named so.
Remarks remarks_of_shown(const registry::Shown& shown, const std::vector<registry::SealedSet>& sealed);

} // namespace quarry::pages
