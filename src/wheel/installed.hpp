#pragma once
// Private to the room.
// The files of a wheel by the places where installers put them (docs/formats/wheel.md, "Where files are installed").
// Two members with different names in the archive can be one file after the installation. Pure.
#include "wheel/dist_info.hpp"

namespace quarry::wheel {

/// Whether an installer on Windows may take the wheel: one of its platform tags is `any` or begins with `win`.
bool installs_on_windows(const dist::WheelTags& tags);

/// Findings: W018 (two members or scripts for one place), W019 (a second project's metadata in site-packages), W020 (a
/// file that replaces a part of the environment), W021 (a name that Windows cannot have). At most 100 of each loop.
/// Costs a set of the names below `.data`, and of all names if a file below `.data` goes into site-packages.
void check_installed(const DistInfoCheck& check, const std::vector<dist::EntryPoint>& entry_points, Findings& findings);

} // namespace quarry::wheel
