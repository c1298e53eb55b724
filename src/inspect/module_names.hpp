#pragma once
// Private to the room.
// Whether a Python module can have an attribute, told from its source text alone. Pure.
#include <string_view>

namespace quarry::inspect {

/// True only if it is certain that the module of this source has no attribute `name` when it was imported: the name
/// stands nowhere in the text, not even in a comment, and nothing in the text can make names that it does not spell
/// (`import *`, `globals()`, `exec`, a `__getattr__` of the module, its own entry in `sys.modules`). Any doubt is
/// false; so is text that is not ASCII, since Python normalises identifiers. Linear in the text.
bool surely_lacks(std::string_view source, std::string_view name);

} // namespace quarry::inspect
