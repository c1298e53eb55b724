#pragma once
// The names that METADATA says a wheel can be imported by: Import-Name and Import-Namespace (PEP 794). Codes Q213 and
// Q259. Pure.
#include "base/finding.hpp"
#include "inspect/wheel_contents.hpp"

namespace quarry::inspect {

/// Q213: a value that is not a dotted name, or a name that is in both fields. Q259: a name that no file of the wheel
/// gives. Warnings; at most 100. Nothing is read of a wheel without these fields.
Findings check_import_names(const WheelContents& wheel);

} // namespace quarry::inspect
