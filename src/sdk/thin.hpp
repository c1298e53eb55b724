#pragma once
// Private to the room.
// Packages of a family without the device code that other families need.
#include "sdk/plan.hpp"

namespace quarry::sdk {

/// Thins the members of each package that is built for a family, as `wheel thin` does it, for the targets that
/// `request.targets_of_family` names; does nothing if the request has none. Members of a target that the family does
/// not have leave the package. Findings: S058 (note) says what went, G115 (warning) what stays although nobody asked
/// for it, G114 (error) a package with code, and none for its family. Fails with the errors of targets_of_family and
/// of wheel::thin_member(). Cost: headers and tables of libraries; compressed bundles are packed again, on several
/// threads, into files without names below `request.trees.spool_directory`.
Result<void> thin_packages(const BuildRequest& request, BuildPlan& plan);

} // namespace quarry::sdk
