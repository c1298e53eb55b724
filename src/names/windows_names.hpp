#pragma once
// Names that Windows cannot give to a file (Microsoft, "Naming Files, Paths, and Namespaces"). Pure, no I/O.
#include <string_view>

namespace quarry::names {

/// Whether Windows can create a file or directory of this name. False for a character that Windows reserves (a ':'
/// makes a hidden stream of another file), for a name that ends in a dot or a space (Windows drops it) and for a device
/// such as `CON` or `aux.py`. `name` is one component of a path.
bool is_windows_name(std::string_view name);

} // namespace quarry::names
